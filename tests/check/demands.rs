//! Demands, and the files that they are about.

use super::*;

#[test]
fn jit_partial_and_unknown_pass_where_they_are_allowed() {
    let folder = Folder::new();
    for (rule, flag) in
        [(Rule::Jit, "--allow-jit"), (Rule::Partial, "--allow-partial"), (Rule::Unknown, "--allow-unknown")]
    {
        let case = case(&folder, rule).unwrap();
        assert_code(&[case.trips.clone(), words(flag)].concat(), 0, flag);
        // the flag that would have let it pass is named
        let run = check(&case.trips);
        assert!(run.out.contains(flag), "{rule}: {}", run.out);
        // and nothing else passes by it
        let other = self::case(&folder, Rule::NotCovered).unwrap();
        assert_code(&[other.trips, words(flag)].concat(), 1, flag);
    }
    for (key, rule) in [
        ("allow-jit = true", Rule::Jit),
        ("allow-partial = 33", Rule::Partial),
        ("allow-unknown = true", Rule::Unknown),
    ] {
        let case = case(&folder, rule).unwrap();
        let config = folder.write("fatscan.toml", key);
        assert_code(&[case.trips, args(&["--config", &config])].concat(), 0, key);
    }
}

#[test]
fn the_percentage_of_a_partial_file_counts_up_to_its_boundary() {
    let folder = Folder::new();
    // one of three modules holds 7.5: 33.3 percent
    let modules = [module(&["75", "80"]), module(&["80", "90"]), module(&["80", "90"])];
    let path = write_wheel(&folder, &modules);
    for (flag, code) in [
        ("--allow-partial", 0),
        ("--allow-partial=0", 0),
        ("--allow-partial=1", 0),
        ("--allow-partial=33", 0),
        ("--allow-partial=34", 1),
        ("--allow-partial=100", 1),
    ] {
        assert_code(&args(&[&path, "--require", "7.5", flag]), code, flag);
    }
    // a half for newer GPUs are features; `--strict` asks for them all the same
    let path = write_wheel(&folder, &modules[..2]);
    assert_eq!(check_with(&path, "--require 7.5").code, Some(0));
    assert_eq!(check_with(&path, "--require 7.5 --strict").code, Some(1));
    // nothing loads: no percentage lets that pass
    assert_eq!(check_with(&path, "--require 12.0 --allow-partial=0").code, Some(1));
    // the flag takes its number with `=` only, so that a path behind it stays a path
    let run = check(&args(&["--require", "7.5", "--allow-partial", &path]));
    assert_eq!(run.code, Some(0), "{}", run.err);
}

#[test]
fn no_device_code_fails_warns_or_passes() {
    let folder = Folder::new();
    let case = case(&folder, Rule::NoDeviceCode).unwrap();
    for (what, code) in [("fail", 1), ("warn", 0), ("pass", 0)] {
        assert_code(&[case.trips.clone(), args(&["--no-device-code", what])].concat(), code, what);
        let config = folder.write("fatscan.toml", format!("no-device-code = \"{what}\"\n"));
        assert_code(&[case.trips.clone(), args(&["--config", &config])].concat(), code, what);
    }
    // also where code is declared
    let contains = args(&[&case.trips[0], "--contains", "8.0"]);
    assert_code(&contains, 1, "declared");
    assert_code(&[contains, words("--no-device-code pass")].concat(), 0, "declared");
    // relocatable code is no code that a driver loads
    let entry = Entry::sass("90", Cubin::abi7("90").relocatable().bytes());
    let elf = testkit::Elf::shared().section("__nv_relfatbin", &testkit::fatbin(&[entry])).bytes();
    let path = folder.write("rdc.so", elf);
    let run = check_with(&path, "--require 9.0");
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("[no-device-code]"), "{}", run.out);
}

