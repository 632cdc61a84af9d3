//! Kernels of PTX texts and their directives.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a panic here is a failing test"
)]

mod common;

use common::{ptx_texts, text};
use cubin::{PtxHead, PtxKernels, PtxLinkage, ptx_kernel_details, ptx_kernels};

#[test]
fn kernels_equal_those_of_cuobjdump() {
    let texts = ptx_texts();
    assert!(texts.len() > 60, "{}", texts.len());
    for (label, data, mut expected) in texts {
        let mut names: Vec<String> = ptx_kernels(&data).into_iter().map(text).collect();
        names.sort();
        expected.sort();
        assert_eq!(names, expected, "{label}");
    }
}

#[test]
fn bounds_and_parameters_are_those_of_the_source() {
    // fixtures/make/src/multi.cu
    let fixture = ptx_texts().into_iter().find(|(_, _, kernels)| kernels.contains(&"k_bounds".to_owned()));
    let (label, data, _) = fixture.unwrap();
    let kernels = ptx_kernel_details(&data);
    let of = |name: &[u8]| kernels.iter().find(|kernel| kernel.name == name).unwrap();
    let bounds = of(b"k_bounds");
    assert_eq!((bounds.max_threads, bounds.min_blocks), (Some([128, 1, 1]), Some(2)), "{label}");
    assert_eq!((bounds.parameters, bounds.linkage), (1, PtxLinkage::Visible), "{label}");
    let template = of(b"_Z6k_tmplIfEvPT_i");
    assert_eq!(
        (template.parameters, template.linkage, template.max_threads),
        (2, PtxLinkage::Visible, None),
        "{label}"
    );
}

#[test]
fn directives_of_any_version_are_read() {
    let source = b".version 99.1\n.target sm_999a\n.address_size 64\n\
        .extern .entry gone(.param .u64 a);\n\
        // .entry comment( .param .u32 a )\n\
        .visible .entry a(.param .u64 .ptr .global .align 4 a, .param .align 8 .b8 b[16], .param .u32 c)\n\
        .maxntid 8, 4 .minnctapersm 3 .maxnreg 64\n{ .reg .b32 %r<2>; .param .b32 inner; ret; }\n\
        .weak .entry b .reqntid 32 , 2 , 1 { ret; }\n\
        .entry c() .maxntid { ret; }\n\
        .visible .func (.param .b32 r) f (.param .b32 x) { ret; }\n\
        .entry d";
    assert_eq!(PtxHead::find(source).unwrap().version, (99, 1));
    let kernels = ptx_kernel_details(source);
    let names: Vec<&[u8]> = kernels.iter().map(|kernel| kernel.name).collect();
    assert_eq!(names, [b"a", b"b", b"c", b"d"]);
    let [a, b, c, d] = &kernels[..] else { panic!() };
    assert_eq!((a.linkage, a.parameters, a.max_threads), (PtxLinkage::Visible, 3, Some([8, 4, 1])));
    assert_eq!((a.min_blocks, a.max_registers, a.required_threads), (Some(3), Some(64), None));
    assert_eq!((b.linkage, b.parameters, b.required_threads), (PtxLinkage::Weak, 0, Some([32, 2, 1])));
    assert_eq!((c.linkage, c.parameters, c.max_threads), (PtxLinkage::Local, 0, None));
    assert_eq!((d.linkage, d.parameters), (PtxLinkage::Local, 0));
}

#[test]
fn cut_and_changed_texts_are_read_without_harm() {
    let (_, data, _) = ptx_texts().into_iter().max_by_key(|(_, data, _)| data.len().min(7000)).unwrap();
    let data = &data[..data.len().min(7000)];
    let all = ptx_kernels(data).len();
    for length in 0..data.len() {
        assert!(ptx_kernel_details(&data[..length]).len() <= all);
    }
    let mut data = data.to_vec();
    for at in (0..data.len()).step_by(3) {
        for byte in [0, b'"', b'/', b'{', 0xff] {
            let old = core::mem::replace(&mut data[at], byte);
            let _ = ptx_kernel_details(&data);
            data[at] = old;
        }
    }
}

/// Runs `work` over `unit`, repeated up to `bytes`, within 100 ns a byte.
fn quick(unit: &str, bytes: usize, work: impl FnOnce(&[u8])) {
    let text = unit.repeat(bytes / unit.len());
    let start = std::time::Instant::now();
    work(text.as_bytes());
    let spent = start.elapsed();
    assert!(spent.as_nanos() < 100 * bytes as u128, "{bytes} bytes of {unit:?}: {spent:?}");
}

#[test]
fn heads_that_are_none_are_left_at_once() {
    let blanks = format!(".version{}", " ".repeat(500));
    for unit in [
        ".version ",
        ".version 8.5 ",
        ".version 8.5 .target ",
        ".version 8.5 .target sm_",
        ".version 8.5 // ",
        ".version 8.5 /* ",
        ".version 8.5 /**/",
        ".version 8.5/**//",
        ".version 99999999999999999999",
        ".version 00000000000000000000",
        ".version 8.00000000000000000000",
        &blanks,
    ] {
        quick(unit, 720 << 10, |text| assert_eq!(PtxHead::find(text), None, "{unit}"));
    }
    // 40,000 heads, and the last one is right
    quick(".version 8.5\n.target compute_90\n", 40_000 * 32, |text| {
        let head = PtxHead::find(&[text, b".version 8.5 /* .version 1.0 */ .target sm_90a"].concat()).unwrap();
        assert_eq!((head.offset, head.version, head.target.to_string()), (text.len(), (8, 5), "90a".to_owned()));
    });
    quick("/**/", 5 << 20, |text| assert!(!PtxHead::begins(text)));
    quick("/*", 5 << 20, |text| assert!(!PtxHead::begins(text)));
}

#[test]
fn kernels_of_hostile_texts_are_counted_in_time() {
    for unit in [
        "/*",
        "/* */",
        "//",
        "//\n",
        "\"",
        ".entry k /*",
        ".entry k \"",
        ".entry k .maxntid /*",
        ".entry k .maxntid 1, /* */ ",
        ".entry k .maxntid /* */ ",
        ".entry ",
        ".extern ",
        ".visible ",
        ".maxntid ",
        ".version 8.5\n.target sm_90\n.entry k() { ret; }\n",
        "\0",
        "{",
        "x",
    ] {
        quick(unit, 5_300_000, |text| assert!(PtxKernels::new(text).count() <= text.len() / 7));
    }
    // what follows a comment or string that does not end is not looked at
    let names = |text: &[u8]| PtxKernels::new(text).map(|kernel| kernel.name.to_vec()).collect::<Vec<_>>();
    assert_eq!(names(b".entry a { } /* .entry b { }"), [b"a"]);
    assert_eq!(names(b".entry a { } \" .entry b { }"), [b"a"]);
    assert_eq!(names(b".entry a { } // .entry b { }"), [b"a"]);
}
