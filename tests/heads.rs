//! What payloads say of themselves, on bytes written to mislead: heads that never end, other encodings, comments, nothing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

use fatscan::{Code, Holds, Input, Level, Options, Policy, Report, Scanner, judge, scan_bytes};
use gpu_arch::rules::{Coverage, Device, Verdict, sass_covers};
use gpu_arch::{Arch, Capability};
use testkit::cubin::Cubin;
use testkit::elf::Elf;
use testkit::fatbin::{Codec, Entry, fatbin};

const CODECS: [Codec; 5] = [Codec::None, Codec::Lz4, Codec::Zstd, Codec::Zlib, Codec::Lz4Frame];

fn report(module: &[Entry]) -> Report {
    let elf = Elf::shared().section(".nv_fatbin", &fatbin(module));
    scan_bytes("x.so", &elf.bytes(), &Options::for_judging())
}

fn holds(report: &Report) -> Option<Holds> {
    report.artefacts[0].members[0].modules[0].images[0].holds
}

fn verdict(report: &Report, on: &str) -> Verdict {
    let judgement = judge(report, &[Device::of(on.parse().unwrap())], &Policy::default()).unwrap();
    judgement.artefacts[0].verdicts[0].verdict.verdict
}

/// Bytes as the text of `compute_80`.
fn text_entry(bytes: Vec<u8>) -> Entry {
    Entry { payload: bytes, ..Entry::ptx("80", (8, 0), "") }
}

fn text_of(text: &[u8], codec: Codec) -> Report {
    let mut bytes = text.to_vec();
    if codec == Codec::None {
        bytes.push(0);
    }
    report(&[text_entry(bytes).compressed(codec)])
}

#[test]
fn a_head_is_the_first_statement_of_a_text() {
    let body = ".visible .entry k() { ret; }\n";
    for codec in CODECS {
        for (head, target) in [
            (".version 8.0\n.target sm_80\n", "80"),
            ("//\n// Generated\n//\n\n.version 8.0\n.target sm_90a, debug\n", "90a"),
            ("/* .version 8.0\n.target sm_50 */ .version 8.0 .target sm_90a\n", "90a"),
            ("// .version 8.0\n// .target sm_50\n.version 8.0 /* .target sm_50 */ .target sm_90a\n", "90a"),
            ("\u{feff}.version 8.0\n.target sm_80\n", "80"),
        ] {
            let own = text_of(format!("{head}{body}").as_bytes(), codec);
            let Some(Holds::Code { arch, version, .. }) = holds(&own) else { panic!("{head:?} {codec:?}") };
            assert_eq!((arch.to_string().as_str(), version), (target, Some((8, 0))), "{head:?} {codec:?}");
            let passes = verdict(&own, "10.0") == Verdict::Jit;
            assert_eq!(passes, target == "80", "{head:?} {codec:?}");
        }
    }
}

#[test]
fn a_head_that_does_not_show_is_unknown_and_what_is_no_text_is_refused() {
    let valid = ".version 8.0\n.target sm_80\n.visible .entry k() { ret; }\n";
    let wide: Vec<u8> = valid.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let long = format!("/*{}*/{valid}", "x".repeat(200_000));
    let endless = format!("/*{}", "x".repeat(200_000));
    let apart = format!(".version 8.0\n/*{}*/\n.target sm_80\n", "x".repeat(2000));
    for codec in CODECS {
        for (text, expected) in [
            (wide.as_slice(), Holds::Foreign),
            (b"no directive at all\n", Holds::Foreign),
            (b".target sm_80\n.version 8.0\n", Holds::Foreign),
            (b".version", Holds::Foreign),
            (b"/* ends nowhere", Holds::Foreign),
            (long.as_bytes(), Holds::Unclear),
            (endless.as_bytes(), Holds::Unclear),
        ] {
            let own = text_of(text, codec);
            let about = format!("{:?} {codec:?}", String::from_utf8_lossy(&text[..text.len().min(40)]));
            assert_eq!(holds(&own), Some(expected), "{about}");
            // a small text without a kernel counts as none at all
            let wanted: &[Verdict] = match expected {
                Holds::Foreign => &[Verdict::NotCovered, Verdict::NoDeviceCode],
                _ => &[Verdict::Unknown],
            };
            assert!(wanted.contains(&verdict(&own, "9.0")), "{about}");
            let is_said = own.diagnostics.iter().any(|own| own.code == Code::PayloadForeign);
            assert_eq!(is_said, expected == Holds::Foreign, "{about}");
        }
        // never taken for what its label says
        assert_ne!(verdict(&text_of(apart.as_bytes(), codec), "9.0"), Verdict::Jit, "{codec:?}");
        // a payload that unpacks to nothing
        let own = report(&[text_entry(Vec::new()).compressed(codec)]);
        assert!(!verdict(&own, "9.0").is_usable(), "{codec:?}");
        let own = report(&[Entry::sass("90", Vec::new()).compressed(codec)]);
        assert!(!verdict(&own, "9.0").is_usable(), "{codec:?}");
    }
}

