//! JSON, whole.

use std::io::{self, Write};

use fatscan::json::Document;
use fatscan::{Judgement, Owners, Report};

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
