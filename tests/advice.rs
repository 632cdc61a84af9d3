//! What `explain` and `check` advise. Releases and their architectures are those that PyTorch and others publish, which
//! GPUs take `cuda-compat` is NVIDIA's word ("CUDA Compatibility", forward compatibility).
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic here is a failing test"
)]

mod program;

use fatscan::json::{Document, Error, Remedy};
use program::{Folder, Run, finish, library, module, packed, program as command, ptx, run, sass, wheel, write_wheel};
use testkit::fatbin::{Codec, Entry};
use testkit::{Zip, ZipMember};

fn explain(arguments: &[&str]) -> Run {
    let mut command = command();
    command.arg("explain").args(arguments).env("COLUMNS", "80");
    finish(command)
}

fn document(arguments: &[&str]) -> Document {
    let run = explain(&[arguments, &["--format", "json"]].concat()).ending(0);
    serde_json::from_str(&run.out).unwrap()
}

/// What is advised for the first artefact and the first device.
fn remedies(arguments: &[&str]) -> Vec<Remedy> {
    let document = document(arguments);
    document.artefacts[0].verdicts.as_ref().unwrap()[0].remedies.clone().unwrap()
}

fn kinds(remedies: &[Remedy]) -> Vec<&str> {
    remedies.iter().map(|remedy| remedy.kind.as_str()).collect()
}

fn of<'a>(remedies: &'a [Remedy], kind: &str) -> &'a Remedy {
    remedies.iter().find(|remedy| remedy.kind == kind).unwrap_or_else(|| panic!("no {kind} in {remedies:#?}"))
}

/// A wheel of this name with one library.
fn named(folder: &Folder, file: &str, member: &str, modules: &[Vec<Entry>]) -> String {
    let members = [ZipMember::deflated(member, &library(modules))];
    let mut parts = file.splitn(3, '-');
    let (name, version) = (parts.next().unwrap(), parts.next().unwrap());
    let tag = parts.next().unwrap().trim_end_matches(".whl");
    folder.write(file, Zip::wheel(name, version, tag, &members).bytes())
}

const TORCH: &str = "torch-2.15.0-cp312-cp312-manylinux_2_28_x86_64.whl";
/// What torch 2.15.0 of PyPI holds.
const OF_TORCH: [&str; 6] = ["75", "80", "86", "90", "100", "120"];

// --- a build of the same package

#[test]
fn torch_for_pascal_is_2_14_of_cu126_and_2_15_is_less_certain() {
    let folder = Folder::new();
    let path = named(&folder, TORCH, "torch/lib/libtorch_cuda.so", &[module(&OF_TORCH)]);
    let own = remedies(&[&path, "--gpu", "GTX 1080"]);
    assert_eq!(kinds(&own), ["variant", "build"]);
    // from 2.8 on only cu126 has code for 6.1
    assert_eq!(
        own[0].lines,
        [
            "pip install torch==2.14.1 --index-url $PYTORCH_INDEX/cu126",
            "pip install torch==2.15.0 --index-url $PYTORCH_INDEX/cu126",
            "pip install torch==2.13.0 --index-url $PYTORCH_INDEX/cu126",
        ]
    );
    assert!(own[0].text.contains("PYTORCH_INDEX stands for the address"), "{}", own[0].text);
    assert!(own[0].text.contains("not certain that there is 2.15.0"), "{}", own[0].text);
    let run = explain(&[&path, "--gpu", "GTX 1080"]);
    assert!(run.out.contains("       pip install torch==2.14.1 --index-url $PYTORCH_INDEX/cu126\n"), "{}", run.out);
    assert!(!run.out.contains("http"), "no host is named: {}", run.out);
}

