//! Error codes of the CUDA driver and runtime.

use crate::tables::errors::ERRORS;

/// One error, with what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CudaError {
    /// The number, the same in the driver API (`CUresult`) and the runtime (`cudaError_t`).
    pub code: u32,
    /// The name in the driver API; the runtime's where only the runtime has it.
    pub name: &'static str,
    /// The name in the runtime.
    pub runtime_name: &'static str,
    /// Texts that people see.
    pub messages: &'static [&'static str],
    /// What to do.
    pub advice: &'static str,
}

/// All errors of the table, by code.
pub fn errors() -> &'static [CudaError] {
    ERRORS
}

/// The error of a code.
pub fn error(code: u32) -> Option<&'static CudaError> {
    ERRORS.iter().find(|row| row.code == code)
}

/// Finds the error that a message is about: by its name, by `error 209`, or by its text (in that order), in any case. The
/// longest name or text wins, since some contain others; of equal ones the lower code. A number alone is an error's code.
pub fn recognise_error(message: &str) -> Option<&'static CudaError> {
    if let Ok(code) = message.trim().parse() {
        return error(code);
    }
    let message = message.to_ascii_lowercase();
    let named = ERRORS.iter().flat_map(|row| [(row, row.name), (row, row.runtime_name)]);
    let said = ERRORS.iter().flat_map(|row| row.messages.iter().map(move |text| (row, *text)));
    let named = longest(&message, named, is_word);
    named.or_else(|| numbered(&message)).or_else(|| longest(&message, said, |message, text| message.contains(text)))
}

/// The row with the longest text that the message contains, in the sense of `holds`.
fn longest(
    message: &str,
    rows: impl Iterator<Item = (&'static CudaError, &'static str)>,
    holds: fn(&str, &str) -> bool,
) -> Option<&'static CudaError> {
    rows.filter(|(_, text)| holds(message, &text.to_ascii_lowercase()))
        .min_by_key(|(_, text)| core::cmp::Reverse(text.len()))
        .map(|(row, _)| row)
}

/// Whether a name stands in a message by itself: some names begin like others.
fn is_word(message: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    message.split(|letter: char| !is_part(letter)).any(|word| word == name)
}

/// The row of a number behind the word `error` (`CUDA error: 209`, `error code 209`).
fn numbered(message: &str) -> Option<&'static CudaError> {
    let mut words = message.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        if word != "error" {
            continue;
        }
        let mut ahead = words.clone();
        let number = match ahead.next() {
            Some("code") => ahead.next(),
            other => other,
        };
        let row = number.and_then(|number| number.parse().ok()).and_then(error);
        if row.is_some() {
            return row;
        }
    }
    None
}
