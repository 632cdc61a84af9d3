//! Kernels, resource figures and notes equal what cuobjdump prints, on every cubin of the fixtures.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic here is a failing test"
)]

mod common;

use std::collections::BTreeSet;

use common::{cubins, text};
use cubin::{Binding, FunctionKind, Functions, Language, Parameter, Provenance, Resources};
use testkit::Cubin;
use testkit::cubin::Function as Made;

#[test]
fn kernels_equal_those_of_cuobjdump() {
    let mut compared = 0;
    for cubin in cubins() {
        let functions = Functions::parse(&cubin.bytes).unwrap();
        let mut names: Vec<String> = functions.kernels().map(|kernel| text(kernel.name)).collect();
        names.sort();
        // cuobjdump 13.5 refuses two cubins of CUDA 12.2; their source has one kernel
        let refused = cubin.truth.sm.is_none();
        let expected = if refused { vec!["k_one".to_owned()] } else { cubin.truth.kernels.clone() };
        assert_eq!(names, expected, "{}", cubin.label);
        let old: Vec<&[u8]> = cubin::Cubin::kernels(&cubin.bytes).unwrap();
        assert_eq!(old, functions.kernels().map(|kernel| kernel.name).collect::<Vec<_>>(), "{}", cubin.label);
        compared += names.len();
    }
    assert!(compared > 200, "only {compared} kernels were compared");
}

#[test]
fn resources_equal_those_of_cuobjdump() {
    let mut compared = BTreeSet::new();
    for cubin in cubins() {
        let functions = Functions::parse(&cubin.bytes).unwrap();
        let index = functions.resources();
        for (name, figures) in &cubin.truth.resources {
            let function = functions.all().iter().find(|function| function.name == name.as_bytes()).unwrap();
            let used = index.of(function);
            for (figure, expected) in figures {
                let read = match figure.as_str() {
                    "REG" => used.registers.map(u64::from),
                    // cuobjdump prints 0 for a stack that relocatable code does not state
                    "STACK" => used.stack.map(u64::from).or_else(|| index.is_relocatable().then_some(0)),
                    "SHARED" => Some(used.shared),
                    "LOCAL" => Some(used.local),
                    "TEXTURE" | "SURFACE" | "SAMPLER" => used.images.map(u64::from),
                    bank => {
                        let number = bank.strip_prefix("CONSTANT[").and_then(|bank| bank.strip_suffix(']')).unwrap();
                        Some(used.constant(number.parse().unwrap()))
                    }
                };
                assert_eq!(read, Some(*expected), "{} {name} {figure}", cubin.label);
                compared.insert(figure.clone());
            }
        }
    }
    assert!(compared.contains("REG") && compared.contains("CONSTANT[0]"), "{compared:?}");
}

#[test]
fn tools_and_command_lines_equal_those_of_cuobjdump() {
    let mut compared = 0;
    for cubin in cubins() {
        let origin = Provenance::parse(&cubin.bytes).unwrap();
        if let Some(toolkit) = &cubin.truth.toolkit {
            let (major, minor) = origin.toolkit.unwrap();
            // cuobjdump prints `13.5` for ABI 8 and `124` for ABI 7
            let printed = [format!("{major}.{minor}"), format!("{major}{minor}")];
            assert!(printed.contains(toolkit), "{}: {printed:?}, not {toolkit}", cubin.label);
        }
        assert_eq!(origin.tools.len(), cubin.truth.tkinfo.len(), "{}", cubin.label);
        for (note, (tool, version, line)) in origin.tools.iter().zip(&cubin.truth.tkinfo) {
            assert_eq!((&text(note.tool), &text(note.version)), (tool, version), "{}", cubin.label);
            // the folder of the toolkit was replaced in the truth
            if !line.contains("$CUDA") {
                assert_eq!(text(note.command_line).trim(), line.trim(), "{}", cubin.label);
            }
            compared += 1;
        }
    }
    assert!(compared > 100, "only {compared} notes were compared");
}

/// From the source, `fixtures/make/src/multi.cu`: `__launch_bounds__(128, 2)`, one barrier, one pointer; two templates
/// with a pointer and an int.
fn multi(name: &str) -> (Vec<u8>, Vec<(String, Resources)>) {
    let data = testkit::truth::bytes(name);
    let functions = Functions::parse(&data).unwrap();
    let index = functions.resources();
    let rows = functions.all().iter().map(|function| (text(function.name), index.of(function))).collect();
    (data.clone(), rows)
}

