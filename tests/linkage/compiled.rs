//! Libraries that the compiler of this machine makes, and what its loader says about them.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use fatscan::linkage::{Disk, FindingKind, Linkages, Machine, Resolution, Scope, Search, judge};
use testkit::Elf;
use testkit::elf::machine;

/// A directory to build in, where there are a compiler and `ldd`.
fn workshop() -> Option<tempfile::TempDir> {
    for (tool, word) in [("cc", "--version"), ("ldd", "--version")] {
        if !Command::new(tool).arg(word).output().is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: no {tool}");
            return None;
        }
    }
    Some(tempfile::tempdir().unwrap())
}

/// Builds `path` below `folder`: a library of nothing that asks for `needed` there.
fn build(folder: &Path, path: &str, needed: &[&str], flags: &[&str]) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-nostdlib", "-Wl,--no-as-needed", "-o"])
        .arg(&path)
        .arg(format!("-Wl,-soname,{name}"))
        .args(flags);
    cc.args(["-x", "c", "/dev/null", "-x", "none"]).args(needed.iter().map(|needed| folder.join(needed)));
    let output = cc.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn search() -> Search {
    let mut search = Disk::new().search();
    search.library_path.clear();
    search
}

fn judged(folder: &Path, search: &Search) -> Linkages {
    let disk = Disk::new();
    let environment = disk.read(folder);
    assert!(environment.unread.is_empty() && !environment.is_cut, "{environment:?}");
    judge(&environment.files, search, &disk)
}

/// What the loader finds for each name, by `ldd`: a path, or nothing.
fn ldd(path: &Path, variable: Option<&str>) -> BTreeMap<String, Option<PathBuf>> {
    let mut command = Command::new("ldd");
    command.arg(path).env_remove("LD_LIBRARY_PATH").env("LC_ALL", "C");
    command.envs(variable.map(|value| ("LD_LIBRARY_PATH", value)));
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().filter_map(|line| line.trim().split_once(" => "));
    let found = |rest: &str| rest.starts_with('/').then(|| PathBuf::from(rest.split(" (").next().unwrap()));
    lines.map(|(name, rest)| (name.to_owned(), found(rest))).collect()
}

/// Compares what is said of one file with what `ldd` says; the number of names.
fn compare(linkages: &Linkages, path: &Path, variable: Option<&str>) -> usize {
    let said = ldd(path, variable);
    let file = linkages.files.iter().find(|file| file.path == path).unwrap();
    for ask in &file.asks {
        let own = match &ask.resolution {
            Resolution::Found { path, .. } => Some(path.clone()),
            _ => None,
        };
        assert_eq!(Some(&own), said.get(&ask.name), "{}: {} ({said:?})", path.display(), ask.name);
    }
    file.asks.len()
}

