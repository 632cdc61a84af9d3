//! Cubins whose parts lie upon each other, and ones with more than anybody needs: time and memory stay in proportion to
//! their bytes, and what is not read is told.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic here is a failing test"
)]

mod common;

use std::time::{Duration, Instant};

use common::cubins;
use cubin::{
    Cubin, ErrorKind, Functions, Limits, PrefixOutcome, Provenance, PtxKernels, SymbolPrefix, ptx_kernels_within,
};

/// Without the bounds each of these would take minutes.
const SOON: Duration = Duration::from_secs(2);

/// A section: name offset, type, file offset, size, link, info.
type Row = (usize, u32, usize, usize, u32, u32);

const STRTAB: u32 = 3;
const NV_INFO: u32 = 0x7000_0000;

/// A cubin of ABI 8 from its sections, which may lie anywhere in `body`. Section 1 holds the names of sections.
fn written(body: &[u8], rows: &[Row]) -> Vec<u8> {
    let table = 64 + body.len().next_multiple_of(8);
    let mut data = b"\x7fELF\x02\x01\x01\x41\x08\0\0\0\0\0\0\0".to_vec();
    data.extend(2_u16.to_le_bytes());
    data.extend(190_u16.to_le_bytes());
    data.extend(1_u32.to_le_bytes());
    data.extend([0; 16]);
    data.extend((table as u64).to_le_bytes());
    data.extend(0x0600_5a04_u32.to_le_bytes());
    let plain = u16::try_from(rows.len() + 1).ok().filter(|count| *count < 0xff00).unwrap_or(0);
    for half in [64, 0, 0, 64, plain, 1] {
        data.extend(half.to_le_bytes());
    }
    data.extend(body);
    data.resize(table, 0);
    // the first row holds the count where the header has no room for it
    data.extend([0; 32]);
    data.extend((if plain == 0 { rows.len() as u64 + 1 } else { 0 }).to_le_bytes());
    data.extend([0; 24]);
    for (name, kind, offset, size, link, info) in rows {
        data.extend(u32::try_from(*name).unwrap().to_le_bytes());
        data.extend(kind.to_le_bytes());
        data.extend([0; 16]);
        data.extend((64 + *offset as u64).to_le_bytes());
        data.extend((*size as u64).to_le_bytes());
        data.extend(link.to_le_bytes());
        data.extend(info.to_le_bytes());
        data.extend(1_u64.to_le_bytes());
        data.extend((if *kind == 2 { 24_u64 } else { 0 }).to_le_bytes());
    }
    data
}

/// A kernel with its code in section `code`.
fn symbol(name: usize, code: u16) -> [u8; 24] {
    let mut symbol = [0; 24];
    symbol[..4].copy_from_slice(&u32::try_from(name).unwrap().to_le_bytes());
    symbol[4..6].copy_from_slice(&[0x12, 0x10]);
    symbol[6..8].copy_from_slice(&code.to_le_bytes());
    symbol
}

/// Names of sections, names of symbols, symbols: what every cubin below has, as sections 1 to 3.
fn tables(names: &[u8], strings: &[u8], symbols: &[[u8; 24]]) -> (Vec<u8>, Vec<Row>) {
    let mut body = names.to_vec();
    body.extend(strings);
    body.extend(symbols.concat());
    let start = names.len() + strings.len();
    let rows = vec![
        (0, STRTAB, 0, names.len(), 0, 0),
        (0, STRTAB, names.len(), strings.len(), 0, 0),
        (0, 2, start, symbols.len() * 24, 2, 1),
    ];
    (body, rows)
}

fn soon<R>(what: &str, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    assert!(start.elapsed() < SOON, "{what}: {:?}", start.elapsed());
    result
}

