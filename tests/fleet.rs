//! `fatscan fleet` as it is called: cells, targets, formats, exit codes. Every wheel is written for its test, and what is
//! expected of it follows from `docs/VERDICTS.md`.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic here is a failing test"
)]

mod program;

use fatscan::json::Fleet;
use program::{Folder, Run, finish, library, module, packed, program as command, ptx, run, sass, wheel, words};
use testkit::Zip;
use testkit::fatbin::Codec;
use testkit::zip::Central;

fn fleet(paths: &[&str], flags: &str) -> Run {
    let paths = paths.iter().map(|path| (*path).to_owned());
    run(std::iter::once("fleet".to_owned()).chain(paths).chain(words(flags)))
}

fn document(paths: &[&str], flags: &str) -> (Fleet, i32) {
    let run = fleet(paths, &format!("{flags} --format json"));
    let document = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    (document, run.code.unwrap())
}

/// Verdicts with a mark for those that fail, row by row.
fn cells(document: &Fleet) -> Vec<String> {
    let row = |row: &fatscan::json::FleetArtefact| {
        let words = row.cells.iter().map(|cell| format!("{}{}", cell.verdict, if cell.passes { "" } else { "!" }));
        words.collect::<Vec<_>>().join(" ")
    };
    document.artefacts.iter().map(row).collect()
}

fn names(document: &Fleet) -> Vec<&str> {
    document.targets.iter().map(|target| target.name.as_str()).collect()
}

fn reason(document: &Fleet, row: usize, cell: usize) -> &str {
    let reason = document.artefacts[row].cells[cell].reason.expect("there is a reason");
    &document.reasons[usize::try_from(reason).unwrap()].text
}

struct Wheels {
    folder: Folder,
    /// SASS for 8.0 and 9.0.
    good: String,
    /// SASS for 9.0 alone, beside another architecture so that it is general.
    narrow: String,
    /// SASS for 8.0 and PTX for it.
    mixed: String,
}

fn wheels() -> Wheels {
    let folder = Folder::new();
    let write = |name: &str, modules: &[Vec<testkit::fatbin::Entry>]| {
        folder.write(&format!("{name}-1.0-py3-none-linux_x86_64.whl"), wheel(&[("pkg/libpkg.so", library(modules))]))
    };
    let good = write("good", &[module(&["80", "90"])]);
    let narrow = write("narrow", &[module(&["90", "100"])]);
    let mixed = write("mixed", &[vec![sass("80"), ptx("80", (8, 0))]]);
    Wheels { good, narrow, mixed, folder }
}

// --- cells

#[test]
fn a_cell_is_what_explain_says_of_the_artefact_on_the_gpu() {
    let own = wheels();
    let (document, code) = document(&[&own.good, &own.narrow, &own.mixed], "--gpu 8.0,9.0 --gpu 12.0");
    assert_eq!(names(&document), ["8.0", "9.0", "12.0"]);
    let expected = ["native native not-covered!", "not-covered! native not-covered!", "native jit! jit!"];
    assert_eq!(cells(&document), expected);
    assert_eq!(code, 1);
    assert!(!document.summary.passed);
    let grades: Vec<&str> = document.artefacts[2].cells.iter().map(|cell| cell.grade.as_str()).collect();
    assert_eq!(grades, ["good", "bad", "bad"]);
    // one reason for several cells is there once, without the number of the GPU
    assert_eq!(reason(&document, 2, 1), "`libpkg.so`: 1 of 1 modules compile at first use");
    assert_eq!(document.artefacts[2].cells[1].reason, document.artefacts[2].cells[2].reason);
    assert!(reason(&document, 1, 0).starts_with("nothing fits"), "{:?}", document.reasons);
    assert_eq!(document.artefacts[0].cells[0].reason, None);
    // explain says the same words of each
    for (path, row) in [&own.good, &own.narrow, &own.mixed].into_iter().zip(&document.artefacts) {
        for cell in &row.cells {
            let run = run(["explain", path, "--gpu", &cell.target, "--format", "json"]).ending(0);
            assert_eq!(run.json()["artefacts"][0]["verdicts"][0]["verdict"], cell.verdict);
        }
    }
}

