use core::fmt;
use core::str::FromStr;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The check fails.
    Deny,
    /// It is said, and the check passes.
    Warn,
    /// It is said in passing.
    Note,
    /// It is counted only.
    Allow,
}

impl Severity {
    /// The word in reports: `error`, `warning`, `note`, `allowed`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Deny => "error",
            Self::Warn => "warning",
            Self::Note => "note",
            Self::Allow => "allowed",
        }
    }
}

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $sentence:literal;)*) => {
        /// The rules of the gate, with stable ids; documented one by one in `docs/RULES.md`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = $sentence] $name,)*
        }

        impl Rule {
            /// All rules, the gravest first.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable id.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)* }
            }

            /// What it weighs unless told otherwise.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }

            /// What it is about.
            #[must_use]
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$name => $sentence,)* }
            }
        }
    };
}

rules! {
    Unreadable "unreadable" Deny "a path cannot be read";
    Damage "damage" Deny "a file is damaged or exceeds a limit, so that code may be missing from the list";
    Unread "unread" Deny "an archive or compressed file that may hold device code was not read";
    HostMismatch "host-mismatch" Deny "a file is for another host architecture than demanded";
    NotCovered "not-covered" Deny "a file holds no code that a device can run";
    DriverTooOld "driver-too-old" Deny "a file holds code for a device that its driver is too old for";
    Partial "partial" Deny "some modules of a file run on a device and others do not";
    Unknown "unknown" Deny "it is not certain whether a file runs on a device";
    Jit "jit" Deny "a file runs on a device only by compiling PTX";
    NoDeviceCode "no-device-code" Deny "an artefact holds no device code";
    Missing "missing" Deny "code that was declared is not in every general module";
    Extra "extra" Deny "code is there that was not declared";
    MaxSize "max-size" Deny "an artefact is larger than allowed";
    UnmatchedFiles "unmatched-files" Deny "a table of files in the configuration matches none";
    ExpiredIgnore "expired-ignore" Deny "an ignore has reached its end";
    Refused "refused" Deny "modules whose label fits a device, and whose code its driver refuses";
    DeclaredVariant "declared-variant" Deny "the properties of a variant wheel are not true of its code";
    DeclaredConda "declared-conda" Deny "what a package of conda requires of GPUs is not true of its code";
    DeclaredTag "declared-tag" Deny "the platform tag of a wheel is not that of its files";
    DeclaredList "declared-list" Warn "the list of architectures compiled into PyTorch is not true of its code";
    DeclaredCmake "declared-cmake" Warn "architectures in an installed CMake file are not true of the code";
    DeclaredMetadata "declared-metadata" Warn "what METADATA says of CUDA or GPUs is not true of the code";
    DeclaredName "declared-name" Warn "a name says CUDA, and there is no device code or another runtime";
    LintDefault "lint-default" Warn "only the architecture that nvcc takes where none is named";
    LintPtx "lint-ptx" Warn "no PTX that GPUs newer than all code could compile";
    LintGap "lint-gap" Warn "GPUs between the oldest and the newest are left out";
    LintExact "lint-exact" Warn "only code for exact targets, that no other GPU takes";
    LintLabel "lint-label" Warn "PTX is for another architecture than its label says";
    Older "older" Warn "some modules hold code for GPUs older than a device only";
    Gap "gap" Warn "some modules hold code for other GPUs, older and newer, and none for a device";
    EmptyKernels "empty-kernels" Warn "many kernels that a device loads hold no code";
    Newer "newer" Note "some modules hold code for GPUs newer than a device only; a warning above a tenth of them";
    Specialised "specialised" Note "specialised modules, for one architecture or exact targets, do not cover a device";
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.iter().find(|rule| rule.id() == text).copied().ok_or_else(|| {
            let all: Vec<&str> = Self::ALL.iter().map(|rule| rule.id()).collect();
            format!("`{text}` is no rule; the rules are {}", all.join(", "))
        })
    }
}
