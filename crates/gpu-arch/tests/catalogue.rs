//! Lookups, and what the tables must agree on among themselves.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

use gpu_arch::catalogue::{
    Confidence, Host, Product, ProductClass, ProductLookup, architecture, architectures, branches, cuda_of_driver,
    driver_for_cuda, error, errors, families, family, first_toolkit, flags_for, product, product_by_pci_id, products,
    published_lists, recognise_error, releases, runtime_floor, toolkit, toolkits, toolkits_for, torch_builds,
    torch_builds_for, torch_hint,
};
use gpu_arch::{Arch, Capability, CudaVersion, DriverVersion, Isa, Suffix};

fn capability(text: &str) -> Capability {
    text.parse().unwrap()
}

fn arch(text: &str) -> Arch {
    text.parse().unwrap()
}

fn found(name: &str) -> String {
    match product(name) {
        ProductLookup::Found(row) => row.capability.to_string(),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn products_are_found_however_they_are_written() {
    for (name, expected) in [
        ("NVIDIA GeForce RTX 4060 Ti", "8.9"),
        ("RTX 4060 Ti", "8.9"),
        ("rtx4060ti", "8.9"),
        ("rtx-4060-ti", "8.9"),
        ("GeForce RTX 3090", "8.6"),
        ("RTX 5090", "12.0"),
        ("4090", "8.9"),
        ("H200", "9.0"),
        ("H100 80GB HBM3", "9.0"),
        ("A100", "8.0"),
        ("NVIDIA A100-SXM4-80GB", "8.0"),
        ("T4", "7.5"),
        ("Tesla V100", "7.0"),
        ("V100", "7.0"),
        ("B200", "10.0"),
        ("GB300", "10.3"),
        ("GB10", "12.1"),
        ("Jetson AGX Orin", "8.7"),
        ("Orin (nvgpu)", "8.7"),
        ("Xavier NX", "7.2"),
        ("Thor", "11.0"),
        ("RTX 3060 12GB", "8.6"),
        ("Quadro RTX 6000", "7.5"),
        ("RTX 6000 Ada", "8.9"),
    ] {
        assert_eq!(found(name), expected, "{name}");
    }
}

#[test]
fn every_product_is_found_by_its_own_name() {
    assert_eq!(products().len(), 921);
    for row in products() {
        match product(row.name) {
            ProductLookup::Found(found) => assert_eq!(found.capability, row.capability, "{}", row.name),
            ProductLookup::Ambiguous(meanings) => {
                assert!(meanings.iter().any(|meaning| meaning.capability == row.capability), "{}", row.name);
            }
            ProductLookup::Family(_) | ProductLookup::Unknown { .. } => panic!("{}", row.name),
        }
    }
}

#[test]
fn names_of_two_capabilities_are_ambiguous() {
    for (name, expected) in [
        ("GT 730", "3.0 3.5"),
        ("GT 720", "3.0 3.5"),
        ("GT 730M", "3.0 3.5"),
        ("GT 740M", "3.0 3.5"),
        ("GT 1030", "3.0 6.1"),
        ("GTX 750 Ti", "3.0 5.0"),
        ("GTX 860M", "3.0 5.0"),
        ("910M", "3.5 5.2"),
        ("Quadro M3000M", "5.0 5.2"),
        ("Quadro M4000M", "5.0 5.2"),
        ("Quadro M5000M", "5.0 5.2"),
        // a workstation card of Turing and one of Ada
        ("RTX 6000", "7.5 8.9"),
    ] {
        let ProductLookup::Ambiguous(meanings) = product(name) else { panic!("{name}: {:?}", product(name)) };
        let written: Vec<String> = meanings.iter().map(|meaning| meaning.capability.to_string()).collect();
        assert_eq!(written.join(" "), expected, "{name}");
    }
}

/// What tells the meanings of a name apart: other names, or the chips where all are called the same.
#[test]
fn the_meanings_of_a_name_are_told_apart() {
    let written = |name: &str| {
        let ProductLookup::Ambiguous(meanings) = product(name) else { panic!("{name}: {:?}", product(name)) };
        meanings.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(written("GT 730"), "3.0 (GK107), 3.5 (GK208)");
    assert_eq!(
        written("RTX 6000"),
        "7.5 (Quadro RTX 6000, Quadro RTX 6000/8000), 8.9 (RTX 6000 Ada, RTX 6000 Ada Generation)"
    );
}

/// A count or a memory size behind a name, and a system before it.
#[test]
fn what_is_said_beside_a_name_is_not_held_against_it() {
    for (name, expected) in [
        ("DGX H100", "9.0"),
        ("HGX B200", "10.0"),
        ("GB200 NVL72", "10.0"),
        ("DGX GB300 NVL72", "10.3"),
        ("DGX A100", "8.0"),
    ] {
        assert_eq!(found(name), expected, "{name}");
    }
    for name in ["DGX-2", "NVL72", "12GB", "DGX 12GB", "DGX NVL72"] {
        assert!(!matches!(product(name), ProductLookup::Found(_)), "{name}: {:?}", product(name));
    }
}

fn capabilities_of(name: &str) -> String {
    let members = family(name).unwrap_or_else(|| panic!("{name}")).members;
    members.iter().map(|member| member.capability.to_string()).collect::<Vec<_>>().join(" ")
}

/// From NVIDIA's list of GPUs and the chips of the products.
#[test]
fn families_stand_for_all_their_capabilities() {
    for (name, expected) in [
        ("Kepler", "3.0 3.2 3.5 3.7"),
        ("Maxwell", "5.0 5.2 5.3"),
        ("Pascal", "6.0 6.1 6.2"),
        ("Volta", "7.0 7.2"),
        ("Turing", "7.5"),
        ("Ampere", "8.0 8.6 8.7"),
        ("Ada", "8.9"),
        ("Ada Lovelace", "8.9"),
        ("hopper", "9.0"),
        ("NVIDIA Blackwell architecture", "10.0 10.3 11.0 12.0 12.1"),
        ("Blackwell Ultra", "10.3"),
        ("Rubin", "10.7"),
        ("Grace Hopper Superchip", "9.0"),
        ("Grace-Blackwell", "10.0 10.3 12.1"),
        ("dgx spark", "12.1"),
        ("DGX-1", "6.0 7.0"),
        ("Jetson Orin", "8.7"),
        ("Jetson Thor", "11.0"),
        ("Jetson", "3.2 5.3 6.2 7.2 8.7 11.0"),
        // a laptop's 2050 has a chip of the next generation, as has one of the 3050
        ("RTX 20", "7.5 8.6"),
        ("RTX 30-series", "8.6 8.9"),
        ("RTX 40 series", "8.9"),
        ("RTX40", "8.9"),
        ("GeForce RTX 50 Series", "12.0"),
        ("rtx 50xx", "12.0"),
        ("RTX PRO", "12.0"),
    ] {
        assert_eq!(capabilities_of(name), expected, "{name}");
        assert!(matches!(product(name), ProductLookup::Family(_)), "{name}");
    }
    for name in ["", "series", "GPU", "NVIDIA", "GeForce", "RTX", "RTX 5", "Black well bay", "H200"] {
        assert_eq!(family(name), None, "{name}");
    }
    for thor in ["Blackwell", "Jetson", "Jetson Thor", "DRIVE Thor"] {
        assert!(family(thor).unwrap().note.contains("10.1 up to CUDA 12.9"), "{thor}");
    }
}

#[test]
fn families_are_in_order_and_their_examples_are_of_their_capability() {
    for row in families() {
        assert_eq!(family(row.name), Some(row), "{}", row.name);
        assert!(row.aliases.iter().all(|alias| family(alias) == Some(row)), "{}", row.name);
        assert!(!row.members.is_empty() && row.members.is_sorted_by(|one, next| one.capability < next.capability));
        for member in row.members {
            assert!(architecture(member.capability).is_some(), "{}", row.name);
            for example in member.examples {
                let of_it = match product(example) {
                    ProductLookup::Found(found) => found.capability == member.capability,
                    ProductLookup::Family(other) => {
                        other != row && other.members.iter().all(|own| own.capability == member.capability)
                    }
                    _ => false,
                };
                assert!(of_it, "{}: {example} is {:?}", row.name, product(example));
            }
        }
    }
}

/// Generations are those of the architectures that have products, series those of the products that are called so.
#[test]
fn families_are_complete() {
    let joined = |mut found: Vec<Capability>| {
        found.sort_unstable();
        found.dedup();
        found.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    for row in architectures() {
        let has_products = |capability: Capability| products().iter().any(|product| product.capability == capability);
        let own = architectures().iter().filter(|other| other.name == row.name && has_products(other.capability));
        assert_eq!(capabilities_of(row.name), joined(own.map(|own| own.capability).collect()), "{}", row.name);
    }
    let mut series = 0;
    for row in families() {
        let Some(number) = row.name.strip_prefix("GeForce ").and_then(|name| name.strip_suffix(" series")) else {
            continue;
        };
        series += 1;
        let (brand, number) = number.split_once(' ').unwrap();
        let length = if number.len() == 3 { 3 } else { 4 };
        let own = products().iter().filter(|product| {
            let words: Vec<&str> = product.name.trim_start_matches("NVIDIA ").split(' ').collect();
            let [maker, own_brand, model, ..] = words[..] else { return false };
            let digits = model.chars().take_while(char::is_ascii_digit).count();
            product.class == ProductClass::Geforce
                && maker == "GeForce"
                && own_brand == brand
                && digits == length
                && model.starts_with(number.trim_end_matches("00"))
        });
        assert_eq!(capabilities_of(row.name), joined(own.map(|own| own.capability).collect()), "{}", row.name);
    }
    assert_eq!(series, 9);
    for (brand, name) in [("RTX PRO ", "RTX PRO"), ("Jetson ", "Jetson")] {
        let own = products().iter().filter(|product| product.name.trim_start_matches("NVIDIA ").starts_with(brand));
        assert_eq!(capabilities_of(name), joined(own.map(|own| own.capability).collect()), "{name}");
    }
}

#[test]
fn an_unknown_product_has_neighbours() {
    let ProductLookup::Unknown { nearest } = product("RTX 4061 Ti") else { panic!() };
    assert!(nearest.iter().any(|name| name.ends_with("RTX 4060 Ti")), "{nearest:?}");
    assert!(nearest.len() <= 3);
    for name in ["", "NVIDIA", "Voodoo 2 of 3dfx Interactive"] {
        assert_eq!(product(name), ProductLookup::Unknown { nearest: vec![] }, "{name}");
    }
}

/// Tegra chips (the K1 is a 32-bit Arm), SoCs with GB20B and Grace superchips sit beside a 64-bit Arm; a card beside any.
#[test]
fn hosts_are_implied_where_there_is_but_one() {
    for row in products() {
        let capability = row.capability.to_string();
        let tegra = row.class == ProductClass::Tegra && ["5.3", "6.2", "7.2", "8.7", "11.0"].contains(&&*capability);
        let grace = ["GH200", "GB200", "GB300"].iter().any(|chip| row.name.contains(chip));
        // the name of GH200 in one of two sources of its PCI id
        let expected = tegra || grace || row.chips == ["GB20B"] || row.name == "480GB";
        assert_eq!(row.host, expected.then_some(Host::Aarch64), "{}", row.name);
    }
    for row in architectures() {
        // Thor's products are listed under its number of today
        let number = if row.capability == capability("10.1") { capability("11.0") } else { row.capability };
        let mut own = products().iter().filter(|product| product.capability == number).peekable();
        let is_arm = |product: &Product| product.class == ProductClass::Tegra && product.host == Some(Host::Aarch64);
        let expected = own.peek().is_some() && own.all(is_arm);
        assert_eq!(row.host, expected.then_some(Host::Aarch64), "{}", row.capability);
    }
    let with_host: Vec<String> =
        architectures().iter().filter(|row| row.host.is_some()).map(|row| row.capability.to_string()).collect();
    assert_eq!(with_host, ["5.3", "6.2", "7.2", "8.7", "10.1", "11.0"]);
    // all examples of a family have its host, or it has none
    for row in families() {
        let hosts = row.members.iter().flat_map(|member| member.examples).map(|example| match product(example) {
            ProductLookup::Found(found) => found.host,
            ProductLookup::Family(other) => other.host,
            other => panic!("{example}: {other:?}"),
        });
        let all =
            row.members.iter().all(|member| !member.examples.is_empty()) && hosts.clone().all(|host| host.is_some());
        assert_eq!(row.host, all.then_some(Host::Aarch64), "{}", row.name);
    }
}

#[test]
fn hosts_are_read_as_they_are_written() {
    for host in [Host::X86_64, Host::Aarch64] {
        assert_eq!(host.to_string().parse(), Ok(host));
    }
    for text in ["", "x86", "X86_64", "arm", "powerpc64"] {
        assert!(text.parse::<Host>().is_err(), "{text}");
    }
}

/// Two ids from the README of the open kernel modules.
#[test]
fn products_by_pci_id() {
    assert!(product_by_pci_id(0x2782).unwrap().name.contains("RTX 4070 Ti"));
    assert!(product_by_pci_id(0x2803).unwrap().name.contains("RTX 4060 Ti"));
    assert_eq!(product_by_pci_id(0xffff), None);
    // a chip never has two capabilities
    for row in products() {
        for id in row.pci {
            assert_eq!(product_by_pci_id(*id).unwrap().capability, row.capability, "{:04x}", id);
        }
    }
}

#[test]
fn every_product_has_an_architecture() {
    assert_eq!(architectures().len(), 26);
    assert!(architectures().windows(2).all(|pair| pair[0].capability < pair[1].capability));
    for row in products() {
        assert!(architecture(row.capability).is_some(), "{}", row.name);
    }
}

#[test]
fn toolkits_and_architectures_agree() {
    assert_eq!(toolkits().len(), 31);
    for row in architectures() {
        let arch = row.capability.arch().unwrap();
        let versions: Vec<CudaVersion> = toolkits_for(arch).map(|row| row.version).collect();
        // toolkits before 8.0 are not listed
        if row.first_toolkit >= CudaVersion::new(8, 0) {
            assert_eq!(versions.first(), Some(&row.first_toolkit), "sm_{arch}");
        }
        let last = row.last_toolkit.unwrap_or(CudaVersion::new(13, 5));
        assert_eq!(versions.last(), Some(&last), "sm_{arch}");
        // the first toolkit's PTX is at least the first that takes the target
        if let Some(toolkit) = toolkit(row.first_toolkit) {
            assert!(toolkit.isa >= row.first_isa, "sm_{arch}");
        }
    }
    assert_eq!(first_toolkit(arch("90a")), Some(CudaVersion::new(12, 0)));
    assert_eq!(first_toolkit(arch("100f")), Some(CudaVersion::new(12, 9)));
    assert_eq!(first_toolkit(arch("37")), Some(CudaVersion::new(6, 5)));
    assert_eq!(first_toolkit(arch("86a")), None);
    assert_eq!(toolkit(CudaVersion::new(12, 7)), None);
    assert_eq!(toolkit(CudaVersion::new(12, 6)).unwrap().isa, Isa::new(8, 5));
}

#[test]
fn architectures_exist_with_their_suffixes_only() {
    for known in ["20", "30", "86", "90a", "100f", "101a", "110f", "121a"] {
        assert!(arch(known).is_known(), "{known}");
    }
    for unknown in ["86a", "75a", "80a", "89a", "90f", "84", "102", "130", "99"] {
        assert!(!arch(unknown).is_known(), "{unknown}");
    }
    assert!(!Arch::new(u32::MAX, Suffix::F).is_known());
}

#[test]
fn drivers_and_cuda_versions() {
    let cuda = |text: &str| cuda_of_driver(text.parse().unwrap()).map(|cuda| cuda.to_string());
    assert_eq!(cuda("535.183.01").as_deref(), Some("12.2"));
    assert_eq!(cuda("551.61").as_deref(), Some("12.4"));
    assert_eq!(cuda("580.65.06").as_deref(), Some("13.0"));
    assert_eq!(cuda("470.256.02").as_deref(), Some("11.4"));
    assert_eq!(cuda("620").as_deref(), Some("13.4"));
    assert_eq!(cuda("304.137"), None);
    let driver = |text: &str| driver_for_cuda(text.parse().unwrap()).map(|driver| driver.to_string());
    assert_eq!(driver("12.4").as_deref(), Some("550"));
    assert_eq!(driver("12.7").as_deref(), Some("565"));
    assert_eq!(driver("8.0").as_deref(), Some("367"));
    assert_eq!(driver("13.5"), None);
    assert_eq!(driver("6.5"), None);
    assert!(branches().windows(2).all(|pair| pair[0].branch < pair[1].branch && pair[0].cuda <= pair[1].cuda));
    assert_eq!(runtime_floor(12).unwrap().linux.to_string(), "525.60.13");
    assert_eq!(runtime_floor(10), None);
}

/// The driver of each release implements the CUDA version of the release, in Linux and Windows
/// numbers.
#[test]
fn releases_and_branches_agree() {
    assert_eq!(releases().len(), 65);
    for row in releases() {
        assert_eq!(cuda_of_driver(row.driver_linux), Some(row.cuda), "{row:?}");
        if let Some(windows) = row.driver_windows {
            assert_eq!(cuda_of_driver(windows), Some(row.cuda), "{row:?}");
        }
    }
}

#[test]
fn ptx_versions_and_their_cuda() {
    for (isa, cuda) in [("8.5", "12.5"), ("8.6", "12.7"), ("8.7", "12.8"), ("8.8", "12.9"), ("9.5", "13.5")] {
        let isa: Isa = isa.parse().unwrap();
        assert_eq!(isa.first_cuda().unwrap().to_string(), cuda);
    }
    assert_eq!(Isa::new(9, 6).first_cuda(), None);
}

#[test]
fn driver_versions_are_read_compared_and_written() {
    let version = |text: &str| text.parse::<DriverVersion>().unwrap();
    for text in ["550", "551.61", "535.183.01", "580.65.06", "537.13", "570.124.06"] {
        assert_eq!(version(text).to_string(), text);
    }
    assert_eq!(version("r550"), version("550"));
    assert!(version("525.60.13") < version("525.85.12"));
    assert!(version("525.60.13") < version("535.54.03"));
    assert!(version("550") < version("550.54.14"));
    for text in ["", "550.", "a.b", "550.1.2.3", "99999", "550.-1"] {
        assert!(text.parse::<DriverVersion>().is_err(), "{text}");
    }
    assert_eq!("12".parse::<CudaVersion>().unwrap().to_string(), "12.0");
    assert_eq!(CudaVersion::from_api_number(12040).unwrap().to_string(), "12.4");
}

#[test]
fn torch_builds_of_a_capability() {
    assert_eq!(torch_builds().len(), 65);
    // RTX 50: from 2.7 with cu128
    let first = torch_builds_for(capability("12.0")).next().unwrap();
    assert_eq!((first.version, first.cuda), ("2.7", "cu128"));
    // Pascal from 2.8 on only in cu126
    let recent: Vec<&str> = torch_builds_for(capability("6.1"))
        .filter(|row| row.version.trim_start_matches("2.").parse().is_ok_and(|minor: u32| minor >= 8))
        .map(|row| row.cuda)
        .collect();
    assert!(!recent.is_empty() && recent.iter().all(|cuda| *cuda == "cu126"), "{recent:?}");
    // Thor from 2.9 with cu130 on aarch64 by SASS 11.0 (PTX 12.0 does not fit)
    let first = torch_builds_for(capability("11.0")).next().unwrap();
    assert_eq!((first.version, first.cuda, first.host), ("2.9", "cu130", Host::Aarch64));
    // H100 from 2.0 with cu118
    let first = torch_builds_for(capability("9.0")).next().unwrap();
    assert_eq!((first.version, first.cuda), ("2.0", "cu118"));
    assert_eq!(torch_hint(capability("12.1")).unwrap().torch, ">=2.7");
    // one default a version
    for row in torch_builds().iter().filter(|row| row.pypi_default) {
        let same = torch_builds().iter().filter(|other| other.pypi_default && other.version == row.version);
        assert_eq!(same.count(), 1, "{}", row.version);
    }
}

/// The versions that PyPI has; each row speaks of a release of its version.
#[test]
fn torch_builds_name_a_release() {
    for row in torch_builds() {
        let patch = row.release.strip_prefix(row.version).and_then(|rest| rest.strip_prefix('.'));
        assert!(patch.is_some_and(|patch| patch.parse::<u8>().is_ok()), "{row:?}");
    }
    let release = |version| torch_builds().iter().find(|row| row.version == version).unwrap().release;
    assert_eq!((release("2.14"), release("2.6"), release("2.15")), ("2.14.1", "2.6.0", "2.15.0"));
}

/// pytorch#190385 announces that 2.15 has no cu126 wheels; a table in the wheel of another variant names them.
#[test]
fn torch_2_15_for_pascal_is_less_certain_than_2_14() {
    for (version, expected) in [("2.14", Confidence::High), ("2.15", Confidence::Medium)] {
        let rows = torch_builds().iter().filter(|row| row.version == version && row.cuda == "cu126");
        let confidence: Vec<Confidence> = rows.map(|row| row.confidence).collect();
        assert_eq!(confidence, [expected; 2], "{version}");
    }
    let row = torch_builds_for(capability("6.1")).last().unwrap();
    assert!(row.version == "2.15" && row.source.contains("pytorch#190385"), "{row:?}");
}

#[test]
fn published_lists_say_what_they_cover() {
    let row = |versions| published_lists().iter().find(|row| row.versions == versions).unwrap();
    // sm_60,sm_70,sm_80,sm_89,compute_90: no 5.2, 6.1 by sm_60, 12.0 by PTX
    let tensorflow = row("2.18..2.21");
    let covers = |text| tensorflow.covers(capability(text));
    assert_eq!((covers("5.2"), covers("6.1"), covers("12.0")), (Some(false), Some(true), Some(true)));
    assert_eq!(tensorflow.pip, Some("tensorflow[and-cuda]==2.21.0"));
    // a list with a remark is none
    assert_eq!(row("2.12..2.14").covers(capability("8.0")), None);
}

#[test]
fn errors_are_recognised() {
    assert_eq!(errors().len(), 20);
    assert_eq!(error(209).unwrap().name, "CUDA_ERROR_NO_BINARY_FOR_GPU");
    assert_eq!(error(1), None);
    let code = |message: &str| recognise_error(message).map(|row| row.code);
    for (message, expected) in [
        ("RuntimeError: CUDA error: no kernel image is available for execution on the device", 209),
        ("cudaErrorNoKernelImageForDevice", 209),
        ("CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image is available", 209),
        ("the provided PTX was compiled with an unsupported toolchain.", 222),
        ("CUDA driver version is insufficient for CUDA runtime version", 35),
        ("device kernel image is invalid", 200),
        ("Error 804: forward compatibility was attempted on non supported HW", 804),
        ("Error 803: system has unsupported display driver / cuda driver combination", 803),
        ("CUDA error 222", 222),
        ("named symbol not found", 500),
        ("no CUDA-capable device is detected", 100),
        ("RuntimeError: No CUDA GPUs are available", 100),
        ("NVIDIA GB10 with CUDA capability sm_121 is not compatible with the current PyTorch installation.", 209),
        ("The NVIDIA driver on your system is too old (found version 11040).", 35),
        ("all CUDA-capable devices are busy or unavailable", 46),
        ("CUDA error: invalid device function", 98),
        ("cudaErrorInvalidDeviceFunction: invalid device function", 98),
        ("RuntimeError: CUDA error: PTX JIT compilation failed", 218),
        ("(CUDA_ERROR_INVALID_IMAGE)", 200),
        ("CUDA_ERROR_INVALID_IMAGE", 200),
        ("CUDA error code 218", 218),
        ("CUDA_ERROR_INVALID_SOURCE: device kernel image is invalid", 300),
        ("cudaErrorInvalidSource", 300),
        ("CUDA error: 300", 300),
        // 300 has the words of 200, which is the more frequent one
        ("RuntimeError: CUDA error: device kernel image is invalid", 200),
    ] {
        assert_eq!(code(message), Some(expected), "{message}");
    }
    for message in ["", "ModuleNotFoundError: No module named 'torch'", "error 7", "segmentation fault"] {
        assert_eq!(code(message), None, "{message}");
    }
}

#[test]
fn flags_of_an_architecture() {
    let flags = flags_for(arch("120")).unwrap();
    assert_eq!(flags.nvcc, "-gencode arch=compute_120,code=sm_120 -gencode arch=compute_120,code=compute_120");
    assert_eq!(flags.torch.as_deref(), Some("TORCH_CUDA_ARCH_LIST=\"12.0+PTX\""));
    assert_eq!(flags.cmake, "-DCMAKE_CUDA_ARCHITECTURES=120");
    assert_eq!(flags.xla.as_deref(), Some("HERMETIC_CUDA_COMPUTE_CAPABILITIES=compute_120"));
    assert_eq!((flags.first_toolkit, flags.last_toolkit), (Some(CudaVersion::new(12, 8)), None));
    assert_eq!(flags_for(arch("61")).unwrap().last_toolkit, Some(CudaVersion::new(12, 9)));
    assert_eq!(flags_for(arch("100f")).unwrap().torch, None);
    assert_eq!(flags_for(arch("86a")), None);
    // what is printed is read back as SASS and PTX of the architecture
    for row in architectures() {
        let arch = row.capability.arch().unwrap();
        let flags = flags_for(arch).unwrap();
        for text in [Some(flags.nvcc), flags.torch, Some(flags.cmake), flags.xla].into_iter().flatten() {
            let code: Vec<String> = gpu_arch::spelling::code(&text).unwrap().iter().map(ToString::to_string).collect();
            assert_eq!(code, [format!("sm_{arch}"), format!("compute_{arch}")], "{text}");
        }
    }
}
