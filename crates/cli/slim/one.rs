//! One file: planned, written beside its place, proved.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fatscan::slim::{MemberPlan, Planner, SlimError, Stays, Written, prove, tagged, write};
use fatscan::{Artefact, ArtefactKind, FileSource, Input, Level, Options, Scanner, open_file};
use sha2::{Digest, Sha256};

use super::folder::permit;
use super::sparse::Sparse;
use super::wish::Chosen;
use super::{Done, refused};
use crate::args::SlimArgs;
use crate::failure::Failure;
use crate::formats::is_one;
use crate::progress::Bar;
use crate::unfinished::Unfinished;
use crate::{list, output};

/// How files are read, for one wish.
pub(super) struct Reader<'a> {
    pub(super) chosen: &'a Chosen,
    pub(super) options: Options,
    pub(super) scanner: Scanner,
    /// Whether zeros become holes on the disk.
    has_holes: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(args: &SlimArgs, chosen: &'a Chosen) -> Result<Self, Failure> {
        let options = list::options(&args.common, list::Depth::Judge);
        let scanner = Scanner::new(options).map_err(|error| Failure::new(format!("no threads: {error}")))?;
        Ok(Self { chosen, options, scanner: scanner.for_devices(&chosen.devices), has_holes: args.punch })
    }

    /// Reads and plans a file. What is wrong with it is said where that is wanted.
    pub(super) fn plan(&self, path: &Path, says: bool) -> Result<Planned<'a>, Failure> {
        let about = |text: &str| refused(path, text);
        let report = self.scanner.report(&[Input::Path(path)]);
        let errors = report.diagnostics.iter().filter(|own| own.level == Level::Error).count();
        let artefact = match report.artefacts.into_iter().next() {
            Some(artefact) if errors == 0 && report.unread.is_empty() => artefact,
            Some(_) => {
                if says {
                    output::diagnostics(&report.diagnostics);
                }
                return Err(about("it is damaged or not wholly read, and is left as it is"));
            }
            None => {
                if says {
                    output::diagnostics(&report.diagnostics);
                }
                return Err(about("cannot be read"));
            }
        };
        let mut planner = Planner::new(self.chosen.wish());
        let plans: Vec<MemberPlan> = artefact.members.iter().map(|member| planner.plan(member)).collect();
        let is_signed = plans.iter().any(|plan| plan.stays.contains_key(&Stays::Signed));
        if artefact.kind == ArtefactKind::File && is_signed {
            let text = format!("`{}`: it is signed, and the signature would no longer hold", path.display());
            return Err(Failure::with_hint(text, "--allow-broken-signature changes it all the same"));
        }
        let source = open_file(path, self.options.mapping, 0, |_| true).map_err(|error| about(&error.to_string()))?;
        let source = source.ok_or_else(|| about("cannot be read"))?;
        Ok(Planned { path: path.to_owned(), artefact, planner, plans, source })
    }

    /// Writes it to nowhere.
    pub(super) fn dry(&self, planned: &Planned<'_>, tag: Option<&str>) -> Result<(Written, u64), Failure> {
        let mut counted = Counted { out: io::sink(), count: 0, hash: Sha256::new() };
        let written =
            write(&planned.source, &planned.artefact, &planned.plans, tag, &self.options.limits, &mut counted);
        Ok((written.map_err(|error| planned.failed(&error))?, counted.count))
    }

    /// Writes it to a file that has no name yet, and compares that with what was planned.
    pub(super) fn write(
        &self,
        planned: &Planned<'_>,
        tag: Option<&str>,
        file: &Unfinished,
    ) -> Result<Finished, Failure> {
        let failed = |error: SlimError| planned.failed(&error);
        let io = |error: io::Error| refused(&planned.path, &format!("cannot be written: {error}"));
        let Some(temporary) = file.temporary() else {
            return Err(refused(file.path(), "it is no file"));
        };
        let own = file.take().map_err(io)?;
        let has_holes = self.has_holes && planned.artefact.kind == ArtefactKind::File;
        let out = io::BufWriter::with_capacity(1 << 20, Sparse::new(own, has_holes));
        let mut counted = Counted { out, count: 0, hash: Sha256::new() };
        let (artefact, plans) = (&planned.artefact, &planned.plans);
        let written =
            write(&planned.source, artefact, plans, tag, &self.options.limits, &mut counted).map_err(failed)?;
        counted.flush().map_err(io)?;
        let (size, hash) = (counted.count, counted.hash.clone().finalize().into());
        drop(counted);
        prove(&self.scanner, &self.options, artefact, plans, &planned.planner, &written, temporary).map_err(failed)?;
        // a library has the permissions that it had
        let known = fs::metadata(&planned.path);
        known.and_then(|known| permit(temporary, &known)).and_then(|()| file.sync()).map_err(io)?;
        Ok(Finished { written, size, hash })
    }
}

