//! Compressed streams for payloads. Only deflate shrinks; the zstd and LZ4 writers store, which every decoder accepts.

use std::io::Write;

use crate::bytes::Bytes;

/// A zlib stream (RFC 1950).
pub fn zlib(data: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(data).unwrap();
    out.finish().unwrap()
}

/// A raw deflate stream (RFC 1951).
pub fn deflate(data: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(data).unwrap();
    out.finish().unwrap()
}

/// `head` and `zeros` zero bytes behind it as a raw deflate stream, with their CRC-32: a bomb, made without holding
/// what it unpacks to.
pub fn deflate_bomb(head: &[u8], zeros: u64) -> (Vec<u8>, u32) {
    let mut out = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut crc = flate2::Crc::new();
    let mut put = |part: &[u8]| {
        out.write_all(part).unwrap();
        crc.update(part);
    };
    put(head);
    let chunk = vec![0; 1 << 20];
    let mut left = zeros;
    while left > 0 {
        let step = left.min(chunk.len() as u64);
        put(&chunk[..step as usize]);
        left -= step;
    }
    let sum = crc.sum();
    (out.finish().unwrap(), sum)
}

/// A gzip file (RFC 1952).
pub fn gzip(data: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(data).unwrap();
    out.finish().unwrap()
}

/// A bzip2 stream.
pub fn bzip2(data: &[u8]) -> Vec<u8> {
    let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    out.write_all(data).unwrap();
    out.finish().unwrap()
}

/// An xz stream of one block whose LZMA2 chunks are stored, with a CRC-32, and with a dictionary of 4 KiB: .xz format 1.2.0.
pub fn xz_stored(data: &[u8]) -> Vec<u8> {
    xz_dictionary(data, 0)
}

/// The same with the byte that states the dictionary: 18 for 2 MiB, 40 for 4 GiB.
pub fn xz_dictionary(data: &[u8], dictionary: u8) -> Vec<u8> {
    let crc = |bytes: &[u8]| crc32(bytes).to_le_bytes();
    let flags = [0, 1];
    let mut out = b"\xfd7zXZ\0".to_vec();
    out.extend(flags);
    out.extend(crc(&flags));
    // block header: 12 bytes, one filter, LZMA2 with one byte of properties, padding
    let start = out.len();
    let header = [2, 0, 0x21, 1, dictionary, 0, 0, 0];
    out.extend(header);
    out.extend(crc(&header));
    for (index, chunk) in data.chunks(1 << 16).enumerate() {
        out.push(if index == 0 { 1 } else { 2 });
        out.extend(((chunk.len() - 1) as u16).to_be_bytes());
        out.extend(chunk);
    }
    out.push(0);
    let unpadded = out.len() - start + 4;
    out.resize(out.len().next_multiple_of(4), 0);
    out.extend(crc(data));
    let mut index = vec![0, 1];
    index.extend(multibyte(unpadded as u64));
    index.extend(multibyte(data.len() as u64));
    index.resize(index.len().next_multiple_of(4), 0);
    let own = crc(&index);
    index.extend(own);
    let mut footer = ((index.len() / 4 - 1) as u32).to_le_bytes().to_vec();
    footer.extend(flags);
    out.extend(index);
    out.extend(crc(&footer));
    out.extend(footer);
    out.extend(b"YZ");
    out
}

/// Seven bits a byte, the lowest first.
fn multibyte(mut number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
    out
}

/// CRC-32 as in zip and gzip.
pub fn crc32(data: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(data);
    crc.sum()
}

/// One zstd frame of raw blocks, single segment, with content size (RFC 8878).
pub fn zstd_stored(data: &[u8]) -> Vec<u8> {
    let mut out = zstd_header(data.len() as u64);
    let mut blocks = data.chunks(ZSTD_BLOCK).peekable();
    if data.is_empty() {
        zstd_block(&mut out, 0, 0, true);
    }
    while let Some(block) = blocks.next() {
        zstd_block(&mut out, 0, block.len() as u32, blocks.peek().is_none());
        out.put(block);
    }
    out.0
}

