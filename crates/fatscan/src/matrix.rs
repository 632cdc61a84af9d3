//! Kernels by architecture: which image of a file holds which kernel, and which kernels a device would lack.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foldhash::HashMap;
use gpu_arch::rules::{Device, Environment};

use crate::judge::picked;
use crate::model::{CodeKind, Image, Kernel, KernelResources, Linkage, Member};

/// The columns and rows of a member's kernels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    /// Kinds and architectures of images with kernels, SASS first.
    pub columns: Vec<Column>,
    /// Kernels in the order of their names; local ones of different modules stand apart.
    pub rows: Vec<Row>,
    /// Images whose kernels could not be read.
    pub unreadable: usize,
}

/// One architecture of one kind, loadable or relocatable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column {
    /// Input of a device link.
    pub relocatable: bool,
    /// SASS or PTX.
    pub kind: CodeKind,
    /// Architecture.
    pub arch: gpu_arch::Arch,
}

/// One kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Symbol, mangled.
    pub name: Arc<str>,
    /// The module (index in the member) of a local symbol; a global one is the same in every module.
    pub module: Option<usize>,
    /// By column.
    pub cells: Cells,
}

/// The cells of a row, by column. Most rows have few, and a library has many rows: they lie side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells(Vec<(Column, Cell)>);

impl Cells {
    /// The cell of a column.
    #[must_use]
    pub fn get(&self, column: &Column) -> Option<&Cell> {
        let at = self.0.binary_search_by_key(column, |(own, _)| *own).ok()?;
        self.0.get(at).map(|(_, cell)| cell)
    }

    /// Columns and cells, in the order of the columns.
    pub fn iter(&self) -> impl Iterator<Item = (&Column, &Cell)> {
        self.0.iter().map(|(column, cell)| (column, cell))
    }

    /// The columns, in their order.
    pub fn keys(&self) -> impl Iterator<Item = &Column> {
        self.iter().map(|(column, _)| column)
    }

    /// The cells, in the order of the columns.
    pub fn values(&self) -> impl Iterator<Item = &Cell> {
        self.iter().map(|(_, cell)| cell)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a definition to the cell of a column.
    fn add(&mut self, column: Column, new: Cell) {
        match self.0.binary_search_by_key(&column, |(own, _)| *own) {
            Err(at) => {
                // one at a time: most rows have fewer than a vector would make room for
                self.0.reserve_exact(1);
                self.0.insert(at, (column, new));
            }
            Ok(at) => {
                let Some((_, cell)) = self.0.get_mut(at) else { return };
                let count = cell.count.saturating_add(new.count);
                if new.code_bytes > cell.code_bytes {
                    *cell = new;
                }
                cell.count = count;
            }
        }
    }
}

/// A kernel for one architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Definitions: modules may hold copies.
    pub count: usize,
    /// Bytes of machine code, of the largest copy.
    pub code_bytes: u64,
    /// What the largest copy needs.
    pub resources: Option<Box<KernelResources>>,
    /// Whether it looks compiled away: at most [`STUB_CODE`] bytes, while another architecture's copy is at least four
    /// times as large.
    pub is_stub: bool,
}

/// Machine code up to this size may be the empty body of a kernel that is compiled away for an architecture.
pub const STUB_CODE: u64 = 256;

/// Sums of one column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Kernels by name (local ones of different modules apart).
    pub kernels: usize,
    /// Distinct symbols.
    pub names: usize,
    /// Definitions.
    pub definitions: usize,
    /// Bytes of machine code of all definitions.
    pub code_bytes: u64,
    /// Kernels that look compiled away.
    pub stubs: usize,
}

impl Matrix {
    /// The kernels of a member that was scanned with a [`crate::KernelDepth`].
    #[must_use]
    pub fn of(member: &Member) -> Self {
        // a scan keeps each name once, so that its address tells it; rows that it does not tell are joined afterwards
        let mut known: HashMap<(usize, usize), usize> = HashMap::default();
        let mut rows: Vec<Row> = Vec::new();
        let mut columns = BTreeSet::new();
        let mut unreadable = 0usize;
        for (index, module) in member.modules.iter().enumerate() {
            for image in module.images.iter().filter(|image| crate::kernels::has_kernels(image.kind)) {
                let (Some(kernels), Some(column)) = (&image.kernels, column(image)) else {
                    unreadable = unreadable.saturating_add(1);
                    continue;
                };
                if !kernels.is_empty() {
                    columns.insert(column);
                }
                for kernel in kernels {
                    let module = kernel.is_local.then_some(index);
                    let address = Arc::as_ptr(&kernel.name).addr();
                    let key = (address, module.map_or(0, |index| index.saturating_add(1)));
                    let at = *known.entry(key).or_insert_with(|| {
                        rows.push(Row { name: Arc::clone(&kernel.name), module, cells: Cells::default() });
                        rows.len().saturating_sub(1)
                    });
                    if let Some(row) = rows.get_mut(at) {
                        row.cells.add(column, Cell::of(kernel));
                    }
                }
            }
        }
        rows.sort_unstable_by(|a, b| (&a.name, a.module).cmp(&(&b.name, b.module)));
        rows.dedup_by(|later, row| {
            let same = (&later.name, later.module) == (&row.name, row.module);
            if same {
                later.cells.0.drain(..).for_each(|(column, cell)| row.cells.add(column, cell));
            }
            same
        });
        rows.iter_mut().for_each(mark_stubs);
        Self { columns: columns.into_iter().collect(), rows, unreadable }
    }

