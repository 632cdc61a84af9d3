//! Toolkits, with a fake compiler.

use std::fs;
use std::path::Path;
use std::time::Duration;

use device_probe::{BuildKind, FoundBy, Status, Toolkit, ToolkitSources, builds_for, toolkits};
use gpu_arch::{Capability, CudaVersion};
use tempfile::TempDir;

use crate::machine::write_program;

const LIMIT: Duration = Duration::from_secs(10);

pub(crate) fn nvcc(root: &Path, script: &str) {
    write_program(&root.join("bin/nvcc"), script);
}

/// A compiler that prints what that of CUDA prints.
fn compiler(root: &Path, short: &str, full: &str) {
    nvcc(
        root,
        &format!(
            "echo 'nvcc: NVIDIA (R) Cuda compiler driver'\necho 'Copyright (c) 2005-2024 NVIDIA Corporation'\n\
             echo 'Cuda compilation tools, release {short}, V{full}'\necho 'Build cuda_{short}.r{short}/compiler.1_0'"
        ),
    );
}

fn version(toolkit: &Toolkit) -> String {
    toolkit.version.map(|version| version.to_string()).unwrap_or_default()
}

#[test]
fn toolkits_are_found_by_path_and_variables_once_each() {
    let folder = TempDir::new().unwrap();
    let (old, new) = (folder.path().join("cuda-11.8"), folder.path().join("cuda-12.4"));
    compiler(&old, "11.8", "11.8.89");
    compiler(&new, "12.4", "12.4.131");
    std::os::unix::fs::symlink(&new, folder.path().join("cuda")).unwrap();
    let sources = ToolkitSources {
        path: Some(std::env::join_paths([folder.path().join("nothing"), new.join("bin")]).unwrap()),
        cuda_home: Some(folder.path().join("cuda").into()),
        cuda_path: Some(old.clone().into()),
        folders: vec![folder.path().join("cuda"), folder.path().join("nowhere")],
    };
    let found = toolkits(&sources, LIMIT);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert_eq!(found[0].found_by, [FoundBy::Path, FoundBy::CudaHome, FoundBy::Folder]);
    assert_eq!((version(&found[0]), found[0].release.as_deref()), ("12.4".to_owned(), Some("12.4.131")));
    assert_eq!(found[0].problem, None);
    assert_eq!(found[1].found_by, [FoundBy::CudaPath]);
    assert_eq!((version(&found[1]), found[1].root.as_path()), ("11.8".to_owned(), old.as_path()));
}

#[test]
fn links_to_the_compiler_lead_to_its_folder() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap().join("cuda-12.4");
    compiler(&root, "12.4", "12.4.131");
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(root.join("bin/nvcc"), bin.join("nvcc")).unwrap();
    let sources = ToolkitSources { path: Some(bin.into()), ..Default::default() };
    assert_eq!(toolkits(&sources, LIMIT)[0].root, root);
}

