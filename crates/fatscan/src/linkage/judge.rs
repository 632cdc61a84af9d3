//! What the loader does about the CUDA libraries that the files of one environment ask for. Pure.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};

use fatscan_containers::{Format, Library, Machine};

use super::cuda::CudaLibrary;
use super::search::{Answer, Files, Look, Search, Way};
use super::torch::{How, Torch};

/// Loaders of a library that are asked for their DT_RPATH.
const LOADERS: usize = 64;
/// Copies of one library that are told.
const COPIES: usize = 64;

/// A native file of the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct File {
    /// Its absolute path.
    pub path: PathBuf,
    /// The distribution that it belongs to, where the caller knows it.
    pub owner: Option<String>,
    /// How it is linked.
    pub library: Library,
}

impl File {
    /// A file that belongs to no distribution that is known.
    #[must_use]
    pub const fn new(path: PathBuf, library: Library) -> Self {
        Self { path, owner: None, library }
    }
}

/// What becomes of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resolution {
    /// The loader finds it, unless one of its name is loaded already.
    Found {
        /// The file, as the loader spells its path.
        path: PathBuf,
        /// The same without links and `..`.
        real: PathBuf,
        /// By what.
        by: Way,
    },
    /// No path leads to it; after `import torch` it is loaded and serves.
    Loaded {
        /// The file that torch loads.
        path: PathBuf,
        /// How torch comes to it.
        how: How,
    },
    /// A file is found that is no library: the loader stops.
    Broken {
        /// The file.
        path: PathBuf,
    },
    /// Nobody has it.
    Missing,
    /// The driver would bring it, and there is none here.
    NoDriver,
    /// The file that asks is for another machine.
    OtherMachine,
    /// A PE image asks, whose search is not known; or the limit of looks was reached.
    Unknown,
}

/// A CUDA library that a file asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ask {
    /// The name.
    pub name: String,
    /// What the name says.
    pub cuda: CudaLibrary,
    /// What becomes of it.
    pub resolution: Resolution,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileLinkage {
    /// Its path.
    pub path: PathBuf,
    /// The distribution that it belongs to.
    pub owner: Option<String>,
    /// What it is made for.
    pub machine: Machine,
    /// The CUDA libraries that it asks for, in its order.
    pub asks: Vec<Ask>,
    /// The majors of CUDA that it asks for itself.
    pub majors: BTreeSet<u32>,
    /// Those and the ones that its libraries ask for, as far as they are files of the environment.
    pub all_majors: BTreeSet<u32>,
}

/// Of what two majors of CUDA are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Scope {
    /// By one file and the libraries that come with it: both are loaded into one process.
    File,
    /// By files of one distribution, which need not be loaded together.
    Distribution,
    /// By the environment.
    Environment,
}

/// What is noteworthy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindingKind {
    /// A library that nobody has.
    Missing {
        /// Its name.
        name: String,
    },
    /// The loader stops at a file that is no library.
    Broken {
        /// The name that is asked for.
        name: String,
        /// The file.
        path: PathBuf,
    },
    /// No path leads to it, but it is loaded before by a package: so it works after that package was imported, and is how
    /// extensions of PyTorch find CUDA.
    PreloadedBy {
        /// The name that is asked for.
        name: String,
        /// `torch`.
        package: &'static str,
        /// The file.
        path: PathBuf,
        /// How the package comes to load it.
        how: How,
        /// The file that asks needs libraries of that package, so that it cannot be loaded without it.
        is_certain: bool,
    },
    /// The environment has several files of this name.
    Shadowed {
        /// The name.
        name: String,
        /// The one that the loader finds first.
        first: PathBuf,
        /// The other ones, of 64 that were looked at.
        others: Vec<PathBuf>,
    },
    /// Two majors of CUDA: with [`Scope::File`] of all that is asked for, else of what is found or loaded, because what cannot
    /// be loaded mixes with nothing.
    MixedMajors {
        /// Of what.
        scope: Scope,
        /// The names that are asked for, by major; of a file those that it asks for itself.
        majors: BTreeMap<u32, BTreeSet<String>>,
    },
    /// The file is for another machine.
    WrongMachine {
        /// The one that it is for.
        machine: Machine,
        /// 32 or 64.
        bits: u8,
    },
    /// The loader steps over a file of this name that is for another machine.
    SteppedOver {
        /// The name that is asked for.
        name: String,
        /// The file.
        path: PathBuf,
    },
    /// An entry of the DT_RUNPATH, or of the DT_RPATH, of a file that asks for a CUDA library is no directory here.
    RunpathNowhere {
        /// The entry as it stands there.
        entry: String,
        /// What it stands for, if that is known.
        directory: Option<PathBuf>,
        /// No other entry leads anywhere either.
        is_all: bool,
    },
}

