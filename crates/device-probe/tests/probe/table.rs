//! Every row of the decision table: what the driver API (A), the management library (B) and text (C) say, and what
//! follows.

use device_probe::{Confidence, FindingCode, Level, Visibility, Way};
use gpu_arch::catalogue::Platform;

use crate::machine::{Machine, ROW0, ROW1, UUID0, UUID1, advice, capability, codes, finding, judged};

const TWO: (&str, &str) = ("COUNT", "2");

#[test]
fn all_agree_with_two_devices() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[TWO]).nvml(&[TWO]).smi_rows(&[ROW0, ROW1]).pci_4090(Some("nvidia")).probe();
    assert_eq!(probe.findings, []);
    assert_eq!(judged(&probe), ["8.9", "9.0"]);
    let device = &probe.devices[1];
    assert_eq!(device.visible, Visibility::Visible);
    assert_eq!(device.confidence, Confidence::Confirmed);
    assert_eq!((device.index, device.ordinal), (1, Some(1)));
    assert_eq!(device.name.as_deref(), Some("NVIDIA H100 80GB HBM3"));
    assert_eq!(device.uuid.as_deref(), Some(UUID1));
    assert_eq!(device.pci.map(|pci| pci.to_string()).as_deref(), Some("0000:42:00.0"));
    assert_eq!(device.pci_id, Some(0x2330));
    assert_eq!(device.platform, Platform::Discrete);
    assert_eq!(device.ways, [Way::Cuda, Way::Nvml, Way::NvidiaSmi]);
    assert_eq!(probe.devices[0].ways, [Way::Cuda, Way::Nvml, Way::NvidiaSmi, Way::Pci]);
    assert_eq!(probe.devices[0].memory, Some(80 << 30), "the management library knows the whole device");
    assert_eq!(probe.driver.version.map(|version| version.to_string()).as_deref(), Some("550.54.14"));
    assert_eq!(probe.driver.cuda.map(|cuda| cuda.to_string()).as_deref(), Some("12.4"));
    assert_eq!(
        probe.headline(),
        "NVIDIA GeForce RTX 4090 (8.9), NVIDIA H100 80GB HBM3 (9.0), with driver 550.54.14 for CUDA 12.4"
    );
    let driver = probe.devices()[0].driver;
    assert_eq!((driver.version, driver.cuda), (probe.driver.version, probe.driver.cuda));
}

#[test]
fn each_way_is_usable_alone() {
    let Some(machine) = Machine::new() else { return };
    let machine = machine.cuda(&[TWO]).nvml(&[TWO]).smi_rows(&[ROW0, ROW1]);
    for way in [Way::Cuda, Way::Nvml, Way::NvidiaSmi] {
        let outcome = device_probe::ask(way, &machine.sources);
        assert!(outcome.status.is_answered(), "{outcome:?}");
        let told: Vec<String> = outcome.devices.iter().map(|device| device.capability.unwrap().to_string()).collect();
        assert_eq!(told, ["8.9", "9.0"], "{way}");
        let uuids: Vec<&str> = outcome.devices.iter().map(|device| device.uuid.as_deref().unwrap()).collect();
        assert_eq!(uuids, [UUID0, UUID1], "{way}");
        let probe = device_probe::Probe::from_ways(probe_host(), machine.sources.environment.clone(), vec![outcome]);
        assert_eq!(judged(&probe), ["8.9", "9.0"], "{way}");
    }
}

fn probe_host() -> device_probe::Host {
    device_probe::Host { architecture: "x86_64".to_owned(), system: "linux".to_owned(), ..Default::default() }
}

#[test]
fn a_and_b_differ_on_one_device() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[("CC0", "89")]).nvml(&[("CC0", "86")]).probe();
    assert_eq!(judged(&probe), ["8.9"], "the driver API is trusted");
    let finding = finding(&probe, FindingCode::CapabilityConflict);
    assert_eq!(finding.level, Level::Error);
    assert_eq!(
        finding.text,
        "driver stack inconsistent: NVIDIA GeForce RTX 4090 is 8.9 by the driver API and 8.6 by NVML"
    );
}

#[test]
fn b_is_absent() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[]).probe();
    assert_eq!(judged(&probe), ["8.9"]);
    assert_eq!(probe.devices[0].confidence, Confidence::Reported);
    assert_eq!(probe.findings, []);
}

