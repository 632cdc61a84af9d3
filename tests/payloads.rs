//! What the crates `fatbin` and `cubin` promise of single payloads: decoding under a limit and by prefix, kernels and
//! heads of PTX, what a cubin says of itself in the ways of each toolkit.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a panic here is a failing test"
)]

use ::fatbin::{Entry as Read, ErrorKind, decode, decode_prefix, find};
use cubin::{Abi, Attributes, Cubin as Own, Family, FileType, Head, PtxHead, accelerator_target, ptx_kernels};
use testkit::cubin::Function;
use testkit::fatbin::Codec;
use testkit::{Cubin, Entry, fatbin, ptx_text};

const CODECS: [Codec; 5] = [Codec::None, Codec::Zlib, Codec::Lz4, Codec::Lz4Frame, Codec::Zstd];
const LIMIT: u64 = 1 << 30;

/// Calls `check` with the only entry of a fatbin.
fn with_entry<R>(entry: &Entry, check: impl FnOnce(&Read<'_>) -> R) -> R {
    let bytes = fatbin(std::slice::from_ref(entry));
    let found = find(&bytes).next().unwrap();
    let (offset, read) = found.entries().next().unwrap().unwrap();
    assert_eq!(offset, 16);
    check(&read)
}

#[test]
fn prefix_of_a_payload_is_the_start_of_the_whole() {
    let mut compared = 0;
    for truth in testkit::truth::all().iter().filter(|truth| !truth.is_hostile()) {
        let bytes = truth.bytes();
        for found in find(&bytes) {
            for (_, entry) in found.entries().map(Result::unwrap) {
                let (mut whole, mut part) = (Vec::new(), Vec::new());
                match decode(&entry, LIMIT, &mut whole) {
                    Ok(()) => {}
                    Err(error) => {
                        assert_eq!(error.kind, ErrorKind::Scrambled, "{}", truth.file);
                        assert!(decode_prefix(&entry, 64, LIMIT, &mut part).is_err());
                        continue;
                    }
                }
                assert_eq!(whole.len() as u64, entry.header().unpacked_size(), "{}", truth.file);
                for length in [0, 1, 63, 64, 1000, 4096, whole.len(), whole.len() + 1, 1 << 20] {
                    decode_prefix(&entry, length as u64, LIMIT, &mut part).unwrap();
                    assert_eq!(part, whole[..length.min(whole.len())], "{} {length}", truth.file);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 2000, "{compared}");
}

#[test]
fn limit_is_exact_and_reserves_nothing_above_it() {
    let data: Vec<u8> = (0..4096u32).flat_map(u32::to_le_bytes).collect();
    for codec in CODECS {
        let entry = Entry::sass("90", data.clone()).compressed(codec);
        with_entry(&entry, |read| {
            let mut out = vec![1, 2, 3];
            decode(read, data.len() as u64, &mut out).unwrap();
            assert_eq!(out, data, "{codec:?}");
            let error = decode(read, data.len() as u64 - 1, &mut out).unwrap_err();
            assert_eq!((error.kind, out.len()), (ErrorKind::Limit, 0), "{codec:?}");
        });
    }
}

#[test]
fn stated_size_must_be_that_of_the_payload() {
    let data = vec![9; 1000];
    for codec in CODECS.into_iter().filter(|codec| *codec != Codec::None) {
        for stated in [0u64, 1, 999, 1001, 5000] {
            let mut entry = Entry::sass("90", data.clone()).compressed(codec);
            entry.stated_uncompressed_size = Some(stated);
            with_entry(&entry, |read| {
                let mut out = Vec::new();
                let error = decode(read, LIMIT, &mut out).unwrap_err();
                assert!(
                    [ErrorKind::UnpackedSize, ErrorKind::Corrupt].contains(&error.kind),
                    "{codec:?} {stated}: {error}"
                );
                assert!(out.len() <= 5001, "{codec:?} {stated}");
            });
        }
        // cut and flipped streams are errors, not panics
        let good = Entry::sass("90", data.clone()).compressed(codec);
        for cut in 0..good.payload.len().min(64) {
            let mut entry = good.clone();
            entry.payload.truncate(cut);
            with_entry(&entry, |read| assert!(decode(read, LIMIT, &mut Vec::new()).is_err(), "{codec:?} {cut}"));
        }
    }
}

#[test]
fn missing_compressed_size_is_read_as_the_padded_one() {
    // cuobjdump decodes such an entry with the padded bytes; a zstd frame knows its own end
    let data = vec![9; 1000];
    let mut entry = Entry::sass("90", data.clone()).compressed(Codec::Zstd);
    entry.stated_compressed_size = Some(0);
    with_entry(&entry, |read| {
        let mut out = Vec::new();
        decode(read, LIMIT, &mut out).unwrap();
        assert_eq!(out, data);
    });
}

#[test]
fn scrambled_code_is_opaque() {
    let mut entry = Entry::lto("90", vec![1; 64]).flag(testkit::fatbin::flag::SCRAMBLED | testkit::fatbin::flag::ZSTD);
    entry.uncompressed_size = Some(2000);
    with_entry(&entry, |read| {
        assert_eq!(decode(read, LIMIT, &mut Vec::new()).unwrap_err().kind, ErrorKind::Scrambled);
    });
}

#[test]
fn texts_of_an_entry_are_bounded_by_its_header() {
    let entry = Entry::ptx("90", (8, 5), "x").name("one.cu").options(" -g ");
    with_entry(&entry, |read| {
        assert_eq!(read.identifier(), Ok(Some(&b"one.cu"[..])));
        assert_eq!(read.options(), Ok(Some(&b" -g "[..])));
        assert_eq!(read.compat(), Ok(None));
    });
    let mut long = entry.clone();
    long.stated_name_len = Some(u32::MAX);
    with_entry(&long, |read| assert_eq!(read.identifier().unwrap_err().kind, ErrorKind::Identifier));
    let mut long = entry;
    long.stated_options_len = Some(u32::MAX);
    with_entry(&long, |read| assert_eq!(read.options().unwrap_err().kind, ErrorKind::Options));
    // the blob of an ELF entry stands behind one NUL and is no options text
    let blob = Cubin::new("100a").compat_blob();
    with_entry(&Entry::sass("100a", vec![0; 8]).compat(&blob), |read| {
        assert_eq!((read.options(), read.compat()), (Ok(None), Ok(Some(blob.as_slice()))));
        assert_eq!(accelerator_target(&blob), Some(1));
    });
}

#[test]
fn compat_copy_in_the_header_is_that_of_the_cubin() {
    // 67 of 67 entries of the fixtures, says the description
    let mut compared = 0;
    for truth in
        testkit::truth::all().iter().filter(|truth| !truth.is_hostile() && !truth.file.starts_with("mislabel_"))
    {
        let bytes = truth.bytes();
        for found in find(&bytes) {
            for (_, entry) in found.entries().map(Result::unwrap) {
                let Some(blob) = entry.compat().unwrap() else { continue };
                let mut out = Vec::new();
                decode(&entry, LIMIT, &mut out).unwrap();
                assert!(out.windows(blob.len()).any(|window| window == blob), "{}", truth.file);
                if let Some(target) = accelerator_target(blob) {
                    assert_eq!(
                        target == 1,
                        Own::parse(&out).unwrap().arch.to_string().ends_with('a'),
                        "{}",
                        truth.file
                    );
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn attributes_end_at_what_is_no_record() {
    let rows = |data: &[u8]| Attributes::new(data).map(|(code, value)| (code, value.to_vec())).collect::<Vec<_>>();
    assert_eq!(rows(&[2, 9, 1, 0, 3, 0x1b, 0xff, 0, 4, 0x37, 4, 0, 1, 2, 3, 4, 1, 5, 0, 0]).len(), 4);
    assert_eq!(rows(&[4, 0x37, 2, 0, 7, 8]), [(0x37, vec![7, 8])]);
    for cut in [&[][..], &[2], &[2, 9, 1], &[4, 1, 5, 0, 1, 2, 3, 4], &[0, 9, 1, 0], &[5, 9, 1, 0], &[4, 9, 0xff, 0xff]]
    {
        assert_eq!(rows(cut).len(), 0, "{cut:?}");
    }
}

#[test]
fn kernels_of_ptx_are_those_that_it_defines() {
    let text = b"//.entry in_a_comment()\n/* .entry in_another() */\n.version 8.5\n.target sm_90\n\
        .extern .entry declared(.param .u64 p);\n.extern .func helper;\n\
        .visible .entry _Z1aPf(\n.param .u64 p)\n.maxntid 128, 1, 1\n{ ret; }\n\
        .weak .entry templated$1(){ret;}\n.entry\n  // between\n  plain_2\n(){ }\n\
        .visible .func (.param .b32 r) not_a_kernel() { ret; }\n\
        .file 1 \".entry in_a_string(\"\n.entry last%odd(){}\0";
    assert_eq!(ptx_kernels(text), [&b"_Z1aPf"[..], b"templated$1", b"plain_2", b"last%odd"]);
    assert_eq!(ptx_kernels(b""), [&b""[..]; 0]);
    assert_eq!(ptx_kernels(b".entry"), [&b""[..]; 0]);
}

#[test]
fn heads_of_ptx_are_read_in_every_spelling() {
    let head = |text: &str| PtxHead::find(text.as_bytes()).map(|head| (head.version, head.target.to_string()));
    let is = |version, target: &str| Some((version, target.to_owned()));
    assert_eq!(head(".version 8.5\n.target sm_90a\n"), is((8, 5), "90a"));
    assert_eq!(head(".version 8.8 .target sm_103f, debug"), is((8, 8), "103f"));
    assert_eq!(head(".version\t7.0\r\n.target\tsm_80, texmode_independent\r\n"), is((7, 0), "80"));
    assert_eq!(head(".version 3.2.target sm_35.address_size 64"), is((3, 2), "35"));
    assert_eq!(head(".version 10.12\n//\n/**/\n.target sm_121a"), is((10, 12), "121a"));
    for text in [
        "",
        ".version",
        ".version 8.5",
        ".version 8 .target sm_90",
        ".version 8.5 .target compute_90",
        ".version 8.5 .target sm_",
        ".version 8.5 .target sm_90b",
        ".version 8.5 .target sm_90aa",
        ".version8.5 .target sm_90",
        ".version 8.5 x .target sm_90",
        ".version 99999.1 .target sm_90",
        ".version 8.5 .target sm_99999",
    ] {
        assert_eq!(head(text), None, "{text}");
    }
    // the first that is one counts
    assert_eq!(
        head(".version %s .target\n.version 8.0\n.target sm_70\n.version 8.5\n.target sm_90\n"),
        is((8, 0), "70")
    );
}

#[test]
fn cubin_tells_its_suffix_in_the_way_of_its_toolkit() {
    // (cubin, arch, family, toolkit)
    let cases = [
        (Cubin::new("90a"), "90a", Family::No, Some((13, 5))),
        (Cubin::new("90"), "90", Family::No, Some((13, 5))),
        (Cubin::new("100f"), "100f", Family::Yes, Some((13, 5))),
        (Cubin::new("100f").without_tkinfo(), "100", Family::Unknown, None),
        (Cubin::new("100a").without_tkinfo(), "100a", Family::Unknown, None),
        (Cubin::new("100a").toolkit(129), "100a", Family::No, Some((12, 9))),
        (Cubin::new("103f").toolkit(129), "103f", Family::Yes, Some((12, 9))),
        (Cubin::new("100").toolkit(128), "100", Family::No, Some((12, 8))),
        // without the attribute the flag decides
        (Cubin::new("120a").toolkit(129).without_compat(), "120a", Family::No, Some((12, 9))),
        (Cubin::abi7("90a"), "90a", Family::No, Some((12, 4))),
        (Cubin::abi7("50").toolkit(118), "50", Family::No, Some((11, 8))),
    ];
    for (cubin, arch, family, toolkit) in cases {
        let own = Own::parse(&cubin.bytes()).unwrap();
        assert_eq!((own.arch.to_string().as_str(), own.family, own.toolkit), (arch, family, toolkit), "{cubin:?}");
        assert_eq!((own.has_kernels, own.is_executable()), (Some(true), true));
    }
    // with attribute 9 at 0 the flag of 12.x has no effect: patched and seen in cuobjdump
    let mut patched = Cubin::new("100");
    patched.stated_flags = Some(0x0600_640A);
    assert_eq!(Own::parse(&patched.bytes()).unwrap().arch.to_string(), "100");
    // several notes in a row, as in a device link: the last `-arch` counts
    let mut linked = Cubin::new("100");
    linked.command_lines = vec!["-arch sm_100 -o x".to_owned(), "-v -arch=sm_100f -m 64".to_owned()];
    assert_eq!(Own::parse(&linked.bytes()).unwrap().arch.to_string(), "100f");
}

#[test]
fn kernels_of_a_cubin_are_entry_functions_of_any_binding() {
    let function = |name: &str, entry, binding| Function {
        name: name.to_owned(),
        entry,
        binding,
        size: 64,
        registers: 8,
        shared: 0,
    };
    let cubin = Cubin::new("90")
        .without_functions()
        .function(function("local_kernel", true, 0))
        .function(function("helper", false, 1))
        .function(function("weak_kernel", true, 2))
        .function(function("global_kernel", true, 1));
    let bytes = cubin.bytes();
    let mut names = Own::kernels(&bytes).unwrap();
    names.sort_unstable();
    assert_eq!(names, [&b"global_kernel"[..], b"local_kernel", b"weak_kernel"]);
    let none = Cubin::new("90").without_functions().device_function("helper").bytes();
    assert_eq!((Own::kernels(&none).unwrap().len(), Own::parse(&none).unwrap().has_kernels), (0, Some(false)));
}

#[test]
fn head_of_a_cubin_tells_its_extent_and_nothing_else_is_one() {
    for (cubin, abi, kind) in [
        (Cubin::new("90a"), Abi::V8, FileType::Executable),
        (Cubin::abi7("75"), Abi::V7, FileType::Executable),
        (Cubin::new("120").relocatable(), Abi::V8, FileType::Relocatable),
    ] {
        let bytes = cubin.bytes();
        let head = Head::parse(&bytes[..64]).unwrap();
        assert_eq!((head.abi, head.file_type, head.extent, head.number), (abi, kind, bytes.len() as u64, cubin.sm));
        assert!(Head::parse(&bytes[..63]).is_err());
        // with bytes behind it nothing changes
        let mut longer = bytes.clone();
        longer.extend([0xEE; 100]);
        assert_eq!(Own::parse(&longer), Own::parse(&bytes));
        for cut in 0..bytes.len() {
            let _ = (Own::parse(&bytes[..cut]), Own::kernels(&bytes[..cut]));
        }
    }
    assert!(!Head::matches(&testkit::Elf::shared().bytes()));
    assert!(!Head::matches(ptx_text("8.5", "sm_90", "k").as_bytes()));
}
