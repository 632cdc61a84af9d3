//! `fatscan slim`.

mod folder;
mod lists;
mod one;
mod place;
mod sparse;
mod tree;
mod wish;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fatscan::ArtefactKind;
use fatscan::slim::MemberPlan;

use self::one::Reader;
pub(crate) use self::wish::{Chosen, name};
use crate::args::{SlimArgs, SlimFormat};
use crate::failure::{CANNOT, Failure};
use crate::{escape, render};

/// Something that was slimmed, or would be.
pub(crate) struct Done {
    pub(crate) from: PathBuf,
    /// Nothing where nothing was written.
    pub(crate) to: Option<PathBuf>,
    pub(crate) kind: ArtefactKind,
    pub(crate) before: u64,
    pub(crate) after: u64,
    /// Files with device code by their paths, and what happened to them.
    pub(crate) members: Vec<(String, MemberPlan)>,
    pub(crate) signatures: Vec<String>,
    /// What else is to be known, in sentences.
    pub(crate) notes: Vec<String>,
    pub(crate) is_in_place: bool,
}

impl Done {
    /// A directory of which nothing is known yet.
    fn of(path: &Path) -> Self {
        Self {
            from: path.to_owned(),
            to: None,
            kind: ArtefactKind::Directory,
            before: 0,
            after: 0,
            members: Vec::new(),
            signatures: Vec::new(),
            notes: Vec::new(),
            is_in_place: false,
        }
    }

    pub(crate) fn changes(&self) -> bool {
        self.members.iter().any(|(_, plan)| !plan.edits.is_empty())
    }

    pub(crate) fn plans(&self) -> impl Iterator<Item = &MemberPlan> {
        self.members.iter().map(|(_, plan)| plan)
    }

    /// Bytes of its files that are zero now, or cut off.
    pub(crate) fn zeroed(&self) -> u64 {
        self.plans().map(MemberPlan::dropped_bytes).fold(0, u64::saturating_add)
    }

    /// What is left of its files in their places.
    fn in_place(self) -> Self {
        let cut = self.plans().map(MemberPlan::cut_bytes).fold(0, u64::saturating_add);
        Self { after: self.before.saturating_sub(cut), ..self }
    }
}

fn refused(path: &Path, why: &str) -> Failure {
    Failure::new(format!("`{}`: {why}", path.display()))
}

pub(crate) fn run(args: &SlimArgs) -> Result<ExitCode, Failure> {
    if args.common.no_color {
        anstream::ColorChoice::Never.write_global();
    }
    let chosen = Chosen::new(args)?;
    if args.in_place && !args.dry_run && args.backup.is_none() && !args.yes {
        return Err(Failure::with_hint(
            "--in-place changes installed files: what goes is gone",
            "keep the old ones with --backup DIR, or say --yes",
        ));
    }
    let is_folder = match &args.to {
        Some(path) if args.paths.len() > 1 && !path.is_dir() => {
            return Err(Failure::with_hint(
                "several files need a directory to be written to",
                format!("mkdir {}", escape::text(&path.display().to_string())),
            ));
        }
        Some(path) => path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/"),
        None => false,
    };
    let outputs = args.formats.open(&args.paths)?;
    let reader = Reader::new(args, &chosen)?;
    let (mut done, mut failed) = (Vec::new(), false);
    for path in &args.paths {
        let own = match path {
            path if args.in_place => place::slim(path, &reader, args),
            path if path.is_dir() => tree::copy(path, is_folder, &reader, args),
            path => one::slim(path, is_folder, &reader, args).map(|own| (own, false)),
        };
        match own {
            Ok((own, has_failed)) => {
                failed |= has_failed;
                done.push(own);
            }
            Err(failure) => {
                failure.report();
                failed = true;
            }
        }
    }
    outputs.write(|format, out| match format {
        SlimFormat::Table => render::slim::table(out, &done, &chosen, args.include_unwrapped),
        SlimFormat::Json => render::slim::json(out, &done, &chosen),
        SlimFormat::Markdown => render::slim::markdown(out, &done, &chosen),
    })?;
    Ok(match (failed, done.is_empty()) {
        (true, true) => ExitCode::from(CANNOT),
        (true, false) => ExitCode::FAILURE,
        (false, _) => ExitCode::SUCCESS,
    })
}
