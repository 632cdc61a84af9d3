//! Findings for people and for the systems that show them.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use fatscan::check::{Assumption, Finding, Outcome, Rule, Severity};
use fatscan::fleet::Board;
use fatscan::{Judgement, Report};
use serde_json::{Value, json};

use crate::escape;
use crate::terminal::{count, width, wrap};

const BOLD: Style = Style::new().bold();

pub(super) const fn style(severity: Severity) -> Style {
    match severity {
        Severity::Deny => AnsiColor::Red.on_default().bold(),
        Severity::Warn => AnsiColor::Yellow.on_default().bold(),
        Severity::Note | Severity::Allow => BOLD,
    }
}

/// Findings that are shown: not the ignored, not the allowed.
fn shown(outcome: &Outcome) -> impl Iterator<Item = &Finding> {
    outcome.findings.iter().filter(|finding| finding.ignored_by.is_none() && finding.severity != Severity::Allow)
}

/// One line a finding, its hint below; of several artefacts or GPUs the table of both; then how it ended.
pub(crate) fn table(
    out: &mut impl Write,
    report: &Report,
    judgement: &Judgement,
    outcome: &Outcome,
    board: &Board,
) -> io::Result<()> {
    let width = width();
    for finding in shown(outcome) {
        let style = style(finding.severity);
        let level = finding.severity.name();
        let place = finding.at.to_string();
        let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
        let text = format!("[{}] {place}{}", finding.rule, finding.message);
        let words: Vec<&str> = text.split(' ').collect();
        let used = level.len().saturating_add(1);
        writeln!(out, "{style}{level}{style:#} {}", wrap(&words, 4, used, width))?;
        if finding.severity == Severity::Deny
            && let Some(hint) = &finding.hint
        {
            let text = format!("hint: {}", hint);
            let words: Vec<&str> = text.split(' ').collect();
            writeln!(out, "    {}", wrap(&words, 4, 4, width))?;
        }
    }
    super::fleet::compact(out, report, board)?;
    summary(out, report, judgement, outcome, (|text| escape::text(text).to_string(), ""))
}

/// What is taken for granted of a driver: a line for the artefacts of which it is the same.
fn assumptions(report: &Report, all: &[Assumption]) -> Vec<String> {
    let mut lines: Vec<(String, Vec<usize>)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for own in all {
        let texts: Vec<String> = own.texts.iter().map(|text| text.replacen("needs ", "", 1)).collect();
        let text = format!("assumes on {}: {}", own.devices.join(", "), texts.join("; "));
        let place = *known.entry(text.clone()).or_insert(lines.len());
        match lines.get_mut(place) {
            Some((_, artefacts)) => artefacts.push(own.artefact),
            None => lines.push((text, vec![own.artefact])),
        }
    }
    let named = lines.into_iter().map(|(text, artefacts)| {
        let first = artefacts.first().and_then(|own| report.artefacts.get(*own)).map_or("", |own| own.path.as_str());
        match artefacts.len().saturating_sub(1) {
            _ if report.artefacts.len() <= 1 => text,
            0 => format!("{first}: {text}"),
            more => format!("{first} and {more} more: {text}"),
        }
    });
    named.collect()
}

/// The last lines, as text or as paragraphs of Markdown.
fn summary(
    out: &mut impl Write,
    report: &Report,
    judgement: &Judgement,
    outcome: &Outcome,
    (escape, end): (fn(&str) -> String, &str),
) -> io::Result<()> {
    let summary = outcome.summary();
    let (word, style) = if outcome.passed() {
        ("passed", AnsiColor::Green.on_default().bold())
    } else {
        ("failed", AnsiColor::Red.on_default().bold())
    };
    let artefacts = count(report.artefacts.len(), "artefact", "artefacts");
    let devices = match judgement.devices.len() {
        0 => String::new(),
        number => format!(" on {}", count(number, "GPU", "GPUs")),
    };
    let mut parts = Vec::new();
    for (number, one, many) in [
        (summary.errors, "error", "errors"),
        (summary.warnings, "warning", "warnings"),
        (summary.notes, "note", "notes"),
        (summary.ignored, "ignored", "ignored"),
        (summary.allowed, "allowed", "allowed"),
    ] {
        if number > 0 {
            parts.push(count(number, one, many));
        }
    }
    for text in assumptions(report, &outcome.assumptions) {
        let text = escape(&text);
        let words: Vec<&str> = text.split(' ').collect();
        writeln!(out, "{}{end}", wrap(&words, 4, 0, width()))?;
    }
    if let Some(own) = &outcome.vendored {
        let text = escape(&own.sentence());
        let words: Vec<&str> = text.split(' ').collect();
        writeln!(out, "{}{end}", wrap(&words, 4, 0, width()))?;
    }
    let found = if parts.is_empty() { "nothing found".to_owned() } else { parts.join(", ") };
    writeln!(out, "{style}{word}{style:#}: {artefacts}{devices}, {found}")
}