/// A finding and whom it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The file; none where a distribution or the environment is meant.
    pub path: Option<PathBuf>,
    /// The distribution.
    pub owner: Option<String>,
    /// What.
    pub kind: FindingKind,
}

/// How the files of an environment are linked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Linkages {
    /// Every file, in the order of the paths.
    pub files: Vec<FileLinkage>,
    /// What is noteworthy: by file in that order, then by distribution, then of the environment.
    pub findings: Vec<Finding>,
    /// The libraries of the driver that are asked for, and where they are. Without a driver they are nowhere, which is a fact
    /// about the machine and no finding.
    pub driver: BTreeMap<String, Option<PathBuf>>,
    /// The limit of looks ([`Search::looks`]) was reached: what was not looked for is [`Resolution::Unknown`].
    pub is_cut: bool,
}

/// Says what the loader would do about every CUDA library that `files` ask for, and what is noteworthy about it.
#[must_use]
pub fn judge(files: &[File], search: &Search, disk: &dyn Files) -> Linkages {
    let counted = Counted { disk, left: Cell::new(search.looks), is_cut: Cell::new(false) };
    let mut own: Vec<&File> = files.iter().collect();
    own.sort_by(|left, right| left.path.cmp(&right.path));
    own.dedup_by(|left, right| left.path == right.path);
    let mut work = Work::new(own, search, &counted);
    work.search_all();
    work.search_by_loaders();
    let torch = Torch::find(&work.files, &work.edges);
    if let Some(torch) = &torch {
        work.take_loaded(torch);
    }
    let mut linkages = work.linkages();
    linkages.findings = work.findings(torch.as_ref(), &linkages.files);
    linkages.is_cut = counted.is_cut.get();
    linkages
}

/// Files whose looks are counted. Behind the limit nothing is there.
struct Counted<'disk> {
    disk: &'disk dyn Files,
    left: Cell<u64>,
    is_cut: Cell<bool>,
}

impl Counted<'_> {
    fn may(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        self.is_cut.set(self.is_cut.get() || left == 0);
        left > 0
    }
}

impl Files for Counted<'_> {
    fn look(&self, path: &Path) -> Look {
        if self.may() { self.disk.look(path) } else { Look::Absent }
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.may() && self.disk.is_directory(path)
    }

    fn real(&self, path: &Path) -> PathBuf {
        self.disk.real(path)
    }
}

struct Work<'own> {
    files: Vec<&'own File>,
    search: &'own Search,
    disk: &'own Counted<'own>,
    /// Files by their names and sonames.
    named: HashMap<&'own str, Vec<usize>>,
    /// Files by their paths without links.
    placed: HashMap<PathBuf, usize>,
    asks: Vec<Vec<Ask>>,
    /// Files that the loader steps over, by the file that asks: name and path.
    skipped: Vec<Vec<(String, PathBuf)>>,
    /// The files that a file's names were found to be.
    edges: Vec<Vec<usize>>,
    /// The names that no path leads to and a file of the environment has, of each file.
    open: Vec<Vec<&'own str>>,
}

impl<'own> Work<'own> {
    fn new(files: Vec<&'own File>, search: &'own Search, disk: &'own Counted<'own>) -> Self {
        let count = files.len();
        let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut placed = HashMap::new();
        for (index, file) in files.iter().enumerate() {
            let name = file.path.file_name().and_then(|name| name.to_str());
            let names: BTreeSet<&str> = name.into_iter().chain(file.library.soname.as_deref()).collect();
            for name in names {
                named.entry(name).or_default().push(index);
            }
            placed.entry(disk.real(&file.path)).or_insert(index);
        }
        Self {
            files,
            search,
            disk,
            named,
            placed,
            asks: vec![Vec::new(); count],
            skipped: vec![Vec::new(); count],
            edges: vec![Vec::new(); count],
            open: vec![Vec::new(); count],
        }
    }