#[test]
fn limits_are_exact_and_told() {
    let data = testkit::Cubin::new("90").kernel("a").kernel("b").device_function("c").bytes();
    let all = Functions::parse(&data).unwrap();
    assert_eq!(all.all().len(), 4);
    // null, .shstrtab, .strtab, .symtab, two notes, .nv.info, .nv.compat; 4 times .nv.info and .text, 3 times constants
    let sections = 8 + 4 * 2 + 3;
    assert_eq!(Functions::parse_within(&data, &Limits::new(4, sections)).unwrap().all(), all.all());
    for few in [Limits::new(3, sections), Limits::new(4, sections - 1)] {
        assert_eq!(Functions::parse_within(&data, &few).unwrap_err().kind, ErrorKind::Limit);
    }
    assert_eq!(
        SymbolPrefix::within(&Limits::new(4, 0)).read(&data),
        PrefixOutcome::Complete(all.all().to_vec()),
        "no sections are read"
    );
    assert_eq!(SymbolPrefix::within(&Limits::new(3, 0)).read(&data), PrefixOutcome::Unsupported);
    let text = b".entry a { } .visible .entry b { }";
    assert_eq!(ptx_kernels_within(text, &Limits::new(2, 0)).unwrap().len(), 2);
    assert_eq!(ptx_kernels_within(text, &Limits::new(1, 0)).unwrap_err().kind, ErrorKind::Limit);
    assert_eq!(PtxKernels::new(text).count(), 2);
}

#[test]
fn honest_cubins_reach_no_limit() {
    for cubin in cubins() {
        let functions = Functions::parse(&cubin.bytes).unwrap();
        assert!(functions.resources().is_complete(), "{}", cubin.label);
    }
}

#[test]
fn a_million_functions_are_the_most() {
    let of = |count: usize| {
        let (body, rows) = tables(b"\0", b"\0k\0", &vec![symbol(1, 1); count]);
        written(&body, &rows)
    };
    soon("functions", || {
        assert_eq!(Functions::parse(&of(1 << 20)).unwrap().all().len(), 1 << 20);
        let more = of((1 << 20) + 1);
        assert_eq!(Functions::parse(&more).unwrap_err().kind, ErrorKind::Limit);
        assert_eq!(Cubin::parse(&more).unwrap().has_kernels, Some(true));
    });
    let text = b".entry a ".repeat((1 << 20) + 1);
    let found = soon("kernels", || ptx_kernels_within(&text, &Limits::default()).map(|kernels| kernels.len()));
    assert_eq!(found.unwrap_err().kind, ErrorKind::Limit);
}

#[test]
fn a_million_sections_are_the_most() {
    let of = |count: usize| written(b"\0", &vec![(0, STRTAB, 0, 1, 0, 0); count - 1]);
    soon("sections", || {
        assert!(Functions::parse(&of(1 << 20)).is_ok());
        let more = of((1 << 20) + 1);
        assert_eq!(Functions::parse(&more).unwrap_err().kind, ErrorKind::Limit);
        assert_eq!(Provenance::parse(&more).unwrap_err().kind, ErrorKind::Limit);
        assert!(Cubin::parse(&more).is_ok());
    });
}

#[test]
fn names_upon_each_other_are_not_read_again_and_again() {
    // 8 MiB of name, of which each of 100,000 has all or nearly all
    let mut long = vec![b'x'; 8 << 20];
    for (label, end) in [("ended", &b"\0"[..]), ("without end", b"")] {
        long.extend(end);
        let symbols: Vec<_> = (0..100_000).map(|number| symbol(1 + number, 1)).collect();
        let (body, rows) = tables(b"\0", &long, &symbols);
        let data = written(&body, &rows);
        let error = soon(label, || Functions::parse(&data).unwrap_err());
        assert_eq!(error.kind, ErrorKind::Limit, "{label}: symbols");
        assert_eq!(soon(label, || Cubin::parse(&data)).unwrap().has_kernels, Some(true));

        let (body, mut rows) = tables(&long, b"\0", &[]);
        rows.extend((0..60_000).map(|number| (number, 1, 0, 0, 0, 0)));
        let data = written(&body, &rows);
        let error = soon(label, || Functions::parse(&data).unwrap_err());
        assert_eq!(error.kind, ErrorKind::Limit, "{label}: sections");
        assert!(soon(label, || Cubin::parse(&data)).is_ok());
        long.truncate(8 << 20);
    }
}

#[test]
fn names_of_a_prefix_upon_each_other_are_not_read_again_and_again() {
    let mut data = testkit::Cubin::new("90").without_functions().bytes()[..64].to_vec();
    data.extend(b"\0.shstrtab\0.strtab\0.symtab\0");
    data.extend(b".text.k\0\0");
    let strings = data.len();
    data.extend(vec![b'x'; 8 << 20]);
    data.resize((data.len() + 1).next_multiple_of(8), 0);
    data.extend([0; 24]);
    // nearly the whole name, as often as it has starts: none but the first begins a string
    for _ in 0..200_000 {
        data.extend(symbol(1, 1));
    }
    data.extend([0xff; 24]);
    let end = data.len() as u64;
    data[40..48].copy_from_slice(&end.to_le_bytes());
    assert!(strings < data.len());
    assert_eq!(soon("prefix", || SymbolPrefix::parse(&data)), PrefixOutcome::Unsupported);
}

