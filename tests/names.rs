//! Names that files bring along, in the output of every command in every format: none is obeyed, none moves anything.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::print_stdout,
    clippy::string_slice,
    reason = "a panic here is a failing test, and what is skipped is said"
)]

mod program;

use std::ffi::OsString;
use std::path::Path;

use program::{Folder, Run, finish, program as command, run};
use serde_json::Value;
use testkit::ar::Flavour;
use testkit::{Ar, Cubin, Elf, Entry, Zip, ZipMember, fatbin, ptx_text};

const NAMES: &[&str] = &[
    "::add-mask::x",
    "::error file=a,line=1::x",
    " ::add-mask::x",
    "a ::add-mask::x",
    "\u{a0}::add-mask::x",
    "##[error]x",
    "a##[group]x",
    "##vso[task.setvariable variable=a]x",
    "=cmd()",
    "+1",
    "-1",
    "@x",
    "\t=1",
    "\r=1",
    "a\nb",
    "a\r\nb",
    "a\n::add-mask::b",
    "a\nerror: faked",
    "\u{1b}[31mred",
    "\u{1b}]0;title\u{7}",
    "\u{9b}31m",
    "\u{7f}\u{8}",
    "\u{85}x",
    "\u{202e}gpj.so",
    "\u{2066}x\u{2069}\u{200e}\u{200f}\u{61c}",
    "\u{2028}x\u{2029}",
    "\u{ffff}",
    "\u{fffe}",
    "\u{fdd0}",
    "\u{1ffff}",
    "a|b",
    "\\|b",
    "`x`",
    "*x*_y_~z~",
    "<script>",
    "<!--",
    "&amp;",
    "&#0;",
    "\"]]>",
    "]]>",
    "'",
    "[x](javascript:y)",
    "![x](y)",
    "https:x www.x.org",
    "# x",
    "100%25%0A",
    "a,b",
    "a:b",
    "a\"b",
    "..\\x",
    "{\"a\"}",
    "$x$",
    "é",
    "名",
];

/// Stands for bytes that are no UTF-8 in names of files.
const RAW: (&[u8; 8], &[u8; 8]) = (b"no-utf-8", b"\xff\xfe-\xc3(\x9b31");

// --- files

fn cubin(arch: &str) -> Vec<u8> {
    NAMES.iter().fold(Cubin::new(arch).without_functions(), |cubin, name| cubin.kernel(name)).bytes()
}

fn entry(name: &str) -> Entry {
    Entry::sass("90", Cubin::new("90").kernel(name).bytes()).name(name).options(name)
}

/// A section of every name, with a module whose images have every name.
fn elf() -> Vec<u8> {
    let images: Vec<Entry> = NAMES.iter().map(|name| entry(name)).collect();
    let all = Elf::shared().section(".nv_fatbin", &fatbin(&images)).section(".cubin", &cubin("90"));
    NAMES.iter().fold(all, |elf, name| elf.section(name, &fatbin(&[entry(name)]))).bytes()
}

fn library() -> Vec<u8> {
    Elf::shared().section(".nv_fatbin", &fatbin(&[entry("k")])).bytes()
}

fn wheel(names: &[&str]) -> Vec<u8> {
    let mut members = Vec::new();
    for name in names.iter().chain(&[std::str::from_utf8(RAW.0).unwrap()]) {
        members.push(ZipMember::deflated(name, &library()));
        members.push(ZipMember::deflated(&format!("{name}.so"), &library()));
        members.push(ZipMember::deflated(&format!("bad/{name}.so"), &library()).bad_crc());
    }
    let mut bytes = Zip::wheel("pkg", "1.0", "py3-none-any", &members).bytes();
    while let Some(at) = bytes.windows(RAW.0.len()).position(|window| window == RAW.0) {
        bytes[at..at + RAW.0.len()].copy_from_slice(RAW.1);
    }
    bytes
}

/// Files whose own names are the names, as far as the system has such; their names.
fn loose(folder: &Path) -> Vec<OsString> {
    let mut names: Vec<OsString> = NAMES.iter().map(OsString::from).collect();
    #[cfg(unix)]
    names.push(std::os::unix::ffi::OsStringExt::from_vec(RAW.1.to_vec()));
    std::fs::create_dir_all(folder).unwrap();
    names.retain(|name| {
        let written = std::fs::write(folder.join(name), library());
        if let Err(error) = &written {
            println!("skipped: {name:?}: {error}");
        }
        written.is_ok()
    });
    names
}