#[test]
fn a_library_of_two_cudas_is_as_ldd_says() {
    let Some(folder) = workshop() else { return };
    let root = folder.path().canonicalize().unwrap();
    build(&root, "nvidia/cuda_runtime/lib/libcudart.so.12", &[], &[]);
    build(&root, "nvidia/cu13/lib/libcudart.so.13", &[], &[]);
    let both = ["nvidia/cuda_runtime/lib/libcudart.so.12", "nvidia/cu13/lib/libcudart.so.13"];
    let runpath = "-Wl,--enable-new-dtags,-rpath,$ORIGIN/../nvidia/cuda_runtime/lib:${ORIGIN}/../nvidia/cu13/lib";
    build(&root, "p/both.so", &both, &[runpath]);
    build(&root, "p/nowhere.so", &both, &["-Wl,--enable-new-dtags,-rpath,/gone/lib"]);
    build(&root, "p/static.so", &[], &[]);
    let linkages = judged(&root, &search());
    assert_eq!(compare(&linkages, &root.join("p/both.so"), None), 2);
    assert_eq!(compare(&linkages, &root.join("p/nowhere.so"), None), 2);
    assert_eq!(compare(&linkages, &root.join("p/static.so"), None), 0);
    let of = |name: &str| {
        let path = root.join(name);
        let own = linkages.findings.iter().filter(move |finding| finding.path.as_ref() == Some(&path));
        own.map(|finding| finding.kind.clone()).collect::<Vec<_>>()
    };
    let [FindingKind::MixedMajors { scope: Scope::File, majors }] = &of("p/both.so")[..] else {
        panic!("{:?}", of("p/both.so"));
    };
    assert_eq!(majors.keys().copied().collect::<Vec<_>>(), [12, 13]);
    assert!(of("p/static.so").is_empty());
    let nowhere = of("p/nowhere.so");
    assert!(nowhere.contains(&FindingKind::Missing { name: "libcudart.so.12".to_owned() }), "{nowhere:?}");
    let gone = FindingKind::RunpathNowhere {
        entry: "/gone/lib".to_owned(),
        directory: Some(PathBuf::from("/gone/lib")),
        is_all: true,
    };
    assert!(nowhere.contains(&gone), "{nowhere:?}");
    // the variable leads the way where the paths do not, and before a RUNPATH
    let variable = root.join("nvidia/cu13/lib").to_str().unwrap().to_owned();
    let mut search = search();
    search.library_path = vec![variable.clone()];
    let linkages = judged(&root, &search);
    assert_eq!(compare(&linkages, &root.join("p/nowhere.so"), Some(&variable)), 2);
    assert_eq!(compare(&linkages, &root.join("p/both.so"), Some(&variable)), 2);
}

#[test]
fn order_tokens_and_links_are_as_ldd_says() {
    let Some(folder) = workshop() else { return };
    let root = folder.path().canonicalize().unwrap();
    for copy in ["a", "b", "c"] {
        build(&root, &format!("{copy}/libcudart.so.12"), &[], &[]);
    }
    std::os::unix::fs::symlink("b", root.join("link")).unwrap();
    let needed = ["a/libcudart.so.12"];
    for (number, (kind, path)) in [
        ("--enable-new-dtags", "/gone:$ORIGIN/../b:$ORIGIN/../a"),
        ("--disable-new-dtags", "$ORIGIN/../link:$ORIGIN/../a"),
        ("--enable-new-dtags", "$ORIGIN/../$LIB:$ORIGIN/../$OTHER:$ORIGIN/../c"),
        ("--disable-new-dtags", "$ORIGIN/../a//:$ORIGIN/../b"),
        ("--enable-new-dtags", "$ORIGINAL:${ORIGIN}AL:$ORIGIN/../b/"),
        ("--disable-new-dtags", "${ORIGIN/../a:$ORIGIN/../c"),
    ]
    .into_iter()
    .enumerate()
    {
        build(&root, &format!("x/{number}.so"), &needed, &[&format!("-Wl,{kind},-rpath,{path}")]);
    }
    build(&root, "xAL/libcudart.so.12", &[], &[]);
    let real = |path: &Path| path.canonicalize().unwrap();
    let linkages = judged(&root, &search());
    for number in 0..6 {
        let path = root.join(format!("x/{number}.so"));
        let file = linkages.files.iter().find(|file| file.path == path).unwrap();
        let [ask] = &file.asks[..] else { panic!("{file:?}") };
        let Resolution::Found { real: own, .. } = &ask.resolution else { panic!("{number}: {ask:?}") };
        let said = ldd(&path, None).remove("libcudart.so.12").unwrap();
        assert_eq!(Some(own.clone()), said.as_deref().map(real), "{number}");
    }
}