#[test]
fn files_are_chosen_by_globs() {
    let folder = Folder::new();
    let path = folder.write(
        "x-1.0-py3-none-any.whl",
        wheel(&[
            ("x/lib/own.so", library(&[module(&["80", "90"])])),
            ("x/lib/other.so", library(&[module(&["80", "90"])])),
            ("x.libs/vendored.so", library(&[module(&["75", "80"])])),
        ]),
    );
    let code = |flags: &str| check_with(&path, &format!("--require 9.0 {flags}")).code;
    assert_eq!(code(""), Some(1));
    assert_eq!(code("--exclude *.libs/*"), Some(0));
    assert_eq!(code("--exclude vendored.so"), Some(0));
    assert_eq!(code("--exclude x/*"), Some(1));
    assert_eq!(code("--member x/**"), Some(0));
    assert_eq!(code("--member own.so --member other.so"), Some(0));
    assert_eq!(code("--member own.so --member vendored.so"), Some(1));
    assert_eq!(code("--member *.so --exclude vendored.so"), Some(0));
    // nothing is left: that is no pass, and nothing was judged
    assert_eq!(code("--member no-such-file.so"), Some(2));
}

#[test]
fn damage_in_a_file_that_is_left_out_does_not_count() {
    let folder = Folder::new();
    let whole = library(&[module(&["80", "90"])]);
    let cut = |bytes: &[u8]| bytes[..bytes.len() - 600].to_vec();
    for damaged in ["x.libs/cut.so", "x.libs/odd!name@0x1.so"] {
        let files = [("x/lib/own.so", whole.clone()), (damaged, cut(&whole))];
        let path = folder.write("x-1.0-py3-none-any.whl", wheel(&files));
        let code = |flags: &str| check_with(&path, &format!("--require 9.0 {flags}"));
        let counted = code("");
        assert!(counted.out.contains("[damage]"), "{damaged}: {}", counted.out);
        assert_eq!(counted.code, Some(1), "{damaged}");
        assert_eq!(code("--exclude *.libs/*").code, Some(0), "{damaged}");
        assert_eq!(code("--member own.so").code, Some(0), "{damaged}");
        assert_eq!(code("--exclude own.so").code, Some(1), "{damaged}");
    }
    // what is wrong with the wheel as a whole stays
    let zip = Zip::new().deflated("a/b.so", &whole).central(Central::Truncated);
    let path = folder.write("cut.whl", zip.bytes());
    assert_eq!(check_with(&path, "--require 9.0 --exclude c.so").code, Some(1));
    // and so does what is wrong with a file that is no archive
    let path = folder.write("cut.so", cut(&whole));
    assert_eq!(check_with(&path, "--require 9.0").code, Some(1));
}

#[test]
fn a_library_that_is_damaged_from_its_first_byte_is_not_overlooked() {
    let folder = Folder::new();
    let good = library(&[module(&["80", "90"])]);
    for name in ["p/lib.so", "p/lib.so.1", "q!lib.so"] {
        let zip = Zip::new().deflated(name, &good).deflated("a.so", &good).bytes();
        for at in [0, 1, 8, 40] {
            let mut bytes = zip.clone();
            // behind the local header and the name
            let start = 30 + name.len() + at;
            bytes[start..start + 8].fill(0xff);
            let path = folder.write("x-1.0-py3-none-any.whl", bytes);
            let run = check_with(&path, "--require 9.0");
            assert_eq!(run.code, Some(1), "{name} at {at}: {}", run.out);
            assert!(run.out.contains("[damage]"), "{name} at {at}: {}", run.out);
            assert_eq!(check_with(&path, &format!("--require 9.0 --exclude {name}")).code, Some(0), "{name} at {at}");
            assert_eq!(check_with(&path, "--require 9.0 --exclude q").code, Some(1), "{name} at {at}");
        }
        // the same without a fault of the archive: a library by its name alone
        let zip = Zip::new().deflated(name, &[0x80, 1, 2, 3].repeat(300)).deflated("a.so", &good);
        let path = folder.write("x-1.0-py3-none-any.whl", zip.bytes());
        assert_eq!(check_with(&path, "--require 9.0").code, Some(1), "{name}");
        // and a script for the linker, which may have such a name
        let zip = Zip::new().deflated(name, b"INPUT(libx.so.1)\n").deflated("a.so", &good);
        let path = folder.write("x-1.0-py3-none-any.whl", zip.bytes());
        assert_eq!(check_with(&path, "--require 9.0").code, Some(0), "{name}");
    }
}