/// All kinds of files, in the folder.
const FILES: [&str; 7] = ["x.whl", "x.so", "x.a", "x.fatbin", "x.cubin", "x.ptx", "loose"];

fn files() -> Folder {
    let folder = Folder::new();
    let objects = NAMES.iter().fold(Ar::new(Flavour::Bsd), |ar, name| {
        let object = Elf::object().section(name, &fatbin(&[entry(name)])).bytes();
        ar.member(&format!("{name} long enough to stand before the data"), &object)
    });
    let texts: String = NAMES.iter().map(|name| format!("// {name}\n")).collect();
    for (name, bytes) in [
        ("x.whl", wheel(NAMES)),
        ("y.whl", wheel(&NAMES[1..])),
        ("x.so", elf()),
        ("x.a", objects.bytes()),
        ("x.fatbin", fatbin(&NAMES.iter().map(|name| entry(name)).collect::<Vec<_>>())),
        ("x.cubin", cubin("90")),
        ("x.ptx", (ptx_text("8.0", "sm_80", "k") + &texts).into_bytes()),
    ] {
        folder.write(name, bytes);
    }
    loose(&folder.file("loose"));
    folder.write("fleets.toml", fleets());
    folder.write("gpu.json", recording().to_string());
    folder
}

/// A fleet of every name; strings of JSON without DEL are strings of TOML.
fn fleets() -> String {
    let quoted = |name: &str| Value::from(name).to_string().replace('\u{7f}', "\\u007f");
    let mut text = String::new();
    for name in NAMES {
        text += &format!("[fleet.{}]\ngpus = [\"12.0\"]\n", quoted(name));
    }
    for name in NAMES {
        text += &format!("[[any-of]]\nname = {}\ngpus = [\"7.0\", \"12.0\"]\n", quoted(name));
    }
    text
}

fn recording() -> Value {
    let device = |name: &&str| {
        serde_json::json!({ "visible": "visible", "index": 0, "name": name, "capability": "12.0",
            "confidence": "reported", "platform": "discrete", "ways": [] })
    };
    let finding = |name: &&str| serde_json::json!({ "code": "no-gpu", "level": "error", "text": name, "advice": name });
    let host = serde_json::json!({ "architecture": "x86_64", "system": "linux", "wsl": false, "container": false,
        "device_files": [] });
    serde_json::json!({ "schema": 1, "taken": "2026-11-30T18:04:05Z", "probe": { "host": host, "driver": {},
        "ways": [], "environment": {}, "devices": NAMES.iter().map(device).collect::<Vec<_>>(),
        "findings": NAMES.iter().map(finding).collect::<Vec<_>>() } })
}

// --- what must hold

/// No character that a terminal or a reader obeys, and no line that a system which reads logs does.
fn assert_text(text: &str, about: &str) {
    for line in text.split_terminator('\n') {
        assert_words(line, about);
        assert!(!line.trim_start().starts_with("::"), "{about}: a command: {line:?}");
        assert!(!line.starts_with("error: faked"), "{about}: a name ended a line");
    }
}

fn assert_words(line: &str, about: &str) {
    let bad = line.chars().find(|character| {
        let code = u32::from(*character);
        character.is_control()
            || [0x61c, 0x200e, 0x200f, 0x2028, 0x2029].contains(&code)
            || (0x202a..=0x202e).contains(&code)
            || (0x2066..=0x2069).contains(&code)
            || (0xfdd0..=0xfdef).contains(&code)
            || code % 0x1_0000 >= 0xfffe
    });
    assert_eq!(bad, None, "{about}: {line:?}");
    assert!(!line.contains("##[") && !line.contains("##vso["), "{about}: a command: {line:?}");
}

/// The rows of comma-separated values (RFC 4180).
fn csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, quoted) {
            ('"', true) if characters.next_if_eq(&'"').is_some() => cell.push('"'),
            ('"', _) => quoted = !quoted,
            (',', false) => row.push(std::mem::take(&mut cell)),
            ('\r', false) => {
                assert_eq!(characters.next(), Some('\n'));
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            (character, _) => cell.push(character),
        }
    }
    assert!(!quoted && row.is_empty() && cell.is_empty(), "the last row ends");
    rows
}

fn assert_csv(text: &str, about: &str) {
    assert_text(&text.replace("\r\n", "\n"), about);
    let rows = csv(text);
    assert_eq!(rows.len(), text.lines().count(), "{about}: a row is a line");
    for row in &rows {
        assert_eq!(row.len(), rows[0].len(), "{about}: {row:?}");
        for cell in row {
            assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{about}: a formula: {cell:?}");
        }
    }
}

