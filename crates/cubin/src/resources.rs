use foldhash::{HashMap, HashMapExt};

use crate::attributes::Attributes;
use crate::digits::number;
use crate::function::Function;
use crate::functions::Functions;
use crate::head::Abi;
use crate::info::{self, three, u16_at, u32_at};
use crate::limits::Budget;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owned {
    Info,
    Shared,
    Local,
    Constant(u8),
}

/// A section that is named after a function. Ordered so that those of one name and kind are together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OwnedSection {
    /// Number of the name.
    name: u32,
    owned: Owned,
    /// Index of the section of code that it points to.
    code: u32,
    section: u32,
}

/// What is known of one function before its own section is read.
#[derive(Clone, Copy, Debug, Default)]
struct Stated {
    registers: Option<u32>,
    stack: Option<u32>,
    frame: Option<u32>,
    max_stack: Option<u32>,
    /// Its `.nv.info.K` is beyond what is read.
    is_unread: bool,
}

/// How often the bytes of a cubin may be read as records of `.nv.info`, shared ones and those of functions each. In an
/// honest file no two of these sections lie on the same bytes, and none is of two functions.
const READINGS: usize = 2;

/// The resource figures of a cubin, ready to be looked up: `.nv.info` read once, sections by their owner.
#[derive(Clone, Debug)]
pub struct ResourceIndex<'functions, 'data> {
    functions: &'functions Functions<'data>,
    /// In the order of the functions.
    stated: Vec<Stated>,
    /// Numbers of the names of functions.
    names: HashMap<&'data [u8], u32>,
    /// In order.
    owned: Vec<OwnedSection>,
    is_complete: bool,
}

impl<'functions, 'data> ResourceIndex<'functions, 'data> {
    pub(crate) fn new(functions: &'functions Functions<'data>) -> Self {
        let all = functions.all();
        let mut names = HashMap::with_capacity(all.len());
        for (number, function) in all.iter().enumerate() {
            names.entry(function.name).or_insert(u32::try_from(number).unwrap_or(u32::MAX));
        }
        let stated = vec![Stated::default(); all.len()];
        let mut index = Self { functions, stated, names, owned: Vec::new(), is_complete: true };
        let mut budget = Budget::of(functions.data, READINGS);
        for (number, section) in (0_u32..).zip(&functions.tables.sections) {
            if section.name == b".nv.info" {
                let bytes = section.bytes(functions.data);
                if budget.take(bytes.len()).is_ok() {
                    index.read_info(bytes);
                } else {
                    index.is_complete = false;
                }
            } else if let Some((owned, owner)) = owner(section.name)
                && let Some(name) = index.names.get(owner)
            {
                let code = section.info & 0x00ff_ffff;
                index.owned.push(OwnedSection { name: *name, owned, code, section: number });
            }
        }
        index.owned.sort_unstable();
        index.allot();
        index
    }

    fn read_info(&mut self, bytes: &[u8]) {
        for (attribute, value) in Attributes::new(bytes) {
            let (Some(symbol), Some(number)) = (u32_at(value, 0), u32_at(value, 4)) else { continue };
            let known =
                matches!(attribute, info::REGCOUNT | info::MIN_STACK_SIZE | info::FRAME_SIZE | info::MAX_STACK_SIZE);
            let place = if known { place(self.functions.all(), symbol) } else { None };
            let Some(entry) = place.and_then(|place| self.stated.get_mut(place)) else { continue };
            match attribute {
                info::REGCOUNT => entry.registers = Some(number),
                info::MIN_STACK_SIZE => entry.stack = Some(number),
                info::FRAME_SIZE => entry.frame = Some(number),
                _ => entry.max_stack = Some(number),
            }
        }
    }

    /// Gives each function its own `.nv.info.K`, in their order, as long as all together do not take more than the cubin
    /// can have.
    fn allot(&mut self) {
        let mut budget = Budget::of(self.functions.data, READINGS);
        for (place, function) in self.functions.all().iter().enumerate() {
            let info = self.owned_by(function).find(|(owned, _)| *owned == Owned::Info);
            let bytes = info.map_or(0, |(_, section)| section.bytes(self.functions.data).len());
            if budget.take(bytes).is_err() {
                self.is_complete = false;
                if let Some(stated) = self.stated.get_mut(place) {
                    stated.is_unread = true;
                }
            }
        }
    }

    /// Whether all that the cubin states of its functions was read. It is not where the sections of `.nv.info` lie upon
    /// each other, so that reading them all takes more than twice the cubin, which no honest one does: what is missing
    /// then counts as not stated.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The figures of `function`, which must be of the same cubin. A function inside the section of another has figures
    /// in `.nv.info` only.
    #[must_use]
    pub fn of(&self, function: &Function<'data>) -> Resources {
        let place = place(self.functions.all(), function.symbol);
        let stated = place.and_then(|place| self.stated.get(place)).copied().unwrap_or_default();
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
                Owned::Info if stated.is_unread => {}
                Owned::Info => {
                    read_own_info(section.bytes(self.functions.data), self.functions.head.abi, &mut resources)
                }
                Owned::Shared => resources.shared = section.size,
                Owned::Local => resources.local = section.size,
                Owned::Constant(bank) => resources.constants.push((bank, section.size)),
            }
        }
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

    /// Sections named after `function`, of each kind one. Where two local functions of one name have sections, each has
    /// the one that points back to its code.
    fn owned_by(&self, function: &Function<'data>) -> impl Iterator<Item = (Owned, &Section<'data>)> {
        let name = self.names.get(function.name).filter(|_| !function.is_inside_another());
        let from = |name: u32| self.owned.get(self.owned.partition_point(|section| section.name < name)..);
        let mut rest = name.and_then(|name| from(*name)).unwrap_or_default();
        let code = function.section;
        let found = core::iter::from_fn(move || {
            let first = rest.first().filter(|first| Some(&first.name) == name)?;
            // those of the same name and kind, among which the search is fast
            let of_kind = |section: &OwnedSection| (section.name, section.owned) == (first.name, first.owned);
            let (same, behind) = rest.split_at_checked(rest.partition_point(of_kind))?;
            rest = behind;
            let own = same.get(same.partition_point(|section| section.code < code)).filter(|own| own.code == code);
            Some(own.or((same.len() == 1).then_some(first)))
        });
        found.flatten().filter_map(|own| {
            let section = self.functions.tables.sections.get(usize::try_from(own.section).ok()?)?;
            Some((own.owned, section))
        })
    }
}

/// Where the function of that symbol stands in the list.
fn place(functions: &[Function<'_>], symbol: u32) -> Option<usize> {
    functions.binary_search_by_key(&symbol, |function| function.symbol).ok()
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

/// More than any device has: 18.
const BANKS: u8 = 32;

/// `.nv.constant0.K` -> 0, `.K`.
fn constant(name: &[u8]) -> Option<(u8, &[u8])> {
    let rest = name.strip_prefix(b".nv.constant")?;
    number(rest).filter(|(bank, _)| *bank < BANKS)
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
