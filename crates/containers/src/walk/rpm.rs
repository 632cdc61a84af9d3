use super::Damage;
use crate::stream::ByteStream;

/// Bytes of the lead, which nobody reads any more.
const LEAD: u64 = 96;
/// Bytes at the start of each header: magic and version, four reserved bytes, `u32` big-endian entries and bytes of data.
const START: usize = 16;
/// Bytes of an entry in the index of a header.
const ENTRY: u64 = 16;
const MAGIC: &[u8] = &[0x8e, 0xad, 0xe8, 1];

/// Steps over lead, signature and header of an RPM package: the stream stands at its payload then, whose offset is returned.
/// The signature is filled up to a multiple of eight bytes. What headers hold is not read: no size that they state is held.
///
/// # Errors
/// [`Damage::Header`] where no header stands, [`Damage::Cut`] where the package ends within one.
pub fn rpm_payload(stream: &mut dyn ByteStream) -> Result<u64, Damage> {
    let cut = |stream: &dyn ByteStream| Damage::Cut { offset: stream.position() };
    if stream.skip(LEAD) < LEAD {
        return Err(cut(stream));
    }
    for is_signature in [true, false] {
        let whole = stream.fill(START);
        let offset = stream.position();
        let window = stream.window();
        if window.get(..4).is_some_and(|magic| magic != MAGIC) {
            return Err(Damage::Header { offset });
        }
        let number = |at: usize| {
            let bytes = window.get(at..)?.first_chunk()?;
            Some(u64::from(u32::from_be_bytes(*bytes)))
        };
        let (Some(entries), Some(bytes), true) = (number(8), number(12), whole) else { return Err(cut(stream)) };
        let size = entries.saturating_mul(ENTRY).saturating_add(bytes).saturating_add(ENTRY);
        let size = if is_signature { size.saturating_add(7) & !7 } else { size };
        if stream.skip(size) < size {
            return Err(cut(stream));
        }
    }
    Ok(stream.position())
}