    /// The sums of a column. Code bytes count the largest copy of each kernel once for each definition.
    #[must_use]
    pub fn totals(&self, column: Column) -> Totals {
        let mut totals = Totals::default();
        let mut last: Option<&Arc<str>> = None;
        for row in &self.rows {
            let Some(cell) = row.cells.get(&column) else { continue };
            // rows are in the order of their names
            if last != Some(&row.name) {
                totals.names = totals.names.saturating_add(1);
                last = Some(&row.name);
            }
            totals.kernels = totals.kernels.saturating_add(1);
            totals.definitions = totals.definitions.saturating_add(cell.count);
            let bytes = cell.code_bytes.saturating_mul(u64::try_from(cell.count).unwrap_or(u64::MAX));
            totals.code_bytes = totals.code_bytes.saturating_add(bytes);
            totals.stubs = totals.stubs.saturating_add(usize::from(cell.is_stub));
        }
        totals
    }

    /// Kernels that no image of this architecture holds (suffix matched exactly), though another loadable one does.
    #[must_use]
    pub fn missing(&self, kind: CodeKind, arch: gpu_arch::Arch) -> Vec<&Row> {
        let lacks = |row: &&Row| {
            let loadable = || row.cells.keys().filter(|column| !column.relocatable);
            loadable().next().is_some() && !loadable().any(|column| column.kind == kind && column.arch == arch)
        };
        self.rows.iter().filter(lacks).collect()
    }

    /// Kernels that no other image than those of this architecture holds (suffix matched exactly); code for a device link
    /// is left aside.
    #[must_use]
    pub fn only(&self, kind: CodeKind, arch: gpu_arch::Arch) -> Vec<&Row> {
        let alone = |row: &&Row| {
            let mut loadable = row.cells.keys().filter(|column| !column.relocatable).peekable();
            loadable.peek().is_some() && loadable.all(|column| column.kind == kind && column.arch == arch)
        };
        self.rows.iter().filter(alone).collect()
    }
}

pub(crate) fn column(image: &Image) -> Option<Column> {
    Some(Column { relocatable: image.linkage == Linkage::Relocatable, kind: image.kind, arch: image.arch? })
}

impl Cell {
    fn of(kernel: &Kernel) -> Self {
        Self { count: 1, code_bytes: kernel.code_bytes, resources: kernel.resources.clone(), is_stub: false }
    }
}

fn mark_stubs(row: &mut Row) {
    let largest = row.cells.values().map(|cell| cell.code_bytes).max().unwrap_or(0);
    for (column, cell) in &mut row.cells.0 {
        cell.is_stub = column.kind == CodeKind::Sass
            && cell.code_bytes <= STUB_CODE
            && cell.code_bytes.saturating_mul(4) <= largest;
    }
}

/// A kernel that a device would lack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hole {
    /// Symbol, mangled.
    pub name: Arc<str>,
    /// The module of a local symbol.
    pub module: Option<usize>,
    /// The image that the device would load of a module that defines it elsewhere; `None` where it loads none.
    pub loads: Option<Column>,
    /// Where the kernel is.
    pub held_by: BTreeSet<Column>,
}

/// Kernels that a device would lack: some loadable image of the member defines them, none that the device would load
/// does.
#[must_use]
pub fn holes(member: &Member, device: &Device, environment: &Environment) -> Vec<Hole> {
    type Key = (Arc<str>, Option<usize>);
    let mut held: BTreeMap<Key, (BTreeSet<Column>, Option<Column>)> = BTreeMap::new();
    let mut loaded: BTreeSet<Key> = BTreeSet::new();
    for (index, module) in member.modules.iter().enumerate() {
        let picked = picked(module, device, environment);
        let key = |kernel: &Kernel| (Arc::clone(&kernel.name), kernel.is_local.then_some(index));
        for image in module.images.iter().filter(|image| image.linkage != Linkage::Relocatable) {
            let Some(column) = column(image) else { continue };
            for kernel in image.kernels.iter().flatten() {
                let (columns, loads) = held.entry(key(kernel)).or_default();
                columns.insert(column);
                *loads = loads.or_else(|| picked.and_then(self::column));
            }
        }
        loaded.extend(picked.iter().flat_map(|image| image.kernels.iter().flatten()).map(key));
    }
    let holes = held.into_iter().filter(|(key, _)| !loaded.contains(key));
    holes.map(|((name, module), (held_by, loads))| Hole { name, module, loads, held_by }).collect()
}