#[test]
fn b_supports_nothing_on_a_jetson() {
    let Some(machine) = Machine::new() else { return };
    let orin = [("BARE", ""), ("INTEGRATED", "1"), ("CC0", "87"), ("NAME0", "\"Orin\"")];
    let probe = machine
        .cuda(&[orin.as_slice(), &[("VERSION", "12060")]].concat())
        .nvml(&[("JETSON", ""), ("NAME0", "\"Orin (nvgpu)\"")])
        .smi_rows(&["index=[N/A]|name=Orin (nvgpu)|driver_version=540.4.0"])
        .file("etc/nv_tegra_release", "# R36 (release), REVISION: 4.4, GCID: 1, BOARD: generic, EABI: aarch64\n")
        .file("proc/device-tree/compatible", "nvidia,p3737-0000+p3701-0005\0nvidia,tegra234\0")
        .file("proc/device-tree/model", "NVIDIA Jetson AGX Orin Developer Kit\0")
        .probe();
    assert_eq!(probe.devices.len(), 1, "{:#?}", probe.devices);
    assert_eq!(judged(&probe), ["8.7"]);
    assert_eq!(probe.devices[0].platform, Platform::Tegra);
    assert_eq!(probe.devices[0].name.as_deref(), Some("Orin"));
    assert_eq!(probe.devices[0].ways, [Way::Cuda, Way::Nvml, Way::NvidiaSmi, Way::Tegra]);
    assert_eq!(probe.host.l4t.as_deref(), Some("36.4.4"));
    assert_eq!(probe.driver.cuda.map(|cuda| cuda.to_string()).as_deref(), Some("12.6"));
    assert_eq!(probe.findings, []);
}

#[test]
fn a_sees_none_and_b_lists_one() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[("INIT", "100")]).nvml(&[]).smi_rows(&[ROW0]).file("dev/nvidiactl", "").probe();
    assert!(judged(&probe).is_empty());
    assert_eq!(probe.all_devices().len(), 1);
    assert_eq!(probe.devices[0].visible, Visibility::Hidden);
    assert_eq!(capability(&probe.devices[0]), "8.9");
    let finding = finding(&probe, FindingCode::AllHidden);
    assert_eq!((finding.level, finding.error), (Level::Error, Some(100)));
    assert_eq!(finding.text, "CUDA programs see no device, although NVML lists 1 device");
    assert!(advice(finding).starts_with("/dev/nvidia-uvm is not here"), "{finding:?}");
    assert_eq!(probe.headline(), finding.text);
}

#[test]
fn a_sees_none_for_a_reason_that_does_not_show() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[("INIT", "100")]).nvml(&[]).file("dev/nvidia-uvm", "").probe();
    let finding = finding(&probe, FindingCode::AllHidden);
    assert_eq!(finding.advice.as_deref(), gpu_arch::catalogue::error(100).map(|row| row.advice));
}

#[test]
fn a_sees_none_because_mig_has_no_instance() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[("INIT", "100")]).nvml(&[("MIG", "0")]).file("dev/nvidia-uvm", "").probe();
    assert!(advice(finding(&probe, FindingCode::AllHidden)).starts_with("MIG is on and has no instance"));
    assert_eq!(finding(&probe, FindingCode::MigWithoutInstances).level, Level::Warning);
}

#[test]
fn a_sees_none_because_the_driver_dropped_the_device() {
    let Some(machine) = Machine::new() else { return };
    // GeForce GTX 1080, Pascal, whose last branch is 580
    let probe = machine
        .cuda(&[("INIT", "100"), ("VERSION", "13010")])
        .pci("0000:41:00.0", "0x030000", ("0x10de", "0x1b80"), None)
        .file("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  590.48.01  Mon Dec 1\n")
        .probe();
    assert_eq!(capability(&probe.devices[0]), "6.1");
    let finding = finding(&probe, FindingCode::DriverDroppedDevice);
    assert_eq!(finding.text, "driver 590.48.01 no longer supports GeForce GTX 1080");
    assert_eq!(advice(finding), "install a driver of the last branch that does: 580");
}

#[test]
fn a_sees_none_and_nothing_else_lists_any() {
    let Some(machine) = Machine::new() else { return };
    for defines in [[("INIT", "100")], [("COUNT", "0")]] {
        let machine = Machine::new().unwrap_or_else(Machine::without_compiler).cuda(&defines);
        let probe = machine.probe();
        assert_eq!(codes(&probe), [FindingCode::NoDevice], "{defines:?}");
        assert_eq!(probe.headline(), "the driver API sees no device");
    }
    drop(machine);
}

