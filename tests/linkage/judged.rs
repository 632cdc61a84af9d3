//! What is said about environments in memory.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fatscan::linkage::{File, Finding, FindingKind, How, Linkages, Machine, Resolution, Scope, Search, Way, judge};
use testkit::Elf;
use testkit::elf::machine;

use crate::memory::{Memory, file};

fn search() -> Search {
    Search::new(Machine::X86_64, 64)
}

fn judged(files: &[File]) -> Linkages {
    judge(files, &search(), &Memory::of(files))
}

fn resolution<'own>(linkages: &'own Linkages, path: &str, name: &str) -> &'own Resolution {
    let file = linkages.files.iter().find(|file| file.path == Path::new(path)).unwrap();
    &file.asks.iter().find(|ask| ask.name == name).unwrap_or_else(|| panic!("{path} asks for {name}")).resolution
}

fn of<'own>(linkages: &'own Linkages, path: &str) -> Vec<&'own FindingKind> {
    let own = linkages.findings.iter().filter(|finding| finding.path.as_deref() == Some(Path::new(path)));
    own.map(|finding| &finding.kind).collect()
}

fn owned(mut file: File, owner: &str) -> File {
    file.owner = Some(owner.to_owned());
    file
}

fn cudart(path: &str, major: u32) -> File {
    file(path, &Elf::shared().soname(&format!("libcudart.so.{major}")))
}

/// torch with CUDA 13 as its wheels are: its own paths lead to the runtime, and cuBLAS of NVIDIA's wheel lies beside it.
fn torch() -> Vec<File> {
    let rpath = "$ORIGIN/../../nvidia/cu13/lib:$ORIGIN";
    vec![
        file("/s/torch/lib/libtorch_global_deps.so", &Elf::shared().needs("libcudart.so.13").rpath(rpath)),
        file(
            "/s/torch/lib/libtorch_python.so",
            &Elf::shared().soname("libtorch_python.so").needs("libtorch_cuda.so").rpath(rpath),
        ),
        file(
            "/s/torch/lib/libtorch_cuda.so",
            &Elf::shared().soname("libtorch_cuda.so").needs("libcufft.so.12").needs("libcuda.so.1").rpath(rpath),
        ),
        // loaded when it is wanted first, not by the import
        file("/s/torch/lib/libtorch_cuda_linalg.so", &Elf::shared().needs("libcusolverMg.so.12").rpath(rpath)),
        file(
            "/s/torch/_C.cpython-312-x86_64-linux-gnu.so",
            &Elf::shared().needs("libtorch_python.so").rpath("$ORIGIN/lib"),
        ),
        cudart("/s/nvidia/cu13/lib/libcudart.so.13", 13),
        file("/s/nvidia/cu13/lib/libcufft.so.12", &Elf::shared().soname("libcufft.so.12")),
        file("/s/nvidia/cu13/lib/libcublas.so.13", &Elf::shared().soname("libcublas.so.13")),
        file("/s/nvidia/cu13/lib/libcusolverMg.so.12", &Elf::shared().soname("libcusolverMg.so.12")),
        file("/s/nvidia/cu12/lib/libcublas.so.12", &Elf::shared().soname("libcublas.so.12")),
    ]
}