#[test]
fn bounds_barriers_and_parameters_are_those_of_the_source() {
    let files = [
        "cubin_multi_sm_75.cubin",
        "cubin_multi_sm_90a.cubin",
        "cubin_multi_rdc_sm_90a.cubin",
        "cubin_multi_debug_sm_90a.cubin",
    ];
    for file in files {
        let (_, rows) = multi(file);
        let of = |name: &str| &rows.iter().find(|(own, _)| own == name).unwrap().1;
        let bounds = of("k_bounds");
        assert_eq!(bounds.max_threads, Some([128, 1, 1]), "{file}");
        assert_eq!(bounds.required_threads, None, "{file}");
        assert_eq!((bounds.barriers, bounds.max_registers), (Some(1), None), "{file}");
        assert_eq!(bounds.parameter_bytes, Some(8), "{file}");
        assert_eq!(bounds.parameters, [Parameter { ordinal: 0, offset: 0, size: 8 }], "{file}");
        assert_eq!(bounds.language, Some(Language::Ptx), "{file}");
        let template = of("_Z6k_tmplIdEvPT_i");
        let second = Parameter { ordinal: 1, offset: 8, size: 4 };
        assert_eq!(template.parameters, [Parameter { ordinal: 0, offset: 0, size: 8 }, second], "{file}");
        assert_eq!(
            (template.parameter_bytes, template.max_threads, template.barriers),
            (Some(12), None, Some(0)),
            "{file}"
        );
        // 32 doubles that are indexed at run time
        assert_eq!(template.frame, Some(256), "{file}");
    }
    // 64 bytes of __constant__ that all share, in bank 3
    let (data, _) = multi("cubin_multi_sm_90a.cubin");
    let module = Functions::parse(&data).unwrap().resources().module();
    assert_eq!((module.global, module.constants), (0, vec![(3, 64)]));
}

#[test]
fn device_functions_and_bindings_are_told_apart() {
    let (data, rows) = multi("cubin_multi_sm_90a.cubin");
    let functions = Functions::parse(&data).unwrap();
    let helper = functions.all().iter().find(|function| function.name == b"$k_bounds$_Z6helperf").unwrap();
    // readelf: 10: 0000000000000190   240 FUNC    LOCAL  DEFAULT   22
    assert_eq!((helper.kind, helper.binding, helper.offset), (FunctionKind::Device, Binding::Local, 0x190));
    assert_eq!((helper.size, helper.section, helper.symbol), (240, 22, 10));
    assert!(helper.is_inside_another());
    assert_eq!(rows.len(), 5);
    let data = testkit::truth::bytes("cubin_multi_rdc_sm_90a.cubin");
    let functions = Functions::parse(&data).unwrap();
    let binding = |name: &[u8]| functions.all().iter().find(|function| function.name == name).unwrap().binding;
    assert_eq!((binding(b"_Z6k_tmplIfEvPT_i"), binding(b"_Z6helperf")), (Binding::Weak, Binding::Global));
}

#[test]
fn size_of_a_function_is_that_of_its_section() {
    for cubin in cubins() {
        let functions = Functions::parse(&cubin.bytes).unwrap();
        for function in functions.all() {
            let section = functions.section_size(function).unwrap();
            if function.is_inside_another() {
                assert!(function.offset + function.size <= section, "{}", cubin.label);
            } else {
                assert_eq!(function.size, section, "{} {}", cubin.label, text(function.name));
            }
        }
    }
}

#[test]
fn registers_fall_back_to_the_section_header() {
    // CUDA 8 to 10 have no REGCOUNT: turn the record into one that nobody reads
    let function = Made { name: "k".to_owned(), entry: true, binding: 2, size: 64, registers: 40, shared: 48 };
    let mut data = Cubin::abi7("35").toolkit(80).without_functions().function(function).bytes();
    let record = data.windows(4).position(|window| window == [4, 0x2f, 8, 0]).unwrap();
    let functions = Functions::parse(&data).unwrap();
    assert_eq!(functions.resources().of(&functions.all()[0]).registers, Some(40));
    data[record + 1] = 0x7e;
    let functions = Functions::parse(&data).unwrap();
    let used = functions.resources().of(&functions.all()[0]);
    assert_eq!((used.registers, used.shared, functions.all()[0].binding), (Some(40), 48, Binding::Weak));
    assert_eq!(Provenance::parse(&data).unwrap().toolkit, Some((8, 0)));
    // from sm_90 on the header does not say it
    let mut data = Cubin::abi7("90").bytes();
    let record = data.windows(4).position(|window| window == [4, 0x2f, 8, 0]).unwrap();
    data[record + 1] = 0x7e;
    let functions = Functions::parse(&data).unwrap();
    assert_eq!(functions.resources().of(&functions.all()[0]).registers, None);
}

#[test]
fn provenance_tells_virtual_architecture_and_api() {
    let of = |name: &str| {
        let data = testkit::truth::bytes(name);
        let origin = Provenance::parse(&data).unwrap();
        (origin.toolkit, origin.api_version, origin.virtual_arch, origin.language)
    };
    assert_eq!(of("tk12.4_sm_75.cubin"), (Some((12, 4)), Some((12, 4)), Some(75), None));
    assert_eq!(of("tk12.9_sm_100f.cubin"), (Some((12, 9)), Some((12, 9)), Some(100), None));
    assert_eq!(of("cubin_sm_90a.cubin"), (Some((13, 5)), Some((13, 5)), Some(90), Some(Language::Ptx)));
}

#[test]
fn no_function_is_read_where_none_is() {
    let data = Cubin::new("90").without_functions().bytes();
    assert_eq!(Functions::parse(&data).unwrap().all(), []);
    assert_eq!(Functions::parse(b"\x7fELF").unwrap_err().kind, cubin::ErrorKind::NotCubin);
}
