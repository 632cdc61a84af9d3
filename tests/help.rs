//! Help, manual and completion: what is typed first, and what is typed wrong.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a panic here is a failing test"
)]

mod program;

use program::{Folder, run};

const COMMANDS: [&str; 15] = [
    "list",
    "explain",
    "env",
    "check",
    "kernels",
    "size",
    "diff",
    "extract",
    "fleet",
    "slim",
    "device",
    "arch",
    "schema",
    "completions",
    "man",
];

/// The words of a line; quotes hold words together, and what another program does is left out.
fn words(line: &str) -> Vec<String> {
    let line = line.split(" | ").find(|part| part.trim_start().starts_with("fatscan")).unwrap();
    let mut words = Vec::new();
    for (index, part) in line.split(" > ").next().unwrap().split('"').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned())
        } else {
            words.extend(part.split_whitespace().map(ToOwned::to_owned))
        }
    }
    words
}

#[test]
fn help_of_each_command_is_the_same_both_ways_and_its_examples_are_understood() {
    let mut examples = 0;
    let whole = run(["help"]).ending(0).out;
    for command in COMMANDS.into_iter().chain([""]) {
        let help = if command.is_empty() { run(["--help"]) } else { run([command, "--help"]) }.ending(0).out;
        if command.is_empty() {
            assert_eq!(help, whole);
        } else {
            assert_eq!(run(["help", command]).ending(0).out, help, "{command}");
            assert!(whole.contains(&format!("\n  {command} ")), "{command}: {whole}");
        }
        let own = help.split("Examples:\n").nth(1).unwrap_or_else(|| panic!("{command} has no examples: {help}"));
        for line in
            own.lines().map(str::trim).filter(|line| line.starts_with("fatscan ") || line.contains("| fatscan "))
        {
            let words = words(line);
            assert!(command.is_empty() || words[1] == command, "{line} is no example of {command}");
            // an unknown flag is refused before the help
            let own = run(words.iter().skip(1).chain(&["--help".to_owned()]));
            assert!(own.code == Some(0) && own.out.contains("Usage"), "{line}: {}", own.err);
            examples += 1;
        }
    }
    assert!(examples > 25, "{examples}");
}

#[test]
fn help_names_the_rules_and_completion_the_architectures_too() {
    let help = run(["check", "--help"]).out;
    for rule in fatscan::check::Rule::ALL {
        assert!(help.contains(&format!("- {rule}:")), "{rule}: {help}");
        assert_eq!(help.matches(&format!("- {rule}:")).count(), 1, "{rule} once, not with each flag");
    }
    let script = run(["completions", "bash"]).out;
    for word in ["empty-kernels", "unmatched-files", "sm_100f", "compute_90a", "8.9", "worse-verdict", "ndjson"] {
        assert!(script.contains(word), "{word}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert_eq!(run(["completions", shell]).code, Some(0), "{shell}");
    }
    // what is known for a shell does not bound what may be typed
    assert_eq!(run(["arch", "RTX 4090"]).code, Some(0));
    assert!(run(["check", "x", "--require", "9.0", "--deny", "nothing"]).err.contains("`nothing` is no rule"));
}

#[test]
fn a_first_word_that_is_no_command_asks_what_was_meant() {
    let folder = Folder::new();
    folder.write("chekc", "not a command");
    let typed = |words: &[&str]| {
        let mut command = program::program();
        command.current_dir(folder.path()).args(words);
        program::finish(command)
    };
    for (words, meant) in [
        (&["chck", "x.whl"][..], "`fatscan check x.whl` is meant?"),
        (&["Explain"], "`fatscan explain` is meant?"),
        (&["kernel", "x.so"], "`fatscan kernels x.so` is meant?"),
        (&["lits", "a", "b"], "`fatscan list a b` is meant?"),
        (&["torch"], "`fatscan help` names the commands"),
    ] {
        let own = typed(words);
        assert_eq!((own.code, own.out.as_str()), (Some(2), ""), "{words:?}: {}", own.err);
        assert!(own.err.contains("is neither a command nor a file or directory"), "{}", own.err);
        assert!(own.err.contains(meant), "{words:?}: {}", own.err);
    }
    // a file of that name is one, and so is what looks like a path
    assert!(!typed(&["chekc"]).err.contains("neither"));
    for path in ["x.whl", "./chck", "a/chck"] {
        let own = typed(&[path]);
        assert!(own.code == Some(2) && own.err.contains("FS0101"), "{path}: {}", own.err);
    }
}

#[test]
fn the_manual_is_written_page_by_page_and_explains_words() {
    let folder = Folder::new();
    let own = run(["man", "--dir", folder.file("man1").to_str().unwrap()]).ending(0);
    let page = |name: &str| std::fs::read_to_string(folder.file("man1").join(name)).unwrap();
    assert_eq!(page("fatscan.1"), run(["man"]).out);
    for command in COMMANDS {
        let name = format!("fatscan-{command}.1");
        assert_eq!(page(&name), run(["man", command]).out, "{command}");
        assert!(own.out.lines().any(|line| line == name));
    }
    assert_eq!(std::fs::read_dir(folder.file("man1")).unwrap().count(), own.out.lines().count());
    let glossary = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/crates/cli/GLOSSARY.md")).unwrap();
    let (words, whole) = (glossary.lines().filter_map(|line| line.strip_prefix("- **")), page("fatscan.1"));
    let words: Vec<&str> = words.map(|line| line.split("**").next().unwrap()).collect();
    for word in ["member", "module", "image", "general module", "specialised module"] {
        assert!(words.contains(&word), "{word}");
    }
    for word in words {
        assert!(whole.contains(&format!(".TP\n\\fB{}\\fR\n", word.replace('-', "\\-"))), "{word}");
    }
    // a directory that cannot be written
    folder.write("file", "");
    let own = run(["man", "--dir", folder.file("file/man").to_str().unwrap()]);
    assert!(own.code == Some(2) && own.err.contains("cannot be written"), "{}", own.err);
}
