//! `fatscan.toml`: fleets, groups, ignores; baselines.

use super::*;

#[test]
fn a_fleet_demands_each_of_its_gpus_with_its_own_driver() {
    let folder = Folder::new();
    let zstd = vec![packed("80", Codec::Zstd), packed("90", Codec::Zstd)];
    let path = write_wheel(&folder, &[zstd]);
    let code = |text: &str| {
        let config = folder.write("fatscan.toml", text);
        let arguments = args(&[&path, "--config", &config]);
        let run = check(&arguments);
        assert_code(&arguments, run.code.unwrap(), text);
        (run.code.unwrap(), run.out)
    };
    assert_eq!(code("[fleet.a]\ngpus = [\"A100\", \"H100\"]\n").0, 0);
    let (failed, out) = code("[fleet.a]\ngpus = [\"A100\", \"T4\"]\n");
    assert_eq!(failed, 1);
    assert!(out.contains("does not run on NVIDIA T4") && !out.contains("run on NVIDIA A100"), "{out}");
    assert!(out.contains("assumes on NVIDIA A100: driver 550 (CUDA 12.4) or newer: zstd compression"), "{out}");
    // one fleet has the old driver
    let (failed, out) = code(
        "[fleet.new]\ngpus = [\"A100\"]\ndriver = \"550.54.14\"\n[fleet.old]\ngpus = [\"H100\"]\ndriver = \"535.183.01\"\n",
    );
    assert_eq!(failed, 1);
    let findings = out.split("\n\n").next().unwrap();
    assert!(findings.contains("[driver-too-old]") && findings.contains("H100") && !findings.contains("A100"), "{out}");
    assert_eq!(code("[fleet.new]\ngpus = [\"A100\"]\ndriver-cuda = \"12.4\"\n").0, 0);
    assert_eq!(code("[fleet.new]\ngpus = [\"A100\"]\ndriver-cuda = \"12.2\"\n").0, 1);
}

#[test]
fn of_an_any_of_group_one_gpu_is_enough() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let group = |gpus: &str| {
        let config = folder.write("fatscan.toml", format!("[[any-of]]\nname = \"a big one\"\ngpus = {gpus}\n"));
        args(&[&path, "--config", &config])
    };
    assert_code(&group("[\"B200\", \"H100\"]"), 0, "one");
    assert_code(&group("[\"B200\", \"RTX 5090\"]"), 1, "none");
    let run = check(&group("[\"B200\", \"RTX 5090\"]"));
    assert!(run.out.contains("none of `a big one` is met"), "{}", run.out);
    // beside a demand for each
    assert_code(&[group("[\"B200\", \"H100\"]"), words("--require 8.0")].concat(), 0, "both");
    assert_code(&[group("[\"B200\", \"H100\"]"), words("--require 12.0")].concat(), 1, "one of both");
}

#[test]
fn a_broken_configuration_is_refused_with_line_and_column() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let ignore = "[[ignore]]\nrule = \"jit\"\nreason = \"known\"\nexpires = \"2999-01-01\"\n";
    for (text, expected) in [
        ("allow-jit = \n", &["line 1", "column 13"][..]),
        ("\n\nallow-jit = 300\n", &["line 3", "column 13", "nor a percentage"]),
        ("alow-jit = true\n", &["line 1", "column 1", "alow-jit", "allow-jit"]),
        ("[fleet.a]\ngpus = [\"T4\"]\ndrivr = \"1\"\n", &["line 3", "column 1", "drivr"]),
        ("[fleet.a]\ndriver = \"1\"\n", &["line 1", "gpus"]),
        ("[[ignore]]\nrule = \"jit\"\nexpires = \"2999-01-01\"\n", &["line 1", "reason"]),
        ("[[ignore]]\nrule = \"jit\"\nreason = \"known\"\n", &["line 1", "expires"]),
        (&ignore.replace("known", "  "), &["line 3, column 10", "an ignore needs a reason"]),
        (&ignore.replace("jit", "jitt"), &["line 2, column 8", "`jitt` is no rule"]),
        (&ignore.replace("2999-01-01", "tomorrow"), &["line 4, column 11", "`tomorrow` is no date"]),
        (&ignore.replace("2999-01-01", "2999-02-29"), &["`2999-02-29` is no date"]),
        (&ignore.replace("rule", "device = \"T5\"\nrule"), &["T5"]),
        ("allow-partial = 200\n", &["line 1, column 17", "200 is no percentage"]),
        ("[fleet.p]\ngpus = [\"RTX 99999\"]\n", &["--config", "fleet `p`", "RTX 99999"]),
        ("[fleet.p]\ngpus = [\"T4\"]\ndriver = \"abc\"\n", &["--config", "fleet `p`: driver: `abc`"]),
        ("contains = \"sm_999\"\n", &["--config: contains"]),
        ("[levels]\njitt = \"warn\"\n", &["line 2, column 1", "`jitt` is no rule"]),
        ("[levels]\njit = \"loud\"\n", &["line 2, column 7", "`loud` is none of deny, warn, note, allow"]),
        ("[[files]]\nglob = \"*\"\nlevels = { jit = \"loud\" }\n", &["line 3, column 18", "`loud` is none of"]),
        ("no-device-code = \"maybe\"\n", &["line 1, column 18", "`maybe` is none of fail, warn, pass"]),
        ("[fleet.empty]\ngpus = []\n", &["fleet `empty`: no GPU is named"]),
        ("[fleet.code]\ngpus = [\"sm_90a\"]\n", &["fleet `code`", "names code, not a device"]),
        ("[fleet.old]\ngpus = [\"T4\"]\ndriver = \"12.4\"\n", &["12.4"]),
        (
            "[fleet.family]\ngpus = [\"Volta\"]\n",
            &["fleet `family`: `Volta` stands for", "7.2 (Jetson Xavier)", "all: gpus = [\"7.0\", \"7.2\"]\n"],
        ),
        ("[[any-of]]\nname = \"g\"\ngpus = [\"RTX 4091\"]\n", &["any-of `g`", "RTX 4090"]),
        ("contains = \"native\"\n", &["native"]),
        ("host = \"arm64\"\n", &["arm64"]),
    ] {
        let config = folder.write("fatscan.toml", text);
        assert_refused(&args(&[&path, "--require", "9.0", "--config", &config]), expected);
    }
}

