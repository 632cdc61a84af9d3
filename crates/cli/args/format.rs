//! The formats of each command.

use clap::ValueEnum;

use crate::formats::Shape;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Table,
    /// One document, see `fatscan schema`
    Json,
    /// One JSON value a line
    Ndjson,
    /// Comma-separated values with a header line; what begins like a formula has an apostrophe before it
    Csv,
    /// A table for issues and pull requests
    Markdown,
}

/// Of what is told in sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    /// For people
    Text,
    /// One document, see `fatscan schema`
    Json,
    /// Comma-separated values with a header line; what begins like a formula has an apostrophe before it
    Csv,
    /// A table for issues and pull requests
    Markdown,
}

/// Of what is told in tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// For people
    Table,
    /// One document, see `fatscan schema`
    Json,
    /// Comma-separated values with a header line; what begins like a formula has an apostrophe before it
    Csv,
    /// A table for issues and pull requests
    Markdown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people
    Table,
    /// One document, see `fatscan schema`
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of a GitHub workflow
    Github,
    /// JUnit XML, for GitLab and others
    Junit,
    /// A table for a pull request
    Markdown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VariantFormat {
    /// For people
    Text,
    /// One document, see `fatscan schema variant`
    Json,
    /// The file `variant.json` of one wheel
    VariantJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FleetFormat {
    /// For people
    Table,
    /// One document, see `fatscan schema fleet`
    Json,
    /// A line for each artefact and target; what begins like a formula has an apostrophe before it
    Csv,
    /// A table for issues and pull requests
    Markdown,
    /// One page for a browser, which loads nothing else
    Html,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeviceFormat {
    /// For people
    Text,
    /// Everything that was found, as a recording has it
    Json,
}

/// Of what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SlimFormat {
    /// For people
    Table,
    /// One document, see `fatscan schema slim`
    Json,
    /// A table for issues and pull requests
    Markdown,
}

impl Shape for Format {
    const JSON: Self = Self::Json;
    const DEFAULT: &'static str = "table";

    fn is_text(self) -> bool {
        self == Self::Table
    }
}

impl Shape for TextFormat {
    const JSON: Self = Self::Json;
    const DEFAULT: &'static str = "text";

    fn is_text(self) -> bool {
        self == Self::Text
    }
}

impl Shape for TableFormat {
    const JSON: Self = Self::Json;
    const DEFAULT: &'static str = "table";

    fn is_text(self) -> bool {
        self == Self::Table
    }
}

impl Shape for VariantFormat {
    const JSON: Self = Self::Json;
    const DEFAULT: &'static str = "text";

    fn is_text(self) -> bool {
        self == Self::Text
    }
}

impl Shape for CheckFormat {
    const JSON: Self = Self::Json;
    const DEFAULT: &'static str = "table";

    fn is_text(self) -> bool {
        matches!(self, Self::Table | Self::Markdown)
    }
}

impl Shape for DeviceFormat {
    const JSON: Self = Self::Json;
    const DEFAULT: &'static str = "text";

    fn is_text(self) -> bool {
        self == Self::Text
    }
}

impl Shape for FleetFormat {
    const JSON: Self = Self::Json;
    const DEFAULT: &'static str = "table";

    fn is_text(self) -> bool {
        self == Self::Table
    }
}

impl Shape for SlimFormat {
    const JSON: Self = Self::Json;
    const DEFAULT: &'static str = "table";

    fn is_text(self) -> bool {
        self == Self::Table
    }
}