/// Rows have the bars of the row above, and nothing is markup.
fn assert_markdown(text: &str, about: &str) {
    assert_text(text, about);
    let mut bars = None;
    for line in text.lines() {
        // what a backslash stands before means itself
        let mut bare = String::new();
        let mut characters = line.chars();
        while let Some(character) = characters.next() {
            if character == '\\' {
                characters.next();
            } else {
                bare.push(character);
            }
        }
        let bare = bare.strip_prefix("### ").unwrap_or(&bare);
        assert!(!bare.contains(['`', '*', '[', ']', '<', '>', '&', '#', '~', '$']), "{about}: {line:?}");
        assert!(!bare.contains("www.") && !bare.contains("://"), "{about}: {line:?}");
        let number = bare.matches('|').count();
        let own = (number > 0).then_some(number);
        assert!(bars.is_none() || own.is_none() || own == bars, "{about}: {line:?}");
        bars = own;
    }
}

/// The texts and attributes of a document of elements, if it is well formed (XML 1.0) as far as such documents go.
fn xml(text: &str, about: &str) -> Vec<String> {
    let unescaped = |text: &str| {
        assert!(!text.contains("]]>"), "{about}");
        let mut parts = text.split('&');
        let mut out = parts.next().unwrap().to_owned();
        for part in parts {
            let (name, rest) = part.split_once(';').expect("an entity ends");
            let known = [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\'')];
            out.push(known.iter().find(|(own, _)| *own == name).unwrap_or_else(|| panic!("{about}: {name}")).1);
            out += rest;
        }
        out
    };
    let mut found = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").expect("a declaration");
    while let Some((before, after)) = rest.split_once('<') {
        found.push(unescaped(before));
        let (tag, after) = after.split_once('>').expect("a tag ends");
        assert!(!tag.contains('<'), "{about}: {tag}");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{about}: tags nest");
            continue;
        }
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        while !attributes.is_empty() {
            let (key, value) = attributes.split_once("=\"").expect("a value in quotes");
            assert!(key.chars().all(|character| character.is_ascii_alphabetic()), "{about}: {key}");
            let (value, more) = value.split_once('"').expect("the value ends");
            found.push(unescaped(value));
            attributes = more.trim_start();
        }
        open.push(name);
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{about}: {open:?} {rest:?}");
    found
}

/// Annotations, one a line: `::error file=F,title=T::message`.
fn assert_github(text: &str, findings: usize, about: &str) {
    // of more than ten the last annotation counts the others, which follow as lines of the log
    let more = usize::from(findings > 10);
    assert_eq!(text.lines().count(), findings + more, "{about}: one line a finding");
    for (index, line) in text.split_terminator('\n').enumerate() {
        assert_words(line, about);
        if more == 1 && index > 9 {
            assert!(["error [", "warning [", "note ["].iter().any(|start| line.starts_with(start)), "{about}: {line}");
            continue;
        }
        if more == 1 && index == 9 {
            assert!(line.starts_with("::") && line.ends_with("; the log has them"), "{about}: {line}");
            continue;
        }
        let (head, _) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
        let (level, properties) = head.split_once(' ').unwrap();
        assert!(["error", "warning", "notice"].contains(&level), "{about}: {line}");
        let properties: Vec<&str> = properties.split(',').collect();
        let (title, file) = properties.split_last().unwrap();
        assert!(title.starts_with("title=fatscan ") && file.len() <= 1, "{about}: {line}");
        assert!(file.iter().all(|file| file.starts_with("file=") && !file.contains(':')), "{about}: {line}");
    }
}

/// Strings and keys in a value.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        Value::Object(fields) => {
            for (key, value) in fields {
                found.push(key.clone());
                strings(value, found);
            }
        }
        _ => {}
    }
}

fn values(text: &str, about: &str) -> Vec<String> {
    assert_text(text, about);
    let mut found = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        strings(&value.unwrap_or_else(|error| panic!("{about}: {error}")), &mut found);
    }
    found
}