    fn is_foreign(&self, library: &Library) -> bool {
        (library.machine, library.bits) != (self.search.machine, self.search.bits)
    }

    /// Looks for the names of every file as if Python opened it by its path.
    fn search_all(&mut self) {
        for index in 0..self.files.len() {
            let Some(file) = self.files.get(index).copied() else { continue };
            let mut seen = HashSet::new();
            for name in file.library.needed.iter().filter(|name| seen.insert(name.as_str())) {
                let cuda = CudaLibrary::of(name.rsplit('/').next().unwrap_or_default());
                let resolution = if file.library.format != Format::Elf {
                    Resolution::Unknown
                } else if self.is_foreign(&file.library) {
                    Resolution::OtherMachine
                } else if cuda.is_some() || self.named.contains_key(name.as_str()) {
                    self.search_one(index, file, name, cuda.as_ref())
                } else {
                    continue;
                };
                if let (Some(cuda), Some(asks)) = (cuda, self.asks.get_mut(index)) {
                    asks.push(Ask { name: name.clone(), cuda, resolution });
                }
            }
        }
    }

    fn search_one(
        &mut self,
        index: usize,
        file: &'own File,
        name: &'own str,
        cuda: Option<&CudaLibrary>,
    ) -> Resolution {
        let answer = self.search.find(name, (&file.path, &file.library), &[], self.disk);
        let is_driver = cuda.is_some_and(|cuda| cuda.is_driver);
        let resolution = self.resolution(index, &answer, is_driver);
        if let Some(skipped) = self.skipped.get_mut(index).filter(|_| cuda.is_some()) {
            skipped.extend(answer.skipped.into_iter().map(|path| (name.to_owned(), path)));
        }
        if resolution == Resolution::Missing
            && let Some(open) = self.open.get_mut(index)
        {
            open.push(name);
        }
        resolution
    }

    fn resolution(&mut self, index: usize, answer: &Answer, is_driver: bool) -> Resolution {
        match &answer.found {
            Some((path, _)) if answer.is_broken => Resolution::Broken { path: path.clone() },
            Some((path, by)) => {
                let real = self.disk.real(path);
                if let (Some(to), Some(edges)) = (self.placed.get(&real), self.edges.get_mut(index)) {
                    edges.push(*to);
                }
                Resolution::Found { path: path.clone(), real, by: by.clone() }
            }
            None if self.disk.is_cut.get() => Resolution::Unknown,
            None if is_driver => Resolution::NoDriver,
            None => Resolution::Missing,
        }
    }

    /// Looks again by the DT_RPATH of those that load a file: it counts where the file has no DT_RUNPATH.
    fn search_by_loaders(&mut self) {
        let mut loaders: Vec<Vec<usize>> = vec![Vec::new(); self.files.len()];
        for (index, edges) in self.edges.iter().enumerate() {
            for edge in edges {
                if let Some(slot) = loaders.get_mut(*edge) {
                    slot.push(index);
                }
            }
        }
        for index in 0..self.files.len() {
            let Some(file) = self.files.get(index).copied() else { continue };
            let open = self.open.get(index).cloned().unwrap_or_default();
            if open.is_empty() || file.library.runpath.is_some() {
                continue;
            }
            let above = above(index, &loaders);
            let above: Vec<(&Path, &Library)> = above
                .iter()
                .filter_map(|own| self.files.get(*own))
                .map(|own| (own.path.as_path(), &own.library))
                .collect();
            if above.is_empty() {
                continue;
            }
            for name in open {
                let answer = self.search.find(name, (&file.path, &file.library), &above, self.disk);
                if answer.found.is_some() {
                    let resolution = self.resolution(index, &answer, false);
                    self.settle(index, name, resolution);
                }
            }
        }
    }

    /// Replaces what became of a name that no path leads to.
    fn settle(&mut self, index: usize, name: &str, resolution: Resolution) {
        if let Some(ask) = self.asks.get_mut(index).and_then(|asks| asks.iter_mut().find(|ask| ask.name == name)) {
            ask.resolution = resolution;
        }
        if let Some(open) = self.open.get_mut(index) {
            open.retain(|own| *own != name);
        }
    }