#[test]
fn jit_passes_where_it_is_allowed_and_is_not_green() {
    let own = wheels();
    let (document, code) = document(&[&own.mixed], "--gpu 8.0,9.0 --allow-jit");
    assert_eq!((cells(&document), code), (vec!["native jit".to_owned()], 0));
    assert_eq!(document.artefacts[0].cells[1].grade, "fair");
}

#[test]
fn gpus_and_drivers_are_multiplied() {
    let own = wheels();
    // zstd needs the driver of CUDA 12.4, branch 550
    let zstd = wheel(&[("pkg/libpkg.so", library(&[vec![packed("80", Codec::Zstd), packed("90", Codec::Zstd)]]))]);
    let zstd = own.folder.write("zstd-1.0-py3-none-any.whl", zstd);
    let flags = "--gpu 8.0,9.0 --driver 535.183.01 --driver 550.54.14 --driver-cuda 12.8";
    let (document, code) = document(&[&zstd], flags);
    let targets =
        ["8.0 535.183.01", "8.0 550.54.14", "8.0 CUDA 12.8", "9.0 535.183.01", "9.0 550.54.14", "9.0 CUDA 12.8"];
    assert_eq!(names(&document), targets);
    assert_eq!(cells(&document), ["driver-too-old! native native driver-too-old! native native"]);
    assert_eq!(code, 1);
}

#[test]
fn a_range_of_drivers_is_one_target_and_the_worst_of_its_ends() {
    let own = wheels();
    let zstd = wheel(&[("pkg/libpkg.so", library(&[vec![packed("80", Codec::Zstd), packed("90", Codec::Zstd)]]))]);
    let zstd = own.folder.write("zstd-1.0-py3-none-any.whl", zstd);
    let (one, code) = document(&[&zstd, &own.good], "--gpu 9.0 --driver 535.183.01..580.65.06");
    assert_eq!(one.targets.len(), 1);
    assert_eq!(one.targets[0].driver.as_deref(), Some("535.183.01..580.65.06"));
    assert_eq!((cells(&one), code), (vec!["driver-too-old!".to_owned(), "native".to_owned()], 1));
    let text = reason(&one, 0, 0);
    assert!(text.starts_with("with driver 535.183.01: driver too old (needs driver 550"), "{text}");
    assert!(text.ends_with("with driver 580.65.06: native"), "{text}");
    assert_eq!(document(&[&zstd], "--gpu 9.0 --driver 550.54.14..580.65.06").1, 0);
    // the end that is too new counts as well: the last branch for 7.0 is 580
    let volta = wheel(&[("pkg/libpkg.so", library(&[module(&["70", "80"])]))]);
    let volta = own.folder.write("volta-1.0-py3-none-any.whl", volta);
    let (document, code) = document(&[&volta], "--gpu 7.0 --driver 535.183.01..610");
    assert_eq!((cells(&document), code), (vec!["not-covered!".to_owned()], 1));
    for (wrong, word) in [
        ("580..535", "begins with the newer driver"),
        ("535..", "lacks an end"),
        ("..580", "lacks an end"),
        ("535..x", "is no version"),
    ] {
        let run = fleet(&[&zstd], &format!("--gpu 9.0 --driver {wrong}")).ending(2);
        assert!(run.err.contains(word) && run.out.is_empty(), "{wrong}: {}", run.err);
    }
}

