use core::cell::{OnceCell, RefCell};
use core::ops::Range;

use object::read::ReadRef;

use crate::format::Format;
use crate::layout::Layout;
use crate::needed::needed;
use crate::stream::ByteStream;

/// No table that is worth reading is larger than this.
const RANGE_LIMIT: u64 = 16 << 20;
/// How often a stream may be read again from its start for one layout.
const REWINDS: u32 = 4;
/// Ranges that one layout may ask for.
const RANGES: usize = 64;

/// The layout of the file that `stream` is, after it was read to its end, and those of `places` that its dependency
/// tables point at (see [`needed`]). A slice is asked where it lies; of an inflated member the watched ranges serve and
/// those in `extra`, and what they lack is inflated again.
pub fn layout_of<S: ByteStream>(
    format: Format,
    stream: &mut S,
    extra: &[(u64, Vec<u8>)],
    places: &[u64],
) -> (Option<Layout>, Vec<u64>) {
    match stream.as_slice() {
        Some(slice) => read(format, slice, places),
        None => read(format, &Replay::new(stream, extra), places),
    }
}

fn read<'data, R: ReadRef<'data>>(format: Format, data: R, places: &[u64]) -> (Option<Layout>, Vec<u64>) {
    let layout = Layout::read(format, data);
    let needed = layout.as_ref().map(|layout| needed(format, data, layout, places)).unwrap_or_default();
    (layout, needed)
}

/// Random access to a stream that was read to its end, as `object` wants it: by references that live as long as this.
#[derive(Debug)]
pub struct Replay<'stream, S> {
    stream: RefCell<Source<'stream, S>>,
    ranges: Chain,
    length: u64,
}

#[derive(Debug)]
struct Source<'stream, S> {
    stream: &'stream mut S,
    rewinds: u32,
}

/// A list that only grows, so that references into it stay valid while it does.
#[derive(Debug, Default)]
struct Chain {
    node: OnceCell<Box<Node>>,
}

#[derive(Debug)]
struct Node {
    start: u64,
    bytes: Vec<u8>,
    next: Chain,
}

impl Chain {
    /// The bytes of `start..start + length` if one node holds them all, else the place to append at.
    fn find(&self, start: u64, length: u64) -> Result<&[u8], Option<&Self>> {
        let mut chain = self;
        for _ in 0..RANGES {
            let Some(node) = chain.node.get() else { return Err(Some(chain)) };
            if let Some(bytes) = node.part(start, length) {
                return Ok(bytes);
            }
            chain = &node.next;
        }
        Err(None)
    }

    fn push(&self, start: u64, bytes: Vec<u8>) -> Option<&Node> {
        let mut chain = self;
        for _ in 0..RANGES {
            if chain.node.get().is_none() {
                return Some(chain.node.get_or_init(|| Box::new(Node { start, bytes, next: Self::default() })));
            }
            chain = &chain.node.get()?.next;
        }
        None
    }
}

impl Node {
    fn part(&self, start: u64, length: u64) -> Option<&[u8]> {
        let at = usize::try_from(start.checked_sub(self.start)?).ok()?;
        self.bytes.get(at..at.checked_add(usize::try_from(length).ok()?)?)
    }
}

impl<'stream, S: ByteStream> Replay<'stream, S> {
    /// Access to `stream`, whose end has been reached: its position is its length.
    pub fn new(stream: &'stream mut S, extra: &[(u64, Vec<u8>)]) -> Self {
        let ranges = Chain::default();
        let watched = stream.watched().into_iter().map(|(start, bytes)| (start, bytes.to_vec()));
        for (start, bytes) in watched.chain(extra.iter().cloned()) {
            ranges.push(start, bytes);
        }
        let length = stream.position();
        Self { stream: RefCell::new(Source { stream, rewinds: 0 }), ranges, length }
    }

    fn read(&self, start: u64, length: u64) -> Option<&[u8]> {
        let end = start.checked_add(length)?;
        if end > self.length || length > RANGE_LIMIT {
            return None;
        }
        match self.ranges.find(start, length) {
            Ok(bytes) => Some(bytes),
            Err(None) => None,
            Err(Some(tail)) => {
                let bytes = self.stream.borrow_mut().read(start, usize::try_from(length).ok()?)?;
                tail.push(start, bytes)?.part(start, length)
            }
        }
    }
}

impl<S: ByteStream> Source<'_, S> {
    fn read(&mut self, start: u64, length: usize) -> Option<Vec<u8>> {
        if start < self.stream.position() {
            self.rewinds = self.rewinds.checked_add(1).filter(|rewinds| *rewinds <= REWINDS)?;
            self.stream.rewind(start);
        }
        let gap = start.checked_sub(self.stream.position())?;
        self.stream.skip(gap);
        self.stream.fill(length);
        self.stream.window().get(..length).map(<[u8]>::to_vec)
    }
}

impl<'cell, S: ByteStream> ReadRef<'cell> for &'cell Replay<'_, S> {
    fn len(self) -> Result<u64, ()> {
        Ok(self.length)
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'cell [u8], ()> {
        if size == 0 {
            return Ok(&[]);
        }
        self.read(offset, size).ok_or(())
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'cell [u8], ()> {
        let length = range.end.checked_sub(range.start).ok_or(())?;
        // names lie in a table that was asked for as a whole just before
        let bytes = self.read(range.start, length).ok_or(())?;
        bytes.split(|byte| *byte == delimiter).next().filter(|name| name.len() < bytes.len()).ok_or(())
    }
}