#[test]
fn what_torch_loads_serves_those_whose_paths_lead_nowhere() {
    let mut files = torch();
    let extension = Elf::shared()
        .needs("libtorch_cuda.so")
        .needs("libcudart.so.13")
        .needs("libcufft.so.12")
        .needs("libcublas.so.13")
        .needs("libcublas.so.12")
        .needs("libcusolverMg.so.12")
        .runpath("/gone/lib");
    files.push(file("/s/ext/_C.so", &extension));
    files.push(file("/s/other/x.so", &Elf::shared().needs("libcudart.so.13")));
    let linkages = judged(&files);
    let path = |name: &str| PathBuf::from(format!("/s/nvidia/cu13/lib/{name}"));
    for (name, how) in
        [("libcudart.so.13", How::Needed), ("libcufft.so.12", How::Preloaded), ("libcublas.so.13", How::Preloaded)]
    {
        let loaded = Resolution::Loaded { path: path(name), how };
        assert_eq!(resolution(&linkages, "/s/ext/_C.so", name), &loaded, "{name}");
    }
    // of another CUDA than torch's, and one that the import does not load
    for name in ["libcublas.so.12", "libcusolverMg.so.12"] {
        assert_eq!(resolution(&linkages, "/s/ext/_C.so", name), &Resolution::Missing, "{name}");
    }
    let preloaded = |name: &str, how, is_certain| FindingKind::PreloadedBy {
        name: name.to_owned(),
        package: "torch",
        path: path(name),
        how,
        is_certain,
    };
    let said = of(&linkages, "/s/ext/_C.so");
    assert!(said.contains(&&preloaded("libcudart.so.13", How::Needed, true)), "{said:?}");
    let gone = FindingKind::RunpathNowhere {
        entry: "/gone/lib".to_owned(),
        directory: Some(PathBuf::from("/gone/lib")),
        is_all: true,
    };
    assert!(said.contains(&&gone), "{said:?}");
    assert_eq!(of(&linkages, "/s/other/x.so"), [&preloaded("libcudart.so.13", How::Needed, false)]);
    // torch's own libraries find theirs, and the driver is a fact
    let own = Resolution::Found {
        path: PathBuf::from("/s/torch/lib/../../nvidia/cu13/lib/libcufft.so.12"),
        real: path("libcufft.so.12"),
        by: Way::Rpath,
    };
    assert_eq!(resolution(&linkages, "/s/torch/lib/libtorch_cuda.so", "libcufft.so.12"), &own);
    assert!(of(&linkages, "/s/torch/lib/libtorch_cuda.so").is_empty());
    assert_eq!(linkages.driver.get("libcuda.so.1"), Some(&None));
}

#[test]
fn the_wheels_of_cuda_12_are_preloaded_too() {
    let files = [
        file("/s/torch/lib/libtorch_global_deps.so", &Elf::shared().needs("libcudart.so.12").rpath("$ORIGIN")),
        cudart("/s/nvidia/cuda_runtime/lib/libcudart.so.12", 12),
        file(
            "/s/nvidia/cusparse/lib/libcusparse.so.12",
            &Elf::shared().soname("libcusparse.so.12").needs("libnvJitLink.so.12"),
        ),
        file("/s/nvidia/nvjitlink/lib/libnvJitLink.so.12", &Elf::shared().soname("libnvJitLink.so.12")),
    ];
    let linkages = judged(&files);
    let by = |path: &str| Resolution::Loaded { path: PathBuf::from(path), how: How::Preloaded };
    let global = resolution(&linkages, "/s/torch/lib/libtorch_global_deps.so", "libcudart.so.12");
    assert_eq!(global, &by("/s/nvidia/cuda_runtime/lib/libcudart.so.12"));
    let cusparse = resolution(&linkages, "/s/nvidia/cusparse/lib/libcusparse.so.12", "libnvJitLink.so.12");
    assert_eq!(cusparse, &by("/s/nvidia/nvjitlink/lib/libnvJitLink.so.12"));
    // without torch nobody loads it
    let linkages = judged(&files[1..]);
    let missing = FindingKind::Missing { name: "libnvJitLink.so.12".to_owned() };
    assert_eq!(of(&linkages, "/s/nvidia/cusparse/lib/libcusparse.so.12"), [&missing]);
}

