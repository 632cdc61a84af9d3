use foldhash::HashMap;

use crate::attributes::Attributes;
use crate::function::Function;
use crate::functions::Functions;
use crate::head::Abi;
use crate::info::{self, three, u16_at, u32_at};
use crate::provenance::Language;
use crate::sections::Section;

/// One parameter of a kernel, record 0x17 of `.nv.info.KERNEL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// Position, from 0.
    pub ordinal: u16,
    /// Bytes from the start of the parameters.
    pub offset: u16,
    /// Bytes.
    pub size: u32,
}

/// What a function needs, as its cubin states it. `None`: not stated.
///
/// | field | source | evidence |
/// |---|---|---|
/// | registers | `.nv.info` 0x2f; before CUDA 11, `sh_info` bits 24 to 31 of `.text.K` | equal to `cuobjdump -res-usage` |
/// | stack | `.nv.info` 0x12; absent in relocatable code | equal (cuobjdump prints 0 where absent) |
/// | shared, local, constants | sizes of `.nv.shared.K`, `.nv.local.K`, `.nv.constantN.K` | equal |
/// | parameters | `.nv.info.K` 0x19, 0x0a and 0x17 | equal to `cuobjdump -elf` |
/// | threads, `max_registers` | `.nv.info.K` 0x05, 0x10, 0x1b | equal to `cuobjdump -elf` |
/// | barriers | ABI 7: `sh_flags` bits 20 to 26 of `.text.K`; ABI 8: `.nv.info.K` 0x4c, absent for none | observed |
///
/// The least number of blocks of `__launch_bounds__` leaves no trace in a cubin but its effect on the registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Registers a thread.
    pub registers: Option<u32>,
    /// Least stack of a thread with all that it calls, bytes.
    pub stack: Option<u32>,
    /// Stack of the function alone, bytes.
    pub frame: Option<u32>,
    /// Greatest stack where it is known (`.nv.info` 0x23), bytes.
    pub max_stack: Option<u32>,
    /// Static shared memory of a block, bytes. From sm_90 on it includes 1024 reserved bytes.
    pub shared: u64,
    /// Local memory, bytes.
    pub local: u64,
    /// Constant memory of its own: bank and bytes, by bank. Bank 0 holds the parameters.
    pub constants: Vec<(u8, u64)>,
    /// Bytes of all parameters.
    pub parameter_bytes: Option<u32>,
    /// Where the parameters start in constant bank 0.
    pub parameter_offset: Option<u16>,
    /// Each parameter, by position. A parameter of 16 KiB and more is not stated in this form.
    pub parameters: Vec<Parameter>,
    /// Most threads of a block in x, y, z (`__launch_bounds__`, `.maxntid`).
    pub max_threads: Option<[u32; 3]>,
    /// Exact threads of a block (`.reqntid`).
    pub required_threads: Option<[u32; 3]>,
    /// Blocks of a cluster in x, y, z (`__cluster_dims__`); a guess by name: never seen with a known source.
    pub cluster: Option<[u32; 3]>,
    /// Most blocks of a cluster; a guess by name.
    pub max_cluster_rank: Option<u32>,
    /// Limit of registers set at compile time; `None` also where the cubin states that there is none (255).
    pub max_registers: Option<u16>,
    /// Named barriers used.
    pub barriers: Option<u8>,
    /// Bound textures, surfaces and samplers together: 0 where the cubin has none at all, else not known by function.
    pub images: Option<u32>,
    /// What it was compiled from.
    pub language: Option<Language>,
}

impl Resources {
    /// Bytes of its own constant memory in `bank`; 0 where it has none.
    #[must_use]
    pub fn constant(&self, bank: u8) -> u64 {
        self.constants.iter().find(|(number, _)| *number == bank).map_or(0, |(_, size)| *size)
    }
}

/// What the functions of a module share: "Common" of `cuobjdump -res-usage`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleResources {
    /// Bytes of `.nv.global` and `.nv.global.init`.
    pub global: u64,
    /// Shared constant memory: bank and bytes, by bank.
    pub constants: Vec<(u8, u64)>,
}

/// Which section a function owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owned {
    Info,
    Shared,
    Local,
    Constant(u8),
}

/// Records of `.nv.info` about one symbol.
#[derive(Clone, Copy, Debug, Default)]
struct Stated {
    registers: Option<u32>,
    stack: Option<u32>,
    frame: Option<u32>,
    max_stack: Option<u32>,
}

/// The resource figures of a cubin, ready to be looked up: `.nv.info` read once, sections by their owner.
#[derive(Clone, Debug)]
pub struct ResourceIndex<'functions, 'data> {
    functions: &'functions Functions<'data>,
    stated: HashMap<u32, Stated>,
    owned: HashMap<&'data [u8], Vec<(Owned, usize)>>,
}

impl<'functions, 'data> ResourceIndex<'functions, 'data> {
    pub(crate) fn new(functions: &'functions Functions<'data>) -> Self {
        let mut index = Self { functions, stated: HashMap::default(), owned: HashMap::default() };
        for (number, section) in functions.tables.sections.iter().enumerate() {
            if section.name == b".nv.info" {
                index.read_info(section.bytes(functions.data));
            } else if let Some((owned, owner)) = owner(section.name) {
                index.owned.entry(owner).or_default().push((owned, number));
            }
        }
        index
    }

    fn read_info(&mut self, bytes: &[u8]) {
        for (attribute, value) in Attributes::new(bytes) {
            let (Some(symbol), Some(number)) = (u32_at(value, 0), u32_at(value, 4)) else { continue };
            let entry = match attribute {
                info::REGCOUNT | info::MIN_STACK_SIZE | info::FRAME_SIZE | info::MAX_STACK_SIZE => {
                    self.stated.entry(symbol).or_default()
                }
                _ => continue,
            };
            match attribute {
                info::REGCOUNT => entry.registers = Some(number),
                info::MIN_STACK_SIZE => entry.stack = Some(number),
                info::FRAME_SIZE => entry.frame = Some(number),
                _ => entry.max_stack = Some(number),
            }
        }
    }