#[test]
fn the_configuration_demands_by_itself() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    for (text, code) in [
        ("contains = \"8.0;9.0\"\nstrict = true\n", 0),
        ("contains = \"9.0\"\nstrict = true\n", 1),
        ("contains = \"9.0\"\n", 0),
        ("contains = \"9.0+PTX\"\n", 1),
        ("max-size = 1000000\n", 0),
        ("max-size = 10\n", 1),
        ("host = \"x86_64\"\n", 0),
        ("host = \"aarch64\"\n", 1),
        ("", 2),
        ("allow-jit = true\n", 2),
    ] {
        let config = folder.write("fatscan.toml", text);
        assert_code(&args(&[&path, "--config", &config]), code, text);
    }
}

#[test]
fn an_ignore_covers_its_rule_file_artefact_and_device_until_its_last_day() {
    let folder = Folder::new();
    let path = folder.write(
        "x-1.0-py3-none-any.whl",
        wheel(&[
            ("x/lib/a.so", library(&[module(&["61", "90"])])),
            ("x/lib/b.so", library(&[module(&["75", "80", "90"])])),
        ]),
    );
    let code = |lines: &str, expires: &str| {
        let text = format!(
            "[fleet.a]\ngpus = [\"T4\", \"H100\"]\n[[ignore]]\n{lines}\nreason = \"why not\"\nexpires = \"{expires}\"\n"
        );
        let config = folder.write("fatscan.toml", text);
        let arguments = args(&[&path, "--config", &config]);
        let code = check(&arguments).code.unwrap();
        assert_code(&arguments, code, lines);
        code
    };
    let never = "9999-12-31";
    for (lines, expected) in [
        ("rule = \"not-covered\"", 0),
        ("rule = \"partial\"", 1),
        ("rule = \"not-covered\"\nmember = \"x/lib/a.so\"", 0),
        ("rule = \"not-covered\"\nmember = \"a.so\"", 0),
        ("rule = \"not-covered\"\nmember = \"x/*/a.*\"", 0),
        ("rule = \"not-covered\"\nmember = \"x/lib/b.so\"", 1),
        ("rule = \"not-covered\"\nartefact = \"x-*.whl\"", 0),
        ("rule = \"not-covered\"\nartefact = \"y-*.whl\"", 1),
        ("rule = \"not-covered\"\ndevice = \"T4\"", 0),
        ("rule = \"not-covered\"\ndevice = \"NVIDIA T4\"", 0),
        ("rule = \"not-covered\"\ndevice = \"H100\"", 1),
    ] {
        assert_eq!(code(lines, never), expected, "{lines}");
        // the day has passed: what it covered counts, and so does that it ended
        assert_eq!(code(lines, "2020-12-31"), 1, "{lines}");
    }
    let run = check(&args(&[&path, "--config", folder.file("fatscan.toml").to_str().unwrap()]));
    assert!(run.out.contains("[expired-ignore]") && run.out.contains("ended on 2020-12-31: why not"), "{}", run.out);
    // with a future day it is counted, and told with its reason where findings are data
    code("rule = \"not-covered\"\ndevice = \"T4\"", never);
    let arguments = args(&[&path, "--config", folder.file("fatscan.toml").to_str().unwrap()]);
    assert!(check(&arguments).out.ends_with("1 ignored\n"));
    let document = document(&in_format(&arguments, "json"));
    assert_eq!(document.findings.unwrap()[0].ignored_by.as_deref(), Some("why not"));
    assert_eq!(document.summary.unwrap().ignored, 1);
    let sarif: Value = serde_json::from_str(&in_format(&arguments, "sarif").out).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["suppressions"][0]["justification"], "why not");
}

