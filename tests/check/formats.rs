//! What is printed, in every format.

use super::*;

/// A wheel with a name that every format must escape, and findings of three levels in it.
fn awkward(folder: &Folder, name: &str) -> Vec<String> {
    let path = folder.write(
        name,
        wheel(&[
            ("x/<a>&\"b\" 100%,c:d.so", library(&[module(&["80", "90"]), module(&["90a"])])),
            ("x/e|f`g.so", library(&[vec![sass("75"), ptx("80", (8, 0))]])),
        ]),
    );
    args(&[&path, "--require", "7.5,8.0", "--warn", "jit", "--contains", "8.0"])
}

/// Names that Windows has no files for.
#[cfg(unix)]
const AWKWARD: &str = "a b/100%25 <&>\"',;:\n\u{1b}[31mé—x-1.0-py3-none-any.whl";
#[cfg(not(unix))]
const AWKWARD: &str = "a b/100%25 &',;é—x-1.0-py3-none-any.whl";

#[test]
fn the_table_has_one_line_a_finding_and_the_summary_last() {
    let folder = Folder::new();
    let run = check(&awkward(&folder, AWKWARD));
    assert_eq!(run.code, Some(1));
    let lines: Vec<&str> = run.out.lines().collect();
    let starts = |line: &&&str| ["error ", "warning ", "note ", "assumes "].iter().any(|level| line.starts_with(level));
    let findings = lines.iter().filter(starts).count();
    let hints = lines.iter().filter(|line| line.starts_with("    hint: ")).count();
    // two GPUs have a table, between two empty lines
    let ends: Vec<usize> = (0..lines.len()).filter(|index| lines[*index].is_empty()).collect();
    assert_eq!(ends.len(), 2, "{}", run.out);
    let table = ends[1] - ends[0] + 1;
    assert_eq!(table, 4, "a head, an artefact: {}", run.out);
    assert_eq!(findings + hints + table + 1, lines.len(), "{}", run.out);
    assert!(lines.last().unwrap().starts_with("failed: 1 artefact on 2 GPUs, "), "{}", run.out);
    assert!(!run.out.contains('\u{1b}'), "a terminal would obey");
    // what is not forced to be wide is not
    let mut command = command();
    command.args(["check"]).args(awkward(&folder, "x.whl")).env("COLUMNS", "80");
    let run = finish(command);
    for line in run.out.lines() {
        assert!(line.chars().count() <= 80 || !line.trim_start().contains(' '), "{line}");
    }
}

#[test]
fn colour_is_for_terminals_and_those_who_force_it() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let with = |name: &str, more: &[&str]| {
        let mut command = command();
        command.args(["check", &path, "--require", "9.0"]).args(more).env(name, "1");
        finish(command).out
    };
    assert!(!with("UNUSED", &[]).contains('\u{1b}'));
    assert!(with("CLICOLOR_FORCE", &[]).contains('\u{1b}'));
    assert!(!with("CLICOLOR_FORCE", &["--no-color"]).contains('\u{1b}'));
    assert!(!with("NO_COLOR", &[]).contains('\u{1b}'));
}

#[test]
fn json_is_the_contract_with_findings_and_their_sum() {
    let folder = Folder::new();
    let arguments = awkward(&folder, AWKWARD);
    let run = in_format(&arguments, "json");
    let document = document(&run);
    let findings = document.findings.unwrap();
    let summary = document.summary.unwrap();
    let count = |level: &str| findings.iter().filter(|finding| finding.level == level).count() as u64;
    assert_eq!((summary.errors, summary.warnings, summary.notes), (count("error"), count("warning"), count("note")));
    assert!(summary.errors > 0 && summary.warnings > 0 && summary.notes > 0, "{summary:?}");
    assert!(!summary.passed);
    for finding in &findings {
        assert!(finding.rule.parse::<Rule>().is_ok());
        assert!(finding.place.starts_with(&arguments[0]), "{}", finding.place);
    }
    assert_eq!(document.devices.unwrap().len(), 2);
    assert_eq!(run.out.lines().count(), 1);
}

#[test]
fn github_annotations_are_escaped_as_the_runner_reads_them() {
    let folder = Folder::new();
    let arguments = awkward(&folder, AWKWARD);
    let run = in_format(&arguments, "github");
    let expected = document(&in_format(&arguments, "json")).findings.unwrap();
    let mut expected: Vec<_> = expected.iter().filter(|finding| finding.level != "allowed").collect();
    // the gravest first
    expected.sort_by_key(|finding| ["error", "warning", "note"].iter().position(|level| *level == finding.level));
    let lines: Vec<&str> = run.out.split_terminator('\n').collect();
    assert_eq!(lines.len(), expected.len(), "{}", run.out);
    for (line, finding) in lines.iter().zip(expected) {
        // `::error file=F,title=T::message`, as actions/runner takes it apart
        let (head, message) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
        let (level, properties) = head.split_once(' ').unwrap();
        assert_eq!(level, if finding.level == "note" { "notice" } else { &finding.level });
        let properties: Vec<(&str, &str)> = properties.split(',').map(|pair| pair.split_once('=').unwrap()).collect();
        assert_eq!(properties.iter().map(|(key, _)| *key).collect::<Vec<_>>(), ["file", "title"], "{line}");
        let unescaped = |text: &str| {
            let text = text.replace("%0D", "\r").replace("%0A", "\n").replace("%3A", ":").replace("%2C", ",");
            text.replace("%25", "%")
        };
        assert_eq!(unescaped(properties[0].1), arguments[0].replace('\u{1b}', "\\u{1b}"), "{line}");
        assert!(!properties[0].1.contains([':', '\n', '\r']), "{line}");
        assert_eq!(properties[1].1, format!("fatscan {}", finding.rule));
        assert!(unescaped(message).contains(&finding.message), "{line}");
    }
}