/// What was written.
pub(super) struct Finished {
    pub(super) written: Written,
    pub(super) size: u64,
    pub(super) hash: [u8; 32],
}

/// A file, and what is to happen to it.
pub(super) struct Planned<'a> {
    path: PathBuf,
    pub(super) artefact: Artefact,
    planner: Planner<'a>,
    pub(super) plans: Vec<MemberPlan>,
    source: FileSource,
}

impl Planned<'_> {
    fn failed(&self, error: &SlimError) -> Failure {
        refused(&self.path, &error.to_string())
    }

    pub(super) fn changes(&self) -> bool {
        self.plans.iter().any(|plan| !plan.edits.is_empty())
    }

    pub(super) fn done(self) -> Done {
        let members = self.artefact.members.iter().map(|own| own.path.clone()).zip(self.plans);
        Done {
            from: self.path,
            to: None,
            kind: self.artefact.kind,
            before: self.artefact.size,
            after: 0,
            members: members.collect(),
            signatures: Vec::new(),
            notes: Vec::new(),
            is_in_place: false,
        }
    }
}

/// A file that is written elsewhere: below `folder`, or to what `--to` names.
pub(super) fn slim(path: &Path, is_folder: bool, reader: &Reader<'_>, args: &SlimArgs) -> Result<Done, Failure> {
    let bar = Bar::start(reader.scanner.progress());
    let planned = reader.plan(path, true);
    bar.finish();
    let planned = planned?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let tag = is_folder.then(|| tagged(&name, &reader.chosen.tag())).flatten().filter(|_| planned.changes());
    let tag_text = tag.as_ref().map(|(_, tag)| tag.as_str());
    let Some(out) = args.to.as_ref().filter(|_| !args.dry_run) else {
        let (written, size) = reader.dry(&planned, tag_text)?;
        return Ok(Done { after: size, signatures: written.signatures, ..planned.done() });
    };
    let to = match &tag {
        Some((name, _)) => out.join(name),
        None if is_folder => out.join(path.file_name().unwrap_or_default()),
        None => out.clone(),
    };
    if is_one(path, &to) {
        return Err(refused(path, "it is not written over by itself"));
    }
    if to.exists() && !args.force {
        let to = to.display();
        return Err(Failure::with_hint(format!("`{to}` exists"), "--force writes over it"));
    }
    let unwritten = |error: io::Error| Failure::new(format!("`{}` cannot be written: {error}", to.display()));
    if let Some(folder) = to.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(unwritten)?;
    }
    // it is read again by what its name says
    let ending = if planned.artefact.kind == ArtefactKind::Wheel { "whl" } else { "tmp" };
    let file = Unfinished::begin_as(&to, ending).map_err(unwritten)?;
    let finished = reader.write(&planned, tag_text, &file)?;
    let named = if args.force { file.finish() } else { file.finish_new() };
    named.map_err(unwritten)?;
    Ok(Done { to: Some(to), after: finished.size, signatures: finished.written.signatures, ..planned.done() })
}

struct Counted<W> {
    out: W,
    count: u64,
    hash: Sha256,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.count = self.count.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        self.hash.update(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
