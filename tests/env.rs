//! `env` as it is called, on environments that are built here as pip, uv, conda and Debian build them.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic here is a failing test"
)]

mod program;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fatscan::json::{Distribution, Document, Environment};
use program::{Folder, Run, finish, library, module, program as command, ptx, sass};

const SITE: &str = "v/lib/python3.12/site-packages";

/// The program with nothing in its environment that names another one.
fn call(arguments: &[&str]) -> Command {
    let mut command = command();
    for name in ["VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONNOUSERSITE"] {
        command.env_remove(name);
    }
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> Run {
    finish(call(arguments))
}

fn document(arguments: &[&str]) -> Document {
    let run = run(&[&["env"], arguments, &["--format", "json"]].concat()).ending(0);
    serde_json::from_str(&run.out).unwrap()
}

fn environment(arguments: &[&str]) -> Environment {
    document(arguments).environment.unwrap()
}

fn find<'a>(environment: &'a Environment, name: &str) -> &'a Distribution {
    let mut own = environment.distributions.iter().filter(|own| own.name == name);
    let first = own.next().unwrap_or_else(|| panic!("{name} is not in {:#?}", environment.distributions));
    assert!(own.next().is_none(), "{name} is there twice");
    first
}

/// Code for 8.0 and 9.0.
fn fine() -> Vec<u8> {
    library(&[module(&["80", "90"])])
}

/// Code for 9.0 only.
fn narrow() -> Vec<u8> {
    library(&[module(&["90"])])
}

/// Writes a `*.dist-info` with a `RECORD` of these files, and the files.
fn install(folder: &Folder, site: &str, name: &str, version: &str, installer: &str, files: &[(&str, Vec<u8>)]) {
    let info = format!("{}-{version}.dist-info", name.replace('-', "_"));
    let mut record = String::new();
    for (file, bytes) in files {
        folder.write(&format!("{site}/{file}"), bytes);
        record.push_str(&format!("{file},sha256=abc,{}\n", bytes.len()));
    }
    record.push_str(&format!("{info}/METADATA,,\n{info}/RECORD,,\n"));
    folder.write(&format!("{site}/{info}/RECORD"), record);
    let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nVersion: 9.9 of the text\n");
    folder.write(&format!("{site}/{info}/METADATA"), metadata);
    folder.write(&format!("{site}/{info}/INSTALLER"), format!("{installer}\n"));
}

/// A venv with one distribution that fails on 8.0, one that runs, one without device code.
fn venv() -> Folder {
    let folder = Folder::new();
    folder.write("v/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.12.3\n");
    install(&folder, SITE, "narrow", "1.0", "pip", &[("narrow/lib/libnarrow.so", narrow())]);
    install(&folder, SITE, "fine-kernels", "2.0+cu12", "pip", &[("fine/k.so", fine())]);
    install(&folder, SITE, "pure", "3.0", "pip", &[("pure/__init__.py", b"x = 1\n".to_vec())]);
    folder
}

fn path(folder: &Folder, name: &str) -> String {
    folder.file(name).to_str().unwrap().to_owned()
}

// --- what is said

#[test]
fn a_venv_has_a_line_for_each_distribution_the_worst_first() {
    let folder = venv();
    let root = path(&folder, "v");
    let run = run(&["env", &root, "--gpu", "8.0"]).ending(0);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines[0], "narrow does not run in full on this GPU: 1 of 2 distributions with device code");
    assert_eq!(lines[1], format!("{root}: venv, as given, Python 3.12.3; 3 distributions"));
    assert!(lines[2].starts_with("on a GPU of compute capability 8.0, driver not given"), "{}", run.out);
    let at = lines.iter().position(|line| line.starts_with("  narrow 1.0  not covered: `libnarrow.so`: ")).unwrap();
    assert_eq!(lines[at + 1], "  1 distribution with device code runs natively: fine-kernels");
    assert_eq!(lines[at + 2], "  1 distribution has no device code");
    assert!(lines.contains(&"       pip index versions narrow"), "{}", run.out);
    assert!(!run.out.contains('\u{1b}') && run.err.is_empty(), "{} {}", run.out, run.err);
    // where all is well, that is the first line, and there is nothing to do
    let run = self::run(&["env", &root, "--gpu", "9.0"]).ending(0);
    assert_eq!(run.out.lines().next(), Some("all 2 distributions with device code run on this GPU"));
    assert!(!run.out.contains("what to do"), "{}", run.out);
}

