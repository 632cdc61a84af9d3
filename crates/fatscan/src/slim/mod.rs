//! A file with the device code that some devices use, and without the other: [`plan`](Planner::plan), [`write()`], [`prove`].
//!
//! A fatbin is written anew in its place: the entries that stay move together, byte for byte, its header states their
//! size, and the rest is zero (behind the last one of a file of fatbins it is cut off). No other byte of the file changes, no pointer and no size, so that all that refers to it
//! holds. Zeros deflate to nothing. What is not understood stays as it is and is counted ([`Stays`]).

mod alike;
mod pe;
mod plan;
mod prove;
mod record;
mod rewrite;
mod wish;

use std::collections::BTreeMap;
use std::io::{self, Write};

use fatscan_containers::{ByteStream, FileSource, Limits, Rezip, Source, Windows, Zip, ZipMember};
use sha2::{Digest, Sha256};

pub use plan::{Edit, Extent, MemberPlan, Planner, Stays, Tally, Why};
pub use prove::prove;
pub use record::{Entry, relisted, tagged};
pub use wish::{KeepPtx, Named, Wish};

use crate::locator::Place;
use crate::model::{Artefact, ArtefactKind, Member};
use crate::open;
use pe::{Checksum, Patched};
use rewrite::{Seal, rewrite};

/// Bytes of a list of files that are read.
const LIST: u64 = 64 << 20;

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// For each member of the artefact the hash of what stays in its fatbins, where it changed.
    seals: Vec<Option<Seal>>,
    /// Its bytes in the archive, where it changed and lies in one.
    pub packed: Vec<Option<u64>>,
    /// Names of signatures that no longer hold and were left out.
    pub signatures: Vec<String>,
}

/// Why nothing is written.
#[derive(Debug)]
#[non_exhaustive]
pub enum SlimError {
    /// Reading or writing failed.
    Io(io::Error),
    /// What it is cannot be written anew; why.
    Unsupported(String),
    /// The result is not what it should be; what differs. It must not be used.
    Differs(String),
}

impl core::fmt::Display for SlimError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Unsupported(why) => f.write_str(why),
            Self::Differs(what) => write!(f, "the result is not as it should be: {what}"),
        }
    }
}

impl core::error::Error for SlimError {}

impl From<io::Error> for SlimError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Writes an artefact with its plans, one for each of its members: a single file, or a zip archive whose other members are
/// copied as they are stored. In a wheel the list of files follows, signatures of it are left out, and `tag` becomes its build
/// tag.
///
/// # Errors
/// [`SlimError`]: then what was written is worth nothing.
pub fn write(
    source: &FileSource,
    artefact: &Artefact,
    plans: &[MemberPlan],
    tag: Option<&str>,
    limits: &Limits,
    out: &mut dyn Write,
) -> Result<Written, SlimError> {
    let windows = Windows::new(limits.window_bytes, 1, true);
    let mut written = Written { seals: vec![None; plans.len()], packed: vec![None; plans.len()], ..Written::default() };
    match artefact.kind {
        ArtefactKind::File => {
            let nothing = MemberPlan::default();
            let plan = plans.first().unwrap_or(&nothing);
            let (seal, _) = rewritten(&mut || Ok(whole(source)), plan, out)?;
            written.seals = vec![(!plan.edits.is_empty()).then_some(seal); plans.len()];
        }
        ArtefactKind::Wheel | ArtefactKind::Zip => {
            let archive = Archive { source, artefact, plans, tag, limits, windows: &windows };
            archive.write(out, &mut written)?;
        }
        ArtefactKind::Archive | ArtefactKind::Package | ArtefactKind::Directory => {
            return Err(SlimError::Unsupported(format!("a {} is not written anew", artefact.kind.name())));
        }
    }
    if source.changed() {
        return Err(SlimError::Differs("the file changed meanwhile".to_owned()));
    }
    Ok(written)
}

/// Whether [`write()`] can write a file of an artefact anew: a single one, one in a directory, one in a wheel or zip archive.
#[must_use]
pub fn is_writable(kind: ArtefactKind, member: &Member) -> bool {
    match kind {
        ArtefactKind::File | ArtefactKind::Directory => member.at.inner().is_empty(),
        ArtefactKind::Wheel | ArtefactKind::Zip => index_of(member).is_some(),
        ArtefactKind::Archive | ArtefactKind::Package => false,
    }
}

/// The index in its archive of a member that lies in no archive within.
fn index_of(member: &Member) -> Option<usize> {
    match member.at.inner() {
        [step] => match step.place {
            Place::Member(index) => Some(index),
            _ => None,
        },
        _ => None,
    }
}

struct Archive<'a> {
    source: &'a FileSource,
    artefact: &'a Artefact,
    plans: &'a [MemberPlan],
    tag: Option<&'a str>,
    limits: &'a Limits,
    windows: &'a Windows,
}