#[test]
fn a_is_missing_and_b_works() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine
        .nvml(&[])
        .smi_rows(&[ROW0])
        .file(".dockerenv", "")
        .variables(&[("NVIDIA_DRIVER_CAPABILITIES", "utility")])
        .probe();
    assert_eq!(judged(&probe), ["8.9"], "the capability is that of NVML");
    assert_eq!(probe.devices[0].visible, Visibility::Unknown);
    assert_eq!(probe.devices[0].confidence, Confidence::Reported);
    assert_eq!(codes(&probe), [FindingCode::CudaLibraryMissing]);
    assert_eq!(advice(&probe.findings[0]), "start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility");
    assert!(probe.host.container);
    assert_eq!(probe.driver.cuda.map(|cuda| cuda.to_string()).as_deref(), Some("12.4"));
}

#[test]
fn a_fails_and_b_works() {
    for code in ["803", "804", "999", "802"] {
        let Some(machine) = Machine::new() else { return };
        // the library that fails tells a CUDA version that does not count
        let probe = machine.cuda(&[("INIT", code), ("VERSION", "13000")]).nvml(&[]).smi_rows(&[ROW0]).probe();
        assert_eq!(judged(&probe), ["8.9"], "the capability is that of NVML");
        let finding = finding(&probe, FindingCode::CudaError);
        assert_eq!(finding.error.map(|code| code.to_string()).as_deref(), Some(code));
        let row = gpu_arch::catalogue::error(finding.error.unwrap()).unwrap();
        assert_eq!(advice(finding), row.advice);
        assert!(finding.text.contains(row.name), "{}", finding.text);
        assert_eq!(probe.driver.cuda.map(|cuda| cuda.to_string()).as_deref(), Some("12.4"), "{code}");
    }
}

#[test]
fn a_lists_fewer_because_of_a_variable() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[TWO]).nvml(&[TWO]).variables(&[("CUDA_VISIBLE_DEVICES", "1")]).probe();
    assert_eq!(judged(&probe), ["9.0"]);
    assert_eq!(probe.all_devices().len(), 2);
    assert_eq!(probe.devices[0].visible, Visibility::Hidden);
    assert_eq!((probe.devices[1].index, probe.devices[1].ordinal), (1, Some(0)));
    let finding = finding(&probe, FindingCode::SomeHidden);
    assert_eq!(finding.level, Level::Note);
    assert_eq!(finding.text, "1 of 2 devices hidden from CUDA programs: 0 NVIDIA GeForce RTX 4090");
    assert_eq!(advice(finding), "CUDA_VISIBLE_DEVICES is `1`");
}

#[test]
fn a_lists_fewer_for_no_reason_that_shows() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[]).nvml(&[TWO]).probe();
    assert_eq!(judged(&probe), ["8.9"]);
    assert_eq!(finding(&probe, FindingCode::SomeHidden).level, Level::Warning);
}

#[test]
fn a_lists_a_mig_instance() {
    let Some(machine) = Machine::new() else { return };
    // the identifier of the instance is another than that of the device
    let probe = machine
        .cuda(&[("SHIFT", "0x80"), ("CC0", "90"), ("NAME0", "\"NVIDIA H100 80GB HBM3 MIG 1g.10gb\"")])
        .nvml(&[("MIG", "2"), ("CC0", "90"), ("PCI0", "0x2330"), ("NAME0", "\"NVIDIA H100 80GB HBM3\"")])
        .probe();
    assert_eq!(probe.devices.len(), 1, "{:#?}", probe.devices);
    assert_eq!(judged(&probe), ["9.0"]);
    let device = &probe.devices[0];
    assert_eq!(device.name.as_deref(), Some("NVIDIA H100 80GB HBM3"));
    assert_eq!(device.uuid.as_deref(), Some(UUID0));
    assert_eq!(device.mig, Some(true));
    assert_eq!(device.instances.len(), 2);
    assert_eq!(device.instance.as_deref(), Some(device.instances[0].uuid.as_str()));
    assert_eq!(device.instances[0].name.as_deref(), Some("NVIDIA H100 80GB HBM3 MIG 1g.10gb"));
    assert_eq!(codes(&probe), [FindingCode::Mig]);
}

#[test]
fn only_the_pci_bus_lists_a_device() {
    let probe = Machine::without_compiler()
        .pci_4090(None)
        // the sound of the same card, and a card of another maker
        .pci("0000:41:00.1", "0x040300", ("0x10de", "0x22ba"), None)
        .pci("0000:01:00.0", "0x030000", ("0x1002", "0x744c"), None)
        .probe();
    assert_eq!(probe.devices.len(), 1);
    assert_eq!(judged(&probe), ["8.9"], "by the table of PCI ids");
    assert_eq!(probe.devices[0].confidence, Confidence::Derived);
    assert!(probe.devices()[0].driver.is_unknown());
    assert_eq!(codes(&probe), [FindingCode::NoDriver]);
    assert_eq!(advice(&probe.findings[0]), "install NVIDIA's driver");
}