#[test]
fn the_directory_where_one_stands_is_told_as_by_its_path() {
    let folder = venv();
    install(&folder, SITE, "tool", "1.0", "pip", &[("../../../bin/tool", b"#!".to_vec()), ("tool/lib.so", fine())]);
    for below in ["v", SITE, "v/lib"] {
        let up = if below == "v/lib" { ".." } else { "." };
        let mut command = call(&["env", up, "--gpu", "8.0", "--format", "json"]);
        command.current_dir(folder.file(below));
        let here: Document = serde_json::from_str(&finish(command).ending(0).out).unwrap();
        let root = if below == SITE { path(&folder, SITE) } else { path(&folder, "v") };
        let named = document(&[&root, "--gpu", "8.0"]);
        assert_eq!(here.environment, named.environment, "{below}");
        assert!(find(&here.environment.unwrap(), "tool").notes.is_empty(), "{below}");
    }
}

#[test]
fn several_gpus_are_told_apart_on_one_line() {
    let folder = venv();
    let mixed = library(&[vec![sass("80"), ptx("80", (8, 0))]]);
    install(&folder, SITE, "mixed", "1.0", "pip", &[("mixed/k.so", mixed)]);
    let run = run(&["env", &path(&folder, "v"), "--gpu", "7.5,8.0", "--gpu", "9.0"]).ending(0);
    let first = "fine-kernels (7.5), mixed (7.5), narrow (7.5, 8.0) do not run in full: \
                 3 of 3 distributions with device code";
    let mut names: Vec<&str> = run.out.lines().next().unwrap().split(" do not ").next().unwrap().split("), ").collect();
    names.sort_unstable();
    let mut expected: Vec<&str> = first.split(" do not ").next().unwrap().split("), ").collect();
    expected.sort_unstable();
    assert_eq!(names.len(), expected.len());
    let line = |name: &str| run.out.lines().find(|line| line.starts_with(&format!("  {name} "))).unwrap().to_owned();
    assert!(line("narrow").starts_with("  narrow 1.0  not covered on 7.5, 8.0: "), "{}", run.out);
    assert!(line("mixed").contains("not covered on 7.5: ") && line("mixed").ends_with("; JIT from PTX on 9.0"));
    assert!(line("fine-kernels").contains("not covered on 7.5: "), "{}", run.out);
    // narrow fails on more of them
    assert!(run.out.find("  narrow 1.0").unwrap() < run.out.find("  mixed 1.0").unwrap(), "{}", run.out);
}

#[test]
fn lines_keep_to_the_terminal() {
    let folder = venv();
    for columns in ["80", "200"] {
        let mut command = call(&["env", "v", "--gpu", "7.5,8.0,8.6,8.9,9.0,10.0,12.0"]);
        command.current_dir(folder.path()).env("COLUMNS", columns);
        let run = finish(command).ending(0);
        let most: usize = columns.parse().unwrap();
        for line in run.out.lines().filter(|line| !line.trim_start().starts_with("pip ")) {
            assert!(line.chars().count() <= most, "{line}");
        }
    }
}

#[test]
fn json_has_every_distribution_with_its_artefact() {
    let folder = venv();
    let own = document(&[&path(&folder, "v"), "--gpu", "8.0"]);
    let environment = own.environment.unwrap();
    assert_eq!((environment.kind.as_str(), environment.found.as_str()), ("venv", "as given"));
    assert_eq!(environment.python.as_deref(), Some("3.12.3"));
    let narrow = find(&environment, "narrow");
    assert_eq!(narrow.verdicts[0].verdict, "not-covered");
    assert_eq!((narrow.files, narrow.installer.as_deref()), (Some(3), Some("pip")));
    let artefact = &own.artefacts[usize::try_from(narrow.artefact.unwrap()).unwrap()];
    assert_eq!(artefact.path, "narrow 1.0");
    assert_eq!(artefact.members[0].path, "narrow/lib/libnarrow.so");
    let verdict = &artefact.verdicts.as_ref().unwrap()[0];
    assert_eq!(verdict.verdict, "not-covered");
    assert_eq!(verdict.remedies.as_ref().unwrap()[0].lines[0], "pip index versions narrow");
    let fine = find(&environment, "fine-kernels");
    assert_eq!((fine.version.as_str(), fine.verdicts[0].verdict.as_str()), ("2.0+cu12", "native"));
    let pure = find(&environment, "pure");
    assert!(pure.artefact.is_none() && pure.verdicts.is_empty() && pure.notes.is_empty());
    let whole = &environment.verdicts[0];
    assert_eq!((whole.verdict.as_str(), whole.distributions, whole.distributions_ok), ("partial", 2, 1));
}