/// Runs in the folder, and holds the output to the rules of its format.
fn call(folder: &Path, arguments: &[OsString]) -> Run {
    let mut command = command();
    command.current_dir(folder).args(arguments);
    let run = finish(command);
    let about = format!("{arguments:?}");
    assert!(run.code.is_some_and(|code| code <= 2), "{about}: {}", run.err);
    assert_text(&run.err, &about);
    let format = arguments.iter().position(|word| word == "--format").and_then(|at| arguments[at + 1].to_str());
    match format {
        // no output, but a sentence on standard error
        _ if run.code == Some(2) && run.out.is_empty() => assert!(!run.err.is_empty(), "{about}"),
        None | Some("table" | "text") if arguments.iter().any(|word| word == "--json") => {
            drop(values(&run.out, &about))
        }
        None | Some("table" | "text") => assert_text(&run.out, &about),
        Some("json" | "ndjson" | "sarif") => drop(values(&run.out, &about)),
        Some("csv") => assert_csv(&run.out, &about),
        Some("markdown") => assert_markdown(&run.out, &about),
        Some("junit") => {
            assert_text(&run.out, &about);
            xml(&run.out, &about);
        }
        Some("github") => {
            let json = arguments.iter().map(|word| if word == "github" { "json".into() } else { word.clone() });
            let document = call(folder, &json.collect::<Vec<_>>()).json();
            let findings = document["findings"].as_array().unwrap();
            let shown = findings.iter().filter(|finding| finding["level"] != "allowed").count();
            assert_github(&run.out, shown, &about);
        }
        other => panic!("{other:?}"),
    }
    run
}

fn words(text: &str) -> Vec<OsString> {
    text.split_ascii_whitespace().map(OsString::from).collect()
}

/// Every command that reads files, in every format.
fn commands() -> Vec<String> {
    let mut all = Vec::new();
    let mut add = |command: &str, formats: &[&str]| {
        all.extend(formats.iter().map(|format| format!("{command} --format {format}")));
    };
    let kernels = ["table", "json", "csv"];
    let plain = ["table", "json"];
    for by in ["artefact", "member", "module"] {
        add(&format!("list --by {by}"), &["table", "json", "ndjson", "csv", "markdown"]);
    }
    add("list --verify --gpu 12.0", &plain);
    add("explain --gpu 12.0", &["text", "json"]);
    add("explain --gpu 9.0", &["text", "json"]);
    for demands in ["--require 12.0 --contains 8.0 --strict", "--config fleets.toml --max-size 1B --warn damage"] {
        add(&format!("check {demands}"), &["table", "json", "sarif", "github", "junit", "markdown"]);
    }
    for flags in ["", "--matrix", "--resources", "--mangled --matrix", "--missing sm_75", "--only sm_90"] {
        add(&format!("kernels {flags}"), &kernels);
    }
    add("kernels --missing-for 12.0", &kernels);
    for by in ["arch", "member", "module", "kernel"] {
        add(&format!("size --top 1000 --by {by}"), &plain);
    }
    all
}

// --- tests

#[test]
fn names_in_files_are_not_obeyed() {
    let folder = files();
    for file in FILES {
        for own in commands() {
            call(folder.path(), &words(&format!("{own} {file}")));
        }
        call(folder.path(), &words(&format!("extract {file} -o out/{file}")));
    }
}

#[test]
fn names_of_what_is_given_are_not_obeyed() {
    let folder = files();
    let loose = folder.file("loose");
    std::fs::copy(folder.file("fleets.toml"), loose.join("fleets.toml")).unwrap();
    let names: Vec<OsString> = std::fs::read_dir(&loose)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name != "fleets.toml")
        .collect();
    // what is there, and what is not
    let mut arguments = vec![OsString::from("--")];
    arguments.extend(names.iter().cloned());
    arguments.extend(NAMES.iter().map(|name| OsString::from(format!("{name} missing"))));
    for own in commands() {
        call(&loose, &[words(&own), arguments.clone()].concat());
    }
    for name in &names {
        for format in ["table", "json"] {
            let start = words(&format!("diff --kernels --format {format} --"));
            call(&loose, &[start, vec![name.clone(), "../x.so".into()]].concat());
        }
    }
}

#[test]
fn names_in_two_versions_and_in_reports_are_not_obeyed() {
    let folder = files();
    let mut report = call(folder.path(), &words("list --by module --format json x.whl")).json();
    folder.write("x.json", report.to_string());
    // a report can say anything
    let mut number = 0;
    spoil(&mut report, &mut number);
    assert!(number > 100);
    folder.write("y.json", report.to_string());
    for pair in ["x.whl y.whl", "x.whl x.so", "x.so x.cubin", "x.json y.whl", "x.json y.json", "y.json x.json"] {
        for format in ["table", "json"] {
            call(folder.path(), &words(&format!("diff --kernels --format {format} {pair}")));
        }
    }
}

