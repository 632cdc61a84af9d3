use flate2::Crc;
use sha2::{Digest, Sha256};

use super::{ByteStream, Fault};

/// A stream whose bytes are summed up while they pass, each once: what an archive and an installer's list state of a
/// member can be compared with it.
#[derive(Debug)]
pub struct Checked<S> {
    inner: S,
    crc: Option<Crc>,
    sha: Option<Sha256>,
    /// Bytes that were summed up.
    summed: u64,
}

impl<S: ByteStream> Checked<S> {
    /// Sums up the CRC-32 with `crc`, the SHA-256 with `sha`.
    pub fn new(inner: S, crc: bool, sha: bool) -> Self {
        Self { inner, crc: crc.then(Crc::new), sha: sha.then(Sha256::new), summed: 0 }
    }

    /// Whether anything is summed up.
    const fn is_idle(&self) -> bool {
        self.crc.is_none() && self.sha.is_none()
    }

    /// Reads on to the end and gives CRC-32 and SHA-256, as far as they were asked for.
    pub fn finish(mut self) -> (Option<u32>, Option<[u8; 32]>) {
        if !self.is_idle() {
            // what was stepped back over has been summed up
            self.skip(u64::MAX);
        }
        (self.crc.map(|crc| crc.sum()), self.sha.map(|sha| sha.finalize().into()))
    }
}

impl<S: ByteStream> ByteStream for Checked<S> {
    fn window(&self) -> &[u8] {
        self.inner.window()
    }

    fn fill(&mut self, least: usize) -> bool {
        self.inner.fill(least)
    }

    fn skip(&mut self, count: u64) -> u64 {
        if self.is_idle() {
            return self.inner.skip(count);
        }
        let mut left = count;
        loop {
            let position = self.inner.position();
            let window = self.inner.window();
            let step = usize::try_from(left).unwrap_or(usize::MAX).min(window.len());
            let passing = window.get(..step).unwrap_or_default();
            let seen = usize::try_from(self.summed.saturating_sub(position)).unwrap_or(usize::MAX);
            if let Some(fresh) = passing.get(seen..).filter(|fresh| !fresh.is_empty()) {
                if let Some(crc) = &mut self.crc {
                    crc.update(fresh);
                }
                if let Some(sha) = &mut self.sha {
                    sha.update(fresh);
                }
                self.summed = position.saturating_add(u64::try_from(step).unwrap_or(0));
            }
            let stepped = self.inner.skip(u64::try_from(step).unwrap_or(0));
            left = left.saturating_sub(stepped);
            if left == 0 || !self.inner.fill(1) {
                return count.saturating_sub(left);
            }
        }
    }

    fn position(&self) -> u64 {
        self.inner.position()
    }

    fn behind(&self) -> &[u8] {
        self.inner.behind()
    }

    fn rewind(&mut self, position: u64) -> bool {
        self.inner.rewind(position)
    }

    fn as_slice(&self) -> Option<&[u8]> {
        self.inner.as_slice()
    }

    fn is_packed(&self) -> bool {
        self.inner.is_packed()
    }

    fn trim(&mut self) {
        self.inner.trim();
    }

    fn fault(&self) -> Option<Fault> {
        self.inner.fault()
    }
}
