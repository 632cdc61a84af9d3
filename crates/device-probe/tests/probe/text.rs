//! `nvidia-smi`, `/proc`, `/sys`, Jetson and WSL.

use device_probe::{Confidence, FindingCode, PciAddress, Status, Way};
use gpu_arch::catalogue::Platform;

use crate::machine::{Machine, ROW0, ROW1, UUID0, codes, finding, judged};

#[test]
fn nvidia_smi_lists_two_devices() {
    let machine = Machine::without_compiler().smi_rows(&[ROW0, ROW1]);
    let outcome = device_probe::ask(Way::NvidiaSmi, &machine.sources);
    assert_eq!(outcome.status, Status::Answered);
    assert_eq!(outcome.driver.map(|version| version.to_string()).as_deref(), Some("550.54.14"));
    let device = &outcome.devices[0];
    assert_eq!(device.index, Some(0));
    assert_eq!(device.uuid.as_deref(), Some(UUID0));
    assert_eq!(device.capability.map(|capability| capability.to_string()).as_deref(), Some("8.9"));
    assert_eq!(device.pci.map(|pci| pci.to_string()).as_deref(), Some("0000:41:00.0"));
    assert_eq!(device.pci_id, Some(0x2684));
    assert_eq!(device.mig, None);
    assert_eq!(outcome.devices[1].mig, Some(false));
}

#[test]
fn an_old_nvidia_smi_without_compute_cap_is_asked_without_it() {
    let machine = Machine::without_compiler().smi(&[
        ("rows", "index=0|uuid=GPU-1|driver_version=470.182.03|pci.bus_id=00000000:41:00.0|pci.device_id=0x1B8010DE|name=GeForce GTX 1080\n"),
        ("unknown", "compute_cap\nmig.mode.current\n"),
    ]);
    let probe = machine.probe();
    assert_eq!(judged(&probe), ["6.1"], "by PCI id");
    assert_eq!(probe.devices[0].confidence, Confidence::Derived);
    assert_eq!(probe.driver.version.map(|version| version.to_string()).as_deref(), Some("470.182.03"));
}

#[test]
fn a_comma_in_a_name_is_part_of_it() {
    let machine = Machine::without_compiler().smi_rows(&["index=0|compute_cap=9.0|name=NVIDIA H100, 80GB"]);
    let outcome = device_probe::ask(Way::NvidiaSmi, &machine.sources);
    assert_eq!(outcome.devices[0].name.as_deref(), Some("NVIDIA H100, 80GB"));
}

#[test]
fn nvidia_smi_that_fails_is_quoted() {
    let text = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.";
    let probe = Machine::without_compiler().smi(&[("fails", &format!("9 {text}\n"))]).probe();
    assert_eq!(probe.way(Way::NvidiaSmi).unwrap().status, Status::Unusable { text: text.to_owned() });
    assert_eq!(finding(&probe, FindingCode::NvidiaSmiError).text, format!("nvidia-smi fails: {text}"));
}

#[test]
fn nvidia_smi_without_devices_is_an_answer() {
    let machine = Machine::without_compiler().smi(&[("fails", "6 No devices were found\n")]);
    let outcome = device_probe::ask(Way::NvidiaSmi, &machine.sources);
    assert_eq!((outcome.status, outcome.devices.len()), (Status::Answered, 0));
}

#[test]
fn nvidia_smi_that_says_nonsense_lists_nothing() {
    for text in ["0 \u{1b}[31mhello", "0 a,b", "0 ,,,,,,,,,,,,", "7 "] {
        let probe = Machine::without_compiler().smi(&[("fails", &format!("{text}\n"))]).probe();
        assert!(probe.devices().is_empty(), "{:?}", probe.devices);
    }
}

#[test]
fn proc_files_tell_driver_and_devices() {
    let machine = Machine::without_compiler()
        .file(
            "proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.124.06  Release Build  (dvs@builder)\n\
             GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n",
        )
        .file(
            "proc/driver/nvidia/gpus/0000:62:00.0/information",
            "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 10\n\
             GPU UUID: \t GPU-9221d5d1-b60b-a624-bf14-0a1819cfda3b\nVideo BIOS: \t 96.00.99.00.01\n\
             Bus Type: \t PCIe\nBus Location: \t 0000:62:00.0\nDevice Minor: \t 5\n",
        );
    let outcome = device_probe::ask(Way::Proc, &machine.sources);
    assert_eq!(outcome.driver.map(|version| version.to_string()).as_deref(), Some("570.124.06"));
    let device = &outcome.devices[0];
    assert_eq!(device.name.as_deref(), Some("NVIDIA H100 80GB HBM3"));
    assert_eq!(device.uuid.as_deref(), Some("GPU-9221d5d1-b60b-a624-bf14-0a1819cfda3b"));
    assert_eq!(device.pci.map(|pci| pci.to_string()).as_deref(), Some("0000:62:00.0"));
}

