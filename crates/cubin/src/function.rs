use object::elf::STT_FUNC;

/// Bit of `st_other` that marks a kernel.
pub(crate) const STO_CUDA_ENTRY: u8 = 0x10;

/// What a function is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FunctionKind {
    /// A kernel: the host can launch it (`STO_CUDA_ENTRY`).
    Entry,
    /// A device function. It has a section of its own (relocatable and debug code), or it lies inside the section of the
    /// kernel that calls it and is named after both: `$kernel$function`.
    Device,
}

/// Binding of a symbol. 29 % of the kernels of PyTorch are local (unnamed namespaces, `static`); the weak ones are
/// instances of templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Binding {
    /// Known within its module only.
    Local,
    /// The one definition.
    Global,
    /// One definition of perhaps several.
    Weak,
    /// Any other value of the upper half of `st_info`.
    Other(u8),
}

/// A function that a cubin defines, as its symbol tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Function<'data> {
    /// Mangled name. A local name need not be unique, nor UTF-8.
    pub name: &'data [u8],
    /// Kernel or device function.
    pub kind: FunctionKind,
    /// Binding of the symbol.
    pub binding: Binding,
    /// Index of the symbol in the symbol table, by which `.nv.info` names it.
    pub symbol: u32,
    /// Index of the section that holds the code.
    pub section: u32,
    /// Bytes from the start of that section; above 0 for a device function within the section of a kernel, whose bytes
    /// [`Function::size`] of the kernel counts too.
    pub offset: u64,
    /// Code bytes (`st_size`).
    pub size: u64,
}

impl Function<'_> {
    /// Whether the host can launch it.
    #[must_use]
    pub fn is_kernel(&self) -> bool {
        self.kind == FunctionKind::Entry
    }

    /// Whether its code is within the section of another function, so that its bytes are counted there.
    #[must_use]
    pub const fn is_inside_another(&self) -> bool {
        self.offset > 0
    }
}

/// The fields of a symbol record that say whether it defines a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) info: u8,
    pub(crate) other: u8,
    pub(crate) section: u32,
    pub(crate) value: u64,
    pub(crate) size: u64,
}

impl Record {
    /// A function symbol with code in this file; `.extern` functions have section 0.
    pub(crate) fn defines_function(self) -> bool {
        self.info & 0xf == STT_FUNC.0 && self.section != 0
    }

    pub(crate) fn function(self, name: &[u8], symbol: u32) -> Function<'_> {
        let entry = self.other & STO_CUDA_ENTRY != 0;
        Function {
            name,
            kind: if entry { FunctionKind::Entry } else { FunctionKind::Device },
            binding: match self.info >> 4 {
                0 => Binding::Local,
                1 => Binding::Global,
                2 => Binding::Weak,
                other => Binding::Other(other),
            },
            symbol,
            section: self.section,
            offset: self.value,
            size: self.size,
        }
    }
}