#[test]
fn a_toolkit_without_a_compiler_tells_its_version_by_a_file() {
    let folder = TempDir::new().unwrap();
    let cases = [
        ("version.json", r#"{"cuda": {"name": "CUDA SDK", "version": "12.4.1"}}"#, "12.4"),
        ("version.txt", "CUDA Version 10.2.89\n", "10.2"),
        ("version.json", "nonsense", ""),
        ("other", "", ""),
    ];
    for (number, (name, text, expected)) in cases.into_iter().enumerate() {
        let root = folder.path().join(number.to_string());
        fs::create_dir(&root).unwrap();
        fs::write(root.join(name), text).unwrap();
        let sources = ToolkitSources { cuda_home: Some(root.into()), ..Default::default() };
        let found = toolkits(&sources, LIMIT);
        assert_eq!(version(&found[0]), expected, "{name} {text}");
        assert_eq!(found[0].problem.as_deref(), Some("has no nvcc"));
    }
}

#[test]
fn a_variable_that_leads_nowhere_is_told() {
    let sources = ToolkitSources { cuda_home: Some("/there/is/none".into()), ..Default::default() };
    let found = toolkits(&sources, LIMIT);
    assert_eq!(found[0].problem.as_deref(), Some("there is no such folder"));
    let sources = ToolkitSources { cuda_home: Some("".into()), ..Default::default() };
    assert_eq!(toolkits(&sources, LIMIT), []);
}

#[test]
fn a_compiler_that_fails_or_hangs_is_told() {
    let folder = TempDir::new().unwrap();
    let cases = [
        ("exit 3", "nvcc fails: exit code 3", Status::Crashed { text: "exit code 3".to_owned() }),
        ("echo hello", "nvcc tells no version", Status::Unusable { text: "nvcc tells no version".to_owned() }),
        ("exec sleep 600", "nvcc does not answer", Status::TimedOut { milliseconds: 1500 }),
        ("exec yes", "nvcc prints more than 1 MiB", Status::TooMuchOutput { bytes: 1 << 20 }),
        ("exec yes >&2", "nvcc prints more than 64 KiB", Status::TooMuchOutput { bytes: 1 << 16 }),
    ];
    for (number, (script, problem, status)) in cases.into_iter().enumerate() {
        let root = folder.path().join(number.to_string());
        nvcc(&root, script);
        let sources = ToolkitSources { cuda_home: Some(root.into()), ..Default::default() };
        let found = toolkits(&sources, Duration::from_millis(1500));
        assert_eq!(found[0].problem.as_deref(), Some(problem));
        assert_eq!(found[0].status, status);
        assert_eq!(found[0].version, None);
    }
}

#[test]
fn what_a_toolkit_can_build_for_a_device() {
    use BuildKind::{Compatible, Jit, Native, No, Unknown};
    // by the lists of `nvcc --list-gpu-arch` and the compatibility guides
    let cases = [
        ((12, 4), (8, 9), Native, Some("89")),
        ((12, 4), (9, 0), Native, Some("90")),
        ((11, 7), (8, 9), Compatible, Some("86")),
        ((11, 0), (8, 6), Compatible, Some("80")),
        ((12, 4), (12, 0), Jit, Some("90")),
        ((12, 8), (12, 1), Compatible, Some("120")),
        // a Jetson before the unified driver takes no code of the desktop
        ((11, 1), (8, 7), Jit, Some("86")),
        ((13, 0), (7, 0), No, None),
        ((13, 0), (6, 1), No, None),
        ((12, 9), (10, 3), Native, Some("103")),
        ((99, 0), (8, 9), Unknown, None),
        ((6, 0), (8, 9), No, None),
    ];
    for ((major, minor), (cc_major, cc_minor), kind, arch) in cases {
        let build = builds_for(CudaVersion::new(major, minor), Capability::new(cc_major, cc_minor));
        let context = format!("CUDA {major}.{minor} for {cc_major}.{cc_minor}: {build:?}");
        assert_eq!(build.kind, kind, "{context}");
        assert_eq!(build.arch.map(|arch| arch.to_string()).as_deref(), arch, "{context}");
        assert_eq!(build.flags.is_some(), arch.is_some(), "{context}");
    }
}

#[test]
fn flags_are_those_to_type() {
    let build = builds_for(CudaVersion::new(12, 4), Capability::new(8, 9));
    let flags = build.flags.unwrap();
    assert_eq!(flags.nvcc, "-gencode arch=compute_89,code=sm_89 -gencode arch=compute_89,code=compute_89");
    assert_eq!(flags.cmake, "-DCMAKE_CUDA_ARCHITECTURES=89");
    assert_eq!((build.first_toolkit, build.last_toolkit), (None, None));
    let build = builds_for(CudaVersion::new(12, 4), Capability::new(12, 0));
    let flags = build.flags.unwrap();
    assert_eq!(flags.nvcc, "-gencode arch=compute_90,code=compute_90");
    assert_eq!(flags.cmake, "-DCMAKE_CUDA_ARCHITECTURES=90-virtual");
    assert_eq!(build.first_toolkit, Some(CudaVersion::new(12, 8)));
    let build = builds_for(CudaVersion::new(13, 0), Capability::new(7, 0));
    assert_eq!(build.last_toolkit, Some(CudaVersion::new(12, 9)));
}