#[test]
fn csv_and_markdown_have_a_row_for_each() {
    let folder = venv();
    let root = path(&folder, "v");
    let csv = run(&["env", &root, "--gpu", "8.0,9.0", "--format", "csv"]).ending(0).out;
    let rows: Vec<Vec<&str>> = csv.split("\r\n").map(|row| row.split(',').collect()).collect();
    assert_eq!(rows[0][..5], ["distribution", "version", "device", "cc", "verdict"]);
    let has = |wanted: [&str; 5]| assert!(rows.iter().any(|row| row[..5] == wanted), "{wanted:?} {csv}");
    has(["narrow", "1.0", "8.0", "8.0", "not-covered"]);
    has(["narrow", "1.0", "9.0", "9.0", "native"]);
    has(["pure", "3.0", "9.0", "9.0", "no-device-code"]);
    assert_eq!(rows.len(), 1 + 3 * 2 + 1);
    let markdown = run(&["env", &root, "--gpu", "8.0,9.0", "--format", "markdown"]).ending(0).out;
    assert!(markdown.starts_with("### narrow (8.0) does not run in full"), "{markdown}");
    assert!(markdown.contains("| narrow | 1.0 | not covered | native | "), "{markdown}");
    assert!(markdown.contains("\nNative: fine-kernels 2.0+cu12\n"), "{markdown}");
}

// --- whose a file is

#[test]
fn a_file_of_nobody_is_in_a_group_of_its_own() {
    let folder = venv();
    folder.write(&format!("{SITE}/narrow/lib/libadded.so"), narrow());
    let root = path(&folder, "v");
    let own = document(&[&root, "--gpu", "8.0"]);
    let environment = own.environment.unwrap();
    let nobody = environment.nobody.unwrap();
    let artefact = &own.artefacts[usize::try_from(nobody.artefact).unwrap()];
    let files: Vec<&str> = artefact.members.iter().map(|member| member.path.as_str()).collect();
    assert_eq!((files, nobody.verdicts[0].verdict.as_str()), (vec!["narrow/lib/libadded.so"], "not-covered"));
    let text = run(&["env", &root, "--gpu", "8.0"]).ending(0).out;
    assert!(text.contains("\n  files of no distribution  not covered: `libadded.so`: "), "{text}");
    assert!(text.contains("\n      narrow/lib/libadded.so\n"), "{text}");
}

#[test]
fn the_first_line_says_that_a_file_could_not_be_read() {
    let folder = venv();
    let root = path(&folder, "v");
    let whole = run(&["env", &root, "--gpu", "9.0"]).ending(0).out;
    assert!(whole.starts_with("all 2 distributions with device code run on this GPU\n"), "{whole}");
    folder.write(&format!("{SITE}/pure/cut.so"), &narrow()[..300]);
    let text = run(&["env", &root, "--gpu", "9.0"]).ending(1).out;
    let first = "all 2 distributions with device code run on this GPU, as far as they could be read\n";
    assert!(text.starts_with(first), "{text}");
}

#[test]
fn a_broken_record_is_told_and_files_go_by_their_directory() {
    for (record, why) in [
        (Some(&b"narrow/lib/libnarrow.so no comma\n"[..]), "is broken (line 1 is no row of it)"),
        (Some(b"\xff\xfe\x00,,\n"), "is broken (line 1 is no row of it)"),
        (Some(b""), "is broken (it names no file)"),
        (None, "it has no RECORD"),
    ] {
        let folder = venv();
        let place = folder.file(&format!("{SITE}/narrow-1.0.dist-info/RECORD"));
        match record {
            Some(record) => std::fs::write(&place, record).unwrap(),
            None => std::fs::remove_file(&place).unwrap(),
        }
        folder.write(&format!("{SITE}/loose/k.so"), narrow());
        let root = path(&folder, "v");
        let environment = environment(&[&root, "--gpu", "8.0"]);
        let own = find(&environment, "narrow");
        assert_eq!((own.verdicts[0].verdict.as_str(), own.files), ("not-covered", None), "{why}");
        assert!(own.notes[0].contains(why), "{:?}", own.notes);
        // of another directory nothing is guessed
        assert!(environment.nobody.is_some());
        let text = run(&["env", &root, "--gpu", "8.0"]).ending(0).out;
        assert!(text.contains(why) && text.contains("loose/k.so"), "{text}");
    }
}