#[test]
fn a_cubin_that_is_cut_in_its_header_is_none() {
    let whole = Cubin::abi7("90").bytes();
    for codec in CODECS {
        // what is not compressed is padded to 8 bytes
        for cut in 1..=56 {
            let own = report(&[Entry::sass("90", whole[..cut].to_vec()).compressed(codec)]);
            assert_eq!(holds(&own), Some(Holds::Foreign), "cut at {cut}, {codec:?}");
            assert_eq!(verdict(&own, "9.0"), Verdict::NotCovered, "cut at {cut}, {codec:?}");
        }
    }
}

#[test]
fn where_readers_disagree_is_said() {
    let said = |report: &Report, code: Code| report.diagnostics.iter().any(|own| own.code == code);
    // bytes behind the end of a cubin
    let more = [Cubin::abi7("90").bytes(), Cubin::abi7("80").bytes()].concat();
    for codec in CODECS {
        assert!(said(&report(&[Entry::sass("90", more.clone()).compressed(codec)]), Code::BehindCubin), "{codec:?}");
        let own = report(&[Entry::sass("90", Cubin::abi7("90").bytes()).compressed(codec)]);
        assert!(!said(&own, Code::BehindCubin), "{codec:?}");
    }
    // a text that does not end
    let text = format!(".version 8.0\n.target sm_80\n{}", "// x\n".repeat(8));
    let text = &text.as_bytes()[..text.len() / 8 * 8];
    let open = report(&[text_entry(text.to_vec())]);
    assert!(said(&open, Code::TextUnended));
    assert!(!said(&text_of(text, Codec::None), Code::TextUnended));
    // a size that is another number for the driver
    let mut bytes = fatbin(&[Entry::sass("90", Cubin::abi7("90").bytes())]);
    bytes[8..16].copy_from_slice(&0x8000_18d0_u64.to_le_bytes());
    let own = scan_bytes("x.fatbin", &bytes, &Options::new());
    assert!(own.diagnostics.iter().any(|own| own.code == Code::SizeSigned && own.level == Level::Error));
}

/// Obfuscated text (`fatbinary --okey` sets bit 16 of the flags).
#[test]
fn obfuscated_text_is_unknown() {
    let text = testkit::ptx_text("8.0", "sm_80", "k");
    let own = report(&[Entry::ptx("80", (8, 0), &text).flag(0x1_0000)]);
    assert_eq!((holds(&own), verdict(&own, "9.0")), (Some(Holds::Obfuscated), Verdict::Unknown));
}

const NUMBERS: [u32; 9] = [75, 80, 86, 89, 90, 100, 103, 120, 121];

/// Modules in which labels and payloads were exchanged: whatever passes has a label that fits and a payload that does.
#[test]
fn nothing_passes_that_its_payload_refutes() {
    let mut state = 7_u32;
    let mut next = |limit: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % limit
    };
    let (mut pairs, mut passed, mut refused) = (0, 0, 0);
    while pairs < 400 {
        let labels: Vec<u32> = (0..=next(3)).map(|_| NUMBERS[next(NUMBERS.len())]).collect();
        let mut payloads = labels.clone();
        let (first, second) = (next(labels.len()), next(NUMBERS.len()));
        payloads[first] = NUMBERS[second];
        let codec = CODECS[next(CODECS.len())];
        let module: Vec<Entry> = labels
            .iter()
            .zip(&payloads)
            .map(|(label, payload)| {
                let payload = payload.to_string();
                let cubin = if payload.len() > 2 { Cubin::new(&payload) } else { Cubin::abi7(&payload) };
                Entry::sass(&label.to_string(), cubin.bytes()).isa(1, 7).compressed(codec)
            })
            .collect();
        let own = report(&module);
        let number = NUMBERS[next(NUMBERS.len())];
        let device = Capability::new(number / 10, number % 10);
        let covers = |code: u32| sass_covers(Arch::plain(code), device, false) == Coverage::Yes;
        // the driver takes the nearest label, and then its payload must fit
        let nearest = labels
            .iter()
            .enumerate()
            .filter(|(_, label)| covers(**label))
            .max_by_key(|(at, label)| (**label, usize::MAX - at));
        let expected = nearest.is_some_and(|(at, _)| covers(payloads[at]));
        let usable = verdict(&own, &device.to_string()).is_usable();
        assert_eq!(usable, expected, "labels {labels:?}, payloads {payloads:?} on {device}");
        pairs += 1;
        passed += usize::from(usable);
        refused += usize::from(nearest.is_some() && !usable);
    }
    assert!(passed > 60 && refused > 20, "{passed} {refused}");
}