/// Annotations that a forge shows of one step: GitHub drops more than ten of a kind.
const ANNOTATIONS: usize = 10;

/// Workflow commands: annotations at the files that were checked, the gravest first. Of more than [`ANNOTATIONS`] the last
/// one tells how many others there are, and the log has them.
pub(crate) fn github(out: &mut impl Write, report: &Report, outcome: &Outcome) -> io::Result<()> {
    let mut all: Vec<&Finding> = shown(outcome).collect();
    let rank = |finding: &&Finding| [Severity::Deny, Severity::Warn].iter().position(|own| *own == finding.severity);
    all.sort_by_key(|finding| rank(finding).unwrap_or(2));
    let most = if all.len() > ANNOTATIONS { ANNOTATIONS.saturating_sub(1) } else { ANNOTATIONS };
    let (first, rest) = all.split_at_checked(most).unwrap_or((&all, &[]));
    for finding in first {
        let file =
            finding.artefact.and_then(|index| report.artefacts.get(index)).map(|artefact| artefact.path.as_str());
        let file = file.map(|file| format!("file={},", escape::github_property(file))).unwrap_or_default();
        let text = escape::github(&line(finding));
        writeln!(out, "::{} {file}title=fatscan {}::{text}", annotation(finding), finding.rule)?;
    }
    let Some(gravest) = rest.first() else { return Ok(()) };
    let counts = [("error", "error", "errors"), ("warning", "warning", "warnings"), ("notice", "note", "notes")];
    let counts = counts.map(|(kind, one, many)| (rest.iter().filter(|own| annotation(own) == kind).count(), one, many));
    let counts: Vec<String> =
        counts.iter().filter(|(number, ..)| *number > 0).map(|(number, one, many)| count(*number, one, many)).collect();
    let (kind, more) = (annotation(gravest), rest.len());
    writeln!(out, "::{kind} title=fatscan::{more} more: {}; the log has them", counts.join(", "))?;
    for finding in rest {
        // a line that begins so is no command
        let text = format!("{} [{}] {}", finding.severity.name(), finding.rule, line(finding));
        writeln!(out, "{}", escape::text(&text))?;
    }
    Ok(())
}

/// The kind of annotation.
const fn annotation(finding: &Finding) -> &'static str {
    match finding.severity {
        Severity::Deny => "error",
        Severity::Warn => "warning",
        Severity::Note | Severity::Allow => "notice",
    }
}

/// A finding with its place and what to do.
fn line(finding: &Finding) -> String {
    let hint = finding.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("{}: {}{hint}", finding.at, finding.message)
}

/// SARIF 2.1.0 (OASIS standard): one run, every rule described, ignored findings as suppressed results.
pub(crate) fn sarif(out: &mut impl Write, report: &Report, outcome: &Outcome) -> io::Result<()> {
    let rules: Vec<Value> = Rule::ALL
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id(),
                "shortDescription": { "text": rule.sentence() },
                "defaultConfiguration": { "level": level(rule.severity()) },
            })
        })
        .collect();
    let results: Vec<Value> = outcome
        .findings
        .iter()
        .filter(|finding| finding.severity != Severity::Allow)
        .map(|finding| sarif_result(report, finding))
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "fatscan",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "results": results,
        }],
    });
    let text = serde_json::to_string_pretty(&log)?;
    writeln!(out, "{}", escape::json(&text))
}