/// Replaces every string that may be any by a name.
fn spoil(value: &mut Value, number: &mut usize) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| spoil(value, number)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if ["path", "arch", "isa", "machine"].contains(&key.as_str()) => {
                        *text = NAMES[*number % NAMES.len()].to_owned();
                        *number += 1;
                    }
                    value => spoil(value, number),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn names_in_recordings_and_in_words_typed_are_not_obeyed() {
    let folder = files();
    for own in ["device --recording gpu.json", "device --recording gpu.json --json"] {
        assert_eq!(call(folder.path(), &words(own)).code, Some(0));
    }
    for own in commands() {
        if own.starts_with("explain") {
            let own = own.replace("--gpu 12.0", "--recording gpu.json").replace("--gpu 9.0", "--recording gpu.json");
            call(folder.path(), &words(&format!("{own} x.fatbin")));
        }
        if own.starts_with("check --config") {
            call(folder.path(), &words(&format!("{own} --recording gpu.json x.fatbin")));
        }
    }
    for name in NAMES {
        let typed = run(["arch", name]);
        assert_text(&typed.out, name);
        assert_text(&typed.err, name);
        for start in [
            "man",
            "explain --error",
            "device --recording",
            "check x.so --config",
            "check x.so --require 9.0 --baseline",
            "check x.so --require 9.0 --deny",
            "check x.so --require",
            "check x.so --contains",
            "list --format table --gpu",
            "kernels x.so --missing",
            "kernels x.so --filter",
            "size x.so --budget",
            "extract -o out x.so --arch",
            "completions",
            "list --color",
        ] {
            call(folder.path(), &[words(start), vec![OsString::from(*name)]].concat());
        }
        folder.write("bad.toml", format!("{name}\n"));
        call(folder.path(), &words("check x.so --config bad.toml"));
        folder.write("bad.toml", format!("{} = 1\n", Value::from(*name).to_string().replace('\u{7f}', "\\u007f")));
        call(folder.path(), &words("check x.so --config bad.toml"));
    }
}

#[test]
fn programs_get_names_as_they_are() {
    let folder = files();
    let has = |call: &str, of: &dyn Fn(&str) -> String| {
        let run = self::call(folder.path(), &words(call));
        let found = values(&run.out, call);
        for name in NAMES {
            let name = of(name);
            assert!(found.contains(&name), "{call}: {name:?}");
        }
    };
    let same = |name: &str| name.to_owned();
    let object = |name: &str| format!("{name} long enough to stand before the data");
    for format in ["json", "ndjson"] {
        has(&format!("list --format {format} x.whl"), &same);
        has(&format!("list --format {format} x.whl"), &|name| format!("{name}.so"));
        has(&format!("list --by module --format {format} x.so"), &same);
        has(&format!("list --by module --format {format} x.fatbin"), &same);
        has(&format!("list --by module --format {format} x.a"), &object);
    }
    has("kernels --matrix --format json x.cubin", &same);
    has("kernels --matrix --format json x.whl", &same);
    has("size --by kernel --format json x.cubin", &same);
    has("diff --format json x.whl x.so", &same);
    has("check --config fleets.toml --format json x.fatbin", &same);
    has("device --recording gpu.json --json", &same);
    // bytes that are no UTF-8 are replaced
    let raw = String::from_utf8_lossy(RAW.1).into_owned();
    let run = call(folder.path(), &words("list --format json x.whl"));
    assert!(values(&run.out, "raw").contains(&raw));
}

#[test]
fn people_see_what_is_in_a_name() {
    let folder = files();
    let own = [("\u{202e}gpj.so", "\\u{202e}gpj.so"), ("a\nb", "a\\nb"), ("::add-mask::x", "\\u{3a}:add-mask::x")];
    for command in ["list x.whl", "explain --gpu 9.0 --all-files x.whl", "size --by member x.whl", "kernels x.whl"] {
        let run = call(folder.path(), &words(command));
        for (_, shown) in own {
            assert!(run.out.contains(shown), "{command}: {shown}: {}", run.out);
        }
    }
    let junit = call(folder.path(), &words("check --require 12.0 --format junit x.whl"));
    let texts = xml(&junit.out, "junit");
    let markdown = call(folder.path(), &words("list --format markdown x.whl"));
    let table = csv(&call(folder.path(), &words("list --format csv x.whl")).out);
    for (_, shown) in own {
        assert!(texts.iter().any(|text| text.contains(shown)), "{shown}: {texts:?}");
        let escaped = shown.replace('\\', "\\\\").replace(':', "\\:");
        assert!(markdown.out.contains(&format!("| {escaped} |")), "{escaped}");
        assert!(table.iter().any(|row| row[1] == shown), "{shown}");
    }
    assert!(table.iter().any(|row| row[1] == "'=cmd()"));
}