#[test]
fn a_record_does_not_lead_out_of_the_environment() {
    let folder = venv();
    // scripts and data of the prefix are its own
    folder.write("v/lib/libdata.so", narrow());
    let outside = folder.write("outside.so", narrow());
    let record = format!(
        "evil/k.so,,\n../../../lib/libdata.so,,\n../../../../outside.so,,\n{outside},,\n../../../../../../../../../etc/x.so,,\n"
    );
    install(&folder, SITE, "evil", "1.0", "pip", &[("evil/k.so", fine())]);
    folder.write(&format!("{SITE}/evil-1.0.dist-info/RECORD"), record);
    let own = document(&[&path(&folder, "v"), "--gpu", "9.0"]);
    let places: Vec<String> = own.artefacts.iter().flat_map(|own| &own.members).map(|own| own.path.clone()).collect();
    assert!(places.iter().any(|place| place.ends_with("lib/libdata.so")), "{places:?}");
    assert!(!places.iter().any(|place| place.contains("outside.so")), "{places:?}");
    assert_eq!(find(&own.environment.unwrap(), "evil").files, Some(2));
}

#[test]
fn distributions_of_one_namespace_are_told_apart() {
    let folder = venv();
    install(&folder, SITE, "nvidia-a-cu12", "1", "pip", &[("nvidia/a/lib/liba.so.1", narrow())]);
    install(&folder, SITE, "nvidia-b-cu12", "2", "pip", &[("nvidia/b/lib/libb.so.2", fine())]);
    let environment = environment(&[&path(&folder, "v"), "--gpu", "8.0"]);
    assert_eq!(find(&environment, "nvidia-a-cu12").verdicts[0].verdict, "not-covered");
    assert_eq!(find(&environment, "nvidia-b-cu12").verdicts[0].verdict, "native");
    assert!(environment.nobody.is_none());
}

#[test]
fn two_installations_of_one_name_are_told() {
    let folder = venv();
    install(&folder, SITE, "Fine_Kernels", "1.9", "pip", &[]);
    std::fs::create_dir_all(folder.file(&format!("{SITE}/~orch-2.0.dist-info"))).unwrap();
    let root = path(&folder, "v");
    let environment = environment(&[&root, "--gpu", "9.0"]);
    let own = find(&environment, "fine-kernels");
    assert!(own.notes[0].starts_with("installed 2 times (1.9, 2.0+cu12)"), "{:?}", own.notes);
    assert!(environment.notes[0].ends_with("~orch-2.0.dist-info"), "{:?}", environment.notes);
    let text = run(&["env", &root, "--gpu", "9.0"]).ending(0).out;
    assert!(text.contains("- fine-kernels 2.0+cu12: installed 2 times"), "{text}");
}

// --- layouts

#[test]
fn a_conda_prefix_has_the_packages_of_conda_meta() {
    let folder = Folder::new();
    folder.write("c/lib/libcuthing.so.1", narrow());
    let meta =
        r#"{"name": "libcuthing", "version": "12.1", "build": "0", "files": ["lib/libcuthing.so.1", "../../x.so"]}"#;
    folder.write("c/conda-meta/libcuthing-12.1-0.json", meta);
    folder.write("c/conda-meta/broken-1-0.json", "{");
    // a package of Python is known by both, and is one
    let site = "c/lib/python3.11/site-packages";
    install(&folder, site, "fine", "2.0", "conda", &[("fine/k.so", fine())]);
    let meta =
        r#"{"name": "fine", "version": "2.0", "files": ["lib/python3.11/site-packages/fine/k.so", "lib/libfine.so"]}"#;
    folder.write("c/conda-meta/fine-2.0-0.json", meta);
    folder.write("c/lib/libfine.so", fine());
    let environment = environment(&[&path(&folder, "c"), "--gpu", "8.0"]);
    assert_eq!((environment.kind.as_str(), environment.distributions.len()), ("conda", 2));
    let own = find(&environment, "libcuthing");
    assert_eq!((own.made.as_str(), own.verdicts[0].verdict.as_str()), ("conda", "not-covered"));
    let own = find(&environment, "fine");
    assert_eq!((own.made.as_str(), own.verdicts[0].verdict.as_str(), own.files), ("dist-info", "native", Some(2)));
    assert!(environment.nobody.is_none(), "{environment:#?}");
    assert!(environment.notes.iter().any(|note| note.contains("broken-1-0.json")), "{:?}", environment.notes);
}