/// Places are written with `!` and `@`, which stand in names too.
#[test]
fn damage_is_told_of_the_artefact_whatever_its_name() {
    let folder = Folder::new();
    let cut = testkit::truth::bytes("bad_truncated.fatbin");
    for name in ["bad.fatbin", "a@b/bad.fatbin", "a!b/bad@0x10.fatbin"] {
        let path = folder.write(name, &cut);
        let arguments = args(&[&path, "--require", "9.0"]);
        let line = in_format(&arguments, "github").out;
        assert!(line.contains(&format!("file={path},title=fatscan damage::")), "{line}");
        let root = parse_xml(&in_format(&arguments, "junit").out);
        let names: Vec<&str> = root.children[0].children.iter().map(|case| case.get("name")).collect();
        assert_eq!(names, [path.as_str()]);
    }
}

/// An element of XML: its name, its attributes, its text, its children.
#[derive(Debug, Default)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) text: String,
    pub(crate) children: Vec<Element>,
}

impl Element {
    pub(crate) fn get(&self, name: &str) -> &str {
        self.attributes.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }
}

/// Characters that XML 1.0 has (section 2.2).
fn is_xml_character(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

fn xml_text(text: &str) -> String {
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(';').expect("an entity ends");
        out.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            number => char::from_u32(number.strip_prefix("#x").map_or_else(
                || number.strip_prefix('#').unwrap().parse().unwrap(),
                |hex| u32::from_str_radix(hex, 16).unwrap(),
            ))
            .unwrap(),
        });
        out.push_str(rest);
    }
    assert!(!out.contains('\u{0}'));
    out
}

/// The root of a document of elements, attributes in double quotes and text: what is well formed beyond that is not
/// needed here.
pub(crate) fn parse_xml(text: &str) -> Element {
    assert!(text.chars().all(is_xml_character), "characters that XML has not");
    let mut rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").expect("a declaration");
    let mut open = vec![Element::default()];
    while let Some(at) = rest.find('<') {
        let before = xml_text(&rest[..at]);
        open.last_mut().unwrap().text.push_str(&before);
        let end = rest[at..].find('>').expect("a tag ends") + at;
        let tag = &rest[at + 1..end];
        assert!(!tag.contains('<'), "{tag}");
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let element = open.pop().unwrap();
            assert_eq!(element.name, name, "tags nest");
            open.last_mut().unwrap().children.push(element);
            continue;
        }
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut element = Element { name: name.to_owned(), ..Element::default() };
        while !attributes.is_empty() {
            let (key, value) = attributes.split_once("=\"").expect("an attribute has a value in quotes");
            let (value, more) = value.split_once('"').expect("the value ends");
            element.attributes.push((key.trim().to_owned(), xml_text(value)));
            attributes = more.trim_start();
        }
        open.push(element);
    }
    assert_eq!(open.len(), 1, "every tag is closed");
    let mut top = open.pop().unwrap();
    assert_eq!(top.children.len(), 1, "one root");
    top.children.remove(0)
}

#[test]
fn junit_is_well_formed_xml_with_a_case_for_each_artefact() {
    let folder = Folder::new();
    let mut arguments = awkward(&folder, AWKWARD);
    arguments.push(folder.write("good-1.0-py3-none-any.whl", wheel_of(&[module(&["75", "80"])])));
    let missing = folder.file("missing.whl").to_str().unwrap().to_owned();
    arguments.push(missing.clone());
    let run = in_format(&arguments, "junit");
    assert_eq!(run.code, Some(1));
    let root = parse_xml(&run.out);
    assert_eq!(root.name, "testsuites");
    let suite = &root.children[0];
    assert_eq!((suite.name.as_str(), suite.get("name")), ("testsuite", "fatscan check"));
    assert_eq!(suite.get("tests").parse(), Ok(suite.children.len()));
    let failed: Vec<&Element> =
        suite.children.iter().filter(|case| case.children.iter().any(|child| child.name == "failure")).collect();
    assert_eq!(suite.get("failures").parse(), Ok(failed.len()));
    assert_eq!((suite.children.len(), failed.len()), (3, 2));
    for case in &suite.children {
        assert_eq!((case.name.as_str(), case.get("classname")), ("testcase", "fatscan"));
        for child in &case.children {
            assert!(["failure", "system-out"].contains(&child.name.as_str()));
            assert!(child.name != "failure" || child.get("type").parse::<Rule>().is_ok());
        }
    }
    let own = suite.children.iter().find(|case| case.get("name").contains("100%25")).unwrap();
    // what misleads in a name is written out, and XML has no control characters
    assert_eq!(own.get("name"), arguments[0].replace('\n', "\\n").replace('\u{1b}', "\\u{1b}"));
    assert!(own.children.iter().any(|child| child.text.contains("<a>&\"b\" 100%,c:d.so")), "{own:?}");
    // what has no artefact has a case too
    assert!(failed.iter().any(|case| case.children.iter().any(|child| child.get("message").contains("FS0101"))));
}

