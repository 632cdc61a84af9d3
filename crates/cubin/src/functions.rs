use crate::function::Function;
use crate::head::Head;
use crate::resources::ResourceIndex;
use crate::sections::{Section, Tables};
use crate::{Error, FileType, Limits};

/// The functions of a whole cubin, kernels and device functions, in the order of its symbol table.
///
/// Cubins of sm_100 and up carry a second, "Mercury" form of the code (`.nv.merc.*`, `.nv.capmerc.*`) with a symbol
/// table of its own; it is not looked at.
///
/// ```
/// # fn main() -> Result<(), cubin::Error> {
/// # let data = testkit::Cubin::new("90a").kernel("_Z3addPfi").bytes();
/// let functions = cubin::Functions::parse(&data)?;
/// let index = functions.resources();
/// for kernel in functions.kernels() {
///     let used = index.of(kernel);
///     println!("{} bytes, {:?} registers", kernel.size, used.registers);
/// }
/// assert_eq!(functions.kernels().count(), 2);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Functions<'data> {
    pub(crate) data: &'data [u8],
    pub(crate) head: Head,
    pub(crate) tables: Tables<'data>,
}

impl<'data> Functions<'data> {
    /// Reads the cubin that is `data`, within [`Limits::default`]; bytes behind its end do no harm. A cubin without a
    /// symbol table has no functions.
    ///
    /// # Errors
    /// [`ErrorKind::NotCubin`](crate::ErrorKind::NotCubin), [`ErrorKind::Sections`](crate::ErrorKind::Sections) where
    /// the section table cannot be read, [`ErrorKind::Symbols`](crate::ErrorKind::Symbols) where the symbol table lies
    /// outside the data, [`ErrorKind::Limit`](crate::ErrorKind::Limit) where there is more than the limits allow.
    pub fn parse(data: &'data [u8]) -> Result<Self, Error> {
        Self::parse_within(data, &Limits::default())
    }

    /// As [`Functions::parse`], within the caller's limits.
    ///
    /// # Errors
    /// As [`Functions::parse`].
    pub fn parse_within(data: &'data [u8], limits: &Limits) -> Result<Self, Error> {
        let head = Head::parse(data)?;
        Ok(Self { data, head, tables: Tables::read(data, limits)? })
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[Function<'data>] {
        &self.tables.functions
    }

    /// Those that the host can launch.
    pub fn kernels(&self) -> impl Iterator<Item = &Function<'data>> {
        self.all().iter().filter(|function| function.is_kernel())
    }

    /// What the first 64 bytes tell.
    #[must_use]
    pub const fn head(&self) -> &Head {
        &self.head
    }

    /// Bytes of the section that holds the code of `function`: equal to [`Function::size`] where the function has a
    /// section of its own.
    #[must_use]
    pub fn section_size(&self, function: &Function<'_>) -> Option<u64> {
        self.section(function).map(|section| section.size)
    }

    /// Reads the resource figures; look one function up with [`ResourceIndex::of`].
    #[must_use]
    pub fn resources(&self) -> ResourceIndex<'_, 'data> {
        ResourceIndex::new(self)
    }

    pub(crate) fn is_relocatable(&self) -> bool {
        self.head.file_type == FileType::Relocatable
    }

    pub(crate) fn section(&self, function: &Function<'_>) -> Option<&Section<'data>> {
        self.tables.sections.get(usize::try_from(function.section).ok()?)
    }
}
