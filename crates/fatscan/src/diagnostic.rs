use core::fmt;

use serde::{Deserialize, Serialize};

use crate::locator::Locator;

/// How much a diagnostic weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Damage, a limit, or something unreadable: the list may lack something.
    Error,
    /// The list is whole, but two statements in the file disagree.
    Warning,
    /// Worth knowing.
    Note,
}

/// One thing that the scan has to say beside its findings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Where.
    pub at: Locator,
    /// Stable code, `FS0101`.
    pub code: Code,
    /// Weight: that of the code, unless it depends on the case.
    pub level: Level,
    /// What more there is to say; may be empty.
    pub detail: String,
}

impl Diagnostic {
    /// A diagnostic of `code` at a place; an empty `detail` leaves the sentence of the code alone.
    #[must_use]
    pub fn new(code: Code, at: Locator, detail: impl Into<String>) -> Self {
        Self { at, code, level: code.level(), detail: detail.into() }
    }

    /// The same with another weight.
    #[must_use]
    pub fn weighed(self, level: Level) -> Self {
        Self { level, ..self }
    }

    /// One sentence, lower case, without a full stop.
    #[must_use]
    pub fn message(&self) -> String {
        match (self.code.sentence(), self.detail.as_str()) {
            (sentence, "") => sentence.to_owned(),
            (sentence, detail) => format!("{sentence}: {detail}"),
        }
    }

    /// What to do about it, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        self.code.hint()
    }
}

macro_rules! codes {
    ($($number:literal $name:ident $level:ident $sentence:literal $(hint $hint:literal)?;)*) => {
        /// The stable codes of the diagnostics: documented one by one in `docs/DIAGNOSTICS.md`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $sentence] $name,)*
        }

        impl Code {
            /// All codes, in order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The number behind `FS`.
            #[must_use]
            pub const fn number(self) -> u16 {
                match self { $(Self::$name => $number,)* }
            }

            /// The weight.
            #[must_use]
            pub const fn level(self) -> Level {
                match self { $(Self::$name => Level::$level,)* }
            }

            /// The sentence that every diagnostic of this code starts with.
            #[must_use]
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$name => $sentence,)* }
            }

            /// What to do about it, where there is something.
            #[must_use]
            pub const fn hint(self) -> Option<&'static str> {
                match self { $(Self::$name => codes!(@hint $($hint)?),)* }
            }
        }
    };
    (@hint) => { None };
    (@hint $hint:literal) => { Some($hint) };
}

codes! {
    101 Unreadable Error "cannot be read";
    102 NotAFile Error "is no regular file and no directory";
    103 EmptyFile Error "the file is empty";
    104 UnknownFormat Note "not a format that holds device code; it was searched byte by byte all the same";
    105 NameMismatch Error "its name promises another content than it has; it was searched byte by byte all the same"
        hint "the download may be incomplete or a page of a web server: compare its size and hash with the index";
    106 Changed Error "the file changed while it was read: what is said of it may be wrong";
    107 LeadsOutside Note "links lead out of the directory and were not followed"
        hint "--follow-links follows them";
    108 NotRead Error "it was not read, and may hold device code"
        hint "unpack it and scan what is in it";
    109 WithoutCode Note "directories without device code are left out";
    201 ZipDirectory Error "the archive's directory is missing or damaged; members were looked for by their own headers"
        hint "the download may be incomplete: compare its size and hash with the index";
    202 ZipDirectoryCut Error "the archive's directory ends early";
    203 ZipMemberMissing Error "the archive ends before this member's data"
        hint "the download may be incomplete: compare its size and hash with the index";
    204 ZipMethod Error "stored by a compression method that is not read";
    205 Encrypted Error "encrypted";
    206 MemberDamaged Error "cannot be unpacked to its end";
    207 ArchiveHeader Error "no member header where the static library states one; the rest was searched as one piece";
    208 ThinArchive Note "a thin archive holds no code itself"
        hint "scan the object files that it names";
    210 SectionTable Warning "the section table cannot be read: code is listed without its section";
    211 Unread Warning "not read, and may hold libraries"
        hint "unpack it and scan what is in it";
    212 ZipAmbiguous Error "another reader may see other files in this archive";
    213 ZipPrefix Note "bytes stand before the first member of the archive";
    214 MemberAmbiguous Error "another reader may see another file here";
    215 MemberOverlap Error "its bytes are those of another member too; it was not read";
    216 FileCut Error "the file ends before the end that its own headers state"
        hint "the download may be incomplete: compare its size and hash with the index";
    217 RecordHash Error "its bytes do not have the hash that RECORD states";
    218 LimitNames Error "the table of names exceeds the limit: objects go by their places";
    219 EntryHeader Error "no entry header where the archive must have one; the next one was looked for";
    220 HardLink Note "another name of a file in the same archive, which is listed once";
    301 FatbinCut Error "the fatbin is cut or states a wrong size";
    302 FatbinEntry Error "the fatbin is damaged from this entry on";
    303 FatbinHeader Error "looks like a fatbin, but its header is damaged";
    304 OldFatbin Warning "a fatbin from before CUDA 4.0, which holds no code that could be read at rest";
    305 EntryText Error "a text of the entry header lies outside of it; the entry is listed from its fixed part";
    306 EntryCompressedSize Error "the entry states more compressed bytes than it has; it is listed, but cannot be unpacked";
    307 ConcatTable Error "the member table of a concatenated entry is damaged";
    308 PayloadDamaged Error "the payload cannot be unpacked as its entry states";
    309 CubinDamaged Error "the cubin is cut or its section table is damaged";
    310 CubinLarge Error "the cubin is too large to be read whole: its suffix is not known";
    311 NotLoaded Warning "code lies where no program that loads the file has it in memory: it counts for no demand";
    312 PayloadMissing Error "the entry has no payload";
    313 PayloadForeign Error "the payload does not begin as what the entry says that it is";
    314 LooksLikeCubin Note "looks like the start of a cubin, and none follows";
    315 SizeSigned Error "the fatbin states 2 GiB or more: the driver takes the size for another number, and may run other code";
    316 TextUnended Warning "the PTX text does not end within its payload: the driver reads on behind it";
    317 BehindCubin Warning "bytes stand behind the end that the cubin states for itself: the driver does not read them";
    401 HeaderAgainstCompat Warning "entry header and compat record disagree on the architecture"
        hint "the label is what the packager was told; the record is what the code was compiled for";
    402 HeaderAgainstPayload Warning "entry header and payload disagree on the architecture"
        hint "the label is what the packager was told; the payload is what the code was compiled for";
    501 LimitMembers Error "the archive has more members than the limit; the rest was not read";
    502 LimitBytes Error "the member unpacks to more bytes than the limit; it was not read";
    503 LimitImages Error "the member has more images than the limit; the rest was not read";
    504 LimitRereads Error "many damaged fatbins; after the last one the search went on behind its damage";
    505 LimitText Error "identifiers and options beyond the limit are left out";
    506 LimitPayload Error "the payload unpacks to more bytes than the limit; it was not decoded";
    507 LimitDiagnostics Note "more problems of this file are not shown";
    508 LimitKernels Error "more kernels than the limit; the rest was not read";
    509 LimitMemory Error "reading it takes more memory than is granted; it was not read";
    510 LimitTable Error "a table of the file exceeds the limit; it was not read";
    511 LimitWrappers Error "more wrapper records than the limit; the rest was not looked at";
    601 OtherVendor Note "holds device code of another vendor";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FS{:04}", self.number())
    }
}
