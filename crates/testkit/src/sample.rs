//! The sample wheel of the README: two fixtures as the libraries of one package, a native library without device
//! code, a module of Python, and the `dist-info` that every wheel has.

use crate::compress::deflate;
use crate::{Elf, Zip, ZipMember, sha256, truth};

/// File name of the wheel.
pub const NAME: &str = "fatscan_sample-1.0-py3-none-manylinux_2_28_x86_64.whl";

/// The bytes of the wheel. They depend on nothing but the fixtures and on the deflate encoder; members keep the date
/// of the zip format's first day.
pub fn wheel() -> Vec<u8> {
    let host = Elf::shared()
        .section(".text", &[0x90; 512])
        .section(".rodata", b"a native library without device code\0")
        .needs("libc.so.6");
    let python = "\"\"\"Kernels of fatscan's fixtures, to be listed, not to be run.\"\"\"\n";
    let info = "fatscan_sample-1.0.dist-info";
    let metadata = "Metadata-Version: 2.1\nName: fatscan-sample\nVersion: 1.0\n\
                    Summary: Sample of device code in a wheel\nLicense: MIT OR Apache-2.0\n";
    let wheel = "Wheel-Version: 1.0\nGenerator: testkit\nRoot-Is-Purelib: false\n\
                 Tag: py3-none-manylinux_2_28_x86_64\n";
    let mut members = vec![
        ("fatscan_sample/__init__.py".to_owned(), python.as_bytes().to_vec()),
        ("fatscan_sample/_host.so".to_owned(), host.bytes()),
        ("fatscan_sample/lib/libpartial.so".to_owned(), truth::bytes("libpartial.so")),
        ("fatscan_sample/lib/librdc.so".to_owned(), truth::bytes("librdc.so")),
        (format!("{info}/METADATA"), metadata.as_bytes().to_vec()),
        (format!("{info}/WHEEL"), wheel.as_bytes().to_vec()),
    ];
    let mut record: String = members
        .iter()
        .map(|(name, data)| format!("{name},sha256={},{}\n", base64(&digest(data)), data.len()))
        .collect();
    record.push_str(&format!("{info}/RECORD,,\n"));
    members.push((format!("{info}/RECORD"), record.into_bytes()));
    let mut zip = Zip::new();
    for (name, data) in members {
        let mut member = ZipMember::deflated(&name, &data);
        member.packed = Some(deflate(&data));
        zip = zip.with(member);
    }
    zip.bytes()
}

fn digest(data: &[u8]) -> Vec<u8> {
    let text = sha256(data);
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Base64 for URLs without padding, as RECORD wants it.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for letter in 0..=chunk.len() {
            out.push(char::from(LETTERS[(word >> (18 - 6 * letter)) as usize & 63]));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4648, without their padding.
    #[test]
    fn base64_of_published_examples_holds() {
        for (text, code) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(text.as_bytes()), code);
        }
        assert_eq!(base64(&[0xFB, 0xFF]), "-_8");
    }

    #[test]
    fn checked_in_wheel_is_the_one_that_is_built() {
        let stored = truth::bytes(&format!("sample/{NAME}"));
        assert!(stored.len() < 60_000, "{} bytes", stored.len());
        assert_eq!(sha256(&stored), sha256(&wheel()), "run the example `sample_wheel` of testkit again");
    }
}
