//! Every spelling that build systems have, and what is refused.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

use gpu_arch::catalogue::Host;
use gpu_arch::spelling::{self, Dialect, SpecialWord, SpellingErrorKind};
use gpu_arch::{Arch, Capability, ParseArchError, Suffix, Target};

fn read(text: &str, dialect: Dialect) -> String {
    let targets = spelling::code_in(text, dialect).unwrap_or_else(|error| panic!("{text}: {error}"));
    targets.iter().map(Target::to_string).collect::<Vec<_>>().join(" ")
}

fn code(text: &str) -> String {
    let targets = spelling::code(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    targets.iter().map(Target::to_string).collect::<Vec<_>>().join(" ")
}

fn refused(text: &str) -> SpellingErrorKind {
    spelling::code(text).expect_err(text).kind
}

fn refused_in(text: &str, dialect: Dialect) -> SpellingErrorKind {
    spelling::code_in(text, dialect).expect_err(text).kind
}

fn device(text: &str) -> String {
    spelling::device(text).unwrap_or_else(|error| panic!("{text}: {error}")).capability.to_string()
}

fn no_device(text: &str) -> SpellingErrorKind {
    spelling::device(text).expect_err(text).kind
}

#[test]
fn single_items_as_code() {
    for (text, expected) in [
        // sm_NS | sm-NS | smNS | SM_NS
        ("sm_90", "sm_90"),
        ("sm-90", "sm_90"),
        ("sm90", "sm_90"),
        ("SM_90", "sm_90"),
        ("SM-90", "sm_90"),
        ("sm_90a", "sm_90a"),
        ("SM_90A", "sm_90a"),
        ("sm_100f", "sm_100f"),
        // compute_NS | computeNS
        ("compute_90", "compute_90"),
        ("compute90", "compute_90"),
        ("compute_100f", "compute_100f"),
        // lto_NS
        ("lto_90", "lto_90"),
        ("lto_90a", "lto_90a"),
        // CMake
        ("90", "sm_90 compute_90"),
        ("90a", "sm_90a compute_90a"),
        ("90-real", "sm_90"),
        ("120-virtual", "compute_120"),
        ("100f-real", "sm_100f"),
        // torch
        ("9.0", "sm_90"),
        ("9.0a", "sm_90a"),
        ("10.0", "sm_100"),
        ("12.1", "sm_121"),
        ("9.0+PTX", "sm_90 compute_90"),
        ("9.0+ptx", "sm_90 compute_90"),
        ("12.0a+PTX", "sm_120a compute_120a"),
    ] {
        assert_eq!(code(text), expected, "{text}");
    }
}

/// The names in the order of torch 2.15's `cpp_extension.py`.
#[test]
fn torch_family_names() {
    for (text, expected) in [
        ("Kepler+Tesla", "sm_37"),
        ("Kepler", "sm_35 compute_35"),
        ("Maxwell+Tegra", "sm_53"),
        ("Maxwell", "sm_50 sm_52 compute_52"),
        ("Pascal", "sm_60 sm_61 compute_61"),
        ("Volta+Tegra", "sm_72"),
        ("Volta", "sm_70 compute_70"),
        ("Turing", "sm_75 compute_75"),
        ("Ampere+Tegra", "sm_87"),
        ("Ampere", "sm_80 sm_86 compute_86"),
        ("Ada", "sm_89 compute_89"),
        ("Hopper", "sm_90 compute_90"),
        ("Blackwell+Tegra", "sm_110"),
        ("Blackwell", "sm_100 sm_103 sm_120 sm_121 compute_121"),
        ("Rubin", "sm_107 compute_107"),
    ] {
        assert_eq!(code(text), expected, "{text}");
        assert_eq!(read(text, Dialect::Torch), expected, "{text}");
        assert_eq!(code(&text.to_lowercase()), expected, "{text}");
    }
}

#[test]
fn lists_with_every_separator() {
    assert_eq!(code("7.5 8.0;9.0+PTX"), "sm_75 sm_80 sm_90 compute_90");
    assert_eq!(code("sm_80,sm_90, compute_90"), "sm_80 sm_90 compute_90");
    assert_eq!(code("90-real;120-virtual"), "sm_90 compute_120");
    assert_eq!(code("  ;sm_80;; sm_90 ,"), "sm_80 sm_90");
    assert_eq!(code("\"7.5;8.0\""), "sm_75 sm_80");
    // without repetitions, in the order of the list
    assert_eq!(code("sm_90 90 9.0+PTX sm_80"), "sm_90 compute_90 sm_80");
}

#[test]
fn variables_say_their_dialect() {
    assert_eq!(code("TORCH_CUDA_ARCH_LIST=\"8.0;9.0a\""), "sm_80 sm_90a");
    assert_eq!(code("export TORCH_CUDA_ARCH_LIST='Ampere'"), "sm_80 sm_86 compute_86");
    assert_eq!(code("-DCMAKE_CUDA_ARCHITECTURES=80-real;90"), "sm_80 sm_90 compute_90");
    assert_eq!(code("-DCMAKE_CUDA_ARCHITECTURES:STRING=80"), "sm_80 compute_80");
    assert_eq!(code("CUDAARCHS=75"), "sm_75 compute_75");
    assert_eq!(
        code("--repo_env=HERMETIC_CUDA_COMPUTE_CAPABILITIES=\"sm_80,sm_89,compute_90\""),
        "sm_80 sm_89 sm_90 compute_90"
    );
    assert_eq!(code("--action_env=TF_CUDA_COMPUTE_CAPABILITIES=7.5,8.6"), "sm_75 sm_86 compute_86");
    assert_eq!(refused("TORCH_CUDA_ARCH_LIST=sm_90"), SpellingErrorKind::NotInDialect(Dialect::Torch));
}

#[test]
fn flags_of_nvcc() {
    for (text, expected) in [
        ("-gencode arch=compute_90,code=sm_90", "sm_90"),
        ("-gencode=arch=compute_90,code=compute_90", "compute_90"),
        ("--generate-code arch=compute_90,code=[sm_90,compute_90]", "sm_90 compute_90"),
        ("--generate-code=arch=compute_80,code=[sm_80,sm_86,lto_80]", "sm_80 sm_86 lto_80"),
        ("-gencode \"arch=compute_90,code=sm_90\"", "sm_90"),
        ("-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=compute_90 -O3", "sm_80 compute_90"),
        // torch prints `compute=` for `arch=`
        ("-gencode compute=compute_86,code=sm_86", "sm_86"),
        // sm alone is SASS and PTX, compute alone PTX
        ("-arch=sm_90", "sm_90 compute_90"),
        ("-arch sm_90a", "sm_90a compute_90a"),
        ("-arch=compute_90", "compute_90"),
        ("--gpu-architecture=compute_80 --gpu-code=sm_80,sm_86", "sm_80 sm_86"),
        ("-arch=compute_80 -code=sm_89,compute_80", "sm_89 compute_80"),
        // plain code of a family's PTX is family code (measured), its `a` code stays `a`
        ("-gencode arch=compute_100f,code=sm_103", "sm_103f"),
        ("-gencode arch=compute_100f,code=sm_103a", "sm_103a"),
        ("-gencode arch=compute_90a,code=sm_90a", "sm_90a"),
        ("-gencode arch=compute_90,code=sm_90a", "sm_90a"),
    ] {
        assert_eq!(code(text), expected, "{text}");
        assert_eq!(read(text, Dialect::Nvcc), expected, "{text}");
    }
}

/// Measured: "Incompatible code generation requested".
#[test]
fn incompatible_flags_of_nvcc() {
    for text in [
        "-gencode arch=compute_86,code=sm_80",
        "-gencode arch=compute_90a,code=sm_90",
        "-gencode arch=compute_100f,code=sm_110",
        "-gencode arch=compute_103f,code=sm_100",
        "-arch=compute_90 -code=sm_80",
    ] {
        assert!(matches!(refused(text), SpellingErrorKind::IncompatibleCode { .. }), "{text}");
    }
    for text in ["-gencode", "-gencode arch=compute_90", "-gencode arch=sm_90,code=sm_90", "-code=sm_90", "-arch="] {
        assert_eq!(refused(text), SpellingErrorKind::MalformedFlag, "{text}");
    }
    assert_eq!(refused("-arch=sm_90,sm_80"), SpellingErrorKind::Unrecognised);
    for (text, word) in [
        ("-arch=all", SpecialWord::All),
        ("-arch=all-major", SpecialWord::AllMajor),
        ("-arch=native", SpecialWord::Native),
    ] {
        assert_eq!(refused(text), SpellingErrorKind::Special(word), "{text}");
    }
    assert_eq!(refused("-O3 -lineinfo"), SpellingErrorKind::Empty);
}

#[test]
fn dialects_take_only_their_own() {
    let cmake = |text| read(text, Dialect::Cmake);
    assert_eq!(cmake("75;80-real;90a-virtual"), "sm_75 compute_75 sm_80 compute_90a");
    for text in ["sm_90", "9.0", "Hopper", "9.0+PTX"] {
        assert_eq!(refused_in(text, Dialect::Cmake), SpellingErrorKind::NotInDialect(Dialect::Cmake), "{text}");
    }
    assert_eq!(refused_in("OFF", Dialect::Cmake), SpellingErrorKind::Special(SpecialWord::Off));
    // torch 2.15: no `f`, no 8.8, 10.1 dropped, no numbers without a point
    for text in ["10.0f", "8.8", "10.1", "sm_90", "90", "3.0"] {
        assert_eq!(refused_in(text, Dialect::Torch), SpellingErrorKind::NotInDialect(Dialect::Torch), "{text}");
    }
    assert_eq!(read("8.0 9.0a+PTX", Dialect::Torch), "sm_80 sm_90a compute_90a");
    for text in ["lto_90", "90", "Hopper", "9.0a"] {
        assert_eq!(refused_in(text, Dialect::Xla), SpellingErrorKind::NotInDialect(Dialect::Xla), "{text}");
    }
}

/// sm_N is a cubin; compute_N cubin and PTX; a list of dotted ones is sorted and its highest gets
/// PTX; a dotted one in a mixed list is compute_N.
#[test]
fn lists_of_tensorflow_and_xla() {
    let xla = |text| read(text, Dialect::Xla);
    assert_eq!(xla("sm_60,sm_70,sm_80,sm_89,compute_90"), "sm_60 sm_70 sm_80 sm_89 sm_90 compute_90");
    assert_eq!(xla("9.0,7.5,8.6"), "sm_75 sm_86 sm_90 compute_90");
    assert_eq!(xla("sm_80,9.0"), "sm_80 sm_90 compute_90");
}

#[test]
fn words_without_a_fixed_meaning_are_refused() {
    for (text, word) in [
        ("all", SpecialWord::All),
        ("all-major", SpecialWord::AllMajor),
        ("native", SpecialWord::Native),
        ("OFF", SpecialWord::Off),
        ("sm_90;ALL", SpecialWord::All),
    ] {
        assert_eq!(refused(text), SpellingErrorKind::Special(word), "{text}");
    }
    assert_eq!(no_device("native"), SpellingErrorKind::Special(SpecialWord::Native));
}

#[test]
fn architectures_that_do_not_exist_are_refused() {
    for text in ["sm_86a", "86a", "sm_75a", "sm_90f", "sm_84", "compute_130", "8.4", "9.0f", "102-real"] {
        let SpellingErrorKind::UnknownArch { arch, nearest } = refused(text) else {
            panic!("{text}: {:?}", refused(text))
        };
        assert!(!arch.is_known() && !nearest.is_empty() && nearest.iter().all(|near| near.is_known()), "{text}");
    }
    let SpellingErrorKind::UnknownArch { nearest, .. } = refused("sm_86a") else { panic!() };
    assert_eq!(nearest.first(), Some(&Arch::plain(86)));
    assert!(matches!(no_device("8.4"), SpellingErrorKind::UnknownArch { .. }));
    assert!(matches!(no_device("sm_86a"), SpellingErrorKind::UnknownArch { .. }));
}

#[test]
fn two_digits_from_10_to_19_are_refused() {
    for text in ["10", "12", "19", "sm_12", "compute_10", "12-real", "12a"] {
        assert_eq!(refused(text), SpellingErrorKind::TwoDigits, "{text}");
    }
    assert_eq!(no_device("12"), SpellingErrorKind::TwoDigits);
    assert_eq!("12".parse::<Arch>(), Err(ParseArchError::TwoDigits));
}

#[test]
fn what_is_no_spelling_is_refused() {
    for text in
        ["sm_", "sm_9", "sm_9000", "sm_90b", "9", "9.", ".0", "9.00", "90+PTX", "8,6a", "sm_8_6", "foo", "sm_ 90"]
    {
        assert!(spelling::code(text).is_err(), "{text}");
    }
    for text in ["", "  ", ";;", "\"\""] {
        assert_eq!(refused(text), SpellingErrorKind::Empty, "{text}");
    }
    assert_eq!(refused("sm_90b"), SpellingErrorKind::Unrecognised);
    assert_eq!(refused("H200"), SpellingErrorKind::NamesDevice { capability: Capability::new(9, 0) });
}

#[test]
fn a_refusal_says_what_and_where() {
    let error = spelling::code("sm_90; sm_86a").unwrap_err();
    assert_eq!((error.item.as_str(), error.offset), ("sm_86a", 7));
    assert_eq!(error.to_string(), "`sm_86a`: there is no such architecture; the nearest are `86`, `87` or `88`");
    let error = spelling::code("TORCH_CUDA_ARCH_LIST=\"8.0;8.4\"").unwrap_err();
    assert_eq!((error.item.as_str(), error.offset), ("8.4", 26));
    let error = spelling::code("-gencode arch=compute_86,code=[sm_86,sm_80]").unwrap_err();
    assert_eq!((error.item.as_str(), error.offset), ("sm_80", 37));
    let error = spelling::devices("9.0, sm_90a").unwrap_err();
    assert_eq!((error.item.as_str(), error.offset), ("sm_90a", 5));
    assert_eq!(error.to_string(), "`sm_90a` names code, not a device");
    assert_eq!(
        spelling::code("all").unwrap_err().to_string(),
        "`all` depends on the toolkit that compiles; name the architectures instead"
    );
    // text outside ASCII is refused like any other
    assert_eq!(spelling::code("sm_90;ｓｍ_80").unwrap_err().offset, 6);
}

#[test]
fn devices_are_named_by_capability_or_product() {
    for (text, expected) in [
        ("9.0", "9.0"),
        ("sm_90", "9.0"),
        ("SM-90", "9.0"),
        ("90", "9.0"),
        ("120", "12.0"),
        ("RTX 4090", "8.9"),
        ("H200", "9.0"),
        ("NVIDIA GeForce RTX 5090", "12.0"),
        ("Jetson AGX Orin", "8.7"),
    ] {
        assert_eq!(device(text), expected, "{text}");
    }
    let named = spelling::devices("9.0, RTX 5090; \"H200\"").unwrap();
    assert_eq!(named.len(), 3);
    assert_eq!(named[0].name, None);
    assert!(named[1].name.unwrap().contains("RTX 5090"));
    assert_eq!(named[2].capability, Capability::new(9, 0));
}

#[test]
fn code_is_no_device() {
    for text in
        ["sm_90a", "compute_90", "lto_90", "9.0+PTX", "90-real", "90-virtual", "90a", "9.0a", "sm_100f", "Ampere+Tegra"]
    {
        assert_eq!(no_device(text), SpellingErrorKind::NamesCode, "{text}");
    }
    assert!(matches!(no_device("GT 730"), SpellingErrorKind::AmbiguousDevice { .. }));
    let SpellingErrorKind::UnknownDevice { nearest } = no_device("RTX 5091") else { panic!() };
    assert!(!nearest.is_empty());
    assert_eq!(no_device(""), SpellingErrorKind::Empty);
}

#[test]
fn a_family_of_one_capability_is_a_device() {
    for (text, capability, name) in [
        ("Hopper", "9.0", "Hopper"),
        ("ada", "8.9", "Ada Lovelace"),
        ("Turing", "7.5", "Turing"),
        ("RTX 40 series", "8.9", "GeForce RTX 40 series"),
        ("RTX 50", "12.0", "GeForce RTX 50 series"),
        ("DGX Spark", "12.1", "DGX Spark"),
        ("Jetson Orin", "8.7", "Jetson Orin"),
        ("Jetson Thor", "11.0", "Jetson Thor"),
        ("Grace Hopper", "9.0", "Grace Hopper"),
    ] {
        let named = spelling::device(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((named.capability.to_string().as_str(), named.name), (capability, Some(name)), "{text}");
    }
    assert_eq!(spelling::devices("Hopper, RTX 40").unwrap().len(), 2);
    // where code is wanted, torch's list; else no spelling of code
    assert_eq!(code("Hopper"), "sm_90 compute_90");
    assert_eq!(refused("Jetson-Orin"), SpellingErrorKind::NamesDevice { capability: Capability::new(8, 7) });
}

#[test]
fn names_imply_the_host_of_what_they_name() {
    for text in [
        "Jetson AGX Orin",
        "Jetson Orin",
        "DRIVE AGX Thor",
        "Jetson Thor",
        "Xavier",
        "GB10",
        "DGX Spark",
        "GH200",
        "Grace Hopper",
        "GB200",
        "GB200 NVL72",
        "GB300",
    ] {
        assert_eq!(spelling::device(text).unwrap().host, Some(Host::Aarch64), "{text}");
    }
    // who names a number asks about code, not about a machine
    for text in [
        "5.3",
        "sm_62",
        "8.7",
        "110",
        "RTX 4090",
        "H100",
        "B200",
        "DGX H100",
        "Hopper",
        "RTX 50",
        "DRIVE PX 2 AutoChauffeur",
        "Jetson TK1",
        "3.2",
        // one of these is beside any host
        "HGX",
        "8.0",
        "8.6",
        "8.8",
        "9.0",
        "10.0",
        "10.3",
        "12.0",
        "12.1",
    ] {
        assert_eq!(spelling::device(text).unwrap().host, None, "{text}");
    }
}

#[test]
fn a_family_of_several_capabilities_is_refused_with_all_of_them() {
    let error = spelling::devices("9.0, Blackwell").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`Blackwell` stands for several capabilities: 10.0 (B200, GB200), 10.3 (B300, GB300), 11.0 (Jetson Thor), \
         12.0 (RTX 50 series, RTX PRO), 12.1 (GB10, DGX Spark)"
    );
    assert_eq!((error.item.as_str(), error.offset), ("Blackwell", 5));
    for (text, expected) in [
        ("Ampere", "8.0 8.6 8.7"),
        ("Pascal", "6.0 6.1 6.2"),
        ("Volta", "7.0 7.2"),
        ("Jetson", "3.2 5.3 6.2 7.2 8.7 11.0"),
        ("RTX 30 series", "8.6 8.9"),
        ("RTX", "7.5 8.6 8.9 12.0 12.1"),
    ] {
        let SpellingErrorKind::AmbiguousDevice { meanings } = no_device(text) else {
            panic!("{text}: {:?}", no_device(text))
        };
        let written: Vec<String> = meanings.iter().map(|meaning| meaning.capability.to_string()).collect();
        assert_eq!(written.join(" "), expected, "{text}");
        // what it says can be typed again
        let named = spelling::devices(&written.join(",")).unwrap();
        assert_eq!(named.len(), written.len(), "{text}");
    }
}

#[test]
fn architectures_and_targets_are_read_and_written() {
    for text in ["90a", "9.0a", "sm_90a", "SM-90a", "compute_90a", "lto_90A", " 90a "] {
        assert_eq!(text.parse::<Arch>(), Ok(Arch::new(90, Suffix::A)), "{text}");
    }
    // the shape is read, not whether it exists
    assert_eq!("86a".parse::<Arch>(), Ok(Arch::new(86, Suffix::A)));
    for text in ["", "a", "9", "9000", "90aa", "sm", "0.9", "100.0", "-90"] {
        assert!(text.parse::<Arch>().is_err(), "{text}");
    }
    let written: Vec<String> = {
        let mut archs: Vec<Arch> = ["100f", "90a", "100", "90", "100a"].map(|text| text.parse().unwrap()).to_vec();
        archs.sort();
        archs.iter().map(ToString::to_string).collect()
    };
    assert_eq!(written, ["90", "90a", "100", "100a", "100f"]);
    for text in ["sm_90a", "compute_90", "lto_90"] {
        assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
    }
    for text in ["9.0", "90", "Hopper", "sm_9.0"] {
        assert!(text.parse::<Target>().is_err(), "{text}");
    }
    assert_eq!(Arch::plain(121).capability(), Capability::new(12, 1));
    assert_eq!("10.3".parse::<Capability>().unwrap().arch(), Some(Arch::plain(103)));
    assert_eq!(Capability::new(u32::MAX, 0).arch(), None);
}
