//! `fatscan kernels`.

use std::process::ExitCode;

use fatscan::CodeKind;
use gpu_arch::rules::Environment;
use gpu_arch::{Arch, Target, spelling};
use regex_lite::Regex;

use crate::args::{DriverArgs, KernelsArgs};
use crate::failure::Failure;
use crate::render::kernels::{Query, View};
use crate::{list, output, render, target};

pub(crate) fn run(args: &KernelsArgs) -> Result<ExitCode, Failure> {
    let filter = match &args.filter {
        Some(text) => Some(Regex::new(text).map_err(|error| Failure::new(format!("--filter: {error}")))?),
        None => None,
    };
    let query = match (&args.missing, &args.only, &args.missing_for) {
        (Some(text), ..) => {
            let (kind, arch) = code("--missing", text)?;
            Query::Missing(kind, arch)
        }
        (None, Some(text), _) => {
            let (kind, arch) = code("--only", text)?;
            Query::Only(kind, arch)
        }
        (None, None, Some(gpu)) => {
            let none = DriverArgs { driver: None, driver_cuda: None };
            let devices = target::devices("--missing-for", std::slice::from_ref(gpu), &none)?;
            let [device] = <[_; 1]>::try_from(devices).map_err(|_| Failure::new("--missing-for takes one GPU"))?;
            Query::MissingFor(Box::new(device))
        }
        _ if args.matrix || filter.is_some() || args.resources => Query::All,
        _ => Query::Totals,
    };
    let depth = if args.resources { list::Depth::Resources } else { list::Depth::Kernels };
    let outputs = args.formats.open(&args.paths)?;
    let request = list::Request { paths: &args.paths, files: &args.files, common: &args.common };
    let report = list::scan(&request, depth)?;
    let view = View {
        query,
        filter,
        resources: args.resources,
        mangled: args.mangled,
        environment: Environment::default(),
        threads: args.common.threads,
    };
    outputs.write(|format, out| render::kernels::write(out, &report, &view, format))?;
    output::diagnostics(report.diagnostics.iter().filter(|diagnostic| diagnostic.level != fatscan::Level::Note));
    let code = list::exit_code(&report);
    let unread = report.artefacts.iter().flat_map(|artefact| &artefact.members).any(fatscan::has_unread_kernels);
    Ok(if unread && code == ExitCode::SUCCESS { ExitCode::FAILURE } else { code })
}

/// One architecture of code: `sm_90a`, `compute_90`; `86` and `8.6` mean machine code.
fn code(flag: &str, text: &str) -> Result<(CodeKind, Arch), Failure> {
    let targets = spelling::code(text).map_err(|error| Failure::new(format!("{flag}: {error}")))?;
    let mut archs = targets.iter().map(|target| target.arch());
    let first = archs.next();
    if archs.any(|arch| Some(arch) != first) {
        let hint = format!("name one: {flag} sm_90a");
        return Err(Failure::with_hint(format!("{flag}: `{text}` names several architectures"), hint));
    }
    match targets.first() {
        Some(Target::Sass(arch)) => Ok((CodeKind::Sass, *arch)),
        Some(Target::Ptx(arch, _)) => Ok((CodeKind::Ptx, *arch)),
        _ => Err(Failure::new(format!("{flag}: `{text}` names neither SASS nor PTX"))),
    }
}
