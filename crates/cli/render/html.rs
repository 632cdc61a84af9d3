//! Pages for a browser: one file that loads nothing, works from a disk, and runs no script but its own.

mod fleet;
mod libraries;

use std::borrow::Cow;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::escape;

pub(crate) use fleet::fleet;

/// Both hold nothing from outside.
const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// What a file says, without what misleads; that it is no markup is the care of `maud`.
fn say(text: &str) -> Cow<'_, str> {
    escape::text(text)
}

/// A sentence, with what stands between backticks as code.
fn prose(text: &str) -> Markup {
    let text = say(text);
    let is_even = text.matches('`').count().is_multiple_of(2);
    html! {
        @if is_even {
            @for (index, part) in text.split('`').enumerate() {
                @if index.is_multiple_of(2) { (part) } @else { code { (part) } }
            }
        } @else { (text) }
    }
}

/// A whole page. Nothing may be loaded, and no script or style but these two runs, whatever the names in it are.
fn page(title: &str, body: &Markup) -> Markup {
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(concat!("fatscan ", env!("CARGO_PKG_VERSION")));
                title { (say(title)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (body)
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// SHA-256 in base64, as policies name scripts.
fn hash(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digest = Sha256::digest(text.as_bytes());
    let mut out = String::new();
    for bytes in digest.chunks(3) {
        let group = bytes.iter().fold(0u32, |sum, byte| (sum << 8) | u32::from(*byte));
        let group = group << 8u32.saturating_mul(u32::try_from(3usize.saturating_sub(bytes.len())).unwrap_or(0));
        for place in 0..4u32 {
            let index = usize::try_from((group >> 18u32.saturating_sub(place.saturating_mul(6))) & 63).ok();
            let digit = index.filter(|_| usize::try_from(place).is_ok_and(|place| place <= bytes.len()));
            out.push(digit.and_then(|digit| DIGITS.get(digit)).map_or('=', |digit| char::from(*digit)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_policies() {
        // printf '' | openssl dgst -sha256 -binary | base64, and the example of the Content Security Policy
        assert_eq!(hash(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        assert_eq!(hash("alert('Hello, world.');"), "qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=");
    }
}