#[test]
fn debian_packages_go_by_the_name_of_their_directory() {
    let folder = Folder::new();
    let site = "usr/lib/python3/dist-packages";
    folder.write(&format!("{site}/thing-1.0.egg-info/PKG-INFO"), "Metadata-Version: 1.1\nName: thing\nVersion: 1.0\n");
    folder.write(&format!("{site}/thing-1.0.egg-info/top_level.txt"), "_thing\nthing\n");
    folder.write(&format!("{site}/_thing.cpython-311-x86_64-linux-gnu.so"), narrow());
    folder.write(&format!("{site}/flat-2.0-py3.11.egg-info"), "Metadata-Version: 1.1\nName: flat\nVersion: 2.0\n");
    folder.write(&format!("{site}/flat/k.so"), fine());
    folder.write("usr/lib/python3.11/dist-packages/README", "x");
    // as the package `python3-cryptography` has it: one installation
    install(&folder, site, "twice", "3.0", "", &[("twice/k.so", fine())]);
    folder.write(&format!("{site}/twice.egg-info/PKG-INFO"), "Metadata-Version: 2.1\nName: twice\nVersion: 3.0\n");
    for given in [path(&folder, site), path(&folder, "usr")] {
        let environment = environment(&[&given, "--gpu", "8.0"]);
        let own = find(&environment, "thing");
        assert_eq!((own.made.as_str(), own.verdicts[0].verdict.as_str()), ("egg-info", "not-covered"));
        let own = find(&environment, "flat");
        assert_eq!((own.version.as_str(), own.verdicts[0].verdict.as_str()), ("2.0", "native"));
        let twice: Vec<_> = environment.distributions.iter().filter(|own| own.name == "twice").collect();
        assert_eq!(twice.iter().map(|own| own.made.as_str()).collect::<Vec<_>>(), ["dist-info"]);
        assert_eq!(twice[0].notes, Vec::<String>::new());
    }
}

#[test]
fn a_venv_of_uv_and_one_of_windows() {
    let folder = Folder::new();
    folder.write("v/pyvenv.cfg", "home = /opt/python/bin\nuv = 0.9.1\nversion_info = 3.12.3\n");
    install(&folder, SITE, "fine", "1", "uv", &[("fine/k.so", fine())]);
    let own = environment(&[&path(&folder, "v"), "--gpu", "8.0"]);
    assert_eq!(find(&own, "fine").installer.as_deref(), Some("uv"));
    assert_eq!((own.notes[0].as_str(), own.python.as_deref()), ("made by uv 0.9.1", Some("3.12.3")));
    let folder = Folder::new();
    folder.write("w/pyvenv.cfg", "home = C:\\Python\r\nversion = 3.12.3\r\n");
    install(&folder, "w/Lib/site-packages", "narrow", "1", "pip", &[("narrow/k.dll", narrow())]);
    let own = environment(&[&path(&folder, "w"), "--gpu", "8.0"]);
    assert_eq!(find(&own, "narrow").verdicts[0].verdict, "not-covered");
}

#[test]
fn a_venv_with_the_packages_of_the_system_shows_both() {
    let folder = venv();
    let system = "py/lib/python3.12/site-packages";
    install(&folder, system, "shared", "1", "pip", &[("shared/k.so", narrow())]);
    install(&folder, system, "narrow", "0.1", "pip", &[]);
    install(&folder, "py/lib/python3.9/site-packages", "older", "1", "pip", &[]);
    let config = format!("home = {}\ninclude-system-site-packages = true\nversion = 3.12.3\n", path(&folder, "py/bin"));
    folder.write("v/pyvenv.cfg", config);
    let environment = environment(&[&path(&folder, "v"), "--gpu", "9.0"]);
    let kinds: Vec<&str> = environment.sites.iter().map(|site| site.kind.as_str()).collect();
    assert_eq!(kinds, ["own", "system"]);
    assert_eq!(find(&environment, "shared").verdicts[0].verdict, "native");
    assert!(!environment.distributions.iter().any(|own| own.name == "older"));
    let hidden = environment.distributions.iter().find(|own| own.version == "0.1").unwrap();
    assert!(hidden.notes[0].starts_with("hidden by the one in "), "{:?}", hidden.notes);
}