#[test]
fn torch_for_blackwell_is_what_pip_has_by_itself() {
    let folder = Folder::new();
    let file = "torch-2.3.1-cp311-cp311-manylinux1_x86_64.whl";
    let path =
        named(&folder, file, "torch/lib/libtorch_cuda.so", &[module(&["50", "60", "70", "75", "80", "86", "90"])]);
    let own = remedies(&[&path, "--gpu", "RTX 5090"]);
    // PyPI's variant holds sm_120 since 2.8
    assert_eq!(own[0].lines, ["pip install torch==2.15.0", "pip install torch==2.14.1", "pip install torch==2.13.0"]);
    assert!(!own[0].text.contains("PYTORCH_INDEX") && !own[0].text.contains("certain"), "{}", own[0].text);
    // a driver for CUDA 12 takes no cu130; the last variants for it with sm_120 are cu129 of 2.13 and cu128 of 2.11
    let own = remedies(&[&path, "--gpu", "RTX 5090", "--driver", "570.124.06"]);
    assert_eq!(own[0].lines[0], "pip install torch==2.13.0 --index-url $PYTORCH_INDEX/cu129");
    assert_eq!(own[0].lines[1], "pip install torch==2.11.0 --index-url $PYTORCH_INDEX/cu128");
    // pip's own build for Windows has no device code at all, so that a variant is always named
    let file = "torch-2.3.1-cp311-cp311-win_amd64.whl";
    let bytes = testkit::Pe::dll().section(".nv_fatb", &testkit::fatbin::fatbin(&module(&["80", "90"]))).bytes();
    let members = [ZipMember::deflated("torch/lib/torch_cuda.dll", &bytes)];
    let path = folder.write(file, Zip::wheel("torch", "2.3.1", "cp311-cp311-win_amd64", &members).bytes());
    let own = remedies(&[&path, "--gpu", "RTX 5090"]);
    assert!(own[0].lines.iter().all(|line| line.contains("--index-url $PYTORCH_INDEX/cu1")), "{own:#?}");
    assert!(own[0].text.contains("builds for Linux"), "{own:#?}");
}

#[test]
fn torch_for_an_old_driver_is_one_that_it_takes() {
    let folder = Folder::new();
    let entry = vec![packed("80", Codec::Zstd), packed("90", Codec::Zstd)];
    let path = named(&folder, "torch-2.11.0-cp312-cp312-linux_x86_64.whl", "torch/lib/libtorch_cuda.so", &[entry]);
    let own = remedies(&[&path, "--gpu", "H100", "--driver", "535.183.01"]);
    assert_eq!(kinds(&own), ["variant", "driver", "compat"]);
    assert!(own[0].lines.iter().all(|line| line.contains("/cu12") || !line.contains("index")), "{own:#?}");
    // 2.11 of pip itself is cu130; the version at hand stands first
    assert!(own[0].lines[0].starts_with("pip install torch==2.11.0 --index-url $PYTORCH_INDEX/cu12"), "{own:#?}");
    assert!(own[1].text.contains("550"), "{own:#?}");
}

#[test]
fn a_published_list_names_the_release() {
    let folder = Folder::new();
    let file = "tensorflow-2.11.0-cp310-cp310-manylinux_2_17_x86_64.whl";
    let path = named(&folder, file, "tensorflow/libtensorflow_cc.so", &[module(&["35", "50", "60", "70", "75"])]);
    let own = remedies(&[&path, "--gpu", "H100"]);
    // the lists of 2.18 to 2.21 and of 2.15 to 2.17 end with code and PTX for 9.0
    assert_eq!(
        own[0].lines[..2],
        ["pip install \"tensorflow[and-cuda]==2.21.0\"", "pip install \"tensorflow[and-cuda]==2.17.1\""]
    );
    // nothing newer than 2.17 has code for 5.2
    let path = named(&folder, "tensorflow-2.21.0-cp312-cp312-linux_x86_64.whl", "t/x.so", &[module(&["60", "70"])]);
    let own = remedies(&[&path, "--gpu", "5.2"]);
    assert_eq!(own[0].lines[0], "pip install \"tensorflow[and-cuda]==2.17.1\"");
}

#[test]
fn a_package_that_is_not_known_is_looked_for() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let own = remedies(&[&path, "--gpu", "12.0", "--driver", "580.65.06"]);
    assert_eq!(kinds(&own), ["variant", "build"]);
    assert!(own[0].text.starts_with("look for another version of `pkg` with code for this GPU"), "{own:#?}");
    assert_eq!(
        own[0].lines,
        [
            "pip index versions pkg",
            "pip download --no-deps --dest wheels pkg==VERSION",
            "fatscan explain wheels --gpu 12.0 --driver 580.65.06",
        ]
    );
    // what runs needs nothing
    assert_eq!(remedies(&[&path, "--gpu", "9.0"]), []);
}

#[test]
fn a_name_that_is_no_package_gets_into_no_command() {
    let folder = Folder::new();
    for file in ["x;reboot;-1.0-py3-none-any.whl", "$(reboot)-1.0-py3-none-any.whl", "x-`reboot`-py3-none-any.whl"] {
        let path = folder.write(file, wheel(&[("x/x.so", library(&[module(&["80", "90"])]))]));
        let own = remedies(&[&path, "--gpu", "12.0"]);
        assert_eq!(kinds(&own), ["build"], "{file}");
        assert!(own.iter().all(|own| !own.text.contains("reboot")), "{own:#?}");
    }
}

