//! Many artefacts, where the output goes, and what a shell asks for.

use super::*;
use crate::formats::parse_xml;

#[test]
fn two_hundred_wheels_are_reported_in_a_stable_order_one_line_a_finding() {
    let folder = Folder::new();
    let (good, bad) = (good(), wheel_of(&[module(&["75", "80"]), module(&["80", "90"])]));
    let mut paths = Vec::new();
    let mut expected = Vec::new();
    for number in 0..200 {
        // as a shell would not sort them: the order given is the order reported
        let name = format!("w{:03}-1.0-py3-none-any.whl", (number * 77) % 200);
        let path = folder.write(&name, if number % 5 == 0 { &bad } else { &good });
        if number % 5 == 0 {
            expected.push(path.clone());
        }
        paths.push(path);
    }
    let mut outputs = Vec::new();
    for threads in ["1", "4", "0"] {
        for format in FORMATS {
            let flags = words(&format!("--require 9.0 --threads {threads} --format {format}"));
            let run = check(&[paths.clone(), flags].concat());
            assert_eq!(run.code, Some(1), "{}", run.err);
            outputs.push((format, run.out));
        }
    }
    for (index, (format, out)) in outputs.iter().enumerate() {
        assert_eq!(*out, outputs[index % FORMATS.len()].1, "{format} differs by the number of threads");
    }
    let found: Vec<&str> =
        outputs[0].1.lines().filter_map(|line| line.strip_prefix("error [partial] ")?.split('!').next()).collect();
    assert_eq!(found, expected);
    assert!(outputs[0].1.ends_with("failed: 200 artefacts on 1 GPU, 40 errors\n"));
    let root = parse_xml(&outputs[4].1);
    let names: Vec<&str> = root.children[0].children.iter().map(|case| case.get("name")).collect();
    assert_eq!(names, paths);
    // a directory of them is one artefact each, by name
    let run = check_with(folder.path().to_str().unwrap(), "--require 9.0");
    assert!(run.out.contains("failed: 200 artefacts on 1 GPU, 40 errors"), "{}", run.out);
}

#[test]
fn a_closed_pipe_ends_quietly_and_leaves_the_verdict() {
    let folder = Folder::new();
    let mut many = Vec::new();
    for number in 0..300 {
        many.push((format!("x/{}{number}.so", "long".repeat(40)), library(&[module(&["80", "90"])])));
    }
    let many: Vec<(&str, Vec<u8>)> = many.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let path = folder.write("x-1.0-py3-none-any.whl", wheel(&many));
    for format in FORMATS {
        for (gpu, code) in [("12.0", 1), ("9.0", 0)] {
            let mut command = command();
            command.args(["check", &path, "--require", gpu, "--format", format]);
            let run = run_into_closed_pipe(command);
            assert_eq!((run.code, run.err.as_str()), (Some(code), ""), "{format}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    for format in FORMATS {
        // a check that passes has nothing to annotate
        let gpus = if format == "github" { &["12.0"][..] } else { &["9.0", "12.0"] };
        for gpu in gpus {
            let mut command = command();
            command.args(["check", &path, "--require", gpu, "--format", format]);
            let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
            command.stdout(full).stderr(std::process::Stdio::piped()).stdin(std::process::Stdio::null());
            let output = command.output().unwrap();
            let err = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{format}: {err}");
            assert!(err.contains("output cannot be written"), "{format}: {err}");
            assert_eq!(err.matches("error").count(), 2, "one sentence and the system's number: {err}");
        }
    }
}

#[test]
fn completions_are_printed_for_every_shell() {
    for (shell, words) in [
        ("bash", &["complete -F", "--require"][..]),
        ("zsh", &["#compdef fatscan", "--require"]),
        ("fish", &["complete -c fatscan", "require"]),
        ("elvish", &["edit:completion", "--require"]),
        ("powershell", &["Register-ArgumentCompleter", "--require"]),
    ] {
        let run = run(["completions", shell]);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{shell}");
        for word in words {
            assert!(run.out.contains(word), "{shell}: {word}");
        }
        for command in ["list", "explain", "check", "arch", "schema", "completions", "man"] {
            assert!(run.out.contains(command), "{shell}: {command}");
        }
    }
    assert_eq!(run(["completions", "tcsh"]).code, Some(2));
    assert_eq!(run(["completions"]).code, Some(2));
    let mut command = command();
    command.args(["completions", "bash"]);
    assert_eq!(run_into_closed_pipe(command).code, Some(0));
}

#[test]
fn the_manual_has_a_page_for_the_program_and_one_for_each_command() {
    let page = run(["man"]);
    assert_eq!((page.code, page.err.as_str()), (Some(0), ""));
    assert!(page.out.contains(".TH fatscan 1"), "{}", page.out);
    for section in [".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS"] {
        assert!(page.out.contains(section), "{section}");
    }
    for name in ["list", "explain", "check", "arch", "schema", "completions", "man"] {
        assert!(page.out.contains(&format!("fatscan\\-{name}(1)")), "{name}");
        let own = run(["man", name]);
        assert_eq!((own.code, own.err.as_str()), (Some(0), ""), "{name}");
        let title = format!(".TH fatscan-{name} 1  \"fatscan {}\"", env!("CARGO_PKG_VERSION"));
        assert!(own.out.contains(&title), "{}", own.out);
    }
    assert!(run(["man", "check"]).out.contains("\\-\\-allow\\-jit"));
    let run = run(["man", "nothing"]);
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("`nothing` is no command") && run.err.contains("explain"), "{}", run.err);
    let mut command = command();
    command.arg("man");
    assert_eq!(run_into_closed_pipe(command).code, Some(0));
}
