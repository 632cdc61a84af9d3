//! `fatscan slim`.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstyle::Style;
use fatscan::slim::{KeepPtx, MemberPlan, Planner, SlimError, Stays, Tally, Wish, prove, tagged, write};
use fatscan::{Artefact, ArtefactKind, Input, Scanner, open_file};
use gpu_arch::rules::Device;
use serde_json::{Value, json};

use crate::args::{KeepPtxArg, PlainFormat, SlimArgs};
use crate::failure::{CANNOT, Failure};
use crate::progress::Bar;
use crate::terminal::{bytes, count};
use crate::{escape, list, output, target};

const BOLD: Style = Style::new().bold();

/// One file that was slimmed, or would be.
struct Done {
    from: PathBuf,
    to: Option<PathBuf>,
    before: u64,
    after: u64,
    artefact: Artefact,
    plans: Vec<MemberPlan>,
    signatures: Vec<String>,
}

pub(crate) fn run(args: &SlimArgs) -> Result<ExitCode, Failure> {
    if args.common.no_color {
        anstream::ColorChoice::Never.write_global();
    }
    let devices = target::devices("--for", &args.gpus, &args.driver)?;
    let folder = match &args.output {
        Some(path) if args.paths.len() > 1 && !path.is_dir() => {
            return Err(Failure::with_hint(
                "several files need a directory to be written to",
                format!("mkdir {}", escape::text(&path.display().to_string())),
            ));
        }
        Some(path) => path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/"),
        None => false,
    };
    let (mut done, mut failed) = (Vec::new(), false);
    for path in &args.paths {
        match one(path, folder, &devices, args) {
            Ok(own) => done.push(own),
            Err(failure) => {
                failure.report();
                failed = true;
            }
        }
    }
    match args.format {
        PlainFormat::Table => table(&done, &devices, args)?,
        PlainFormat::Json => document(&done, &devices)?,
    }
    Ok(match (failed, done.is_empty()) {
        (true, true) => ExitCode::from(CANNOT),
        (true, false) => ExitCode::FAILURE,
        (false, _) => ExitCode::SUCCESS,
    })
}

fn one(path: &Path, folder: bool, devices: &[Device], args: &SlimArgs) -> Result<Done, Failure> {
    let shown = path.display().to_string();
    let about = |text: String| Failure::new(format!("`{shown}`: {text}"));
    let options = list::options(&args.common, list::Depth::Judge);
    let limits = options.limits;
    let scanner = Scanner::new(options).map_err(|error| Failure::new(format!("no threads: {error}")))?;
    let scanner = scanner.for_devices(devices);
    let bar = Bar::start(scanner.progress());
    let report = scanner.report(&[Input::Path(path)]);
    bar.finish();
    let errors = report.diagnostics.iter().filter(|own| own.level == fatscan::Level::Error).count();
    let artefact = match report.artefacts.into_iter().next() {
        Some(artefact) if errors == 0 && report.unread.is_empty() => artefact,
        Some(_) => {
            output::diagnostics(&report.diagnostics);
            return Err(about("it is damaged or not wholly read, and is left as it is".to_owned()));
        }
        None => {
            output::diagnostics(&report.diagnostics);
            return Err(about("cannot be read".to_owned()));
        }
    };
    let keep_ptx = match args.keep_ptx {
        KeepPtxArg::Newest => KeepPtx::Newest,
        KeepPtxArg::All => KeepPtx::All,
        KeepPtxArg::None => KeepPtx::None,
    };
    let mut planner = Planner::new(Wish { devices, keep_ptx, unwrapped: args.include_unwrapped });
    let plans: Vec<MemberPlan> = artefact.members.iter().map(|member| planner.plan(member)).collect();
    let source = open_file(path, options.mapping, 0, |_| true).map_err(|error| about(error.to_string()))?;
    let source = source.ok_or_else(|| about("cannot be read".to_owned()))?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let tag = folder.then(|| tagged(&name, &tag_of(devices))).flatten().filter(|_| changes(&plans));
    let mut done = Done {
        from: path.to_owned(),
        to: None,
        before: artefact.size,
        after: 0,
        artefact,
        plans,
        signatures: Vec::new(),
    };
    let tag_text = tag.as_ref().map(|(_, tag)| tag.as_str());
    let slim_error = |error: SlimError| about(error.to_string());
    let Some(out) = args.output.as_ref().filter(|_| !args.dry_run) else {
        let mut counted = Counted { out: io::sink(), count: 0 };
        let written = write(&source, &done.artefact, &done.plans, tag_text, &limits, &mut counted);
        done.signatures = written.map_err(slim_error)?.signatures;
        done.after = counted.count;
        return Ok(done);
    };
    let to = match &tag {
        Some((name, _)) => out.join(name),
        None if folder => out.join(&name),
        None => out.clone(),
    };
    if to.exists() && !args.force {
        let to = to.display();
        return Err(Failure::with_hint(format!("`{to}` exists"), "--force writes over it"));
    }
    let mut file = Unfinished::new(&to, done.artefact.kind).map_err(|error| {
        let to = to.display();
        Failure::new(format!("`{to}` cannot be written: {error}"))
    })?;
    let mut counted = Counted { out: io::BufWriter::with_capacity(1 << 20, &mut file.file), count: 0 };
    let written = write(&source, &done.artefact, &done.plans, tag_text, &limits, &mut counted).map_err(slim_error)?;
    counted.flush().map_err(|error| about(error.to_string()))?;
    done.after = counted.count;
    drop(counted);
    prove(&scanner, &options, &done.artefact, &done.plans, &planner, &written, &file.path).map_err(slim_error)?;
    // a library has the permissions that it had
    let mode = fs::metadata(path).map(|own| own.permissions());
    let named = mode.and_then(|mode| fs::set_permissions(&file.path, mode)).and_then(|()| file.finish(&to, args.force));
    named.map_err(|error| about(format!("`{}` cannot be written: {error}", to.display())))?;
    done.signatures = written.signatures;
    done.to = Some(to);
    Ok(done)
}

