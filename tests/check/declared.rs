//! What packages say of themselves, held to what is in them; and what nobody forbade.

use testkit::{Elf, Tar, compress, ptx_text};

use super::*;

/// A wheel of this file name with these members.
fn named(folder: &Folder, file: &str, members: &[(&str, Vec<u8>)]) -> String {
    let zip = members.iter().fold(Zip::new(), |zip, (name, bytes)| zip.deflated(name, bytes));
    folder.write(file, zip.bytes())
}

/// A library for 8.0 and 9.0, and one other file.
fn beside(folder: &Folder, file: &str, path: &str, text: impl AsRef<[u8]>) -> String {
    named(folder, file, &[("x/_C.so", library(&[module(&["80", "90"])])), (path, text.as_ref().to_vec())])
}

const LINUX: &str = "x-1.0-cp312-cp312-manylinux_2_28_x86_64.whl";

/// `variant.json` with these properties of the namespace `nvidia`.
fn variant(label: &str, properties: &str) -> String {
    let schema = "https://variants-schema.wheelnext.dev/peps/825/v0.1.0.json";
    format!(
        r#"{{"$schema": "{schema}", "default-priorities": {{"namespace": ["nvidia"]}}, "variants": {{"{label}": {{"nvidia": {{{properties}}}}}}}}}"#
    )
}