#[test]
fn what_was_not_read_is_never_good() {
    let own = wheels();
    let cut = Zip::new().deflated("a/b.so", &library(&[module(&["80", "90"])])).central(Central::Truncated);
    let cut = own.folder.write("cut.whl", cut.bytes());
    let archive = Zip::new().deflated("a/b.so", &library(&[module(&["80", "90"])]));
    let archive = archive.deflated("a/more.7z", b"7z\xbc\xaf\x27\x1c\x00\x04");
    let unread = own.folder.write("unread.whl", archive.bytes());
    let config =
        own.folder.write("mild.toml", "[levels]\ndamage = \"warn\"\nunread = \"warn\"\n[fleet.f]\ngpus = [\"9.0\"]\n");
    for path in [&cut, &unread] {
        let (strict, code) = document(&[path], "--gpu 9.0");
        let cell = &strict.artefacts[0].cells[0];
        assert_eq!(
            (cell.verdict.as_str(), cell.read_in_full, cell.passes, code),
            ("native", false, false, 1),
            "{path}"
        );
        assert_eq!(cell.grade, "bad");
        let (mild, code) = document(&[path], &format!("--config {config}"));
        assert_eq!((mild.artefacts[0].cells[0].grade.as_str(), code), ("fair", 0), "{path}");
        assert!(reason(&mild, 0, 0).contains("judged by what could be read"));
        let text = fleet(&[path], "--gpu 9.0").ending(1).out;
        assert!(text.lines().any(|line| line.contains("native? 1")), "{text}");
    }
}

#[test]
fn a_path_that_gives_nothing_is_a_row_of_its_own() {
    let own = wheels();
    let missing = own.folder.file("missing.whl").to_str().unwrap().to_owned();
    let (both, code) = document(&[&missing, &own.good], "--gpu 8.0,9.0");
    assert_eq!(cells(&both), ["native native", "not-read! not-read!"]);
    assert_eq!((both.artefacts[1].path.as_str(), both.artefacts[1].size, code), (missing.as_str(), None, 1));
    // alone there is nothing that could be judged
    for format in ["table", "json", "csv", "markdown", "html"] {
        assert_eq!(fleet(&[&missing], &format!("--gpu 8.0 --format {format}")).code, Some(2), "{format}");
        assert_eq!(fleet(&[&missing, &own.good], &format!("--gpu 8.0 --format {format}")).code, Some(1), "{format}");
    }
}

// --- configurations

#[test]
fn targets_have_the_names_and_the_order_of_the_configuration() {
    let own = wheels();
    let config = own.folder.write(
        "fleet.toml",
        "[fleet.zeta]\ngpus = [\"A100\"]\ndriver = \"580.65.06\"\n\n[fleet.alpha]\ngpus = [\"9.0\", \"RTX 5090\"]\n\
         driver = \"570.86..580\"\nallow-jit = true\n",
    );
    let (document, code) = document(&[&own.mixed], &format!("--config {config}"));
    assert_eq!(names(&document), ["zeta", "alpha/9.0", "alpha/RTX 5090"]);
    assert_eq!((cells(&document), code), (vec!["native jit jit".to_owned()], 0));
    let target = &document.targets[2];
    assert_eq!((target.cc.as_str(), target.allow_jit), ("12.0", Some(100)));
    assert_eq!(target.driver.as_deref(), Some("570.86..580"));
    // the gate reads the same file, ranges and all
    run(["check", &own.mixed, "--config", &config]).ending(0);
    let narrow = format!("--config {config} --gpu 7.5");
    let (wider, code) = self::document(&[&own.mixed], &narrow);
    assert_eq!((names(&wider)[0], code), ("7.5", 1), "what is typed comes first");
}