    /// Takes what torch has loaded for the names that no path leads to.
    fn take_loaded(&mut self, torch: &Torch) {
        for index in 0..self.files.len() {
            let Some(file) = self.files.get(index).copied() else { continue };
            for name in self.open.get(index).cloned().unwrap_or_default() {
                let Some((to, how)) = torch.loaded.get(name).copied() else { continue };
                // torch's own libraries cannot wait for one of them, and nothing loads itself
                if to == index || (how == How::Needed && torch.owns(file)) {
                    continue;
                }
                let Some(path) = self.files.get(to).map(|own| own.path.clone()) else { continue };
                if let Some(edges) = self.edges.get_mut(index) {
                    edges.push(to);
                }
                self.settle(index, name, Resolution::Loaded { path, how });
            }
        }
    }

    fn linkages(&self) -> Linkages {
        let mut linkages = Linkages::default();
        let own: Vec<BTreeSet<u32>> =
            self.asks.iter().map(|asks| asks.iter().filter_map(|ask| ask.cuda.major()).collect()).collect();
        let all = self.majors_below(own.clone());
        for (((file, asks), majors), all_majors) in self.files.iter().zip(&self.asks).zip(own).zip(all) {
            for ask in asks.iter().filter(|ask| ask.cuda.is_driver) {
                let found = match &ask.resolution {
                    Resolution::Found { path, .. } => Some(path.clone()),
                    Resolution::NoDriver => None,
                    _ => continue,
                };
                let slot = linkages.driver.entry(ask.name.clone()).or_default();
                if slot.is_none() {
                    *slot = found;
                }
            }
            linkages.files.push(FileLinkage {
                path: file.path.clone(),
                owner: file.owner.clone(),
                machine: file.library.machine,
                asks: asks.clone(),
                majors,
                all_majors,
            });
        }
        linkages
    }

    /// Majors of each file and of all that it loads.
    fn majors_below(&self, mut majors: Vec<BTreeSet<u32>>) -> Vec<BTreeSet<u32>> {
        let mut loaders: Vec<Vec<usize>> = vec![Vec::new(); self.files.len()];
        for (index, edges) in self.edges.iter().enumerate() {
            for edge in edges {
                if let Some(slot) = loaders.get_mut(*edge) {
                    slot.push(index);
                }
            }
        }
        let mut next: VecDeque<usize> = (0..self.files.len()).collect();
        while let Some(index) = next.pop_front() {
            let own = majors.get(index).cloned().unwrap_or_default();
            for loader in loaders.get(index).into_iter().flatten() {
                // more than a few are no CUDA, and each step must end
                if let Some(slot) = majors.get_mut(*loader).filter(|slot| slot.len() < 16 && !own.is_subset(slot)) {
                    slot.extend(&own);
                    next.push_back(*loader);
                }
            }
        }
        majors
    }

    fn findings(&self, torch: Option<&Torch>, linkages: &[FileLinkage]) -> Vec<Finding> {
        let mut findings = Vec::new();
        let rows = self.files.iter().zip(linkages).zip(&self.skipped);
        for ((file, linkage), skipped) in rows {
            let mut say = |kind| {
                findings.push(Finding { path: Some(file.path.clone()), owner: file.owner.clone(), kind });
            };
            if file.library.format == Format::Elf && self.is_foreign(&file.library) {
                say(FindingKind::WrongMachine { machine: file.library.machine, bits: file.library.bits });
                continue;
            }
            for (name, path) in skipped {
                say(FindingKind::SteppedOver { name: name.clone(), path: path.clone() });
            }
            for ask in &linkage.asks {
                self.of_ask(file, ask, torch).into_iter().for_each(&mut say);
            }
            if !linkage.asks.is_empty() {
                self.nowhere(file).into_iter().for_each(&mut say);
            }
            if linkage.all_majors.len() > 1 {
                let mut majors: BTreeMap<u32, BTreeSet<String>> =
                    linkage.all_majors.iter().map(|major| (*major, BTreeSet::new())).collect();
                for ask in &linkage.asks {
                    if let Some(names) = ask.cuda.major().and_then(|major| majors.get_mut(&major)) {
                        names.insert(ask.name.clone());
                    }
                }
                say(FindingKind::MixedMajors { scope: Scope::File, majors });
            }
        }
        let mut by_owner: BTreeMap<&str, Vec<&FileLinkage>> = BTreeMap::new();
        for linkage in linkages {
            if let Some(owner) = &linkage.owner {
                by_owner.entry(owner).or_default().push(linkage);
            }
        }
        for (owner, own) in by_owner {
            findings.extend(mixed(&own, Scope::Distribution, Some(owner)));
        }
        findings.extend(mixed(&linkages.iter().collect::<Vec<_>>(), Scope::Environment, None));
        findings
    }