#[test]
fn another_kernel_module_serves_the_device() {
    let probe = Machine::without_compiler().pci_4090(Some("nouveau")).probe();
    assert!(advice(finding(&probe, FindingCode::NoDriver)).contains("`nouveau`"), "{:?}", probe.findings);
    let probe = Machine::without_compiler().pci_4090(Some("vfio-pci")).probe();
    assert!(advice(finding(&probe, FindingCode::NoDriver)).contains("`vfio-pci`"), "{:?}", probe.findings);
}

#[test]
fn a_name_serves_where_the_pci_id_is_in_no_table() {
    let probe = Machine::without_compiler()
        .pci("0000:41:00.0", "0x030200", ("0x10de", "0xfff0"), Some("nvidia"))
        .file("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12\n")
        .file(
            "proc/driver/nvidia/gpus/0000:41:00.0/information",
            "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 10\nGPU UUID: \t GPU-????????-????-????-????-????????????\n",
        )
        .probe();
    assert_eq!(judged(&probe), ["9.0"]);
    assert_eq!(probe.devices[0].confidence, Confidence::Derived);
    assert_eq!(probe.devices[0].uuid, None, "a device that was never used has no identifier yet");
    assert_eq!(probe.driver.version.map(|version| version.to_string()).as_deref(), Some("535.183.01"));
    assert_eq!(codes(&probe), [FindingCode::CudaLibraryMissing]);
}

#[test]
fn a_pci_id_and_a_name_that_no_table_has() {
    let probe = Machine::without_compiler().pci("0000:41:00.0", "0x030200", ("0x10de", "0xfff0"), None).probe();
    assert_eq!(probe.devices.len(), 1);
    assert!(probe.devices().is_empty());
    assert_eq!(codes(&probe), [FindingCode::NoDriver, FindingCode::UnknownCapability]);
}

#[test]
fn nothing_at_all() {
    let probe = Machine::without_compiler().probe();
    assert!(probe.devices.is_empty());
    assert_eq!(codes(&probe), [FindingCode::NoGpu]);
    assert_eq!(probe.headline(), "no NVIDIA GPU was found: no driver, no device file, no device on the PCI bus");
    assert!(probe.ways.iter().all(|outcome| outcome.status.is_absent()), "{:?}", probe.ways);
}

#[test]
fn device_files_without_libraries() {
    let probe =
        Machine::without_compiler().file("dev/nvidia0", "").file("dev/nvidiactl", "").file("dev/null", "").probe();
    assert_eq!(codes(&probe), [FindingCode::NoDriverLibrary]);
    assert_eq!(probe.host.device_files, ["nvidia0", "nvidiactl"]);
}

#[test]
fn a_capability_that_is_in_no_table() {
    let Some(machine) = Machine::new() else { return };
    let new = [("CC0", "153"), ("NAME0", "\"NVIDIA Z100\"")];
    let probe = machine.cuda(&new).nvml(&[new.as_slice(), &[("PCI0", "0xfff0")]].concat()).probe();
    assert_eq!(judged(&probe), ["15.3"]);
    assert_eq!(probe.devices[0].platform, Platform::Discrete);
    assert_eq!(codes(&probe), [FindingCode::NewGpu]);
}

#[test]
fn a_new_chip_with_its_own_cpu_is_no_card() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[("CC0", "153"), ("NAME0", "\"NVIDIA Z10\""), ("INTEGRATED", "1")]).probe();
    assert_eq!(probe.devices[0].platform, Platform::Sbsa);
}

#[test]
fn the_table_of_products_has_another_capability() {
    let Some(machine) = Machine::new() else { return };
    // 2684 is an RTX 4090, which is 8.9
    let probe = machine.cuda(&[("CC0", "90")]).nvml(&[("CC0", "90")]).probe();
    assert_eq!(judged(&probe), ["9.0"], "the driver is trusted");
    assert_eq!(codes(&probe), [FindingCode::TableOutOfDate]);
}

#[test]
fn a_name_alone_tells_a_table_that_is_out_of_date() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[("CC0", "90")]).probe();
    assert_eq!(codes(&probe), [FindingCode::TableOutOfDate]);
}

#[test]
fn a_container_is_given_one_of_two_cards() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine
        .cuda(&[])
        .nvml(&[])
        .pci_4090(Some("nvidia"))
        .pci("0000:42:00.0", "0x030200", ("0x10de", "0x2330"), Some("nvidia"))
        .probe();
    assert_eq!(probe.devices.len(), 1, "the other belongs to the machine, not to this environment");
    assert_eq!(codes(&probe), [FindingCode::MoreOnPciBus]);
}