#[test]
fn a_file_of_another_host_asks_for_the_build_for_that_host() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "87"])]);
    let own = remedies(&[&path, "--gpu", "Jetson AGX Orin"]);
    assert_eq!(kinds(&own), ["variant"]);
    assert_eq!(own[0].text, "get the build of `pkg` for aarch64 hosts; this one is for x86_64");
}

// --- packages that are installed

fn install(folder: &Folder, info: &str, files: &[&str]) {
    let record: String = files.iter().map(|file| format!("{file},sha256=abc,1\n")).collect();
    folder.write(&format!("site-packages/{info}/RECORD"), record);
    folder.write(&format!("site-packages/{info}/METADATA"), "Metadata-Version: 2.1\n");
}

#[test]
fn the_package_of_an_installed_file_is_found() {
    let folder = Folder::new();
    let torch = folder.write("site-packages/torch/lib/libtorch_cuda.so", library(&[module(&OF_TORCH)]));
    install(&folder, "torch-2.15.0.dist-info", &["torch/lib/libtorch_cuda.so"]);
    install(&folder, "torchvision-0.30.0.dist-info", &["torchvision/_C.so"]);
    let site = folder.file("site-packages").to_str().unwrap().to_owned();
    let package = folder.file("site-packages/torch").to_str().unwrap().to_owned();
    for path in [&torch, &site, &package] {
        let own = remedies(&[path, "--gpu", "6.1"]);
        let first = "pip install torch==2.14.1 --index-url $PYTORCH_INDEX/cu126";
        assert_eq!(of(&own, "variant").lines[0], first, "{path}");
    }
    // the gate tells the same
    let gate = run(["check", &site, "--require", "6.1", "--format", "json"]).ending(1);
    let document: Document = serde_json::from_str(&gate.out).unwrap();
    let own = document.artefacts[0].verdicts.as_ref().unwrap()[0].remedies.clone().unwrap();
    assert_eq!(own, remedies(&[&site, "--gpu", "6.1"]));
    // of several packages those that decide are named
    let mine = "site-packages/mine/k.so";
    folder.write(mine, library(&[module(&["52", "75"])]));
    folder.write("site-packages/fine/k.so", library(&[module(&["60", "75"])]));
    install(&folder, "my_kernels-1.2.dist-info", &["mine/k.so"]);
    install(&folder, "fine-1.0.dist-info", &["fine/k.so"]);
    let own = remedies(&[&site, "--gpu", "6.1"]);
    let variants: Vec<&Remedy> = own.iter().filter(|own| own.kind == "variant").collect();
    assert_eq!(variants.len(), 2, "{own:#?}");
    assert!(variants.iter().any(|own| own.lines[0] == "pip index versions my-kernels"), "{own:#?}");
    // a loose library that no package owns
    let loose = folder.write("lib/x.so", library(&[module(&["75", "80"])]));
    assert_eq!(kinds(&remedies(&[&loose, "--gpu", "6.1"])), ["build"]);
}

// --- NVIDIA's libraries

#[test]
fn nvidia_s_libraries_are_not_to_be_built() {
    let folder = Folder::new();
    let code = || vec![module(&["75", "80", "90"])];
    let file = "nvidia_cublas_cu12-12.9.1.4-py3-none-manylinux_2_27_x86_64.whl";
    let wheel = named(&folder, file, "nvidia/cublas/lib/libcublas.so.12", &code());
    let own = remedies(&[&wheel, "--gpu", "6.1"]);
    assert_eq!(kinds(&own), ["variant"]);
    assert_eq!(own[0].lines[0], "pip index versions nvidia-cublas-cu12");
    // CUDA 12.9 is the last toolkit that builds for 6.1
    assert!(own[0].text.contains("made by NVIDIA") && own[0].text.contains("CUDA 8.0 to 12.9"), "{own:#?}");
    // no package of CUDA 13 has code for 6.1
    let file = "nvidia_curand-10.4.5.25-py3-none-manylinux_2_27_x86_64.whl";
    let wheel = named(&folder, file, "nvidia/cu13/lib/libcurand.so.10", &code());
    assert_eq!(remedies(&[&wheel, "--gpu", "6.1"])[0].lines[0], "pip index versions nvidia-curand-cu12");
    for name in ["libcublas.so.12", "libcudnn_ops.so.9", "libcufft.so.11", "libnccl.so.2", "libcurand.so.10"] {
        let path = folder.write(name, library(&code()));
        let own = remedies(&[&path, "--gpu", "6.1"]);
        assert_eq!(kinds(&own), ["variant"], "{name}");
        assert!(own[0].text.starts_with(&format!("look for another version of `{name}`")), "{own:#?}");
        assert!(!explain(&[&path, "--gpu", "6.1"]).out.contains("nvcc"), "{name}");
    }
    let path = folder.write("libmine.so", library(&code()));
    assert_eq!(kinds(&remedies(&[&path, "--gpu", "6.1"])), ["build"]);
}

