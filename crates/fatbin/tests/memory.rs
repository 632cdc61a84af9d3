//! What a decoder takes is known before it decodes, and bounded.
#![cfg(feature = "decompress")]
#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a panic here is a failing test")]

use fatbin::{Decoder, EntryHeader, ErrorKind, WINDOW_LIMIT, memory_to_decode, memory_to_stream};
use testkit::compress::{zstd_stored, zstd_window, zstd_zeros};
use testkit::fatbin::{Codec, Entry as Made, flag};

/// An entry of kind ELF, 64 bytes of header, and its payload.
fn made(codec: u64, payload: Vec<u8>, unpacked: u64) -> Vec<u8> {
    let mut entry = Made::new(2, 90, payload).flag(codec);
    entry.uncompressed_size = Some(unpacked);
    entry.bytes()
}

fn entry(bytes: &[u8]) -> fatbin::Entry<'_> {
    let header = fatbin::EntryHeader::parse(bytes).unwrap();
    let (record, payload) = bytes.split_at(usize::try_from(header.header_size).unwrap());
    fatbin::Entry::new(record, payload).unwrap()
}

fn stream(decoder: &mut Decoder, bytes: &[u8]) -> Result<(), ErrorKind> {
    decoder.decode_prefix(&entry(bytes), 100, 1 << 30, &mut Vec::new()).map_err(|error| error.kind)
}

fn whole(decoder: &mut Decoder, bytes: &[u8]) -> Result<usize, ErrorKind> {
    let mut out = Vec::new();
    decoder.decode(&entry(bytes), 1 << 30, &mut out).map_err(|error| error.kind).map(|()| out.len())
}

/// What is told of an entry from its header and the first bytes of its payload.
fn told_of(tell: fn(&EntryHeader, &[u8]) -> u64, bytes: &[u8]) -> u64 {
    let entry = entry(bytes);
    let payload = entry.payload().unwrap();
    tell(entry.header(), payload.get(..18).unwrap_or(payload))
}

#[test]
fn zstd_takes_no_more_than_is_told() {
    let text = vec![7; 300_000];
    let cut = zstd_stored(&text)[..200_000].to_vec();
    for (label, payload, unpacked) in [
        ("single segment", zstd_stored(&text), 300_000),
        ("stated too small", zstd_stored(&text), 1000),
        ("cut", cut, 300_000),
        ("bomb", zstd_zeros(64 << 20), 64 << 20),
        ("no content", zstd_stored(b""), 0),
        ("window of 1 KiB", zstd_window(&text, 10), 300_000),
        ("window of 32 MiB", zstd_window(&text, 25), 300_000),
        ("skippable", b"\x50\x2a\x4d\x18\x01\0\0\0x".to_vec(), 1),
        ("nothing", Vec::new(), 1),
    ] {
        let bytes = made(flag::ZSTD, payload, unpacked);
        let mut decoder = Decoder::new();
        assert_eq!(decoder.held(), 0);
        let _ = stream(&mut decoder, &bytes);
        let told = told_of(memory_to_stream, &bytes);
        assert!(decoder.held() <= told, "{label}: {} held to stream, {told} told", decoder.held());
        let mut decoder = Decoder::new();
        let _ = whole(&mut decoder, &bytes);
        let told = told_of(memory_to_decode, &bytes);
        assert!(decoder.held() <= told, "{label}: {} held to decode, {told} told", decoder.held());
    }
}

#[test]
fn bounds_follow_from_the_headers() {
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    let context = 128 * KIB;
    let text = vec![7; 300_000];
    let both = |codec: u64, payload: Vec<u8>| {
        let bytes = made(codec, payload, 300_000);
        (told_of(memory_to_stream, &bytes), told_of(memory_to_decode, &bytes))
    };
    // all of the content and a block of input; right into the output
    assert_eq!(both(flag::ZSTD, zstd_stored(&text)), (context + 300_000 + 128 * KIB, context));
    let window = context + 32 * MIB + 3 * 128 * KIB + 64;
    assert_eq!(both(flag::ZSTD, zstd_window(&text, 25)), (window, window));
    assert_eq!(both(flag::ZLIB, Codec::Zlib.encode(&text)), (64 * KIB, 64 * KIB));
    assert_eq!(both(flag::LZ4, Codec::Lz4.encode(&text)), (0, 0));
    assert_eq!(both(0, text.clone()), (0, 0));
    let frame = 12 * MIB + 64 * KIB;
    assert_eq!(both(flag::LZ4_FRAME, Codec::Lz4Frame.encode(&text)), (frame, frame));
}

#[test]
fn windows_beyond_the_limit_are_refused() {
    let text = vec![7; 300_000];
    let of = |log| made(flag::ZSTD, zstd_window(&text, log), 300_000);
    for (limit, log, fits) in [
        (1 << 20, 20, true),
        (1 << 20, 21, false),
        // between two powers of two
        ((1 << 20) + 1, 20, true),
        ((1 << 20) + 1, 21, false),
        (0, 10, false),
        (WINDOW_LIMIT, 27, true),
        (WINDOW_LIMIT, 28, false),
        (u64::MAX, 28, true),
    ] {
        let mut decoder = Decoder::with_window_limit(limit);
        let expected = if fits { Ok(()) } else { Err(ErrorKind::Limit) };
        assert_eq!(stream(&mut decoder, &of(log)), expected, "{limit} {log}");
        assert_eq!(whole(&mut decoder, &of(log)).map(drop), expected, "{limit} {log}");
        assert!(fits || decoder.held() < 1 << 20, "nothing is allocated");
    }
    assert_eq!(whole(&mut Decoder::new(), &of(28)), Err(ErrorKind::Limit));
    // what goes right into the output needs no window
    let bytes = made(flag::ZSTD, zstd_stored(&text), 300_000);
    let mut decoder = Decoder::with_window_limit(1000);
    assert_eq!(whole(&mut decoder, &bytes), Ok(300_000));
    assert_eq!(stream(&mut decoder, &bytes), Err(ErrorKind::Limit));
}

#[test]
fn the_output_grows_with_what_arrives() {
    // says little and gives much, and the reverse
    for (codec, flag) in [(Codec::Zlib, flag::ZLIB), (Codec::Lz4Frame, flag::LZ4_FRAME)] {
        let bytes = made(flag, codec.encode(&vec![0; 4 << 20]), 1000);
        let mut out = Vec::new();
        let mut decoder = Decoder::new();
        assert_eq!(decoder.decode(&entry(&bytes), 1 << 40, &mut out).unwrap_err().kind, ErrorKind::UnpackedSize);
        assert!(out.len() == 1001 && out.capacity() <= 2 * 1001 + 64, "{} of {codec:?}", out.capacity());
        let bytes = made(flag, codec.encode(&[0; 1000]), 1 << 40);
        let mut out = Vec::new();
        assert_eq!(decoder.decode(&entry(&bytes), 1 << 41, &mut out).unwrap_err().kind, ErrorKind::UnpackedSize);
        assert!(out.len() == 1000 && out.capacity() <= 2 * 1000 + 64, "{} of {codec:?}", out.capacity());
    }
}