fn sarif_result(report: &Report, finding: &Finding) -> Value {
    let index = Rule::ALL.iter().position(|rule| *rule == finding.rule);
    let own = finding.artefact.and_then(|index| report.artefacts.get(index));
    let place = finding.at.to_string();
    let artefact = own.map_or(place.as_str(), |artefact| artefact.path.as_str());
    // the same finding in the next version of a package has the same print
    let package = own.and_then(fatscan::package).map_or(artefact, |(name, _)| name);
    let device = finding.device.as_ref();
    let about = [
        finding.code.map(|code| code.to_string()),
        device.map(|device| device.id.clone()),
        device.and_then(|device| device.fleet.clone()),
        device.and_then(|device| device.driver.clone()),
        finding.subject.clone(),
    ];
    let about = about.map(Option::unwrap_or_default).join("|");
    let mut location = json!({ "logicalLocations": [{ "fullyQualifiedName": place }] });
    if !artefact.is_empty()
        && let Some(location) = location.as_object_mut()
    {
        let uri = uri(artefact);
        location.insert("physicalLocation".to_owned(), json!({ "artifactLocation": { "uri": uri } }));
    }
    let mut result = json!({
        "ruleId": finding.rule.id(),
        "ruleIndex": index,
        "level": level(finding.severity),
        "message": { "text": finding.message },
        "locations": [location],
        "partialFingerprints": {
            "fatscan/v1": format!("{}|{package}!{}|{about}", finding.rule, finding.member),
        },
    });
    if let (Some(reason), Some(result)) = (&finding.ignored_by, result.as_object_mut()) {
        result.insert("suppressions".to_owned(), json!([{ "kind": "external", "justification": reason }]));
    }
    result
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Deny => "error",
        Severity::Warn => "warning",
        Severity::Note | Severity::Allow => "note",
    }
}

/// A path as a relative reference: bytes outside the unreserved ones are percent-encoded.
fn uri(path: &str) -> String {
    use std::fmt::Write as _;
    let mut uri = String::new();
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~') {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

/// JUnit XML: a suite of one test case for each artefact.
pub(crate) fn junit(out: &mut impl Write, report: &Report, outcome: &Outcome) -> io::Result<()> {
    let mut cases: BTreeMap<Option<usize>, Vec<&Finding>> = BTreeMap::new();
    for index in 0..report.artefacts.len() {
        cases.insert(Some(index), Vec::new());
    }
    for finding in shown(outcome) {
        cases.entry(finding.artefact).or_default().push(finding);
    }
    let fails = |findings: &Vec<&Finding>| findings.iter().any(|finding| finding.fails());
    let failures = cases.values().filter(|findings| fails(findings)).count();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites><testsuite name=\"fatscan check\" tests=\"{}\" failures=\"{failures}\">", cases.len())?;
    for (artefact, findings) in &cases {
        let name = artefact.and_then(|index| report.artefacts.get(index)).map_or("paths", |artefact| &artefact.path);
        writeln!(out, "<testcase classname=\"fatscan\" name=\"{}\">", escape::xml(name))?;
        let mut rest = Vec::new();
        for finding in findings {
            if finding.fails() {
                let (rule, message) = (finding.rule, escape::xml(&finding.message));
                writeln!(
                    out,
                    "<failure type=\"{rule}\" message=\"{message}\">{}</failure>",
                    escape::xml(&finding.at.to_string())
                )?;
            } else {
                let text = format!("{}[{}] {}: {}", finding.severity.name(), finding.rule, finding.at, finding.message);
                rest.push(escape::xml(&text));
            }
        }
        if !rest.is_empty() {
            writeln!(out, "<system-out>{}</system-out>", rest.join("\n"))?;
        }
        writeln!(out, "</testcase>")?;
    }
    writeln!(out, "</testsuite></testsuites>")
}

/// A table for a pull request.
pub(crate) fn markdown(
    out: &mut impl Write,
    report: &Report,
    judgement: &Judgement,
    outcome: &Outcome,
) -> io::Result<()> {
    if shown(outcome).next().is_some() {
        writeln!(out, "| level | rule | where | what |\n|---|---|---|---|")?;
    }
    for finding in shown(outcome) {
        let (place, message) = (escape::markdown(&finding.at.to_string()), escape::markdown(&finding.message));
        writeln!(out, "| {} | {} | {place} | {message} |", finding.severity.name(), finding.rule)?;
    }
    writeln!(out)?;
    summary(out, report, judgement, outcome, (|text| escape::markdown(text).to_string(), "\n"))
}