    fn of_ask(&self, file: &File, ask: &Ask, torch: Option<&Torch>) -> Option<FindingKind> {
        let name = ask.name.clone();
        Some(match &ask.resolution {
            Resolution::Missing => FindingKind::Missing { name },
            Resolution::Broken { path } => FindingKind::Broken { name, path: path.clone() },
            Resolution::Loaded { path, how } => {
                let torch = torch?;
                let is_certain = file.library.needed.iter().any(|name| {
                    let loaded = torch.loaded.get(name).and_then(|(index, _)| self.files.get(*index));
                    loaded.is_some_and(|own| torch.owns(own))
                });
                FindingKind::PreloadedBy { name, package: "torch", path: path.clone(), how: *how, is_certain }
            }
            Resolution::Found { real, .. } => {
                let same = self.named.get(ask.name.as_str()).into_iter().flatten();
                let same = same.filter_map(|index| self.files.get(*index)).filter(|own| !self.is_foreign(&own.library));
                let same = same.take(COPIES);
                let others: Vec<PathBuf> =
                    same.filter(|own| self.disk.real(&own.path) != *real).map(|own| own.path.clone()).collect();
                if others.is_empty() {
                    return None;
                }
                FindingKind::Shadowed { name, first: real.clone(), others }
            }
            _ => return None,
        })
    }

    /// The entries of a file's paths that lead nowhere.
    fn nowhere(&self, file: &File) -> Vec<FindingKind> {
        let Some(paths) = file.library.runpath.as_deref().or(file.library.rpath.as_deref()) else { return Vec::new() };
        if file.library.format != Format::Elf {
            return Vec::new();
        }
        let directories = self.search.directories(paths, &file.path);
        let all = directories.len();
        let is_there =
            |directory: &Option<PathBuf>| directory.as_deref().is_some_and(|own| self.disk.is_directory(own));
        let gone: Vec<_> = directories.into_iter().filter(|(_, directory)| !is_there(directory)).collect();
        // what was not looked for is not known to be nowhere
        if self.disk.is_cut.get() {
            return Vec::new();
        }
        let is_all = gone.len() == all;
        let found = gone.into_iter().map(|(entry, directory)| FindingKind::RunpathNowhere {
            entry: entry.to_owned(),
            directory,
            is_all,
        });
        found.collect()
    }
}

/// Those that load a file, the nearest first.
fn above(index: usize, loaders: &[Vec<usize>]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut seen = HashSet::from([index]);
    let mut next = VecDeque::from([index]);
    while let Some(index) = next.pop_front() {
        for loader in loaders.get(index).into_iter().flatten() {
            if found.len() < LOADERS && seen.insert(*loader) {
                found.push(*loader);
                next.push_back(*loader);
            }
        }
    }
    found
}

/// The finding of several files that can be loaded and ask for more than one major.
fn mixed(files: &[&FileLinkage], scope: Scope, owner: Option<&str>) -> Option<Finding> {
    let mut majors: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for ask in files.iter().flat_map(|file| &file.asks) {
        let can = matches!(ask.resolution, Resolution::Found { .. } | Resolution::Loaded { .. });
        if let Some(major) = ask.cuda.major().filter(|_| can) {
            majors.entry(major).or_default().insert(ask.name.clone());
        }
    }
    let kind = FindingKind::MixedMajors { scope, majors };
    let FindingKind::MixedMajors { majors, .. } = &kind else { return None };
    (majors.len() > 1).then(|| Finding { path: None, owner: owner.map(str::to_owned), kind })
}