#[test]
fn a_baseline_accepts_what_was_known_in_the_next_build_and_nothing_else() {
    let folder = Folder::new();
    let modules = |last: &[&str]| [module(&["80", "90"]), module(last)];
    let path = folder.write("1/x-1.0-cp312-cp312-linux_x86_64.whl", wheel_of(&modules(&["80", "90"])));
    let report = in_format(&args(&[&path, "--require", "7.5,9.0"]), "json");
    assert_eq!(report.code, Some(1));
    let baseline = folder.write("baseline.json", &report.out);
    let with = |path: &str, gpus: &str| args(&[path, "--require", gpus, "--baseline", &baseline]);
    assert_code(&with(&path, "7.5,9.0"), 0, "the same");
    assert!(check(&with(&path, "7.5,9.0")).out.contains("1 ignored"));
    // another version in another folder
    let next = folder.write("2/x-1.1-cp313-cp313-linux_x86_64.whl", wheel_of(&modules(&["80", "90"])));
    assert_code(&with(&next, "7.5,9.0"), 0, "the next version");
    // another device, another package, another rule
    assert_code(&with(&path, "7.5,12.0"), 1, "another device");
    let other = folder.write("3/y-1.0-py3-none-any.whl", wheel_of(&modules(&["80", "90"])));
    assert_code(&with(&other, "7.5"), 1, "another package");
    let more = [modules(&["75", "80"]).to_vec(), vec![module(&["80", "90"])]].concat();
    let partial = folder.write("4/x-1.2-py3-none-any.whl", wheel_of(&more));
    assert_code(&with(&partial, "7.5"), 1, "another rule");
}

#[test]
fn a_baseline_does_not_hide_other_code_that_is_missing() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let known = in_format(&args(&[&path, "--contains", "8.9"]), "json");
    let baseline = folder.write("baseline.json", &known.out);
    assert_code(&args(&[&path, "--contains", "8.9", "--baseline", &baseline]), 0, "the same");
    assert_code(&args(&[&path, "--contains", "8.9;10.0", "--baseline", &baseline]), 1, "more is missing");
    // a size that was too large once must not hide that it grew
    let known = in_format(&args(&[&path, "--max-size", "10"]), "json");
    let baseline = folder.write("baseline.json", &known.out);
    assert_code(&args(&[&path, "--max-size", "10", "--baseline", &baseline]), 1, "too large");
}

#[test]
fn sarif_names_the_file_and_tells_findings_apart() {
    let folder = Folder::new();
    let path = folder.write("we!rd.whl", wheel_of(&[module(&["80", "90"])]));
    let log: Value = serde_json::from_str(&in_format(&args(&[&path, "--contains", "8.9;10.0"]), "sarif").out).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert!(uri.as_str().unwrap().ends_with("we%21rd.whl"), "{uri}");
    }
    let print = |index: usize| results[index]["partialFingerprints"]["fatscan/v1"].clone();
    assert_ne!(print(0), print(1));
}

#[test]
fn a_baseline_that_is_none_is_refused() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let report: Value = serde_json::from_str(&in_format(&args(&[&path, "--require", "9.0"]), "json").out).unwrap();
    let schema = report["schema"].as_u64().unwrap();
    let mut newer = report;
    newer["schema"] = (schema + 1).into();
    newer["findings"] = "of another shape".into();
    let list = run(["list", "--format", "json", &path]).out;
    let explained = run(["explain", "--format", "json", "--gpu", "9.0", &path]).out;
    for (text, expected) in [
        (newer.to_string(), vec![format!("schema {}", schema + 1), "newer than".to_owned()]),
        (list, vec!["no findings".to_owned(), "fatscan check --format json".to_owned()]),
        (explained, vec!["no findings".to_owned()]),
        ("{}".to_owned(), vec!["no JSON report".to_owned()]),
        (String::new(), vec!["no JSON report".to_owned(), "line 1".to_owned()]),
        ("[1, 2".to_owned(), vec!["no JSON report".to_owned()]),
    ] {
        let baseline = folder.write("baseline.json", text);
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        assert_refused(&args(&[&path, "--require", "9.0", "--baseline", &baseline]), &expected);
    }
    // no text at all
    let baseline = folder.write("baseline.json", [0xff, 0xfe]);
    assert_refused(&args(&[&path, "--require", "9.0", "--baseline", &baseline]), &["cannot be read"]);
}