fn changes(plans: &[MemberPlan]) -> bool {
    plans.iter().any(|plan| !plan.edits.is_empty())
}

/// What a build tag says: `slim_80_90`.
fn tag_of(devices: &[Device]) -> String {
    let mut numbers: Vec<String> = Vec::new();
    for device in devices {
        let number = device.capability.to_string().replace('.', "");
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    format!("slim_{}", numbers.join("_"))
}

struct Counted<W> {
    out: W,
    count: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.count = self.count.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A file that is being written, beside the one that it is to become. Where it is not finished it goes.
struct Unfinished {
    path: PathBuf,
    file: File,
    is_named: bool,
}

impl Unfinished {
    fn new(to: &Path, kind: ArtefactKind) -> io::Result<Self> {
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        // it is read again by what its name says
        let ending = if kind == ArtefactKind::Wheel { "whl" } else { "tmp" };
        let mut number = 0u32;
        loop {
            let path = folder.join(format!(".fatscan-{}-{number}.{ending}", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Self { path, file, is_named: false }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 10_000 => {
                    number = number.saturating_add(1);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn finish(mut self, to: &Path, force: bool) -> io::Result<()> {
        self.file.sync_all()?;
        if force {
            fs::rename(&self.path, to)?;
            self.is_named = true;
        } else {
            // unlike a rename it writes over nothing that came meanwhile
            fs::hard_link(&self.path, to)?;
        }
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_named {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Sums over files.
fn summed<K: Ord + Clone>(plans: &[MemberPlan], of: impl Fn(&MemberPlan) -> &BTreeMap<K, Tally>) -> BTreeMap<K, Tally> {
    let mut sums: BTreeMap<K, Tally> = BTreeMap::new();
    for (key, tally) in plans.iter().flat_map(of) {
        let own = sums.entry(key.clone()).or_default();
        own.images = own.images.saturating_add(tally.images);
        own.bytes = own.bytes.saturating_add(tally.bytes);
    }
    sums
}

fn percent(after: u64, before: u64) -> u64 {
    after.saturating_mul(100).checked_div(before.max(1)).unwrap_or(100)
}

fn table(done: &[Done], devices: &[Device], args: &SlimArgs) -> io::Result<()> {
    let mut out = output::text();
    let names: Vec<String> = devices.iter().map(|device| device.capability.to_string()).collect();
    for (index, own) in done.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let from = own.from.display().to_string();
        let from = escape::text(&from);
        writeln!(out, "{BOLD}{from}{BOLD:#}  for {}", names.join(", "))?;
        if !changes(&own.plans) {
            writeln!(out, "  nothing to leave out")?;
        } else {
            let (kept, dropped) = (summed(&own.plans, |plan| &plan.kept), summed(&own.plans, |plan| &plan.dropped));
            writeln!(out, "  {BOLD}{:<14}{:>10}{:>12}{:>10}{:>12}{BOLD:#}", "", "images", "stay", "images", "go")?;
            let all: BTreeMap<&String, ()> = kept.keys().chain(dropped.keys()).map(|name| (name, ())).collect();
            for name in all.keys() {
                let (stay, go) =
                    (kept.get(*name).copied().unwrap_or_default(), dropped.get(*name).copied().unwrap_or_default());
                writeln!(
                    out,
                    "  {name:<14}{:>10}{:>12}{:>10}{:>12}",
                    stay.images,
                    bytes(stay.bytes),
                    go.images,
                    bytes(go.bytes)
                )?;
            }
        }
        for (stays, tally) in summed(&own.plans, |plan| &plan.stays) {
            let images = count(tally.images, "image", "images");
            writeln!(out, "  left as they are: {images}, {}: {}", bytes(tally.bytes), stays.text())?;
            if stays == Stays::Unwrapped && !args.include_unwrapped {
                writeln!(out, "    --include-unwrapped changes them too")?;
            }
        }
        for name in &own.signatures {
            writeln!(out, "  left out, since it signed the old bytes: {}", escape::text(name))?;
        }
        let zeros = own.plans.iter().map(MemberPlan::dropped_bytes).fold(0, u64::saturating_add);
        let (before, after) = (bytes(own.before), bytes(own.after));
        match (own.artefact.kind, &own.to) {
            (ArtefactKind::File, _) => writeln!(out, "  {} of {before} are zero now, in their places", bytes(zeros))?,
            _ => writeln!(
                out,
                "  {before} -> {after}, {} %; {} of its files are zero now",
                percent(own.after, own.before),
                bytes(zeros)
            )?,
        }
        match &own.to {
            Some(to) => {
                let to = to.display().to_string();
                writeln!(out, "  written to {}; read again: what these GPUs pick is as before", escape::text(&to))?;
            }
            None => writeln!(out, "  a dry run: nothing is written")?,
        }
    }
    out.flush()
}

fn document(done: &[Done], devices: &[Device]) -> io::Result<()> {
    let tallies = |sums: BTreeMap<String, Tally>| -> Value {
        sums.into_iter()
            .map(|(name, own)| (name, json!({ "images": own.images, "bytes": own.bytes })))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let files: Vec<Value> = done
        .iter()
        .map(|own| {
            let left = summed(&own.plans, |plan| &plan.stays);
            let left = left.into_iter().map(|(stays, tally)| (stays.text().to_owned(), tally)).collect();
            let members: Vec<Value> = own
                .artefact
                .members
                .iter()
                .zip(&own.plans)
                .map(|(member, plan)| {
                    json!({
                        "path": member.path,
                        "fatbins_changed": plan.edits.len(),
                        "zeroed_bytes": plan.dropped_bytes(),
                        "kept": tallies(plan.kept.clone()),
                        "dropped": tallies(plan.dropped.clone()),
                    })
                })
                .collect();
            json!({
                "path": own.from.display().to_string(),
                "written": own.to.as_ref().map(|to| to.display().to_string()),
                "bytes_before": own.before,
                "bytes_after": own.after,
                "left": tallies(left),
                "signatures_left_out": own.signatures,
                "members": members,
            })
        })
        .collect();
    let names: Vec<String> = devices.iter().map(|device| device.capability.to_string()).collect();
    let text = serde_json::to_string_pretty(&json!({ "slim": 1, "for": names, "files": files }))?;
    let mut out = output::data();
    writeln!(out, "{}", escape::json(&text))?;
    out.flush()
}