// --- drivers

#[test]
fn cuda_compat_is_for_the_gpus_that_take_it() {
    let folder = Folder::new();
    // PTX 8.7 needs a driver for CUDA 12.8
    let path = write_wheel(&folder, &[vec![sass("60"), ptx("70", (8, 7))]]);
    let of_gpu = |gpu: &str| remedies(&[&path, "--gpu", gpu, "--driver", "535.183.01"]);
    for gpu in ["H100", "A100", "T4", "L40S"] {
        let own = of_gpu(gpu);
        assert_eq!(kinds(&own), ["variant", "driver", "compat"], "{gpu}");
        assert!(own[1].text.starts_with("update the driver to 570"), "{own:#?}");
        assert!(
            own[2].text.contains("cuda-compat-12-8") && own[2].text.contains("cuda-compat-MAJOR-MINOR"),
            "{own:#?}"
        );
        assert_eq!(own[2].lines[0], "apt-get install cuda-compat-12-8");
        assert!(own[2].lines[1].contains("/cuda-12.8/compat"), "{own:#?}");
        assert!(!own[2].text.contains("804"), "{own:#?}");
    }
    for gpu in ["RTX 4090", "GeForce RTX 3090"] {
        assert_eq!(kinds(&of_gpu(gpu)), ["variant", "driver"], "{gpu}");
    }
    // RTX cards that are listed, and a capability that GeForce cards have too
    for gpu in ["RTX A6000", "8.9"] {
        assert!(of(&of_gpu(gpu), "compat").text.contains("804"), "{gpu}");
    }
    // on Jetson the driver comes with the system
    let path = write_wheel(&folder, &[vec![sass("60"), ptx("80", (8, 7))]]);
    let own = remedies(&[&path, "--gpu", "8.7", "--driver-cuda", "12.2"]);
    assert_eq!(of(&own, "compat").lines[0], "apt-get install cuda-compat-12-8");
    // a driver that does not know the GPU is not helped by it
    let path = write_wheel(&folder, &[module(&["80", "100"])]);
    let own = remedies(&[&path, "--gpu", "B200", "--driver", "535.183.01"]);
    assert_eq!(kinds(&own), ["variant", "driver"]);
    // a driver is no remedy where nothing fits
    let path = write_wheel(&folder, &[vec![packed("80", Codec::Zstd)]]);
    assert_eq!(kinds(&remedies(&[&path, "--gpu", "H100", "--driver", "535.183.01"])), ["variant", "build"]);
}

// --- errors

fn error(arguments: &[&str]) -> Error {
    document(arguments).error.unwrap()
}

#[test]
fn an_error_is_explained_to_programs() {
    let alone = error(&["--error", "CUDA error: no kernel image is available for execution on the device"]);
    assert_eq!((alone.code, alone.name.as_str()), (209, "CUDA_ERROR_NO_BINARY_FOR_GPU"));
    assert_eq!(alone.runtime_name, "cudaErrorNoKernelImageForDevice");
    assert!(alone.advice.contains("rebuild") && alone.cause.is_none() && alone.causes.is_empty(), "{alone:?}");
    let folder = Folder::new();
    let path = write_wheel(&folder, &[module(&["80", "90"])]);
    let here = error(&[&path, "--gpu", "12.0", "--error", "209"]);
    assert!(here.cause.as_ref().unwrap().starts_with("nothing fits compute capability 12.0"), "{here:?}");
    let cause = &here.causes[0];
    assert_eq!((cause.when.as_str(), cause.device.as_str()), ("here", "12.0"));
    assert_eq!((cause.artefact.as_str(), cause.member.as_deref()), (path.as_str(), Some("pkg/lib/libpkg.so")));
    let not = error(&[&path, "--gpu", "9.0", "--error", "209"]);
    assert!(not.cause.is_none() && not.causes.is_empty(), "{not:?}");
    // without the question there is no answer
    assert_eq!(document(&[&path, "--gpu", "12.0"]).error, None);
}

