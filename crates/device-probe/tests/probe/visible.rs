//! `CUDA_VISIBLE_DEVICES` in all its forms. What is expected is from the CUDA C Programming Guide, "CUDA Environment
//! Variables", and "MIG Device Names" of the MIG user guide.

use device_probe::{FindingCode, Visibility, VisibleDevices, VisibleEntry, Way};

use crate::machine::{Machine, ROW0, ROW1, UUID1, advice, codes, finding, judged};

const TWO: (&str, &str) = ("COUNT", "2");

#[test]
fn the_driver_says_what_is_visible() {
    let cases: [(&str, &[&str]); 8] = [
        ("0", &["8.9"]),
        ("1,0", &["8.9", "9.0"]),
        ("0,-1,1", &["8.9"]),
        ("-1", &[]),
        ("", &[]),
        ("7", &[]),
        (UUID1, &["9.0"]),
        ("GPU-2021", &["9.0"]),
    ];
    for (value, expected) in cases {
        let Some(machine) = Machine::new() else { return };
        let machine = machine.cuda(&[TWO]).nvml(&[TWO]).variables(&[("CUDA_VISIBLE_DEVICES", value)]);
        let probe = machine.probe();
        assert_eq!(judged(&probe), expected, "{value:?}");
        assert_eq!(probe.all_devices().len(), 2, "{value:?}");
        assert_eq!(probe.environment.get("CUDA_VISIBLE_DEVICES"), Some(value));
        if expected.is_empty() {
            let finding = finding(&probe, FindingCode::AllHidden);
            assert_eq!(advice(finding), format!("CUDA_VISIBLE_DEVICES hides them: it is `{value}`"));
        }
    }
}

#[test]
fn hidden_devices_are_known_without_nvml() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[TWO]).variables(&[("CUDA_VISIBLE_DEVICES", "")]).probe();
    assert!(judged(&probe).is_empty());
    let all: Vec<String> = probe.all_devices().iter().map(|device| device.capability.to_string()).collect();
    assert_eq!(all, ["8.9", "9.0"]);
    assert_eq!(
        finding(&probe, FindingCode::AllHidden).text,
        "CUDA programs see no device, although driver API without CUDA_VISIBLE_DEVICES lists 2 devices"
    );
}

#[test]
fn the_order_of_the_user_is_kept() {
    // 0 is the fastest for CUDA, which is the second on the bus
    for (order, expected) in [(None, "9.0"), (Some("PCI_BUS_ID"), "8.9")] {
        let Some(machine) = Machine::new() else { return };
        let mut variables = vec![("CUDA_VISIBLE_DEVICES", "0")];
        variables.extend(order.map(|order| ("CUDA_DEVICE_ORDER", order)));
        let machine = machine.cuda(&[TWO, ("FASTEST_FIRST", "")]).nvml(&[TWO]).variables(&variables);
        let probe = machine.probe();
        assert_eq!(judged(&probe), [expected], "{order:?}");
        let indices: Vec<u32> = probe.devices.iter().map(|device| device.index).collect();
        assert_eq!(indices, [0, 1], "the numbers of nvidia-smi");
        let expected = if order.is_some() { [Some(0), Some(1)] } else { [Some(1), Some(0)] };
        let numbers: Vec<Option<u32>> = probe.devices.iter().map(|device| device.cuda_index).collect();
        assert_eq!(numbers, expected, "the numbers of CUDA");
    }
}

#[test]
fn an_entry_that_names_no_device_is_told() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.cuda(&[TWO]).nvml(&[TWO]).variables(&[("CUDA_VISIBLE_DEVICES", "1,5,0")]).probe();
    assert_eq!(judged(&probe), ["9.0"]);
    let finding = finding(&probe, FindingCode::VisibleEntryInvalid);
    assert_eq!(finding.text, "CUDA_VISIBLE_DEVICES has an entry that names no device: `5`");
}

