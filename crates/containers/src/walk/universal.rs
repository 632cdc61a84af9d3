use object::macho::{FAT_MAGIC_64, FatArch32, FatArch64};
use object::read::macho::FatArch;

/// One slice of a universal Mach-O file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachOSlice {
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Bytes, as stated.
    pub size: u64,
}

/// The slices that the header at the start of `prefix` lists, in the order of the file, without those that start
/// inside another.
#[must_use]
pub fn universal(prefix: &[u8]) -> Vec<MachOSlice> {
    let mut slices = read(prefix).unwrap_or_default();
    slices.sort_by_key(|slice| slice.offset);
    let mut end = 0;
    slices.retain(|slice| {
        let apart = slice.offset >= end;
        if apart {
            end = slice.offset.saturating_add(slice.size);
        }
        apart
    });
    slices
}

fn read(prefix: &[u8]) -> Option<Vec<MachOSlice>> {
    let magic = u32::from_be_bytes(*prefix.first_chunk()?);
    let count = usize::try_from(u32::from_be_bytes(*prefix.get(4..)?.first_chunk()?)).ok()?.min(40);
    let table = prefix.get(8..)?;
    if magic == FAT_MAGIC_64 { slices::<FatArch64>(table, count) } else { slices::<FatArch32>(table, count) }
}

fn slices<Arch: FatArch>(table: &[u8], count: usize) -> Option<Vec<MachOSlice>> {
    let available = table.len().checked_div(size_of::<Arch>())?;
    let (records, _) = object::pod::slice_from_bytes::<Arch>(table, count.min(available)).ok()?;
    Some(
        records
            .iter()
            .map(|record| MachOSlice { offset: record.offset().into(), size: record.size().into() })
            .collect(),
    )
}
