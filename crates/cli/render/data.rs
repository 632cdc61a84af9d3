//! JSON, whole or by line.

use std::io::{self, Write};

use fatscan::json::{Artefact, Diagnostic, Document, Member, Module, SCHEMA, Unread};
use fatscan::{Judgement, Owners, Report};
use serde_json::json;

use crate::args::By;
use crate::escape::json_line;

pub(crate) fn json(out: &mut impl Write, report: &Report, judgement: Option<&Judgement>, by: By) -> io::Result<()> {
    let modules = by == By::Module;
    let document = match judgement {
        Some(judgement) => {
            let owners = Owners::find(report);
            Document::judged(report, judgement, modules).with_remedies(report, judgement, &owners)
        }
        None => Document::new(report, modules),
    };
    json_line(out, &document)
}

/// One value a line: artefacts, members or modules, then the diagnostics.
pub(crate) fn ndjson(out: &mut impl Write, report: &Report, by: By) -> io::Result<()> {
    for artefact in &report.artefacts {
        if by == By::Artefact || artefact.members.is_empty() {
            json_line(out, &json!({ "schema": SCHEMA, "artefact": Artefact::new(artefact, false) }))?;
            continue;
        }
        for member in &artefact.members {
            let path = &artefact.path;
            if by == By::Member {
                let line = json!({ "schema": SCHEMA, "path": path, "member": Member::new(member, false) });
                json_line(out, &line)?;
                continue;
            }
            for module in &member.modules {
                let module = Module::new(member, module);
                let line = json!({ "schema": SCHEMA, "path": path, "member": member.path, "module": module });
                json_line(out, &line)?;
            }
        }
    }
    for diagnostic in &report.diagnostics {
        json_line(out, &json!({ "schema": SCHEMA, "diagnostic": Diagnostic::from(diagnostic) }))?;
    }
    for unread in &report.unread {
        json_line(out, &json!({ "schema": SCHEMA, "unread": Unread::from(unread) }))?;
    }
    Ok(())
}
