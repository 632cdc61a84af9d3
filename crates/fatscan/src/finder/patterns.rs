use std::sync::LazyLock;

use aho_corasick::packed::{MatchKind, Searcher};
use fatscan_containers::Format;
use memchr::memmem;

use crate::parallel;

/// What a match may be the start of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    Fatbin,
    Elf,
    Ptx,
    Wrapper,
    ClangBundle,
    CompressedBundle,
    LlvmBundle,
    SectionNames,
    Runtime,
}

/// In the order of their ids. The packed searcher looks for few literals at once, at several GB/s; more would slow it.
const PATTERNS: [(Pattern, &[u8]); 9] = [
    (Pattern::Fatbin, &[0x50, 0xed, 0x55, 0xba]),
    (Pattern::Elf, &[0x7f, b'E', b'L', b'F']),
    (Pattern::Ptx, b".version"),
    (Pattern::Wrapper, &[0xb1, 0x43, 0x62, 0x46]),
    (Pattern::ClangBundle, b"__CLANG_OFFLOAD_BUNDLE__"),
    (Pattern::CompressedBundle, b"CCOB"),
    (Pattern::LlvmBundle, &[0x10, 0xff, 0x10, 0xad]),
    (Pattern::SectionNames, b".shstrtab\0"),
    (Pattern::Runtime, b"cudart"),
];

/// Bytes that neighbouring windows must share so that no match is cut.
pub(crate) const LONGEST: usize = 24;

static SEARCHER: LazyLock<Option<Searcher>> = LazyLock::new(|| {
    let mut config = aho_corasick::packed::Config::new();
    let mut builder = config.match_kind(MatchKind::LeftmostFirst).builder();
    builder.extend(PATTERNS.iter().map(|(_, bytes)| bytes));
    builder.build()
});

/// A window up to this size is searched by one thread.
const WIDE: usize = 8 << 20;
/// So much of a wider one is searched by one thread first: the next fatbin usually follows at once.
const NEAR: usize = 256 << 10;

/// The first match in `window`.
pub(crate) fn find(window: &[u8]) -> Option<(usize, Pattern)> {
    let overlap = LONGEST.saturating_sub(1);
    match window.get(..NEAR) {
        Some(near) if window.len() >= WIDE => {
            serial(near).or_else(|| parallel::first(window, NEAR.saturating_sub(overlap), overlap, serial))
        }
        _ => serial(window),
    }
}

fn serial(window: &[u8]) -> Option<(usize, Pattern)> {
    if let Some(searcher) = &*SEARCHER {
        let found = searcher.find(window)?;
        let (pattern, _) = PATTERNS.get(found.pattern().as_usize())?;
        return Some((found.start(), *pattern));
    }
    // no SIMD on this machine
    let each = PATTERNS.iter().filter_map(|(pattern, bytes)| Some((memmem::find(window, bytes)?, *pattern)));
    each.min_by_key(|(at, _)| *at)
}

/// Whether a file of this format starts with a table of sections that stands far from its first bytes.
pub(crate) const fn has_late_sections(format: Option<Format>) -> bool {
    matches!(format, Some(Format::Elf))
}
