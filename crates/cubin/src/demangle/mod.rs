mod grammar;

use std::fmt;

use cpp_demangle::{DemangleOptions, DemangleWrite, ParseOptions, Symbol};

/// The longest name that [`demangle`] looks at, bytes. Names of kernels of real libraries reach some 10 KiB.
pub const DEMANGLE_INPUT_LIMIT: usize = 32 << 10;
/// The longest text that [`demangle`] gives, bytes; of short names less, 32 for each byte and 1024. A mangled name of some
/// hundred bytes can stand for gigabytes.
pub const DEMANGLE_OUTPUT_LIMIT: usize = 64 << 10;
/// The text may have this many bytes for each byte of the name, and [`SHORT`] more: names of real libraries reach 12.
const GROWTH: usize = 32;
const SHORT: usize = 1024;
/// Depth of nesting, in parsing and in writing. Deeper names stay mangled; the stack of any thread bears it.
const RECURSION_LIMIT: u32 = 128;

/// The C++ form of a mangled name, with its parameters: `_Z3addPfi` -> `add(float*, int)`. `None` for a name that is not
/// mangled (`extern "C"` and Triton kernels), is damaged, nests deeper than 128 levels or goes beyond a limit; then the
/// mangled form is the name.
#[must_use]
pub fn demangle(name: &[u8]) -> Option<String> {
    if name.len() > DEMANGLE_INPUT_LIMIT || !name.starts_with(b"_Z") {
        return None;
    }
    // of a mapped file that another process may change: what was checked must be what is read
    let name = name.to_vec();
    if !grammar::is_well_formed(&name) {
        return None;
    }
    let parse = ParseOptions::default().recursion_limit(RECURSION_LIMIT);
    let symbol = Symbol::new_with_options(&name, &parse).ok()?;
    let limit = name.len().saturating_mul(GROWTH).saturating_add(SHORT).min(DEMANGLE_OUTPUT_LIMIT);
    let mut out = Limited { text: String::new(), pieces: 0, limit };
    symbol.structured_demangle(&mut out, &DemangleOptions::new().recursion_limit(RECURSION_LIMIT)).ok()?;
    Some(out.text)
}

/// Stops the demangler when the text grows too long, or when it takes too many steps to write it.
struct Limited {
    text: String,
    pieces: usize,
    limit: usize,
}

impl DemangleWrite for Limited {
    fn write_string(&mut self, piece: &str) -> fmt::Result {
        self.pieces = self.pieces.saturating_add(1);
        let length = self.text.len().saturating_add(piece.len());
        if length > self.limit || self.pieces > self.limit {
            return Err(fmt::Error);
        }
        self.text.push_str(piece);
        Ok(())
    }
}