#[test]
fn a_file_for_another_machine_is_stepped_over_as_the_loader_does() {
    let Some(folder) = workshop() else { return };
    let root = folder.path().canonicalize().unwrap();
    let other = if cfg!(target_arch = "aarch64") { machine::X86_64 } else { machine::AARCH64 };
    build(&root, "b/libcudart.so.12", &[], &[]);
    build(&root, "x/ask.so", &["b/libcudart.so.12"], &["-Wl,--enable-new-dtags,-rpath,$ORIGIN/../a:$ORIGIN/../b"]);
    std::fs::create_dir(root.join("a")).unwrap();
    let foreign = Elf::shared().soname("libcudart.so.12").needs("libcublas.so.12").machine(other);
    std::fs::write(root.join("a/libcudart.so.12"), foreign.bytes()).unwrap();
    let linkages = judged(&root, &search());
    assert_eq!(compare(&linkages, &root.join("x/ask.so"), None), 1);
    let kinds: Vec<&FindingKind> = linkages.findings.iter().map(|finding| &finding.kind).collect();
    let machine = if cfg!(target_arch = "aarch64") { Machine::X86_64 } else { Machine::Aarch64 };
    let path = root.join("x/../a/libcudart.so.12");
    let stepped = FindingKind::SteppedOver { name: "libcudart.so.12".to_owned(), path };
    assert_eq!(kinds, [&FindingKind::WrongMachine { machine, bits: 64 }, &stepped]);
    let asks = &linkages.files.iter().find(|file| file.path.ends_with("a/libcudart.so.12")).unwrap().asks;
    assert_eq!(asks[0].resolution, Resolution::OtherMachine);
    // the loader stops at what is no library
    std::fs::write(
        root.join("a/libcudart.so.12"),
        "a text that is long enough to be the header of an ELF, but is none",
    )
    .unwrap();
    let linkages = judged(&root, &search());
    let broken = Resolution::Broken { path: root.join("x/../a/libcudart.so.12") };
    assert_eq!(linkages.files.iter().find(|file| file.path.ends_with("ask.so")).unwrap().asks[0].resolution, broken);
    let output = Command::new("ldd").arg(root.join("x/ask.so")).env("LC_ALL", "C").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("invalid ELF header"), "{text}");
}

#[test]
fn the_rpath_of_a_loader_counts_as_ldd_says() {
    let Some(folder) = workshop() else { return };
    let root = folder.path().canonicalize().unwrap();
    build(&root, "cuda/libcudart.so.12", &[], &[]);
    build(&root, "p/in/inner.so", &["cuda/libcudart.so.12"], &[]);
    let rpath = "$ORIGIN/in:$ORIGIN/../cuda";
    build(&root, "p/old.so", &["p/in/inner.so"], &[&format!("-Wl,--disable-new-dtags,-rpath,{rpath}")]);
    let inner = root.join("p/in/inner.so");
    let found = |linkages: &Linkages| {
        let asks = &linkages.files.iter().find(|file| file.path == inner).unwrap().asks;
        match &asks[0].resolution {
            Resolution::Found { path, .. } => Some(path.clone()),
            _ => None,
        }
    };
    assert_eq!(Some(&found(&judged(&root, &search()))), ldd(&root.join("p/old.so"), None).get("libcudart.so.12"));
    std::fs::remove_file(root.join("p/old.so")).unwrap();
    build(&root, "p/new.so", &["p/in/inner.so"], &[&format!("-Wl,--enable-new-dtags,-rpath,{rpath}")]);
    let linkages = judged(&root, &search());
    assert_eq!(found(&linkages), None, "a RUNPATH is for the library's own names");
    assert_eq!(ldd(&root.join("p/new.so"), None).get("libcudart.so.12"), Some(&None));
}

#[test]
fn default_directories_and_the_cache_are_as_ldd_says() {
    let Some(folder) = workshop() else { return };
    let root = folder.path().canonicalize().unwrap();
    // a name of this machine that the environment has too, so that it is looked for
    build(&root, "own/libm.so.6", &[], &[]);
    build(&root, "x/ask.so", &["own/libm.so.6"], &["-Wl,--enable-new-dtags,-rpath,/gone"]);
    let disk = Disk::new();
    let library = disk.read_file(&root.join("x/ask.so")).unwrap().unwrap();
    let ask = root.join("x/ask.so");
    let answer = search().find("libm.so.6", (&ask, &library), &[], &disk);
    assert_eq!(ldd(&ask, None).get("libm.so.6").cloned().flatten(), answer.found.map(|(path, _)| path));
    // without a cache the default directories have it
    let mut search = search();
    search.cache.clear();
    let answer = search.find("libm.so.6", (&ask, &library), &[], &disk);
    assert!(answer.found.is_some_and(|(path, _)| path.ends_with("libm.so.6")));
}