#[test]
fn a_fleet_allows_so_much_to_be_compiled_and_no_more() {
    let own = wheels();
    let half = wheel(&[("pkg/libpkg.so", library(&[vec![sass("80"), ptx("80", (8, 0))], module(&["80", "90"])]))]);
    let half = own.folder.write("half-1.0-py3-none-any.whl", half);
    for (allowed, code) in [("50", 0), ("49", 1), ("true", 0), ("false", 1)] {
        let text = format!("allow-jit = true\n[fleet.f]\ngpus = [\"9.0\"]\nallow-jit = {allowed}\n");
        let config = own.folder.write("fleet.toml", text);
        let run = fleet(&[&half], &format!("--config {config}"));
        assert_eq!(run.code, Some(code), "{allowed}: {}", run.out);
        assert_eq!(self::run(["check", &half, "--config", &config]).code, Some(code), "{allowed}");
    }
}

#[test]
fn one_of_several_is_enough() {
    let own = wheels();
    let config = own.folder.write("fleet.toml", "[[any-of]]\nname = \"big\"\ngpus = [\"8.0\", \"9.0\"]\n");
    let (one, code) = document(&[&own.narrow], &format!("--config {config}"));
    assert_eq!((cells(&one), code), (vec!["not-covered native".to_owned()], 0));
    assert!(one.targets.iter().all(|target| target.any_of));
    assert!(reason(&one, 0, 0).ends_with("one GPU of `big` is enough"), "{}", reason(&one, 0, 0));
    let none = own.folder.write("none.toml", "[[any-of]]\nname = \"big\"\ngpus = [\"7.5\", \"8.0\"]\n");
    let (none, code) = document(&[&own.narrow], &format!("--config {none}"));
    assert_eq!((cells(&none), code), (vec!["not-covered! not-covered!".to_owned()], 1));
}

#[test]
fn what_is_accepted_passes_and_says_so() {
    let own = wheels();
    let config = own.folder.write(
        "fleet.toml",
        "[fleet.f]\ngpus = [\"8.0\", \"9.0\"]\n[[ignore]]\nrule = \"not-covered\"\ndevice = \"8.0\"\nreason = \"retired\"\n\
         expires = \"2999-12-31\"\n",
    );
    let (document, code) = document(&[&own.narrow], &format!("--config {config}"));
    assert_eq!((cells(&document), code), (vec!["not-covered native".to_owned()], 0));
    assert_eq!(document.artefacts[0].cells[0].grade, "fair");
    assert!(reason(&document, 0, 0).ends_with("accepted: retired"), "{}", reason(&document, 0, 0));
}

#[test]
fn a_limit_that_is_denied_fails_where_it_is() {
    let own = wheels();
    // one in ten modules is for newer GPUs than 7.5
    let mut modules = vec![module(&["75", "80"]); 9];
    modules.push(module(&["80", "90"]));
    let path = own.folder.write("limited-1.0-py3-none-any.whl", wheel(&[("pkg/libpkg.so", library(&modules))]));
    let config = own.folder.write("fleet.toml", "[levels]\nnewer = \"deny\"\n[fleet.f]\ngpus = [\"7.5\", \"8.0\"]\n");
    let (document, code) = document(&[&path], &format!("--config {config}"));
    assert_eq!((cells(&document), code), (vec!["native! native".to_owned()], 1));
    assert!(document.artefacts[0].cells[0].limited && !document.artefacts[0].cells[1].limited);
}

#[test]
fn what_is_about_no_target_stands_with_the_row() {
    let own = wheels();
    let config = own.folder.write("fleet.toml", "max-size = 10\n[fleet.f]\ngpus = [\"9.0\"]\n");
    let (document, code) = document(&[&own.good], &format!("--config {config}"));
    assert_eq!((cells(&document), code), (vec!["native".to_owned()], 1));
    assert!(!document.artefacts[0].passes);
    assert_eq!(document.artefacts[0].reasons, [0]);
    assert!(document.reasons[0].text.contains("larger") || document.reasons[0].text.contains("bytes"));
    let text = fleet(&[&own.good], &format!("--config {config}")).ending(1).out;
    assert!(text.contains("good 1.0 [1]"), "{text}");
}