#[test]
fn an_error_is_looked_for_where_the_verdict_comes_from() {
    let folder = Folder::new();
    // the other one of two alternatives is not used
    let path = folder.write(
        "x-1.0-py3-none-any.whl",
        wheel(&[
            ("x/libx_cuda118.so", library(&[module(&["70", "80"])])),
            ("x/libx_cuda128.so", library(&[module(&["90", "100"])])),
        ]),
    );
    let own = error(&[&path, "--gpu", "10.0", "--error", "209"]);
    assert!(own.cause.is_none() && own.causes.is_empty(), "{own:?}");
    let own = error(&[&path, "--gpu", "10.0", "--no-alternatives", "--error", "209"]);
    assert_eq!(own.causes[0].member.as_deref(), Some("x/libx_cuda118.so"));
    let run = explain(&[&path, "--gpu", "10.0", "--error", "209"]);
    assert!(run.out.replace("\n  ", " ").contains("nothing in these files gives this error"), "{}", run.out);
    // a file for another GPU alone does not decide, and fails where it is used
    let path = folder.write(
        "y-1.0-py3-none-any.whl",
        wheel(&[("y/general.so", library(&[module(&["80", "90"])])), ("y/only90a.so", library(&[module(&["90a"])]))]),
    );
    let own = error(&[&path, "--gpu", "8.0", "--error", "209"]);
    assert_eq!((own.cause.as_deref(), own.causes[0].when.as_str()), (None, "if-used"));
    assert_eq!(own.causes[0].member.as_deref(), Some("y/only90a.so"));
    let run = explain(&[&path, "--gpu", "8.0", "--error", "209"]);
    assert!(
        run.out.contains("the files that decide do not give it") && run.out.contains("`y/only90a.so`"),
        "{}",
        run.out
    );
    // the file that decides is named, not the first one
    let path = folder.write(
        "z-1.0-py3-none-any.whl",
        wheel(&[("z/a.so", library(&[module(&["75", "120"])])), ("z/b.so", library(&[module(&["80", "90"])]))]),
    );
    let own = error(&[&path, "--gpu", "12.0", "--error", "209"]);
    assert_eq!(own.causes[0].member.as_deref(), Some("z/b.so"));
}

#[test]
fn of_an_unknown_driver_it_is_said_when_the_error_comes() {
    let folder = Folder::new();
    let path = write_wheel(&folder, &[vec![sass("60"), ptx("80", (8, 7))]]);
    let own = error(&[&path, "--gpu", "9.0", "--error", "222"]);
    assert_eq!((own.cause.as_deref(), own.causes[0].when.as_str()), (None, "old-driver"));
    let own = error(&[&path, "--gpu", "9.0", "--driver-cuda", "12.4", "--error", "222"]);
    assert_eq!(own.causes[0].when, "here");
    assert!(own.cause.unwrap().contains("PTX ISA 8.7"));
}

#[test]
fn errors_218_and_300_tell_of_labels_that_do_not_fit_the_code() {
    let words = "The label of the image and the code in it are for different GPUs";
    for (text, code, name) in [
        ("218", 218, "CUDA_ERROR_INVALID_PTX"),
        ("CUDA error: a PTX JIT compilation failed", 218, "CUDA_ERROR_INVALID_PTX"),
        ("300", 300, "CUDA_ERROR_INVALID_SOURCE"),
        ("cudaErrorInvalidSource", 300, "CUDA_ERROR_INVALID_SOURCE"),
    ] {
        let own = error(&["--error", text]);
        assert_eq!((own.code, own.name.as_str()), (code, name), "{text}");
        assert!(own.advice.contains(words), "{own:?}");
        assert!(own.advice.contains("no fallback") && own.advice.contains("another build of the package"), "{own:?}");
    }
    // an image that is no code at all is refused with 300
    let folder = Folder::new();
    let path = write_wheel(&folder, &[vec![Entry::sass("90", [7u8; 64])]]);
    let run = explain(&[&path, "--gpu", "9.0", "--error", "300", "--format", "json"]);
    let document: Document = serde_json::from_str(&run.out).unwrap();
    let own = document.error.unwrap();
    assert!(own.cause.as_ref().unwrap().contains("which holds no cubin, and refuses it"), "{own:?}");
    let remedies = document.artefacts[0].verdicts.as_ref().unwrap()[0].remedies.clone().unwrap();
    assert!(of(&remedies, "variant").text.contains("labels and code do not fit together"), "{remedies:#?}");
    // it is not the error of code that is missing
    let run = explain(&[&path, "--gpu", "9.0", "--error", "209", "--format", "json"]);
    let document: Document = serde_json::from_str(&run.out).unwrap();
    assert_eq!(document.error.unwrap().cause, None);
}
