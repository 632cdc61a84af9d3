//! A cpio archive of the kind `newc`, and an RPM package around one.

/// One entry: header, name and data, each filled up to four bytes. `stated` is the size in the header.
pub fn entry(name: &str, mode: u32, links: u32, stated: u32, data: &[u8]) -> Vec<u8> {
    let mut out = b"070701".to_vec();
    let numbers = [1, mode, 0, 0, links, 0, stated, 0, 0, 0, 0, name.len() as u32 + 1, 0];
    out.extend(numbers.iter().flat_map(|number| format!("{number:08x}").into_bytes()));
    out.extend(name.as_bytes());
    out.push(0);
    out.resize(out.len().next_multiple_of(4), 0);
    out.extend(data);
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

/// A regular file.
pub fn file(name: &str, data: &[u8]) -> Vec<u8> {
    entry(name, 0o100_644, 1, data.len() as u32, data)
}

/// An archive of regular files.
pub fn cpio(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out: Vec<u8> = files.iter().flat_map(|(name, data)| file(name, data)).collect();
    out.extend(entry("TRAILER!!!", 0, 1, 0, &[]));
    out
}

/// A header of RPM: magic, entries and bytes of data as stated, and that many zeros.
fn rpm_header(entries: u32, bytes: u32) -> Vec<u8> {
    let mut out = vec![0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0];
    out.extend(entries.to_be_bytes());
    out.extend(bytes.to_be_bytes());
    out.resize(out.len() + 16 * entries.min(64) as usize + bytes.min(4096) as usize, 0);
    out
}

/// An RPM package: a lead, a signature of one entry and five bytes, a header of `entries` entries, the payload.
pub fn rpm(entries: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![0xed, 0xab, 0xee, 0xdb, 3, 0];
    out.resize(96, 0);
    out.extend(rpm_header(1, 5));
    out.resize(out.len().next_multiple_of(8), 0);
    out.extend(rpm_header(entries, 7));
    out.extend(payload);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_filled_up_to_four_bytes() {
        // 110 bytes and a name of 2 are filled up to 112
        let own = file("a", b"12345");
        assert_eq!((own.len(), &own[110..112], &own[112..117]), (120, b"a\0".as_slice(), b"12345".as_slice()));
        assert_eq!(&own[6 + 6 * 8..6 + 7 * 8], b"00000005");
    }
}