#[test]
fn a_wrong_configuration_is_refused_with_its_place() {
    let own = wheels();
    for (text, expected) in [
        ("[fleet.f]\ngpus = [\"9.0\"]\ndrivr = \"550\"\n", "line 3, column 1"),
        ("[fleet.f]\ngpus = [\"9.0\"]\nallow-jit = 101\n", "at line 3, column 13: allow-jit"),
        ("[fleet.f]\ngpus = [\"9.0\"]\ndriver = \"580..535\"\n", "begins with the newer driver"),
        ("[fleet.f]\ngpus = [\"no such\"]\n", "fleet `f`"),
        ("[[any-of]]\nname = \"a\"\ngpus = [\"9.0\"]\ndriver = \"535..580\"\n", "any-of `a`"),
        ("allow-jit = true\n", "names no fleet"),
        ("", "is empty"),
    ] {
        let config = own.folder.write("fleet.toml", text);
        for format in ["table", "json", "html"] {
            let run = fleet(&[&own.good], &format!("--config {config} --format {format}")).ending(2);
            assert!(run.err.contains(expected) && run.out.is_empty(), "{text}: {}", run.err);
        }
    }
    for flags in ["", "--driver 550"] {
        let run = fleet(&[&own.good], flags).ending(2);
        assert!(run.err.contains("--gpu") && run.out.is_empty(), "{}", run.err);
    }
}

#[test]
fn it_ends_as_check_does() {
    let own = wheels();
    let pure = own.folder.write("pure-1.0-py3-none-any.whl", wheel(&[("pkg/x.py", b"x = 1\n".to_vec())]));
    let all = [own.good.as_str(), &own.narrow, &own.mixed, &pure];
    let mut seen = [0usize; 3];
    for paths in [&all[..1], &all[1..2], &all[2..3], &all[3..], &all[..2], &all[..]] {
        for gpus in ["8.0", "9.0", "8.0,9.0"] {
            for flags in ["", "--allow-jit", "--no-device-code pass", "--allow-partial"] {
                let own = fleet(paths, &format!("--gpu {gpus} {flags}"));
                let arguments = std::iter::once("check".to_owned()).chain(paths.iter().map(|path| (*path).to_owned()));
                let other = run(arguments.chain(words(&format!("--require {gpus} {flags}"))));
                assert_eq!(own.code, other.code, "{paths:?} {gpus} {flags}: {} {}", own.out, other.out);
                seen[usize::try_from(own.code.unwrap()).unwrap()] += 1;
            }
        }
    }
    assert!(seen[0] > 10 && seen[1] > 10, "{seen:?}");
}

// --- environments

#[test]
fn of_an_environment_each_distribution_is_a_row() {
    let own = wheels();
    let site = "v/lib/python3.12/site-packages";
    own.folder.write("v/pyvenv.cfg", "home = /usr/bin\nversion = 3.12.3\n");
    let install = |name: &str, file: &str, bytes: &[u8]| {
        own.folder.write(&format!("{site}/{file}"), bytes);
        own.folder.write(&format!("{site}/{name}-1.0.dist-info/RECORD"), format!("{file},,\n"));
        own.folder.write(&format!("{site}/{name}-1.0.dist-info/METADATA"), format!("Name: {name}\nVersion: 1.0\n"));
    };
    install("narrow", "narrow/n.so", &library(&[module(&["90", "100"])]));
    install("fine", "fine/f.so", &library(&[module(&["80", "90"])]));
    install("pure", "pure/__init__.py", b"x = 1\n");
    let root = own.folder.file("v").to_str().unwrap().to_owned();
    let (document, code) = document(&[&own.good, &root], "--gpu 8.0,9.0");
    let rows: Vec<(&str, Option<&str>)> =
        document.artefacts.iter().map(|row| (row.path.as_str(), row.environment.as_deref())).collect();
    let here = Some(root.as_str());
    assert_eq!(rows, [(own.good.as_str(), None), ("fine 1.0", here), ("narrow 1.0", here)]);
    assert_eq!(
        (cells(&document)[1..].to_vec(), code),
        (vec!["native native".to_owned(), "not-covered! native".to_owned()], 1)
    );
    // what has no device code is counted, and nothing is wrong with it
    let run = fleet(&[&root], "--gpu 9.0").ending(0);
    assert!(run.out.contains("1 distribution has no device code"), "{}", run.out);
    // a file of it that is broken makes its row doubtful, and no other
    let mut cut = library(&[module(&["80", "90"])]);
    cut.truncate(cut.len() - 40);
    install("fine", "fine/f.so", &cut);
    let (document, code) = self::document(&[&root], "--gpu 9.0");
    let full: Vec<bool> = document.artefacts.iter().map(|row| row.cells[0].read_in_full).collect();
    assert_eq!((full, code), (vec![false, true], 1), "{document:#?}");
}

