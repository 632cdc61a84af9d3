//! What a wheel variant should declare, in every format.

use std::io::{self, Write};

use anstyle::Style;
use fatscan::json::variants::{Variant, Variants};

use crate::escape;
use crate::terminal::{count, width, wrap};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
/// Files that are named of those which lack something.
const NAMED: usize = 3;

pub(crate) fn text(out: &mut impl Write, variants: &Variants) -> io::Result<()> {
    for (index, own) in variants.artefacts.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        one(out, own)?;
    }
    Ok(())
}

fn one(out: &mut impl Write, own: &Variant) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{BOLD:#}", escape::text(&own.path))?;
    for property in &own.properties {
        writeln!(out, "  {property}")?;
    }
    let mut note = |text: &str| -> io::Result<()> {
        let words: Vec<&str> = text.split(' ').collect();
        writeln!(out, "  {DIM}{}{DIM:#}", wrap(&words, 4, 2, width()))
    };
    if own.files == 0 {
        note("no general module: nothing can be declared of GPUs")?;
    } else {
        note(&format!("by the code of {}", count(own.files, "file", "files")))?;
    }
    if !own.whole {
        note("a part of it could not be read: this is not all that it should declare, and may be wrong")?;
    }
    for remark in &own.remarks {
        let named: Vec<&str> = remark.files.iter().take(NAMED).map(String::as_str).collect();
        let more = match remark.files.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let what = match remark.declared {
            true => "some of it is compiled at first use".to_owned(),
            false => format!("not declared: {}", remark.what),
        };
        note(&format!("{}: {what} ({}{more})", remark.code, named.join(", ")))?;
    }
    for declared in &own.declared {
        note(&format!("declared today: {}", declared))?;
    }
    Ok(())
}

pub(crate) fn json(out: &mut impl Write, variants: &Variants) -> io::Result<()> {
    escape::json_line(out, variants)
}

/// `variant.json` itself.
pub(crate) fn file(out: &mut impl Write, variants: &Variants) -> io::Result<()> {
    if let Some(own) = variants.artefacts.first() {
        serde_json::to_writer_pretty(&mut *out, &own.variant_json)?;
        writeln!(out)?;
    }
    Ok(())
}
