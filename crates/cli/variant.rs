//! `fatscan variant`: what a wheel variant should declare.

use std::process::ExitCode;

use fatscan::declared::{Claim, Proposal, Speaker, find, label, propose};
use fatscan::json::variants::{Remark, Variant, Variants};
use fatscan::json::{SCHEMA, Tool};
use fatscan::{Limits, Report};

use crate::args::{VariantArgs, VariantFormat};
use crate::failure::Failure;
use crate::{list, output, render};

/// The label where nobody named one.
const LABEL: &str = "LABEL";

pub(crate) fn run(args: &VariantArgs) -> Result<ExitCode, Failure> {
    if let Some(own) = args.label.as_ref().filter(|own| !is_label(own)) {
        let hint = "small letters, digits, `_` and `.` (PEP 825)";
        return Err(Failure::with_hint(format!("--label: `{own}` is no label"), hint));
    }
    let outputs = args.formats.open(&args.paths)?;
    let request = list::Request { paths: &args.paths, files: &args.files, common: &args.common };
    let report = list::scan(&request, list::Depth::Judge)?;
    let is_asked_for = args.formats.all().any(|format| format == VariantFormat::VariantJson);
    if is_asked_for && report.artefacts.len() != 1 {
        let text = format!("--format variant-json is for one wheel, and there are {}", report.artefacts.len());
        return Err(Failure::new(text));
    }
    if is_asked_for && report.is_damaged(0) {
        output::diagnostics(report.diagnostics.iter().filter(|diagnostic| diagnostic.level != fatscan::Level::Note));
        return Err(Failure::new("a part of it could not be read: what it should declare is not known"));
    }
    let variants = variants(&report, &propose(&report)?, args.label.as_deref());
    outputs.write(|format, out| match format {
        VariantFormat::Text => render::variant::text(out, &variants),
        VariantFormat::Json => render::variant::json(out, &variants),
        VariantFormat::VariantJson => render::variant::file(out, &variants),
    })?;
    output::diagnostics(report.diagnostics.iter().filter(|diagnostic| diagnostic.level != fatscan::Level::Note));
    Ok(list::exit_code(&report))
}

fn is_label(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'.');
    !text.is_empty() && text.bytes().all(is_letter)
}

fn variants(report: &Report, proposals: &[Proposal], wanted: Option<&str>) -> Variants {
    let claims = find(report, &Limits::default());
    let all = report.artefacts.iter().zip(proposals).zip(&claims).enumerate();
    let artefacts = all.map(|(index, ((artefact, proposal), claims))| {
        let remarks = proposal.remarks.iter().map(|own| Remark {
            code: own.code.clone(),
            declared: own.declared,
            what: own.what.to_owned(),
            files: own.files.clone(),
        });
        let name = artefact.at.file_name();
        let label = wanted.or_else(|| label(&name)).unwrap_or(LABEL);
        let own = |claim: &&Claim| claim.speaker == Speaker::Variant;
        Variant {
            path: artefact.path.clone(),
            at: (&artefact.at).into(),
            whole: !report.is_damaged(index),
            properties: proposal.properties(),
            remarks: remarks.collect(),
            files: proposal.files,
            declared: claims.iter().filter(own).map(|claim| claim.words.clone()).collect(),
            variant_json: proposal.json(label),
        }
    });
    Variants {
        schema: SCHEMA,
        tool: Tool::default(),
        artefacts: artefacts.collect(),
        diagnostics: report.diagnostics.iter().map(Into::into).collect(),
        unread: report.unread.iter().map(Into::into).collect(),
    }
}