#[test]
fn markdown_keeps_its_columns_and_obeys_no_name() {
    let folder = Folder::new();
    let run = in_format(&awkward(&folder, AWKWARD), "markdown");
    let rows: Vec<&str> = run.out.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(rows[..2], ["| level | rule | where | what |", "|---|---|---|---|"]);
    for row in &rows[2..] {
        let bars = row.replace("\\\\", "").replace("\\|", "").matches('|').count();
        assert_eq!(bars, 5, "{row}");
        assert!(!row.contains("x/<a>") && !row.contains('\u{1b}'), "{row}");
    }
    assert!(run.out.lines().last().unwrap().starts_with("failed: "));
    // nothing found: no table
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let run = in_format(&args(&[&path, "--require", "9.0"]), "markdown");
    assert!(!run.out.contains('|'), "{}", run.out);
}

/// Required properties, types and enumerations of SARIF 2.1.0 (OASIS, sections 3.13 to 3.35), as far as they are used.
fn assert_sarif(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().contains("sarif-2.1.0"));
    for run in log["runs"].as_array().unwrap() {
        let driver = &run["tool"]["driver"];
        assert!(driver["name"].is_string());
        let rules = driver["rules"].as_array().unwrap();
        let ids: Vec<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "ids are unique");
        let level = |value: &Value| ["none", "note", "warning", "error"].contains(&value.as_str().unwrap());
        for rule in rules {
            assert!(!rule["shortDescription"]["text"].as_str().unwrap().is_empty());
            assert!(level(&rule["defaultConfiguration"]["level"]));
        }
        for result in run["results"].as_array().unwrap() {
            assert!(level(&result["level"]));
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(ids[index], result["ruleId"].as_str().unwrap());
            for location in result["locations"].as_array().unwrap() {
                if let Some(physical) = location.get("physicalLocation") {
                    let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
                    assert_uri(uri);
                }
                for logical in location["logicalLocations"].as_array().unwrap() {
                    assert!(logical["fullyQualifiedName"].is_string());
                }
            }
            for (key, value) in result["partialFingerprints"].as_object().unwrap() {
                assert!(!key.is_empty() && value.is_string());
            }
            for suppression in result["suppressions"].as_array().into_iter().flatten() {
                assert!(["inSource", "external"].contains(&suppression["kind"].as_str().unwrap()));
            }
        }
    }
}

/// A reference of RFC 3986: its characters only, and every `%` before two hexadecimal digits.
fn assert_uri(uri: &str) {
    assert!(!uri.is_empty());
    let mut bytes = uri.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            assert!(bytes.next().unwrap().is_ascii_hexdigit() && bytes.next().unwrap().is_ascii_hexdigit(), "{uri}");
        } else {
            assert!(byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(&byte), "{uri}");
        }
    }
}

fn unpercent(uri: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = uri.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
            out.push(u8::from_str_radix(core::str::from_utf8(&digits).unwrap(), 16).unwrap());
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).unwrap()
}

#[test]
fn sarif_keeps_the_rules_of_2_1_0() {
    let folder = Folder::new();
    let arguments = awkward(&folder, AWKWARD);
    let run = in_format(&arguments, "sarif");
    let log: Value = serde_json::from_str(&run.out).unwrap();
    assert_sarif(&log);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let expected = document(&in_format(&arguments, "json")).findings.unwrap();
    assert_eq!(results.len(), expected.len());
    for (result, finding) in results.iter().zip(&expected) {
        assert_eq!(
            (result["ruleId"].as_str(), result["level"].as_str()),
            (Some(&*finding.rule), Some(&*finding.level))
        );
        assert_eq!(result["message"]["text"], finding.message.as_str());
        let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
        assert_eq!(unpercent(uri), arguments[0]);
    }
    let ids: Vec<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect::<Vec<_>>(), ids);
    // every rule's own findings, and a run without any
    for rule in Rule::ALL.iter().copied() {
        let folder = Folder::new();
        let case = case(&folder, rule).unwrap();
        for arguments in [&case.trips, &case.holds] {
            assert_sarif(&serde_json::from_str(&in_format(arguments, "sarif").out).unwrap());
        }
    }
}

#[test]
fn nothing_but_the_format_is_on_standard_output_and_nothing_else_on_standard_error() {
    let folder = Folder::new();
    let case = case(&folder, Rule::Unreadable).unwrap();
    for format in FORMATS {
        let run = in_format(&case.trips, format);
        assert!(run.err.is_empty(), "{format}: {}", run.err);
        assert!(run.out.ends_with('\n'), "{format}");
    }
}
