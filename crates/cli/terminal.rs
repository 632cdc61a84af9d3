//! What the terminal can show.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::escape;

/// Whether what is written now goes to a file.
static TO_FILE: AtomicBool = AtomicBool::new(false);

/// Does what writes to a file: its lines have no limit.
pub(crate) fn unlimited<T>(write: impl FnOnce() -> T) -> T {
    TO_FILE.store(true, Ordering::Relaxed);
    let done = write();
    TO_FILE.store(false, Ordering::Relaxed);
    done
}

/// Columns of the terminal that standard output is; of a pipe there is no limit, so that a line stays a line. The
/// variable COLUMNS overrides both.
pub(crate) fn width() -> usize {
    if TO_FILE.load(Ordering::Relaxed) {
        return usize::MAX;
    }
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    given
        .or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)))
        .map_or_else(|| if std::io::stdout().is_terminal() { 80 } else { usize::MAX }, |columns: usize| columns.max(40))
}

/// Bytes as people read them: `520.3 MB`, powers of ten.
pub(crate) fn bytes(count: u64) -> String {
    let units = [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    for (unit, name) in units {
        if count >= unit {
            let (unit, tenths) = (u128::from(unit), u128::from(count).saturating_mul(10));
            let tenths = tenths.saturating_add(unit / 2).checked_div(unit).unwrap_or_default();
            return format!("{}.{} {name}", tenths / 10, tenths % 10);
        }
    }
    format!("{count} B")
}

/// `1 module`, `2 modules`.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

/// Words in lines of at most `width` columns, every line but the first behind `indent` blanks; `used` columns of the
/// first are taken. Any word may begin a line, and none of them ends one by itself.
pub(crate) fn wrap<S: AsRef<str>>(words: &[S], indent: usize, used: usize, width: usize) -> String {
    let mut out = String::new();
    let mut column = used;
    for (index, word) in words.iter().enumerate() {
        let word = escape::text(word.as_ref());
        let length = word.chars().count();
        if index > 0 {
            if column.saturating_add(length).saturating_add(1) > width {
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                column = indent;
            } else {
                out.push(' ');
                column = column.saturating_add(1);
            }
        }
        out.push_str(&word);
        column = column.saturating_add(length);
    }
    out
}