#[test]
fn jetsons_are_told_by_their_chip() {
    let boards = [
        ("tegra210", "NVIDIA Jetson Nano Developer Kit", "5.3", Platform::Tegra),
        ("tegra186", "quill", "6.2", Platform::Tegra),
        ("tegra194", "Jetson-AGX", "7.2", Platform::Tegra),
        ("tegra234", "NVIDIA Jetson AGX Orin Developer Kit", "8.7", Platform::Tegra),
        ("tegra264", "NVIDIA Jetson AGX Thor Developer Kit", "11.0", Platform::Sbsa),
    ];
    for (chip, model, capability, platform) in boards {
        let probe = Machine::without_compiler()
            .file("proc/device-tree/compatible", &format!("nvidia,board\0nvidia,{chip}\0"))
            .file("proc/device-tree/model", &format!("{model}\0"))
            .probe();
        assert_eq!(judged(&probe), [capability], "{chip}");
        assert_eq!(probe.devices[0].platform, platform, "{chip}");
        assert_eq!(probe.devices[0].confidence, Confidence::Derived);
        assert_eq!(codes(&probe), [FindingCode::NoDriver], "{chip}");
    }
}

#[test]
fn thor_is_another_number_under_cuda_12() {
    let Some(machine) = Machine::new() else { return };
    let thor = |cc: &'static str, version: &'static str, machine: Machine| {
        machine
            .cuda(&[("BARE", ""), ("INTEGRATED", "1"), ("NAME0", "\"NVIDIA Thor\""), ("CC0", cc), ("VERSION", version)])
            .file("proc/device-tree/compatible", "nvidia,tegra264\0")
            .probe()
    };
    let old = thor("101", "12080", machine);
    assert_eq!(judged(&old), ["10.1"]);
    assert_eq!(old.devices[0].platform, Platform::Tegra);
    assert_eq!(old.findings, [], "the table has the new number");
    let new = thor("110", "13000", Machine::without_compiler());
    assert_eq!(judged(&new), ["11.0"]);
    assert_eq!(new.devices[0].platform, Platform::Sbsa);
}

#[test]
fn releases_of_jetson_linux_are_read() {
    for (text, release) in [
        ("# R36 (release), REVISION: 4.4, GCID: 41062509, BOARD: generic, EABI: aarch64, DATE: Mon\n", Some("36.4.4")),
        ("# R39 (release), REVISION: 2.0, GCID: 1\n", Some("39.2.0")),
        ("# R32 (release), REVISION: 7.1\n", Some("32.7.1")),
        ("nonsense\n", None),
    ] {
        let machine = Machine::without_compiler().file("etc/nv_tegra_release", text);
        assert_eq!(machine.probe().host.l4t.as_deref(), release, "{text}");
    }
}

#[test]
fn another_arm_board_is_no_jetson() {
    let probe = Machine::without_compiler()
        .file("proc/device-tree/compatible", "raspberrypi,4-model-b\0brcm,bcm2711\0")
        .file("proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\0")
        .probe();
    assert_eq!(codes(&probe), [FindingCode::NoGpu]);
}

#[test]
fn wsl_has_its_library_in_a_folder_of_its_own() {
    let Some(machine) = Machine::new() else { return };
    // as `/usr/lib/wsl/lib/libcuda.so.1`, which the loader may not know
    let mut machine = machine
        .cuda_named("usr/lib/wsl/lib/libcuda.so.1.1", &[])
        .smi_rows(&[&ROW0.replace("550.54.14", "551.61")])
        .file("proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n")
        .file("dev/dxg", "");
    machine.sources.cuda_libraries.insert(0, "libcuda-that-is-not-here.so.1".into());
    let probe = machine.probe();
    assert!(probe.host.wsl);
    assert_eq!(judged(&probe), ["8.9"]);
    assert_eq!(probe.driver.version.map(|version| version.to_string()).as_deref(), Some("551.61"));
    assert_eq!(probe.driver.library_version, None, "1.1 is no version of a driver");
    let finding = finding(&probe, FindingCode::NotOnLoaderPath);
    assert!(finding.text.contains("usr/lib/wsl/lib`"), "{}", finding.text);
    assert!(device_probe::Sources::system().cuda_libraries.iter().any(|path| path.starts_with("/usr/lib/wsl/lib")));
}

#[test]
fn pci_addresses_are_read_in_every_spelling() {
    let address = PciAddress { domain: 0, bus: 0x41, device: 0x1f, function: 1 };
    for text in ["0000:41:1f.1", "00000000:41:1F.1", "41:1f.1", " 0000:41:1f.1\n"] {
        assert_eq!(text.parse(), Ok(address), "{text}");
    }
    assert_eq!("0000:41:00".parse(), Ok(PciAddress { device: 0, function: 0, ..address }));
    assert_eq!(address.to_string(), "0000:41:1f.1");
    for text in ["", "41", "0000:0000:41:00.0", "0000:gg:00.0", "0000:141:00.0", "[N/A]"] {
        assert!(text.parse::<PciAddress>().is_err(), "{text}");
    }
}

#[test]
fn damaged_files_are_no_devices() {
    let probe = Machine::without_compiler()
        .file("sys/bus/pci/devices/0000:41:00.0/vendor", "0x10de")
        .file("sys/bus/pci/devices/0000:41:00.0/class", "nonsense")
        .file("sys/bus/pci/devices/0000:42:00.0/vendor", "\u{0}")
        .file("proc/device-tree/compatible", "")
        .probe();
    assert_eq!(codes(&probe), [FindingCode::NoGpu]);
}