// --- what is printed

#[test]
fn the_table_keeps_to_the_terminal() {
    let own = wheels();
    let long = format!("{}-1.0-py3-none-linux_x86_64.whl", "a_very_long_name_of_a_package_that_goes_on".repeat(2));
    let long = own.folder.write(&long, wheel(&[("pkg/libpkg.so", library(&[module(&["80", "90"])]))]));
    let gpus = "7.0,7.5,8.0,8.6,8.7,8.9,9.0,10.0,12.0";
    let mut tables = Vec::new();
    for columns in [80usize, 200] {
        let mut command = command();
        command.args(["fleet", &long, &own.narrow, &own.mixed, "--gpu", gpus, "--driver", "535.183.01"]);
        command.env("COLUMNS", columns.to_string());
        let run = finish(command).ending(1);
        for line in run.out.lines() {
            assert!(line.chars().count() <= columns, "{line}");
            assert_eq!(line, line.trim_end());
        }
        // each target stands in one block
        for gpu in gpus.split(',') {
            let heads = run.out.lines().filter(|line| line.split_whitespace().any(|word| word == gpu));
            assert!(
                heads.filter(|line| line.starts_with(' ') && !line.contains("fails")).count() >= 1,
                "{gpu}: {}",
                run.out
            );
        }
        tables.push(run.out.lines().filter(|line| line.starts_with("mixed 1.0")).count());
    }
    assert!(tables[0] > 1 && tables[1] == 1, "{tables:?}");
    // a pipe has no end of a line, and no colour
    let run = fleet(&[&own.narrow], "--gpu 8.0,9.0").ending(1);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["8.0", "9.0"]);
    assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["narrow", "1.0", "not", "covered", "1", "native"]);
    assert!(lines[3].starts_with("1  fails: nothing fits compute capability 8.0"), "{}", run.out);
    assert_eq!(*lines.last().unwrap(), "failed: 0 of 1 artefact pass on all 2 targets; 1 of 2 cells pass");
    assert!(!run.out.contains('\u{1b}'));
}

#[test]
fn colours_are_those_of_what_passes() {
    let own = wheels();
    let mut command = command();
    command.args(["fleet", &own.mixed, &own.narrow, "--gpu", "8.0,9.0", "--allow-jit"]).env("CLICOLOR_FORCE", "1");
    let out = finish(command).ending(1).out;
    for (colour, word) in [("32", "native"), ("33", "JIT 1"), ("31", "not covered 2")] {
        assert!(out.contains(&format!("{colour}m{word}\u{1b}[0m")), "{word}: {out:?}");
    }
}