/// One zstd frame that unpacks to `n` zero bytes from 4 bytes per 128 KiB: a bomb.
pub fn zstd_zeros(n: u64) -> Vec<u8> {
    let mut out = zstd_header(n);
    let mut left = n;
    loop {
        let size = left.min(ZSTD_BLOCK as u64);
        left -= size;
        zstd_block(&mut out, 1, size as u32, left == 0);
        out.u8(0);
        if left == 0 {
            return out.0;
        }
    }
}

/// One zstd frame of raw blocks that states no content size and asks for a window of `1 << log` bytes.
pub fn zstd_window(data: &[u8], log: u8) -> Vec<u8> {
    let mut out = Bytes::new();
    out.u32(0xFD2F_B528).u8(0).u8((log - 10) << 3);
    let block = (1 << log).min(ZSTD_BLOCK);
    let mut blocks = data.chunks(block).peekable();
    while let Some(block) = blocks.next() {
        zstd_block(&mut out, 0, block.len() as u32, blocks.peek().is_none());
        out.put(block);
    }
    out.0
}

const ZSTD_BLOCK: usize = 128 << 10;

fn zstd_header(content_size: u64) -> Bytes {
    let mut out = Bytes::new();
    // descriptor: content size in 8 bytes (3 << 6), single segment (1 << 5)
    out.u32(0xFD2F_B528).u8(0xE0).u64(content_size);
    out
}

fn zstd_block(out: &mut Bytes, kind: u32, size: u32, last: bool) {
    let word = size << 3 | kind << 1 | u32::from(last);
    out.put(&word.to_le_bytes()[..3]);
}

/// One LZ4 block of literals only.
pub fn lz4_block_stored(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len() + data.len() / 255 + 2);
    if data.len() < 15 {
        out.push((data.len() as u8) << 4);
    } else {
        out.push(0xF0);
        let mut rest = data.len() - 15;
        while rest >= 255 {
            out.push(255);
            rest -= 255;
        }
        out.push(rest as u8);
    }
    out.extend_from_slice(data);
    out
}

/// One LZ4 frame of uncompressed blocks of up to 4 MiB, without checksums.
pub fn lz4_frame_stored(data: &[u8]) -> Vec<u8> {
    let mut out = Bytes::new();
    // FLG 0x60: version 1, independent blocks; BD 0x70: 4 MiB; 0x73: header checksum of these two
    out.u32(0x184D_2204).put(&[0x60, 0x70, 0x73]);
    for block in data.chunks(4 << 20) {
        out.u32(0x8000_0000 | block.len() as u32).put(block);
    }
    out.u32(0);
    out.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc32_of_the_check_string_is_the_published_value() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn zstd_frame_of_three_bytes_is_the_bytes_of_rfc_8878() {
        // magic, descriptor, content size 3, last raw block of 3 bytes (3 << 3 | 1 = 0x19)
        assert_eq!(
            zstd_stored(b"abc"),
            [0x28, 0xB5, 0x2F, 0xFD, 0xE0, 3, 0, 0, 0, 0, 0, 0, 0, 0x19, 0, 0, b'a', b'b', b'c']
        );
    }

    #[test]
    fn zstd_zeros_stays_small() {
        // 512 blocks of 4 bytes behind 13 bytes of header
        assert_eq!(zstd_zeros(64 << 20).len(), 13 + 512 * 4);
    }

    #[test]
    fn deflate_bomb_is_small_and_has_the_checksum_of_its_bytes() {
        let (packed, crc) = deflate_bomb(b"head", 3 << 20);
        assert!(packed.len() < 40_000);
        let mut bytes = b"head".to_vec();
        bytes.resize(4 + (3 << 20), 0);
        assert_eq!(crc, crc32(&bytes));
    }

    #[test]
    fn lz4_block_length_is_coded_in_nibble_and_bytes() {
        assert_eq!(lz4_block_stored(b"abc"), [0x30, b'a', b'b', b'c']);
        assert_eq!(lz4_block_stored(&[7; 15 + 255 + 3])[..3], [0xF0, 255, 3]);
    }

    #[test]
    fn gzip_and_zlib_start_with_their_magics() {
        assert_eq!(gzip(b"x")[..3], [0x1F, 0x8B, 8]);
        assert_eq!(zlib(b"x")[0], 0x78);
    }
}