/// A package of conda with a library for 8.0 and 9.0.
fn conda(folder: &Folder, name: &str, depends: &str) -> String {
    let index = format!(r#"{{"name": "x", "depends": ["python", {depends}], "constrains": []}}"#);
    let info = Tar::new().file("info/index.json", index.as_bytes()).bytes();
    let package = Tar::new().file("lib/libx.so", &library(&[module(&["80", "90"])])).bytes();
    let zip = Zip::new()
        .stored("metadata.json", b"{}")
        .stored("pkg-x-1-0.tar.zst", &compress::zstd_stored(&package))
        .stored("info-x-1-0.tar.zst", &compress::zstd_stored(&info));
    folder.write(name, zip.bytes())
}

pub(crate) fn case(folder: &Folder, rule: Rule) -> Option<cases::Case> {
    let paths = |trips: String, holds: String, flag: &str| {
        Some(cases::Case { rule, trips: args(&[&trips, flag]), holds: args(&[&holds, flag]) })
    };
    let two = |path: &str, trips: &str, holds: &str| {
        paths(beside(folder, &format!("trips/{LINUX}"), path, trips), beside(folder, LINUX, path, holds), "--declared")
    };
    let lint = |trips: &[Vec<Entry>], holds: &[Vec<Entry>]| {
        let write = |place: &str, modules| named(folder, &format!("{place}/{LINUX}"), &[("x/_C.so", library(modules))]);
        paths(write("trips", trips), write("holds", holds), "--lint")
    };
    match rule {
        Rule::DeclaredVariant => {
            let write = |place: &str, archs: &str| {
                let file = format!("{place}/x-1.0-cp312-cp312-manylinux_2_28_x86_64-cu12.whl");
                beside(
                    folder,
                    &file,
                    "x-1.0.dist-info/variant.json",
                    variant("cu12", &format!(r#""sm_arch": [{archs}]"#)),
                )
            };
            let (trips, holds) = (r#""80_real", "90_real", "120_real""#, r#""80_real", "90_real""#);
            paths(write("trips", trips), write("holds", holds), "--declared")
        }
        Rule::DeclaredConda => {
            let trips = conda(folder, "old.conda", r#""__cuda_arch >=7.5,<10""#);
            paths(trips, conda(folder, "new.conda", r#""__cuda_arch >=8.0,<10""#), "--declared")
        }
        Rule::DeclaredTag => {
            let trips = beside(folder, "x-1.0-cp312-cp312-manylinux_2_28_aarch64.whl", "x/__init__.py", "");
            paths(trips, beside(folder, LINUX, "x/__init__.py", ""), "--declared")
        }
        Rule::DeclaredList => {
            let list = |text: &[u8]| Elf::shared().section(".rodata", text).bytes();
            let path = "torch/lib/libtorch_python.so";
            let trips = beside(folder, &format!("trips/{LINUX}"), path, list(b"\x01\0sm_80 sm_120\0"));
            paths(trips, beside(folder, LINUX, path, list(b"\x01\0sm_80 sm_90\0")), "--declared")
        }
        Rule::DeclaredCmake => {
            let text = |list: &str| format!("set_target_properties(x PROPERTIES\n  CUDA_ARCHITECTURES \"{list}\")\n");
            two("x/cmake/x-targets.cmake", &text("80-real;90"), &text("80-real;90-real"))
        }
        Rule::DeclaredMetadata => {
            let text = |range: &str| format!("Name: x\nVersion: 1.0\n\nFor GPUs of compute capability {range}.\n");
            two("x-1.0.dist-info/METADATA", &text("8.0 to 12.0"), &text("8.0 to 9.0"))
        }
        Rule::DeclaredName => {
            let file = "x_cu12-1.0-cp312-cp312-manylinux_2_28_x86_64.whl";
            let trips = named(folder, &format!("trips/{file}"), &[("x/__init__.py", Vec::new())]);
            paths(trips, beside(folder, file, "x/__init__.py", ""), "--declared")
        }
        Rule::LintDefault => lint(&[module(&["75"])], &[module(&["75", "80"])]),
        Rule::LintPtx => {
            let with = vec![sass("80"), sass("90"), ptx("90", (8, 0))];
            lint(&[module(&["80", "90"])], &[with])
        }
        Rule::LintGap => lint(&[module(&["75", "120"])], &[module(&["75", "80", "86"])]),
        Rule::LintExact => lint(&[module(&["90a"])], &[module(&["90a"]), module(&["80", "90"])]),
        Rule::LintLabel => {
            let lying = Entry::ptx("80", (8, 0), &ptx_text("8.0", "sm_90", "k"));
            let label = |entry| [vec![sass("80"), sass("90"), entry]];
            lint(&label(lying), &label(ptx("80", (8, 0))))
        }
        _ => None,
    }
}

/// Messages of the findings of a rule.
fn said(path: &str, flags: &str, rule: &str) -> Vec<(String, String)> {
    let own = document(&in_format(&[vec![path.to_owned()], words(flags)].concat(), "json"));
    let own = own.findings.unwrap().into_iter().filter(|finding| finding.rule == rule);
    own.map(|finding| (finding.level, finding.message)).collect()
}

#[test]
fn nothing_that_a_package_says_is_looked_at_unless_asked() {
    let folder = Folder::new();
    let path = beside(&folder, "x-1.0-cp312-cp312-manylinux_2_28_aarch64.whl", "x/__init__.py", "");
    assert_eq!(check_with(&path, "--require 9.0").code, Some(0));
    assert_eq!(check_with(&path, "--require 9.0 --declared").code, Some(1));
    let config = folder.write("fatscan.toml", "declared = true\n");
    assert_eq!(check_with(&path, &format!("--config {config}")).code, Some(1));
    let config = folder.write("fatscan.toml", "declared = true\n[levels]\ndeclared-tag = \"warn\"\n");
    assert_eq!(check_with(&path, &format!("--config {config}")).code, Some(0));
    assert_eq!(check_with(&path, "").code, Some(2));
}

#[test]
fn a_variant_is_held_to_each_of_its_properties() {
    let folder = Folder::new();
    let write = |file: &str, label: &str, properties: &str| {
        let mut own = Elf::shared().section(".text", b"code");
        own = own.section(".nv_fatbin", &testkit::fatbin::fatbin(&[sass("80"), sass("90"), ptx("90", (8, 0))]));
        let members = [
            ("x/_C.so", own.needs("libcudart.so.12").bytes()),
            ("x-1.0.dist-info/variant.json", variant(label, properties).into_bytes()),
        ];
        named(&folder, file, &members)
    };
    let file = "x-1.0-cp312-cp312-manylinux_2_28_x86_64-cu12.whl";
    let all = r#""sm_arch": ["80_real", "90_real", "90_virtual"]"#;
    for (label, properties, expected) in [
        ("cu12", format!(r#"{all}, "cuda_version_lower_bound": ["12.4"], "cuda_version_upper_bound": ["13"]"#), vec![]),
        (
            "cu12",
            r#""sm_arch": ["80_real", "90_real"]"#.to_owned(),
            vec![("warning", "`compute_90` is there and not declared")],
        ),
        ("cu12", format!(r#"{all}, "cuda_version_lower_bound": ["11.8"]"#), vec![("error", "needs CUDA runtime 12")]),
        ("cu12", format!(r#"{all}, "cuda_version_upper_bound": ["12"]"#), vec![("error", "needs CUDA runtime 12")]),
        ("cu13", all.to_owned(), vec![("error", "the file name says `cu12`")]),
        ("cu12", r#""sm_arch": ["ninety"]"#.to_owned(), vec![("error", "ninety")]),
    ] {
        let path = write(file, label, &properties);
        let found = said(&path, "--declared", "declared-variant");
        assert_eq!(found.len(), expected.len(), "{properties}: {found:?}");
        for ((level, message), (wanted, part)) in found.iter().zip(expected) {
            assert!(level == wanted && message.contains(part), "{level} {message}: {wanted} {part}");
        }
    }
    let bare = named(&folder, file, &[("x/_C.so", library(&[module(&["80", "90"])]))]);
    assert!(said(&bare, "--declared", "declared-variant")[0].1.contains("there is no `variant.json`"));
    let unlabelled = write(LINUX, "cu12", all);
    assert!(said(&unlabelled, "--declared", "declared-variant")[0].1.contains("has no label"));
}

#[test]
fn what_conda_admits_must_run() {
    let folder = Folder::new();
    let found = |depends: &str| said(&conda(&folder, "x.conda", depends), "--declared", "declared-conda");
    assert_eq!(found(r#""__cuda_arch 9.0""#), []);
    assert_eq!(found(r#""__cuda >=12""#), []);
    // SASS for 8.0 and 9.0 alone: Blackwell is admitted and finds nothing
    let open = found(r#""cuda-arch >=8.0""#);
    assert_eq!(open.len(), 1);
    assert!(open[0].0 == "warning" && open[0].1.contains("it does not run on 10.0, 10.3, 10.7, 12.0"), "{open:?}");
    let old = found(r#""cuda-arch >=7.5""#);
    assert!(old[0].0 == "error" && old[0].1.contains("it does not run on 7.5, 10.0"), "{old:?}");
}

#[test]
fn a_version_of_cuda_in_a_name_is_that_of_the_runtime() {
    let folder = Folder::new();
    let write = |file: &str, runtime: &str| {
        let own = Elf::shared().section(".nv_fatbin", &testkit::fatbin::fatbin(&module(&["80", "90"])));
        named(&folder, file, &[("x/_C.so", own.needs(runtime).bytes())])
    };
    let tags = "cp312-cp312-manylinux_2_28_x86_64.whl";
    for (name, runtime, count) in [
        ("x_cu12-1.0", "libcudart.so.12", 0),
        ("x_cu12-1.0", "libcudart.so.13", 1),
        ("x-1.0+cu126", "libcudart.so.12", 0),
        ("x-1.0+cu126", "libcudart.so.11.0", 1),
        ("x_cuda12x-1.0", "libcudart.so.13", 1),
        ("x-1.0", "libcudart.so.13", 0),
    ] {
        let found = said(&write(&format!("{name}-{tags}"), runtime), "--declared", "declared-name");
        assert_eq!(found.len(), count, "{name} {runtime}: {found:?}");
    }
    // NVIDIA's packages hold headers and tools, too
    let tool = named(&folder, &format!("nvidia_cuda_nvcc_cu12-12.9-{tags}"), &[("x/nvcc.txt", Vec::new())]);
    assert_eq!(said(&tool, "--declared", "declared-name"), []);
}

#[test]
fn a_wheel_for_any_machine_holds_no_code_for_one() {
    let folder = Folder::new();
    let path = beside(&folder, "x-1.0-py3-none-any.whl", "x/__init__.py", "");
    let found = said(&path, "--declared", "declared-tag");
    assert!(found[0].0 == "warning" && found[0].1.contains("for any machine, and the file needs x86_64"), "{found:?}");
}

#[test]
fn a_proposal_is_what_the_judgement_says() {
    let folder = Folder::new();
    let both = [
        ("x/a.so", library(&[module(&["80", "90"]), module(&["75", "80", "90"])])),
        ("x/b.so", library(&[vec![sass("80"), sass("90"), sass("100"), ptx("100", (8, 6))], module(&["90a"])])),
    ];
    let path = named(&folder, "x-1.0-cp312-cp312-manylinux_2_28_x86_64-own.whl", &both);
    let out = run(["variant", &path]).out;
    let lines: Vec<&str> = out.lines().map(str::trim).collect();
    let real = ["75", "80", "90"].map(|arch| format!("nvidia :: sm_arch :: {arch}_real"));
    assert_eq!(lines[1..4], real, "{out}");
    assert_eq!(lines[4], "by the code of 2 files");
    // a.so ends with Hopper
    assert!(lines.contains(&"sm_100: not declared: partial (x/a.so)"), "{out}");
    assert!(lines.contains(&"compute_100: not declared: not in every module (x/a.so)"), "{out}");
    let file: Value = serde_json::from_str(&run(["variant", &path, "--format", "variant-json"]).out).unwrap();
    assert_eq!(file["variants"]["own"]["nvidia"]["sm_arch"], serde_json::json!(["75_real", "80_real", "90_real"]));
    // what is proposed is true
    let text = serde_json::to_vec(&file).unwrap();
    let mut members = both.to_vec();
    members.push(("x-1.0.dist-info/variant.json", text));
    let own = named(&folder, "with/x-1.0-cp312-cp312-manylinux_2_28_x86_64-own.whl", &members);
    assert_eq!(said(&own, "--declared", "declared-variant"), []);
    for words in [vec!["--label", "A b"], vec!["--format", "variant-json", &own]] {
        let run = run([vec!["variant", &path], words.clone()].concat());
        assert!(run.code == Some(2) && run.out.is_empty(), "{words:?}: {run:?}");
    }
}

#[test]
fn of_a_damaged_wheel_no_declaration_is_made() {
    let folder = Folder::new();
    let cut = Zip::new().deflated("x/_C.so", &library(&[module(&["80", "90"])])).central(Central::Truncated);
    let path = folder.write(LINUX, cut.bytes());
    let text = run(["variant", &path]);
    assert!(text.code == Some(1) && text.out.contains("a part of it could not be read"), "{text:?}");
    assert_eq!(run(["variant", &path, "--json"]).json()["artefacts"][0]["whole"], false);
    let file = run(["variant", &path, "--format", "variant-json"]);
    assert!(file.code == Some(2) && file.out.is_empty() && file.err.contains("is not known"), "{file:?}");
}

#[test]
fn texts_that_never_end_or_mean_nothing_are_no_claims() {
    let folder = Folder::new();
    let long = "Classifier: Environment :: GPU :: NVIDIA CUDA :: 12\n".repeat(100_000);
    for (path, text) in [
        ("x-1.0.dist-info/METADATA", long.into_bytes()),
        ("x-1.0.dist-info/METADATA", vec![0xff; 4 << 20]),
        ("x-1.0.dist-info/METADATA", b"\ncompute capability".repeat(300_000)),
        ("x/x.cmake", b"set(CMAKE_CUDA_ARCHITECTURES ".repeat(100_000)),
        ("libtorch_python.so", Elf::shared().section(".rodata", &b"\0sm_90 ".repeat(100_000)).bytes()),
    ] {
        let own = beside(&folder, LINUX, path, text);
        let run = check_with(&own, "--declared");
        assert_eq!(run.code, Some(0), "{path}: {run:?}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let own = beside(&folder, "x-1.0-cp312-cp312-manylinux_2_28_x86_64-l.whl", "x-1.0.dist-info/variant.json", deep);
    let found = said(&own, "--declared", "declared-variant");
    assert!(found.len() == 1 && found[0].1.contains("no metadata of a variant"), "{found:?}");
}

#[test]
fn what_cannot_be_read_of_a_claim_is_said() {
    let folder = Folder::new();
    let info = |name: &str| format!("{name}.dist-info/METADATA");
    let code = || ZipMember::deflated("x/_C.so", &library(&[module(&["80", "90"])]));
    let text = b"Name: x\n\ncompute capability 8.0 to 9.0\n";
    for (members, expected) in [
        (vec![ZipMember::deflated(&info("x-1.0"), text)], None),
        (vec![ZipMember::deflated(&info("x-1.0"), text).bad_crc()], Some("it cannot be read: ")),
        (vec![ZipMember::deflated(&info("x-1.0"), text).encrypted()], Some("it cannot be read: ")),
        // one reader takes the first, another the last
        (vec![ZipMember::deflated(&info("x-1.0"), text), ZipMember::deflated(&info("y-1.0"), text)], Some("several")),
        (vec![ZipMember::deflated(&info("x-1.0"), text), ZipMember::deflated(&info("x-1.0"), text)], Some("several")),
    ] {
        let zip = members.into_iter().fold(Zip::new().with(code()), Zip::with);
        let path = folder.write(LINUX, zip.bytes());
        let found = said(&path, "--declared", "declared-metadata");
        match expected {
            Some(part) => assert!(found.len() == 1 && found[0].1.contains(part), "{part}: {found:?}"),
            None => assert_eq!(found, []),
        }
    }
    // an archive around it
    let inner = std::fs::read(beside(&folder, LINUX, "x/__init__.py", "")).unwrap();
    let outer = folder.write("outer.zip", Zip::new().stored(LINUX, &inner).bytes());
    let found = said(&outer, "--declared", "declared-metadata");
    assert!(found.len() == 1 && found[0].1.contains("it lies in another archive"), "{found:?}");
    let bare = Zip::new().stored("pkg-x-1-0.tar.zst", &compress::zstd_stored(&Tar::new().bytes()));
    let found = said(&folder.write("bare.conda", bare.bytes()), "--declared", "declared-conda");
    assert!(found.len() == 1 && found[0].1.contains("it is not there"), "{found:?}");
}

#[test]
fn who_claims_without_end_is_bounded_and_told() {
    let folder = Folder::new();
    let specs: Vec<String> = (0..20_000).map(|minor| format!(r#""__cuda_arch {}.{minor}""#, minor % 99)).collect();
    let found = said(&conda(&folder, "x.conda", &specs.join(",")), "--declared", "declared-metadata");
    assert!(found.len() == 1 && found[0].1.contains("the first 64 are looked at"), "{found:?}");
    let archs = ["50", "60", "70", "75", "80", "86", "89", "90"];
    let line = |bits: usize| {
        let own = archs.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
        let own: Vec<String> = own.map(|(_, arch)| format!("{arch}-real")).collect();
        format!("set(CMAKE_CUDA_ARCHITECTURES {})\n", own.join(" "))
    };
    let list: String = (1..256).map(line).collect();
    let path = beside(&folder, LINUX, "x/x.cmake", list);
    assert_eq!(said(&path, "--declared", "declared-metadata").len(), 1);
    let values = vec![r#""75_real""#; 20_000].join(",");
    let file = "x-1.0-cp312-cp312-manylinux_2_28_x86_64-l.whl";
    let path =
        beside(&folder, file, "x-1.0.dist-info/variant.json", variant("l", &format!(r#""sm_arch": [{values}]"#)));
    // 7.5 does not run, 8.0 and 9.0 are not declared
    assert_eq!(said(&path, "--declared", "declared-variant").len(), 3);
    let one = |index: usize| (format!("x/{index}.cmake"), b"#".to_vec());
    let many: Vec<(String, Vec<u8>)> = (0..300).map(one).collect();
    let zip = many.iter().fold(Zip::new(), |zip, (name, text)| zip.stored(name, text));
    let path = folder.write(LINUX, zip.deflated("x/_C.so", &library(&[module(&["80", "90"])])).bytes());
    let found = said(&path, "--declared", "declared-cmake");
    assert!(found.len() == 1 && found[0].1.contains("the first 256 were read"), "{found:?}");
}

#[test]
fn a_variant_of_another_format_is_doubted() {
    let folder = Folder::new();
    let all = variant("l", r#""sm_arch": ["80_real", "90_real"]"#);
    let file = "x-1.0-cp312-cp312-manylinux_2_28_x86_64-l.whl";
    let path = beside(&folder, file, "x-1.0.dist-info/variant.json", all.replace("v0.1.0", "v9.0.0"));
    let found = said(&path, "--declared", "declared-variant");
    assert!(found.len() == 1 && found[0].0 == "warning" && found[0].1.contains("another format"), "{found:?}");
}

#[test]
fn older_ptx_is_something_to_compile() {
    let folder = Folder::new();
    let with = |entry: Entry| {
        let own = library(&[vec![sass("80"), sass("90"), entry]]);
        said(&named(&folder, LINUX, &[("x/_C.so", own)]), "--lint", "lint-ptx")
    };
    assert!(with(ptx("80", (8, 0)))[0].1.ends_with("GPUs of generations after sm_90 compile older PTX there"));
    assert!(with(sass("86"))[0].1.ends_with("GPUs of generations after sm_90 may find nothing to compile there"));
    assert_eq!(with(ptx("90", (8, 0))), []);
}