#[test]
fn a_check_of_several_ends_with_the_table_and_of_one_does_not() {
    let own = wheels();
    let several = run(["check", &own.good, &own.narrow, "--require", "8.0,9.0"]).ending(1).out;
    let lines: Vec<&str> = several.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("narrow 1.0 ")).unwrap_or_else(|| panic!("{several}"));
    assert_eq!(lines[at].split_whitespace().collect::<Vec<_>>(), ["narrow", "1.0", "not", "covered", "native"]);
    assert_eq!(lines[at - 1].split_whitespace().collect::<Vec<_>>(), ["8.0", "9.0"]);
    assert_eq!(lines[at + 1], "1 more artefact is native on all 2 targets");
    assert!(lines.last().unwrap().starts_with("failed: 2 artefacts on 2 GPUs"), "{several}");
    // one file on one GPU is told by its findings, and what is fine everywhere needs no table
    for arguments in [vec!["check", &own.narrow, "--require", "8.0"], vec!["check", &own.good, "--require", "8.0,9.0"]]
    {
        let out = run(arguments).out;
        assert!(!out.lines().any(|line| line.starts_with("narrow 1.0") || line.starts_with("good 1.0")), "{out}");
    }
}

#[test]
fn every_format_has_every_cell_and_no_name_breaks_out() {
    let own = wheels();
    let evil = "=<script>x|y`\u{202e}\u{1b}[31m,\"'&-1.0-py3-none-any.whl";
    let evil = own.folder.write(evil, wheel(&[("pkg/<b>.so", library(&[module(&["90", "100"])]))]));
    let config = own.folder.write("fleet.toml", "[fleet.\"a|<i>\\u001b\"]\ngpus = [\"8.0\", \"9.0\"]\n");
    let flags = |format: &str| format!("--config {config} --format {format}");
    let csv = fleet(&[&evil, &own.good], &flags("csv")).ending(1).out;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 1 + 4);
    assert!(lines[0].starts_with("artefact,environment,target,fleet,gpu,cc,driver,verdict,"));
    assert!(
        lines[1].contains(",not-covered,false,true,false,") && lines[4].contains(",native,false,true,true,"),
        "{csv}"
    );
    let markdown = fleet(&[&evil, &own.good], &flags("markdown")).ending(1).out;
    let rows: Vec<&str> = markdown.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 4, "{markdown}");
    for row in rows {
        let ends = row.replace("\\\\", "").replace("\\|", "").matches('|').count();
        assert_eq!(ends, 4, "{row}");
    }
    assert!(markdown.contains("\u{1f534} not covered <sup>1</sup>") && !markdown.contains("<script>"), "{markdown}");
    let html = fleet(&[&evil, &own.good], &flags("html")).ending(1).out;
    assert_eq!(html.matches("<button class=\"").count(), 4);
    assert_eq!(html.matches("<script>").count(), 1, "its own");
    assert!(html.contains("&lt;script&gt;") && !html.contains("<b>.so") && !html.contains("<i>\\"), "{html}");
    assert!(html.contains("Content-Security-Policy") && html.contains("default-src 'none'"));
    for out in [&csv, &markdown, &html] {
        assert!(!out.contains('\u{202e}') && !out.contains('\u{1b}'), "{out:?}");
    }
    for load in ["src=", "href=", "url(", "@import", "onclick", "style=\""] {
        assert!(!html.contains(load), "{load}");
    }
}

#[test]
fn the_schema_of_the_table_is_printed() {
    let schema = run(["schema", "fleet"]).ending(0).json();
    assert_eq!(schema["title"], "Fleet");
    let (document, _) = document(&[&wheels().good], "--gpu 9.0");
    let value = serde_json::to_value(&document).unwrap();
    for field in schema["required"].as_array().unwrap() {
        assert!(value.get(field.as_str().unwrap()).is_some(), "{field}");
    }
    let completions = run(["completions", "bash"]).ending(0).out;
    assert!(completions.contains("fatscan__subcmd__fleet") || completions.contains("fatscan__fleet"));
    let help = run(["fleet", "--help"]).ending(0).out;
    for word in ["Examples:", "--config fleet.toml", "Exit code", "--format html > fleet.html"] {
        assert!(help.contains(word), "{word} is not in {help}");
    }
}
