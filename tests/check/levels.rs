//! Rules and their levels.

use super::*;

#[test]
fn every_rule_has_a_check_that_trips_it_and_one_that_does_not_in_every_format() {
    for rule in Rule::ALL.iter().copied() {
        let folder = Folder::new();
        let case = case(&folder, rule).unwrap_or_else(|| panic!("`{rule}` has no case here"));
        assert_eq!(case.rule, rule);
        let denied = rule.severity() == Severity::Deny;
        assert_code(&case.trips, i32::from(denied), rule.id());
        assert_code(&case.holds, 0, rule.id());
        let level = match rule {
            // a quarter of the modules is more than a note
            Rule::Newer => "warning",
            rule => rule.severity().name(),
        };
        assert!(findings(&case.trips).contains(&(rule.id().to_owned(), level.to_owned())), "{rule}");
        assert!(findings(&case.holds).iter().all(|(own, _)| own != rule.id()), "{rule}");
    }
}

#[test]
fn every_rule_obeys_its_level_in_every_format() {
    for rule in Rule::ALL.iter().copied() {
        let folder = Folder::new();
        let case = case(&folder, rule).unwrap();
        for (flag, code, level) in [("--deny", 1, "error"), ("--warn", 0, "warning"), ("--allow", 0, "allowed")] {
            let arguments = [case.trips.clone(), args(&[flag, rule.id()])].concat();
            assert_code(&arguments, code, &format!("{rule} {flag}"));
            let own: BTreeSet<String> =
                findings(&arguments).into_iter().filter(|(own, _)| own == rule.id()).map(|(_, level)| level).collect();
            assert_eq!(own, BTreeSet::from([level.to_owned()]), "{rule} {flag}");
            // what is allowed is counted and not shown
            for format in ["table", "github", "junit", "markdown"] {
                let run = in_format(&arguments, format);
                let shown = run.out.contains(&format!("[{rule}]"))
                    || run.out.contains(&format!("title=fatscan {rule}"))
                    || run.out.contains(&format!("type=\"{rule}\""))
                    || run.out.contains(&format!("| {rule} |"));
                assert_eq!(shown, flag != "--allow", "{rule} {flag} as {format}: {}", run.out);
            }
            let table = in_format(&arguments, "table").out;
            assert_eq!(table.contains("1 allowed"), flag == "--allow", "{rule} {flag}: {table}");
        }
    }
}

#[test]
fn the_level_of_a_rule_can_be_configured_and_typed_words_beat_it() {
    let folder = Folder::new();
    let path = folder.write("x-1.0-py3-none-any.whl", good());
    for (level, code) in [("deny", 1), ("warn", 0), ("note", 0), ("allow", 0)] {
        let config = folder.write("fatscan.toml", format!("[levels]\nnot-covered = \"{level}\"\n"));
        let arguments = args(&[&path, "--require", "12.0", "--config", &config]);
        assert_code(&arguments, code, level);
        assert_code(&[arguments.clone(), words("--deny not-covered")].concat(), 1, level);
        assert_code(&[arguments, words("--allow not-covered")].concat(), 0, level);
    }
    // several rules of a level, by one flag or by several
    let modules = [vec![sass("75"), ptx("80", (8, 0))], module(&["80", "120"])];
    let path = folder.write(
        "y-1.0-py3-none-any.whl",
        wheel(&[("y/a.so", library(&modules[..1])), ("y/b.so", library(&modules[1..]))]),
    );
    for words in ["--warn jit,not-covered", "--warn jit --warn not-covered"] {
        assert_eq!(check_with(&path, &format!("--require 9.0 {words}")).code, Some(0));
    }
    assert_eq!(check_with(&path, "--require 9.0 --warn jit").code, Some(1));
}

#[test]
fn levels_by_file_count_for_that_file_and_the_last_match_counts() {
    let folder = Folder::new();
    let path = folder.write(
        "x-1.0-py3-none-any.whl",
        wheel(&[
            ("x/own.so", library(&[module(&["80", "90"])])),
            ("x.libs/vendored.so", library(&[module(&["75", "80"])])),
        ]),
    );
    let config = |files: &str| folder.write("fatscan.toml", format!("[fleet.all]\ngpus = [\"9.0\"]\n{files}"));
    let with = |files: &str| args(&[&path, "--config", &config(files)]);
    assert_code(&with(""), 1, "no levels");
    let libs = "[[files]]\nglob = \"*.libs/*\"\nlevels = { not-covered = \"warn\" }\n";
    assert_code(&with(libs), 0, "warned");
    let own = "[[files]]\nglob = \"x/*\"\nlevels = { not-covered = \"warn\" }\n";
    assert_code(&with(own), 1, "the other file");
    let back = "[[files]]\nglob = \"vendored.so\"\nlevels = { not-covered = \"deny\" }\n";
    assert_code(&with(&format!("{libs}{back}")), 1, "the last");
    assert_code(&with(&format!("{back}{libs}")), 0, "the last");
}
