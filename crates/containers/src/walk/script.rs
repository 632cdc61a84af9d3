use memchr::memmem;

use super::Package;
use crate::codec::Codec;
use crate::number::digits;

/// Bytes of a script that are looked at for what is behind it. Those of makeself have 15 to 30 KiB.
pub const SCRIPT_SIZE: usize = 256 * 1024;

/// Whether a script says that makeself made it.
pub(super) fn is_one(prefix: &[u8]) -> bool {
    prefix.starts_with(b"#!") && memmem::find(prefix, b"akeself").is_some()
}

/// Where the archive behind a script of makeself begins, from the first [`SCRIPT_SIZE`] bytes of the file. The script skips
/// its own lines, and states their number as `skip="600"`, as `head -n 600 "$0"` or, as old ones do, as `tail -n +601 "$0"`;
/// what is not the start of an archive there is not taken for one. Nothing is run.
#[must_use]
pub fn script_payload(start: &[u8]) -> Option<u64> {
    let mut ends = memchr::memchr_iter(b'\n', start).map(|end| end.saturating_add(1)).zip(1u64..);
    let mut lines: Vec<u64> = Vec::new();
    for words in [b"skip=".as_slice(), b"head -n ", b"tail -n +", b"SKIP="] {
        for at in memmem::find_iter(start, words).take(16) {
            let rest = start.get(at.saturating_add(words.len())..).unwrap_or_default();
            let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
            let length = rest.iter().take(12).take_while(|byte| byte.is_ascii_digit()).count();
            if let Some(number) = rest.get(..length).and_then(digits::<u64>) {
                // some count the last line of the script, some the first behind it
                lines.extend([number, number.saturating_sub(1)]);
            }
        }
    }
    let found = ends.find(|(end, line)| {
        let behind = start.get(*end..).unwrap_or_default();
        let is_packed = Codec::sniff(behind).is_some();
        lines.contains(line) && (is_packed || Package::sniff(behind).is_some())
    });
    u64::try_from(found?.0).ok()
}
