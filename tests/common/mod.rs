//! What several integration tests share.
#![allow(dead_code, reason = "every test file uses its own part")]

use fatscan::{Diagnostic, Image, Level, Member, Options, Report};
use fatscan_containers::{ByteStream, Fault, Inflater, SliceStream};
use testkit::compress::{crc32, deflate};

/// What a scan of one file gives.
pub(crate) type Scan = (Option<Member>, Vec<Diagnostic>);

fn one(report: Report) -> Scan {
    let members = report.artefacts.into_iter().flat_map(|artefact| artefact.members);
    (members.into_iter().next(), report.diagnostics)
}

/// Scans one file in memory.
pub(crate) fn scan_bytes(name: &str, bytes: &[u8], options: &Options) -> Scan {
    one(fatscan::scan_bytes(name, bytes, options))
}

/// Scans one file that is read forward.
pub(crate) fn scan_stream<S: ByteStream>(name: &str, stream: &mut S, options: &Options) -> Scan {
    one(fatscan::scan_stream(name, stream, options))
}

/// Scans bytes in memory, with the defaults.
pub(crate) fn scan(name: &str, bytes: &[u8]) -> Scan {
    scan_bytes(name, bytes, &Options::default())
}

/// Scans the same bytes deflated.
pub(crate) fn scan_inflated(name: &str, bytes: &[u8], options: &Options) -> Scan {
    let packed = deflate(bytes);
    let mut stream = Inflater::new(SliceStream::new(&packed), bytes.len() as u64, Some(crc32(bytes)), true);
    scan_stream(name, &mut stream, options)
}

/// Scans the same bytes handed out one at a time.
pub(crate) fn scan_steps(name: &str, bytes: &[u8], options: &Options) -> Scan {
    scan_stream(name, &mut Steps::new(bytes, 1), options)
}

/// All images of all modules.
pub(crate) fn all_images(member: Option<&Member>) -> Vec<&Image> {
    member.iter().flat_map(|member| &member.modules).flat_map(|module| &module.images).collect()
}

/// `sass sm_90a`, `ptx compute_90`, `other` in the order of the file.
pub(crate) fn words(member: Option<&Member>) -> Vec<String> {
    all_images(member).into_iter().map(word).collect()
}

/// `sass sm_90a` of one image.
pub(crate) fn word(image: &Image) -> String {
    match image.arch_name() {
        Some(arch) => format!("{} {arch}", image.kind.name()),
        None => image.kind.name().to_owned(),
    }
}

/// The same, sorted.
pub(crate) fn sorted_words(member: Option<&Member>) -> Vec<String> {
    let mut words = words(member);
    words.sort();
    words
}

/// The codes of the diagnostics, in their order.
pub(crate) fn codes(diagnostics: &[Diagnostic]) -> Vec<&str> {
    diagnostics.iter().map(|diagnostic| word_of(diagnostic.code)).collect()
}

/// The codes of those that are errors.
pub(crate) fn errors(diagnostics: &[Diagnostic]) -> Vec<&str> {
    diagnostics.iter().filter(|d| d.level == Level::Error).map(|d| word_of(d.code)).collect()
}

/// `FS0101` of a code, for as long as the tests run.
fn word_of(code: fatscan::Code) -> &'static str {
    code.to_string().leak()
}

/// A stream that makes just as many bytes available as it is asked for, `step` at the least, and remembers nothing
/// of what it stepped over.
#[derive(Debug)]
pub(crate) struct Steps<'data> {
    data: &'data [u8],
    position: usize,
    at_hand: usize,
    step: usize,
}

impl<'data> Steps<'data> {
    pub(crate) fn new(data: &'data [u8], step: usize) -> Self {
        Self { data, position: 0, at_hand: 0, step }
    }
}

impl ByteStream for Steps<'_> {
    fn window(&self) -> &[u8] {
        &self.data[self.position..self.position + self.at_hand]
    }

    fn fill(&mut self, least: usize) -> bool {
        if self.at_hand < least {
            self.at_hand = least.max(self.step).min(self.data.len() - self.position);
        }
        self.at_hand >= least
    }

    fn skip(&mut self, count: u64) -> u64 {
        let left = self.data.len() - self.position;
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(left);
        self.position += count;
        self.at_hand = self.at_hand.saturating_sub(count);
        count as u64
    }

    fn position(&self) -> u64 {
        self.position as u64
    }

    fn behind(&self) -> &[u8] {
        &[]
    }

    fn rewind(&mut self, position: u64) -> bool {
        self.position = usize::try_from(position).unwrap_or(usize::MAX).min(self.data.len());
        self.at_hand = 0;
        true
    }

    fn fault(&self) -> Option<Fault> {
        None
    }
}

/// Pseudo-random numbers (xorshift64*), the same in every run.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { usize::try_from(self.next() % end as u64).unwrap() }
    }

    /// `count` bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next().to_le_bytes()[7]).collect()
    }
}

/// Anonymous memory of this process in bytes now, where the system tells it.
pub(crate) fn anonymous_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    Some(line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}