#[test]
fn without_the_driver_api_the_variable_is_followed() {
    let cases: [(&str, &[&str]); 5] = [
        ("", &[]),
        ("-1", &[]),
        ("NoDevFiles", &[]),
        (UUID1, &["9.0"]),
        // which of two unlike devices CUDA numbers 0 is not known: both may be meant
        ("0", &["8.9", "9.0"]),
    ];
    for (value, expected) in cases {
        let machine = Machine::without_compiler().smi_rows(&[ROW0, ROW1]).variables(&[("CUDA_VISIBLE_DEVICES", value)]);
        assert_eq!(judged(&machine.probe()), expected, "{value:?}");
    }
    let variables = [("CUDA_VISIBLE_DEVICES", "0"), ("CUDA_DEVICE_ORDER", "PCI_BUS_ID")];
    let probe = Machine::without_compiler().smi_rows(&[ROW0, ROW1]).variables(&variables).probe();
    assert_eq!(judged(&probe), ["8.9"]);
    assert_eq!(probe.devices[1].visible, Visibility::Hidden);
}

#[test]
fn entries_are_read_as_cuda_reads_them() {
    use VisibleEntry::{Gpu, Index, Invalid, Mig};
    let cases = [
        ("0, 2", vec![Index(0), Index(2)]),
        ("GPU-8932f937", vec![Gpu("GPU-8932f937".to_owned())]),
        ("MIG-5c89852c-d268-c3f3-1b07-005d5ae1dc3f", vec![Mig("MIG-5c89852c-d268-c3f3-1b07-005d5ae1dc3f".to_owned())]),
        ("MIG-GPU-8932f937/1/0", vec![Mig("MIG-GPU-8932f937/1/0".to_owned())]),
        ("-1", vec![Invalid("-1".to_owned())]),
        ("", vec![Invalid(String::new())]),
        ("0,", vec![Index(0), Invalid(String::new())]),
        ("99999999999", vec![Invalid("99999999999".to_owned())]),
    ];
    for (value, entries) in cases {
        assert_eq!(VisibleDevices::parse(value).entries(), entries, "{value:?}");
    }
    for (value, is_none) in [("", true), ("-1", true), ("NoDevFiles", true), ("0", false), ("0,-1", false)] {
        assert_eq!(VisibleDevices::parse(value).is_none(), is_none, "{value:?}");
    }
}

#[test]
fn mig_instances_are_found_by_identifier_or_by_their_device() {
    let Some(machine) = Machine::new() else { return };
    let probe = machine.nvml(&[TWO, ("MIG", "2")]).probe();
    let shown = |value: &str| VisibleDevices::parse(value).select(&probe.devices, false);
    let instance = probe.devices[0].instances[1].uuid.clone();
    assert_eq!(shown(&instance).shown, [0]);
    assert_eq!(shown("MIG-GPU-10111213-1415-1617-1819-1a1b1c1d1e1f/1/0").shown, [0]);
    let unknown = shown("MIG-00000000-0000-0000-0000-000000000000");
    assert!(unknown.shown.is_empty() && (unknown.stopped_at.is_some() || unknown.uncertain.is_some()));
}

#[test]
fn an_abbreviation_of_two_devices_names_none() {
    let machine = Machine::without_compiler().smi_rows(&[ROW0, ROW1]);
    let probe = machine.probe();
    let selection = VisibleDevices::parse("GPU-").select(&probe.devices, true);
    assert_eq!(selection.stopped_at, Some(VisibleEntry::Gpu("GPU-".to_owned())));
}

#[test]
fn the_unfiltered_way_is_asked_only_where_something_is_filtered() {
    let probe = Machine::without_compiler().probe();
    assert!(probe.way(Way::CudaUnfiltered).is_none());
    let probe = Machine::without_compiler().variables(&[("CUDA_VISIBLE_DEVICES", "0")]).probe();
    assert!(probe.way(Way::CudaUnfiltered).is_some());
    assert_eq!(codes(&probe), [FindingCode::NoGpu]);
}

#[test]
fn variables_of_the_compiler_are_told() {
    let probe = Machine::without_compiler()
        .variables(&[("CUDA_FORCE_PTX_JIT", "1"), ("CUDA_DISABLE_PTX_JIT", "0"), ("HOME", "/home/someone")])
        .probe();
    assert_eq!(codes(&probe), [FindingCode::NoGpu, FindingCode::JitVariable]);
    assert!(probe.environment.jit().force_ptx_jit && !probe.environment.jit().disable_ptx_jit);
    assert_eq!(probe.environment.get("HOME"), None, "nothing about the person is kept");
}