#[test]
fn alternatives_count_as_one_unless_told_otherwise() {
    let folder = Folder::new();
    let path = folder.write(
        "x-1.0-py3-none-any.whl",
        wheel(&[
            ("x/libx_cuda118.so", library(&[module(&["70", "80"])])),
            ("x/libx_cuda128.so", library(&[module(&["90", "100"])])),
        ]),
    );
    for gpu in ["8.0", "10.0", "8.0,10.0"] {
        assert_code(&args(&[&path, "--require", gpu]), 0, gpu);
    }
    // each by itself: code for newer GPUs is a feature of theirs, code for older ones is in the way
    for (gpu, code) in [("8.0", 0), ("10.0", 1), ("8.0,10.0", 1)] {
        assert_code(&args(&[&path, "--require", gpu, "--no-alternatives"]), code, gpu);
    }
    assert_code(&args(&[&path, "--require", "12.0"]), 1, "neither");
    assert_code(&args(&[&path, "--contains", "7.0;8.0"]), 0, "one holds it all");
    assert_code(&args(&[&path, "--contains", "8.0;9.0"]), 1, "none holds it all");
    assert_code(&args(&[&path, "--contains", "7.0;8.0", "--no-alternatives"]), 1, "each must");
}

#[test]
fn a_bare_library_and_a_directory_are_checked_like_a_wheel() {
    let folder = Folder::new();
    let path = folder.write("d/lib/x.so", library(&[module(&["80", "90"])]));
    let whole = folder.file("d").to_str().unwrap().to_owned();
    for path in [&path, &whole] {
        assert_code(&args(&[path, "--require", "9.0"]), 0, path);
        assert_code(&args(&[path, "--require", "12.0"]), 1, path);
    }
    let run = check_with(&path, "--require 12.0");
    assert!(run.out.starts_with(&format!("error [not-covered] {path}: does not run on 12.0")), "{}", run.out);
    let run = check_with(&whole, "--require 12.0");
    assert!(run.out.starts_with(&format!("error [not-covered] {whole}/lib/x.so: does not run on 12.0")), "{}", run.out);
}

#[test]
fn a_directory_of_wheels_is_those_wheels() {
    let folder = Folder::new();
    folder.write("dist/a-1.0-py3-none-any.whl", good());
    folder.write("dist/b-1.0-py3-none-any.whl", good());
    folder.write("dist/SHA256SUMS", b"no library");
    let dist = folder.file("dist").to_str().unwrap().to_owned();
    for demand in ["--require 9.0", "--contains 8.0;9.0"] {
        assert_code(&[vec![dist.clone()], words(demand)].concat(), 0, demand);
        assert!(check_with(&dist, demand).out.starts_with("passed: 2 artefacts"));
    }
    assert_code(&args(&[&dist, "--require", "12.0"]), 1, "neither");
    // libraries beside them are an artefact of their own
    folder.write("dist/x.so", library(&[module(&["75", "80"])]));
    assert_code(&args(&[&dist, "--require", "9.0"]), 1, "the library");
    // and a directory with nothing in it still holds no device code
    let empty = folder.file("empty");
    std::fs::create_dir(&empty).unwrap();
    assert_code(&args(&[empty.to_str().unwrap(), "--require", "9.0"]), 1, "empty");
}

#[test]
fn paths_come_from_standard_input_and_globs_of_shells_are_many_paths() {
    let folder = Folder::new();
    let one = folder.write("one-1.0-py3-none-any.whl", good());
    let two = folder.write("two-1.0-py3-none-any.whl", good());
    let run = check(&args(&[&one, &two, "--require", "9.0"]));
    assert_eq!((run.code, run.out.as_str()), (Some(0), "passed: 2 artefacts on 1 GPU, nothing found\n"));
    // standard input is empty here
    let run = check(&words("- --require 9.0"));
    assert_eq!(run.code, Some(2), "{}", run.err);
}

#[test]
fn what_is_assumed_of_many_artefacts_is_one_line() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[vec![packed("90", Codec::Zstd)]]);
    let mut all = vec![path.clone()];
    for number in 0..5 {
        let other = folder.file(&format!("{number}-1.0-py3-none-any.whl"));
        std::fs::copy(&path, &other).unwrap();
        all.push(other.to_str().unwrap().to_owned());
    }
    let mut arguments = args(&all.iter().map(String::as_str).collect::<Vec<_>>());
    arguments.extend(words("--require 9.0"));
    let run = check(&arguments);
    assert_eq!((run.code, run.out.matches("assumes on 9.0").count()), (Some(0), 1), "{}", run.out);
    let line = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains(&format!("{path} and 5 more: assumes on 9.0: driver 550")), "{line}");
}