#[test]
fn editable_installations_and_pth_files_are_followed() {
    let folder = venv();
    // PEP 660 with a directory in direct_url.json
    folder.write("my project/src/mine/k.so", narrow());
    folder.write("my project/src/mine.egg-info/PKG-INFO", "Name: mine\nVersion: 0.5\n");
    install(&folder, SITE, "mine", "0.5", "pip", &[("__editable__.mine-0.5.pth", Vec::new())]);
    let project = path(&folder, "my project");
    folder.write(&format!("{SITE}/__editable__.mine-0.5.pth"), format!("{project}/src\n"));
    let url = format!(r#"{{"url": "file://{}", "dir_info": {{"editable": true}}}}"#, project.replace(' ', "%20"));
    folder.write(&format!("{SITE}/mine-0.5.dist-info/direct_url.json"), url);
    // setup.py develop
    folder.write("old/oldie/k.so", narrow());
    folder.write("old/oldie.egg-info/PKG-INFO", "Name: oldie\nVersion: 0.7\n");
    folder.write(&format!("{SITE}/oldie.egg-link"), format!("{}\n.", path(&folder, "old")));
    folder.write(&format!("{SITE}/easy-install.pth"), format!("{}\n", path(&folder, "old")));
    // a plain one; code in it is not run, and what is not there is nothing
    folder.write("plain/loose/k.so", narrow());
    let lines = format!("import os; os.system('touch pwned')\n# x\n{}\n/nosuch/place\n", path(&folder, "plain"));
    folder.write(&format!("{SITE}/zz.pth"), lines);
    let root = path(&folder, "v");
    let own = document(&[&root, "--gpu", "8.0"]);
    let environment = own.environment.unwrap();
    let mine = find(&environment, "mine");
    assert_eq!((mine.editable.as_deref(), mine.verdicts[0].verdict.as_str()), (Some(project.as_str()), "not-covered"));
    let oldie = find(&environment, "oldie");
    assert_eq!((oldie.version.as_str(), oldie.made.as_str()), ("0.7", "egg-link"));
    assert_eq!(oldie.verdicts[0].verdict, "not-covered");
    let nobody = &own.artefacts[usize::try_from(environment.nobody.unwrap().artefact).unwrap()];
    let files: Vec<&str> = nobody.members.iter().map(|member| member.path.as_str()).collect();
    assert_eq!(files, ["loose/k.so"]);
    let text = run(&["env", &root, "--gpu", "8.0"]).ending(0).out;
    assert!(text.contains(&format!("- editable, in {project}")), "{text}");
}

#[cfg(unix)]
#[test]
fn a_hostile_environment_is_read_to_its_end() {
    let folder = venv();
    let site = folder.file(SITE);
    let pipe = |name: &str| {
        assert!(Command::new("mkfifo").arg(site.join(name)).status().unwrap().success());
    };
    std::fs::create_dir_all(site.join("pipes-1.dist-info")).unwrap();
    for name in ["pipes-1.dist-info/METADATA", "pipes-1.dist-info/RECORD", "pipe.pth", "pipe.egg-link", "p.egg-info"] {
        pipe(name);
    }
    std::os::unix::fs::symlink("/dev/zero", site.join("zero.pth")).unwrap();
    std::os::unix::fs::symlink(&site, site.join("loop")).unwrap();
    folder.write(&format!("{SITE}/system.pth"), "/\n/proc\n../../../../../../../../../../..\n");
    folder.write(&format!("{SITE}/e\u{1b}[31m-1.dist-info/METADATA"), "Name: \u{1b}[31mred\nVersion: 1\n");
    let root = path(&folder, "v");
    let run = run(&["env", &root, "--gpu", "9.0"]).ending(0);
    assert!(!run.out.contains('\u{1b}'), "{}", run.out);
    assert!(run.out.contains("something leads to /, which is not looked into"), "{}", run.out);
    let environment = environment(&[&root, "--gpu", "9.0"]);
    assert!(find(&environment, "pipes").notes.iter().any(|note| note.contains("it is no plain file")));
    assert_eq!(environment.sites.len(), 1, "{:?}", environment.sites);
}

#[test]
fn a_project_around_its_venv_is_not_read_twice() {
    let folder = Folder::new();
    folder.write("p/.venv/pyvenv.cfg", "version = 3.12.3\n");
    let site = "p/.venv/lib/python3.12/site-packages";
    install(&folder, site, "fine", "1", "pip", &[("fine/k.so", fine())]);
    install(&folder, site, "p", "1", "pip", &[]);
    folder.write(&format!("{site}/p.pth"), format!("{}\n", path(&folder, "p")));
    let url = format!(r#"{{"url": "file://{}", "dir_info": {{"editable": true}}}}"#, path(&folder, "p"));
    folder.write(&format!("{site}/p-1.dist-info/direct_url.json"), url);
    folder.write("p/p/k.so", narrow());
    let own = document(&[&path(&folder, "p/.venv"), "--gpu", "8.0"]);
    let files = |name: &str| {
        let own = own.artefacts.iter().filter(|own| own.path.starts_with(name));
        own.map(|own| own.members.len()).sum::<usize>()
    };
    assert_eq!((files("fine"), files("p "), own.artefacts.len()), (1, 1, 2));
}

// --- which environment

#[test]
fn the_active_environment_is_that_of_the_shell() {
    let folder = venv();
    let root = path(&folder, "v");
    folder.write("c/conda-meta/history", "");
    for (variable, place, word) in [("VIRTUAL_ENV", "v", "by VIRTUAL_ENV"), ("CONDA_PREFIX", "c", "by CONDA_PREFIX")] {
        let mut command = call(&["env", "--gpu", "9.0"]);
        command.env(variable, path(&folder, place));
        let run = finish(command).ending(0);
        assert!(run.out.lines().nth(1).unwrap().contains(word), "{}", run.out);
    }
    let mut command = call(&["env", "--gpu", "9.0"]);
    command.env("PATH", "/nosuch");
    let none = finish(command).ending(2);
    assert!(none.err.contains("no environment is active") && none.err.contains("fatscan env .venv"), "{}", none.err);
    let mut command = call(&["env", "--gpu", "9.0"]);
    command.env("VIRTUAL_ENV", "/nosuch/venv");
    assert!(finish(command).ending(2).err.contains("VIRTUAL_ENV: `/nosuch/venv`"));
    // the python of a venv tells by its place; it is not run
    let python = folder.write("v/bin/python3", "#!/bin/sh\ntouch ran\n");
    let run = run(&["env", "--python", &python, "--gpu", "9.0"]).ending(0);
    assert!(run.out.contains(&format!("{root}: venv, of --python")), "{}", run.out);
}

#[test]
fn what_is_no_environment_says_so() {
    let folder = Folder::new();
    folder.write("files/a.txt", "x");
    let file = folder.write("x.so", fine());
    for (given, word) in [
        (path(&folder, "nosuch"), "no such directory"),
        (path(&folder, "files"), "is no environment of Python"),
        (file, "is a file, and no environment"),
    ] {
        let run = run(&["env", &given, "--gpu", "9.0"]).ending(2);
        assert!(run.err.contains(word) && run.out.is_empty(), "{} {}", run.out, run.err);
    }
    // an empty one is one
    folder.write("e/pyvenv.cfg", "version = 3.12\n");
    let run = run(&["env", &path(&folder, "e"), "--gpu", "9.0"]).ending(0);
    assert!(run.out.starts_with("no device code that an NVIDIA GPU runs is installed here\n"), "{}", run.out);
    assert!(run.out.contains("it has no directory of packages"), "{}", run.out);
}

#[cfg(unix)]
fn script(folder: &Folder, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.write("tools/python3", text);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[cfg(unix)]
#[test]
fn an_interpreter_that_never_answers_is_ended() {
    let folder = Folder::new();
    let python = script(&folder, "#!/bin/sh\nsleep 600\n");
    let start = Instant::now();
    let run = run(&["env", "--python", &python, "--gpu", "9.0"]).ending(2);
    assert!(start.elapsed() < Duration::from_secs(30));
    assert!(run.err.contains("did not answer within 10 s"), "{}", run.err);
}

#[cfg(unix)]
#[test]
fn an_interpreter_that_answers_nonsense_is_refused() {
    for (text, word) in [
        ("#!/bin/sh\necho hello\n", "answered with something else than its paths"),
        ("#!/bin/sh\nexit 3\n", "ended with exit code 3"),
        ("#!/bin/sh\nwhile :; do echo 0123456789012345678901234567890123456789; done\n", "printed more than 1 MiB"),
    ] {
        let folder = Folder::new();
        let python = script(&folder, text);
        let run = run(&["env", "--python", &python, "--gpu", "9.0"]).ending(2);
        assert!(run.err.contains(word), "{}", run.err);
    }
    let run = run(&["env", "--python", "/nosuch/python3", "--gpu", "9.0"]).ending(2);
    assert!(run.err.contains("did not start: no such file or directory"), "{}", run.err);
}

#[test]
fn a_real_interpreter_tells_its_directories() {
    let places = ["/usr/bin/python3", "/usr/local/bin/python3"];
    let Some(python) = places.into_iter().find(|place| Path::new(place).is_file()) else {
        eprintln!("skipped: no python3 in /usr/bin or /usr/local/bin");
        return;
    };
    let own = environment(&["--python", python, "--gpu", "9.0"]);
    assert_eq!((own.kind.as_str(), own.found.as_str()), ("prefix", "of --python"));
    assert!(own.python.unwrap().starts_with("3."));
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_has_what_it_mapped() {
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let told = run(&["env", "--pid", &child.id().to_string(), "--gpu", "9.0", "--format", "json"]);
    child.kill().unwrap();
    child.wait().unwrap();
    let own: Document = serde_json::from_str(&told.ending(0).out).unwrap();
    let own = own.environment.unwrap();
    assert_eq!((own.kind.as_str(), own.distributions.len()), ("process", 0));
    let run = run(&["env", "--pid", "4294967295", "--gpu", "9.0"]).ending(2);
    assert!(run.err.contains("no process has the number 4294967295"), "{}", run.err);
}

// --- linkage

#[test]
fn a_library_that_is_nowhere_is_told_unless_an_alternative_loads() {
    let folder = venv();
    let needs = |name: &str| {
        let bytes = testkit::fatbin::fatbin(&module(&["80", "90"]));
        testkit::Elf::shared().needs(name).section(".text", b"code").section(".nv_fatbin", &bytes).bytes()
    };
    install(&folder, SITE, "asks", "1", "pip", &[("asks/a.so", needs("libcudart.so.11.0"))]);
    let files = [("multi/libk_cuda118.so", needs("libcudart.so.11.0")), ("multi/libk_cuda128.so", fine())];
    install(&folder, SITE, "multi", "1", "pip", &files);
    let root = path(&folder, "v");
    let own = environment(&[&root, "--gpu", "9.0"]);
    let links = &find(&own, "asks").linkage;
    assert_eq!((links.len(), links[0].kind.as_str(), links[0].error), (1, "missing", true), "{links:?}");
    assert_eq!(links[0].text, "`a.so` asks for `libcudart.so.11.0`: nowhere here");
    let links = &find(&own, "multi").linkage;
    assert_eq!((links.len(), links[0].error, links[0].usual), (1, false, true), "{links:?}");
    let text = run(&["env", &root, "--gpu", "9.0"]).ending(0).out;
    assert!(text.contains("  - beside the GPU: files of asks cannot be loaded here, see below\n"), "{text}");
    assert!(text.contains("- asks 1: `a.so` asks for `libcudart.so.11.0`: nowhere here\n"), "{text}");
    assert!(!text.contains("libk_cuda118"), "{text}");
}

// --- the other commands

#[test]
fn explain_answers_for_an_environment_and_for_a_package_by_name() {
    let folder = venv();
    let root = path(&folder, "v");
    let site = path(&folder, SITE);
    for given in [&root, &site] {
        let own = run(&["explain", given, "--gpu", "8.0"]).ending(0).out;
        assert_eq!(own, run(&["env", given, "--gpu", "8.0"]).ending(0).out);
    }
    let explain = |name: &str, code: i32| {
        let mut command = call(&["explain", name, "--gpu", "8.0"]);
        command.env("VIRTUAL_ENV", &root).current_dir(folder.path());
        finish(command).ending(code)
    };
    let own = explain("narrow", 0).out;
    assert!(own.starts_with("narrow 1.0\n") && own.contains("\nnot covered: "), "{own}");
    assert!(
        own.contains("pip index versions narrow") && own.contains("  narrow/lib/libnarrow.so  not covered"),
        "{own}"
    );
    assert!(explain("Fine.Kernels", 0).out.contains("\nnative: "));
    assert!(explain("pure", 0).out.contains("no device code"));
    let none = explain("nosuch", 2).err;
    assert!(none.contains("no package of this name is installed in") && none.contains("VIRTUAL_ENV"), "{none}");
    // a path that is not there is one, and no name
    assert!(explain("nosuch.so", 2).err.contains("FS0101"));
}

#[test]
fn check_takes_an_environment() {
    let folder = venv();
    let root = path(&folder, "v");
    let run = |arguments: &[&str]| {
        let mut command = call(&[&["check"], arguments].concat());
        command.env("VIRTUAL_ENV", &root);
        finish(command)
    };
    let active = run(&["--require", "8.0", "--format", "json", "--env"]).ending(1);
    let named = run(&["--env", &root, "--require", "8.0", "--format", "json"]).ending(1);
    assert_eq!(active.out, named.out);
    let document: Document = serde_json::from_str(&named.out).unwrap();
    let failing: Vec<String> =
        document.findings.unwrap().into_iter().filter(|own| own.level == "error").map(|own| own.place).collect();
    assert_eq!(failing.len(), 1, "{failing:?}");
    assert!(failing[0].ends_with("narrow/lib/libnarrow.so"), "{failing:?}");
    run(&["--env", "--require", "9.0"]).ending(0);
    // of an environment not each directory must hold device code
    let system = format!("home = {}\ninclude-system-site-packages = true\nversion = 3.12.3\n", path(&folder, "py/bin"));
    folder.write("v/pyvenv.cfg", system);
    install(&folder, "py/lib/python3.12/site-packages", "plain", "1", "pip", &[("plain/__init__.py", Vec::new())]);
    run(&["--env", "--require", "9.0"]).ending(0);
    std::fs::remove_dir_all(folder.file(&format!("{SITE}/narrow"))).unwrap();
    std::fs::remove_dir_all(folder.file(&format!("{SITE}/fine"))).unwrap();
    assert!(run(&["--env", "--require", "9.0"]).ending(1).out.contains("no-device-code"));
    assert!(run(&["--env", "/nosuch", "--require", "9.0"]).ending(2).err.contains("no such directory"));
}