impl Archive<'_> {
    fn write(&self, out: &mut dyn Write, written: &mut Written) -> Result<(), SlimError> {
        let zip = Zip::list(self.source, self.limits);
        if !zip.doubts.is_empty() || zip.members.iter().any(|own| own.doubt.is_some() || own.encrypted) {
            let why =
                "an archive that is damaged, encrypted or read differently by different programs is not written anew";
            return Err(SlimError::Unsupported(why.to_owned()));
        }
        let is_wheel = self.artefact.kind == ArtefactKind::Wheel;
        let mut plans: BTreeMap<usize, usize> = BTreeMap::new();
        for (own, (member, plan)) in self.artefact.members.iter().zip(self.plans).enumerate() {
            if let Some(index) = index_of(member).filter(|_| !plan.edits.is_empty()) {
                plans.insert(index, own);
            }
        }
        let mut changed = BTreeMap::new();
        let mut list = None;
        let mut archive = Rezip::new(self.source, out);
        for (index, member) in zip.members.iter().enumerate() {
            if let Some((own, plan)) = plans.get(&index).and_then(|own| Some((*own, self.plans.get(*own)?))) {
                let mut seal = None;
                let mut entry = None;
                let packed = archive.replace(member, &mut |out| {
                    let mut sum = Sum { hash: Sha256::new(), out };
                    let (own, size) = rewritten(&mut || self.open(member), plan, &mut sum)?;
                    seal = Some(own);
                    entry = Some((sum.hash.finalize().into(), size));
                    Ok(())
                })?;
                if let Some(place) = written.seals.get_mut(own) {
                    *place = seal;
                }
                if let Some(place) = written.packed.get_mut(own) {
                    *place = Some(packed);
                }
                changed.extend(entry.map(|entry| (member.name.to_vec(), entry)));
            } else if is_wheel && record::is_in_info(&member.name, b"RECORD") {
                list = Some(member);
            } else if is_wheel && record::is_signature(&member.name) {
                written.signatures.push(String::from_utf8_lossy(&member.name).into_owned());
            } else if let Some(tag) = self.tag.filter(|_| is_wheel && record::is_in_info(&member.name, b"WHEEL")) {
                let text = record::wheel(&self.read(member)?, tag);
                archive.replace(member, &mut |out| out.write_all(&text))?;
                let size = u64::try_from(text.len()).unwrap_or(u64::MAX);
                changed.insert(member.name.to_vec(), (Sha256::digest(&text).into(), size));
            } else {
                archive.copy(member)?;
            }
        }
        // it names all that comes before it, and belongs to the end of a wheel
        if let Some(member) = list {
            let text = record::record(&self.read(member)?, &changed);
            archive.replace(member, &mut |out| out.write_all(&text))?;
        }
        archive.finish()?;
        Ok(())
    }

    fn open<'a>(&'a self, member: &'a ZipMember) -> io::Result<Box<dyn ByteStream + 'a>> {
        open_member(self.source, member, self.limits, self.windows)
    }

    /// The whole of a small member.
    fn read(&self, member: &ZipMember) -> Result<Vec<u8>, SlimError> {
        if member.size > LIST {
            let name = String::from_utf8_lossy(&member.name).into_owned();
            return Err(SlimError::Unsupported(format!("`{name}` is too large for a list")));
        }
        let mut bytes = Vec::new();
        rewrite(&mut *self.open(member)?, &[], &mut bytes)?;
        Ok(bytes)
    }
}

/// Writes a file with its edits, and with the checksum that follows from them where it has one.
fn rewritten<'a>(
    open: &mut dyn FnMut() -> io::Result<Box<dyn ByteStream + 'a>>,
    plan: &MemberPlan,
    out: &mut dyn Write,
) -> io::Result<(Seal, u64)> {
    if let Some(at) = plan.checksum.filter(|_| !plan.edits.is_empty()) {
        let mut sum = Checksum::new(at);
        rewrite(&mut *open()?, &plan.edits, &mut sum)?;
        if let Some(value) = sum.value() {
            return rewrite(&mut *open()?, &plan.edits, &mut Patched { out, at, value, position: 0 });
        }
    }
    rewrite(&mut *open()?, &plan.edits, out)
}

fn whole(source: &FileSource) -> Box<dyn ByteStream + '_> {
    let source: &dyn Source = source;
    source.stream(0, u64::MAX)
}

fn open_member<'a>(
    source: &'a dyn Source,
    member: &'a ZipMember,
    limits: &'a Limits,
    windows: &'a Windows,
) -> io::Result<Box<dyn ByteStream + 'a>> {
    let stream = open::member(source, member, limits, windows).map_err(|why| io::Error::other(why.to_string()))?;
    Ok(Box::new(stream))
}

/// A writer that sums up what passes.
struct Sum<'a> {
    hash: Sha256,
    out: &'a mut dyn Write,
}

impl Write for Sum<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.hash.update(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