#[test]
fn copies_are_told_with_the_one_that_is_found_first() {
    let ask = Elf::shared().needs("libcudart.so.12").runpath("$ORIGIN/../b:$ORIGIN/../a");
    let files = [
        cudart("/s/a/libcudart.so.12", 12),
        cudart("/s/b/libcudart.so.12", 12),
        // another machine's is no copy, another CUDA's neither
        file("/s/c/libcudart.so.12", &Elf::shared().soname("libcudart.so.12").machine(machine::AARCH64)),
        cudart("/s/d/libcudart.so.13", 13),
        file("/s/x/ask.so", &ask),
    ];
    let linkages = judged(&files);
    let shadowed = FindingKind::Shadowed {
        name: "libcudart.so.12".to_owned(),
        first: PathBuf::from("/s/b/libcudart.so.12"),
        others: vec![PathBuf::from("/s/a/libcudart.so.12")],
    };
    assert_eq!(of(&linkages, "/s/x/ask.so"), [&shadowed]);
    let wrong = FindingKind::WrongMachine { machine: Machine::Aarch64, bits: 64 };
    assert_eq!(of(&linkages, "/s/c/libcudart.so.12"), [&wrong]);
    assert_eq!(linkages.findings.len(), 2, "{:?}", linkages.findings);
}

/// Scope, distribution, file, majors.
type Mixed<'own> = (Scope, Option<&'own str>, Option<&'own Path>, Vec<u32>);

fn mixed(linkages: &Linkages) -> Vec<Mixed<'_>> {
    let of = |finding: &Finding| match &finding.kind {
        FindingKind::MixedMajors { scope, majors } => Some((*scope, majors.keys().copied().collect())),
        _ => None,
    };
    let own = linkages.findings.iter().filter_map(|finding| Some((of(finding)?, finding)));
    own.map(|((scope, majors), finding)| (scope, finding.owner.as_deref(), finding.path.as_deref(), majors)).collect()
}

#[test]
fn two_majors_are_mixed_where_they_come_together() {
    let both = ["/s/a/libcudart.so.12", "/s/a/libcudart.so.13"]
        .map(|path| cudart(path, if path.ends_with("12") { 12 } else { 13 }));
    let ask = |path: &str, names: &[&str]| {
        let elf = names.iter().fold(Elf::shared().runpath("$ORIGIN/../a:$ORIGIN"), |elf, name| elf.needs(name));
        owned(file(path, &elf), "p")
    };
    // one file asks for one, and for a file that asks for the other
    let mut files = both.to_vec();
    files.push(ask("/s/p/one.so", &["libcudart.so.12", "two.so"]));
    files.push(ask("/s/p/two.so", &["libcudart.so.13"]));
    let all = vec![12, 13];
    let linkages = judged(&files);
    let by_hand = [
        (Scope::File, Some("p"), Some(Path::new("/s/p/one.so")), all.clone()),
        (Scope::Distribution, Some("p"), None, all.clone()),
        (Scope::Environment, None, None, all.clone()),
    ];
    assert_eq!(mixed(&linkages), by_hand);
    // files of two distributions
    let mut files = both.to_vec();
    files.push(ask("/s/p/one.so", &["libcudart.so.12"]));
    files.push(owned(ask("/s/q/two.so", &["libcudart.so.13"]), "q"));
    assert_eq!(mixed(&judged(&files)), [(Scope::Environment, None, None, all)]);
    // variants that cannot be loaded mix with nothing; a number that two CUDAs had is none
    let mut files = both[..1].to_vec();
    files.push(ask("/s/p/one.so", &["libcudart.so.12", "libcusparse.so.12", "libcudnn.so.9"]));
    files.push(ask("/s/p/two.so", &["libcudart.so.13"]));
    assert_eq!(mixed(&judged(&files)), []);
}

#[test]
fn files_that_load_each_other_come_to_an_end() {
    let ring = |path: &str, names: &[&str]| {
        file(path, &names.iter().fold(Elf::shared().runpath("$ORIGIN"), |elf, name| elf.needs(name)))
    };
    let files = [ring("/s/a.so", &["b.so", "libcudart.so.12"]), ring("/s/b.so", &["a.so", "b.so", "libcudart.so.13"])];
    let linkages = judged(&files);
    let all = BTreeSet::from([12, 13]);
    assert!(linkages.files.iter().all(|file| file.all_majors == all), "{linkages:?}");
}