    /// The figures of `function`, which must be of the same cubin. A function inside the section of another has figures
    /// in `.nv.info` only.
    #[must_use]
    pub fn of(&self, function: &Function<'data>) -> Resources {
        let stated = self.stated.get(&function.symbol).copied().unwrap_or_default();
        let text = self.functions.section(function).filter(|_| !function.is_inside_another());
        let mut resources = Resources {
            registers: stated.registers.or_else(|| text.map(|text| text.info >> 24).filter(|count| *count > 0)),
            stack: stated.stack,
            frame: stated.frame,
            max_stack: stated.max_stack,
            images: (self.functions.tables.images == 0).then_some(0),
            ..Resources::default()
        };
        if function.is_inside_another() {
            return resources;
        }
        if self.functions.head.abi == Abi::V7 {
            resources.barriers = text.and_then(|text| u8::try_from((text.flags >> 20) & 0x7f).ok());
        }
        for (owned, section) in self.owned_by(function) {
            match owned {
                Owned::Info => {
                    read_own_info(section.bytes(self.functions.data), self.functions.head.abi, &mut resources)
                }
                Owned::Shared => resources.shared = section.size,
                Owned::Local => resources.local = section.size,
                Owned::Constant(bank) => resources.constants.push((bank, section.size)),
            }
        }
        resources.constants.sort_unstable();
        resources
    }

    /// What the functions share.
    #[must_use]
    pub fn module(&self) -> ModuleResources {
        let mut module = ModuleResources::default();
        for section in &self.functions.tables.sections {
            if matches!(section.name, b".nv.global" | b".nv.global.init") {
                module.global = module.global.saturating_add(section.size);
            } else if let Some((bank, b"")) = constant(section.name) {
                module.constants.push((bank, section.size));
            }
        }
        module.constants.sort_unstable();
        module
    }

    /// Whether the code still needs a device link: then stacks are not stated, and banks may grow.
    #[must_use]
    pub fn is_relocatable(&self) -> bool {
        self.functions.is_relocatable()
    }

    /// Sections named after `function`. Where two local functions of one name have sections, those go to each that point
    /// back to its code.
    fn owned_by(&self, function: &Function<'data>) -> impl Iterator<Item = (Owned, &Section<'data>)> {
        let all = self.owned.get(function.name).map(Vec::as_slice).unwrap_or_default();
        let ambiguous = |owned: Owned| all.iter().filter(|(other, _)| *other == owned).nth(1).is_some();
        all.iter().filter_map(move |(owned, number)| {
            let section = self.functions.tables.sections.get(*number)?;
            (section.info & 0x00ff_ffff == function.section || !ambiguous(*owned)).then_some((*owned, section))
        })
    }
}

/// `.nv.info.K` -> what it is, `K`.
fn owner(name: &[u8]) -> Option<(Owned, &[u8])> {
    let plain = |prefix: &[u8], owned: Owned| Some((owned, name.strip_prefix(prefix)?)).filter(|(_, k)| !k.is_empty());
    plain(b".nv.info.", Owned::Info)
        .or_else(|| plain(b".nv.shared.", Owned::Shared))
        .or_else(|| plain(b".nv.local.", Owned::Local))
        .or_else(|| {
            let (bank, rest) = constant(name)?;
            Some((Owned::Constant(bank), rest.strip_prefix(b".")?)).filter(|(_, k)| !k.is_empty())
        })
}

/// `.nv.constant0.K` -> 0, `.K`.
fn constant(name: &[u8]) -> Option<(u8, &[u8])> {
    let rest = name.strip_prefix(b".nv.constant")?;
    let digits = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, rest) = rest.split_at_checked(digits)?;
    Some((core::str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

fn read_own_info(bytes: &[u8], abi: Abi, resources: &mut Resources) {
    if abi == Abi::V8 {
        resources.barriers = Some(0);
    }
    for (attribute, value) in Attributes::new(bytes) {
        match attribute {
            info::MAX_THREADS => resources.max_threads = three(value),
            info::REQNTID => resources.required_threads = three(value),
            info::CTA_PER_CLUSTER => resources.cluster = three(value),
            info::MAX_CLUSTER_RANK => resources.max_cluster_rank = u32_at(value, 0),
            info::MAXREG_COUNT => resources.max_registers = u16_at(value, 0).filter(|count| *count != 255),
            info::NUM_BARRIERS => resources.barriers = value.first().copied(),
            info::LANGUAGE => resources.language = u32_at(value, 0).map(Language::from_raw),
            info::CBANK_PARAM_SIZE => resources.parameter_bytes = u16_at(value, 0).map(u32::from),
            info::PARAM_CBANK => {
                resources.parameter_offset = u16_at(value, 4);
                let size = u16_at(value, 6).map(u32::from);
                resources.parameter_bytes = resources.parameter_bytes.or(size);
            }
            info::KPARAM_INFO => resources.parameters.extend(parameter(value)),
            _ => {}
        }
    }
    resources.parameters.sort_unstable_by_key(|parameter| (parameter.ordinal, parameter.offset));
}

/// `u32` index, `u16` ordinal, `u16` offset, `u32` of which the bits from 18 on are the size.
fn parameter(value: &[u8]) -> Option<Parameter> {
    Some(Parameter { ordinal: u16_at(value, 4)?, offset: u16_at(value, 6)?, size: u32_at(value, 8)? >> 18 })
}