/// `cmp` with the magic as its operand, and what stands behind it in a library of cuDNN 9.26: `.text` at 0x9b8e5f8.
#[test]
fn the_magic_as_an_operand_with_a_size_of_terabytes_is_program_code() {
    let code = [
        0x50, 0xed, 0x55, 0xba, 1, 0, 0x10, 0, 0x41, 0xc7, 0x84, 0x24, 0xc0, 2, 0, 0, 0, 0, 0x80, 0x3f, 0x49, 0x89, 4,
        0x24, 0x49, 0x8b, 0x44, 0x24, 0x18, 0x49, 0xc7, 0x84, 0x24, 0xc8, 2, 0, 0, 0, 0, 0, 0, 0x49, 0xc7, 0x84, 0x24,
        0xd0, 2, 0, 0, 0, 0, 0, 0, 0x49, 0xc7, 0x84, 0x24, 0xd8, 2, 0, 0, 0, 0, 0, 0, 0x49, 0xc7, 0x44, 0x24, 8, 0, 0,
        0, 0, 0x49, 0x39, 0xc7, 0x49, 0xc7, 0x44,
    ];
    let module = fatbin(&[Entry::sass("80", Cubin::abi7("80").bytes())]);
    let elf = Elf::shared().section(".text", &code).section(".nv_fatbin", &module).bytes();
    let report = scan_bytes("x.so", &elf, &Options::for_judging());
    assert_eq!(report.diagnostics, []);
    assert_eq!(report.artefacts[0].members[0].modules.len(), 1);
}

#[test]
fn for_some_devices_only_what_they_could_select_is_looked_into() {
    // every label is a lie: 8.0 may take the SASS and the text for 75, 7.5 that text, 12.0 both texts
    let wrong = Cubin::abi7("70").bytes();
    let text = b".version 8.0\n.target sm_50\n.visible .entry k() { ret; }\n\0";
    let ptx = |arch: &str| Entry { payload: text.to_vec(), ..Entry::ptx(arch, (8, 0), "") };
    let module = [Entry::sass("80", wrong.clone()), Entry::sass("90a", wrong), ptx("75"), ptx("120")];
    let module = module.map(|entry| entry.compressed(Codec::Zstd));
    let elf = Elf::shared().section(".nv_fatbin", &fatbin(&module)).bytes();
    let read = |devices: &[&str]| {
        let devices: Vec<Device> = devices.iter().map(|on| Device::of(on.parse().unwrap())).collect();
        let scanner = Scanner::new(Options::for_judging()).unwrap().for_devices(&devices);
        let report = scanner.report(&[Input::Bytes { name: "x.so", bytes: &elf }]);
        let images = &report.artefacts[0].members[0].modules[0].images;
        let read: Vec<bool> = images.iter().map(|image| image.holds.is_some()).collect();
        assert_eq!(report.diagnostics.len(), read.iter().filter(|read| **read).count());
        read
    };
    assert_eq!(read(&[]), [true; 4]);
    assert_eq!(read(&["7.5"]), [false, false, true, false]);
    assert_eq!(read(&["8.0"]), [true, false, true, false]);
    assert_eq!(read(&["9.0"]), [false, true, true, false]);
    assert_eq!(read(&["7.5", "9.0"]), [false, true, true, false]);
    assert_eq!(read(&["12.0"]), [false, false, true, true]);
}