#[test]
fn a_loader_lends_its_rpath_to_what_it_loads() {
    let files = [
        cudart("/s/cuda/libcudart.so.12", 12),
        file("/s/p/main.so", &Elf::shared().needs("inner.so").rpath("$ORIGIN/in:/s/cuda")),
        file("/s/p/in/inner.so", &Elf::shared().needs("libcudart.so.12")),
    ];
    let linkages = judged(&files);
    let found = Resolution::Found {
        path: PathBuf::from("/s/cuda/libcudart.so.12"),
        real: PathBuf::from("/s/cuda/libcudart.so.12"),
        by: Way::LoaderRpath(PathBuf::from("/s/p/main.so")),
    };
    assert_eq!(resolution(&linkages, "/s/p/in/inner.so", "libcudart.so.12"), &found);
    assert!(linkages.findings.is_empty(), "{:?}", linkages.findings);
}

#[test]
fn static_files_say_nothing_and_images_of_windows_are_not_searched() {
    let mut pe = testkit::Pe::dll().section(".text", b"x");
    pe.imports = vec!["cudart64_12.dll".to_owned()];
    let bytes = pe.bytes();
    let library = fatscan::linkage::library(&bytes.as_slice() as &dyn fatscan_containers::Source).unwrap().unwrap();
    let files = [
        file("/s/static.so", &Elf::shared().section(".text", b"x")),
        file("/s/plain.so", &Elf::shared().needs("libc.so.6").runpath("/gone")),
        File::new(PathBuf::from("/s/x.pyd"), library),
    ];
    let linkages = judged(&files);
    assert_eq!(resolution(&linkages, "/s/x.pyd", "cudart64_12.dll"), &Resolution::Unknown);
    assert!(linkages.files[0].asks.is_empty() && linkages.files[1].asks.is_empty());
    assert!(linkages.findings.is_empty(), "{:?}", linkages.findings);
}

#[test]
fn the_order_of_the_files_does_not_matter() {
    let mut files = torch();
    files.extend([file("/s/z.so", &Elf::shared().needs("libcudart.so.13")), cudart("/s/y/libcudart.so.13", 13)]);
    let one = judged(&files);
    assert_eq!(one.findings.len(), 2, "{:?}", one.findings);
    files.reverse();
    assert_eq!(judged(&files), one);
    files.rotate_left(5);
    assert_eq!(judged(&files), one);
}

#[test]
fn five_thousand_files_take_little_time_and_a_limit_is_said() {
    // every file asks for three CUDA libraries and for its neighbour
    let mut files: Vec<File> = (0..5000)
        .map(|number| {
            let elf = Elf::shared()
                .needs("libcudart.so.12")
                .needs("libcublas.so.12")
                .needs("libcufft.so.11")
                .needs(&format!("m{}.so", (number + 1) % 5000))
                .rpath("/a:/b:/c:$ORIGIN");
            file(&format!("/s/m{number}.so"), &elf)
        })
        .collect();
    files.push(cudart("/s/libcudart.so.12", 12));
    // a directory is known without a walk over all files
    #[derive(Debug)]
    struct Flat(Memory);
    impl fatscan::linkage::Files for Flat {
        fn look(&self, path: &Path) -> fatscan::linkage::Look {
            self.0.look(path)
        }
        fn is_directory(&self, path: &Path) -> bool {
            path == Path::new("/s")
        }
        fn real(&self, path: &Path) -> PathBuf {
            self.0.real(path)
        }
    }
    let disk = Flat(Memory::of(&files));
    let start = Instant::now();
    let linkages = judge(&files, &search(), &disk);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!(linkages.files.len(), 5001);
    assert!(!linkages.is_cut);
    let mut search = search();
    search.looks = 100;
    let linkages = judge(&files, &search, &disk);
    assert!(linkages.is_cut);
    let missing = linkages.findings.iter().filter(|finding| matches!(finding.kind, FindingKind::Missing { .. }));
    assert!(missing.count() < 100, "what was not looked for is not missing");
    assert_eq!(resolution(&linkages, "/s/m999.so", "libcufft.so.11"), &Resolution::Unknown);
}