/// `count` functions, each with a `.nv.info.K` on the same 4 MiB: REGCOUNT of nobody, then the bound of the threads.
fn shared_info(count: usize) -> Vec<u8> {
    let mut info = [4, 0x2f, 8, 0, 0xff, 0xff, 0xff, 0, 1, 0, 0, 0].repeat((4 << 20) / 12);
    info.extend([4, 5, 12, 0, 128, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0]);
    let names: Vec<u8> = (0..count).flat_map(|number| format!("\0.nv.info.k{number:05}").into_bytes()).collect();
    let names = [&names[..], b"\0"].concat();
    let symbols: Vec<_> = (0..count).map(|number| symbol(10 + number * 16, 1)).collect();
    let (mut body, mut rows) = tables(&names, &names, &symbols);
    let start = body.len();
    body.extend(&info);
    rows.extend((0..count).map(|number| (1 + number * 16, NV_INFO, start, info.len(), 0, 1)));
    written(&body, &rows)
}

#[test]
fn sections_of_resources_upon_each_other_are_not_stated() {
    let data = shared_info(2000);
    let (stated, complete) = soon("shared .nv.info", || {
        let functions = Functions::parse(&data).unwrap();
        let index = functions.resources();
        assert_eq!(functions.all().len(), 2000);
        let bounds: Vec<_> = functions.all().iter().map(|function| index.of(function).max_threads).collect();
        let stated = bounds.iter().take_while(|bound| **bound == Some([128, 2, 1])).count();
        assert!(bounds[stated..].iter().all(Option::is_none));
        (stated, index.is_complete())
    });
    // twice the cubin, which is a little more than the section
    assert_eq!((stated, complete), (2, false));
    let few = shared_info(2);
    let functions = Functions::parse(&few).unwrap();
    assert!(functions.resources().is_complete());
    assert_eq!(soon("origin", || Provenance::parse(&data).unwrap_err()).kind, ErrorKind::Limit);

    // the section that all functions share, as often
    let (mut body, mut rows) = tables(b"\0.nv.info\0", b"\0k\0", &[symbol(1, 1)]);
    let info = [4, 0x2f, 8, 0, 0, 0, 0, 0, 40, 0, 0, 0].repeat((4 << 20) / 12);
    let start = body.len();
    body.extend(&info);
    rows.extend([(1, NV_INFO, start, info.len(), 0, 0)].repeat(2000));
    let data = written(&body, &rows);
    soon("module's .nv.info", || {
        let functions = Functions::parse(&data).unwrap();
        let index = functions.resources();
        assert_eq!((index.of(&functions.all()[0]).registers, index.is_complete()), (Some(40), false));
    });
}

#[test]
fn functions_and_sections_of_one_name_are_told_apart_in_time() {
    // local functions of one name, each with sections that point back to its code
    let count = 15_000_u16;
    let symbols: Vec<_> = (0..count).map(|number| symbol(1, 4 + number)).collect();
    let names = b"\0.nv.info.k\0.nv.shared.k\0.nv.constant0.k\0";
    let (body, mut rows) = tables(names, b"\0k\0", &symbols);
    rows.extend((0..count).map(|_| (0, 1, 0, 0, 0, 0)));
    for (name, kind) in [(1, NV_INFO), (12, 8), (25, 1)] {
        rows.extend((0..count).rev().map(|number| {
            let size = if kind == NV_INFO { 0 } else { usize::from(number) };
            (name, kind, 0, size, 0, u32::from(4 + number))
        }));
    }
    let data = written(&body, &rows);
    soon("one name", || {
        let functions = Functions::parse(&data).unwrap();
        let index = functions.resources();
        for (number, function) in functions.all().iter().enumerate() {
            let used = index.of(function);
            assert_eq!((used.shared, used.constant(0)), (number as u64, number as u64));
        }
        assert!(index.is_complete());
    });
}
