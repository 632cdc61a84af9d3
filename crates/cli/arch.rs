//! `fatscan arch`: what an architecture or a GPU is, and how to build for it. Nothing is read but the tables.

mod data;

use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::Style;
use fatscan::json::arch::Answer;
use gpu_arch::catalogue::{self, Architecture, Meaning, Platform, ProductLookup};
use gpu_arch::rules::{Coverage, ptx_covers, sass_covers};
use gpu_arch::spelling::{self, SpellingError, SpellingErrorKind};
use gpu_arch::{Arch, Capability, Suffix, Target};

use crate::args::{ArchArgs, TextFormat};
use crate::escape;
use crate::failure::Failure;
use crate::terminal::{width, wrap};

const BOLD: Style = Style::new().bold();

/// Products that one line names.
const PRODUCTS: usize = 12;

pub(crate) fn run(args: &ArchArgs) -> Result<ExitCode, Failure> {
    if args.common.no_color {
        anstream::ColorChoice::Never.write_global();
    }
    let outputs = args.formats.open(&[])?;
    let mut wanted = Vec::new();
    for name in args.names.iter().filter(|name| *name != "list") {
        wanted.extend(read(name)?.into_iter().map(|found| (name, found)));
    }
    let lists = args.names.iter().any(|name| name == "list");
    outputs.write(|format, out| match format {
        TextFormat::Text => {
            if lists {
                list(out)?;
            }
            for (index, (name, found)) in wanted.iter().enumerate() {
                if lists || index > 0 {
                    writeln!(out)?;
                }
                show(out, name, found)?;
            }
            Ok(())
        }
        TextFormat::Json => data::json(out, answers(lists, &wanted)),
        TextFormat::Csv => data::csv(out, &answers(lists, &wanted)),
        TextFormat::Markdown => data::markdown(out, &answers(lists, &wanted)),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The answers for programs.
fn answers(lists: bool, wanted: &[(&String, Found)]) -> Vec<Answer> {
    let all = catalogue::architectures().iter().filter(|_| lists).filter_map(|row| row.capability.arch());
    let all = all.map(|arch| data::answer("list", &Found::Arch(arch)));
    all.chain(wanted.iter().map(|(name, found)| data::answer(name, found))).collect()
}

/// An architecture with the suffix that was typed, a product or family, or a name of several capabilities.
enum Found {
    Arch(Arch),
    Product(&'static str, Capability),
    Several(Vec<Meaning>),
}

fn read(name: &str) -> Result<Vec<Found>, Failure> {
    let as_device = match spelling::devices(name) {
        Ok(devices) => {
            let found = devices.into_iter().filter_map(|device| match device.name {
                Some(product) => Some(Found::Product(product, device.capability)),
                None => device.capability.arch().map(Found::Arch),
            });
            return Ok(found.collect());
        }
        Err(SpellingError { kind: SpellingErrorKind::AmbiguousDevice { meanings }, item, .. })
            if item == name.trim() =>
        {
            return Ok(vec![Found::Several(meanings)]);
        }
        Err(error) => error,
    };
    // what names code and no device: suffixes, compute_90, lists with +PTX
    match spelling::code(name) {
        Ok(targets) => {
            let mut archs: Vec<Arch> = targets.into_iter().map(Target::arch).collect();
            archs.sort_unstable();
            archs.dedup();
            Ok(archs.into_iter().map(Found::Arch).collect())
        }
        Err(as_code) => {
            // the reading that got further says more: a well spelled architecture that does not exist
            let is_arch = matches!(as_code.kind, SpellingErrorKind::UnknownArch { .. });
            let error = if is_arch { as_code } else { as_device };
            let exact = is_arch && name.ends_with('a');
            let hint = if exact {
                "`a` exists only for 90a 100a 101a 103a 107a 110a 120a 121a; GPUs of 8.9 run sm_86 code"
            } else {
                "`fatscan arch list` shows all"
            };
            Err(Failure::with_hint(error.to_string(), hint))
        }
    }
}

fn list(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{BOLD}{:<6} {:<9} {:<14} {:<9} {:<12} {:<9} suffixes{BOLD:#}",
        "cc", "code", "generation", "platform", "CUDA", "driver"
    )?;
    for row in catalogue::architectures() {
        let Some(arch) = row.capability.arch() else { continue };
        let toolkits = match row.last_toolkit {
            Some(last) => format!("{}-{last}", row.first_toolkit),
            None => format!("{}-", row.first_toolkit),
        };
        let driver = match (row.first_driver, row.last_driver) {
            (Some(first), Some(last)) => format!("{first}-{last}"),
            (Some(first), None) => format!("{first}-"),
            (None, _) => String::new(),
        };
        let line = format!(
            "{:<6} sm_{:<6} {:<14} {:<9} {:<12} {:<9} {}",
            row.capability.to_string(),
            arch.to_string(),
            row.name,
            row.platform.to_string(),
            toolkits,
            driver,
            suffixes(arch).join(" ")
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn suffixes(arch: Arch) -> Vec<String> {
    let all = [Suffix::A, Suffix::F].map(|suffix| Arch::new(arch.number(), suffix));
    all.into_iter().filter(|arch| arch.is_known()).map(|arch| arch.to_string()).collect()
}

fn show(out: &mut impl Write, typed: &str, found: &Found) -> io::Result<()> {
    let (capability, arch, product) = match found {
        Found::Arch(arch) => (arch.capability(), *arch, None),
        Found::Product(name, capability) => {
            (*capability, Arch::plain(capability.arch().map_or(0, Arch::number)), Some(*name))
        }
        Found::Several(meanings) => return several(out, typed, meanings),
    };
    let (subject, predicate) = match product {
        Some(product) => (product.into(), format!("has compute capability {capability}, code sm_{arch}")),
        None => (
            escape::text(typed),
            format!("is sm_{arch} as SASS, compute_{arch} as PTX, compute capability {capability}"),
        ),
    };
    let words: Vec<&str> = predicate.split(' ').collect();
    let used = subject.chars().count().saturating_add(1);
    writeln!(out, "{BOLD}{subject}{BOLD:#} {}", wrap(&words, 2, used, width()))?;
    let Some(row) = catalogue::architecture(capability) else { return Ok(()) };
    facts(out, row, arch)?;
    if let Some(family) = product.and_then(catalogue::family).filter(|family| !family.note.is_empty()) {
        line(out, "note", family.note)?;
    }
    products(out, row)?;
    runs(out, row, arch)?;
    build(out, arch)
}

/// What a name of several capabilities stands for: nothing is chosen.
fn several(out: &mut impl Write, typed: &str, meanings: &[Meaning]) -> io::Result<()> {
    let subject = escape::text(typed);
    let words: Vec<&str> = "stands for several compute capabilities".split(' ').collect();
    let used = subject.chars().count().saturating_add(1);
    writeln!(out, "{BOLD}{subject}{BOLD:#} {}", wrap(&words, 2, used, width()))?;
    for meaning in meanings {
        line(out, &meaning.capability.to_string(), &meaning.examples.join(", "))?;
    }
    if let Some(family) = catalogue::family(typed).filter(|family| !family.note.is_empty()) {
        line(out, "note", family.note)?;
    }
    let all: Vec<String> = meanings.iter().map(|meaning| meaning.capability.to_string()).collect();
    line(out, "name one", &format!("or all: --gpu {}", all.join(",")))
}

fn facts(out: &mut impl Write, row: &Architecture, arch: Arch) -> io::Result<()> {
    line(out, "is", &format!("{} ({}), {}", row.name, row.chips.join(" "), platform(row.platform)))?;
    let toolkits = match (catalogue::first_toolkit(arch), row.last_toolkit) {
        (Some(first), Some(last)) => format!("CUDA {first} to {last}"),
        (Some(first), None) => format!("CUDA {first} and newer"),
        (None, _) => "no toolkit is known".to_owned(),
    };
    line(out, "toolkits", &toolkits)?;
    let driver = match (row.first_driver, row.last_driver) {
        (Some(first), Some(last)) => format!("branch {first} to {last} (Linux)"),
        (Some(first), None) => format!("branch {first} and newer (Linux)"),
        (None, _) => "part of the system's image".to_owned(),
    };
    line(out, "driver", &driver)?;
    if !row.note.is_empty() {
        line(out, "note", row.note)?;
    }
    Ok(())
}

const fn platform(platform: Platform) -> &'static str {
    match platform {
        Platform::Discrete => "discrete GPUs",
        Platform::Tegra => "Tegra (Jetson, DRIVE)",
        Platform::Sbsa => "server-class Arm system",
    }
}

fn products(out: &mut impl Write, row: &Architecture) -> io::Result<()> {
    let names = names(row);
    if names.is_empty() {
        return Ok(());
    }
    let shown = names.iter().take(PRODUCTS).copied().collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(PRODUCTS);
    let text = if more > 0 { format!("{shown} and {more} more") } else { shown };
    line(out, "products", &text)
}

/// The GPUs of an architecture.
fn names(row: &Architecture) -> Vec<&'static str> {
    // the same names with one capability only: an ambiguous one would mislead
    let own = catalogue::products().iter().filter(|product| product.capability == row.capability);
    let clear = own.filter(|product| matches!(catalogue::product(product.name), ProductLookup::Found(_)));
    let mut names: Vec<&str> = clear.map(|product| product.name.trim_start_matches("NVIDIA ")).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The capabilities whose devices run this machine code, and those known that run this portable code.
fn runners(arch: Arch) -> [Vec<String>; 2] {
    let known = || catalogue::architectures().iter().map(|other| other.capability);
    let sass = known().filter(|other| sass_covers(arch, *other, false) == Coverage::Yes);
    let ptx = known().filter(|other| ptx_covers(arch, *other) == Coverage::Yes);
    [sass.map(|other| other.to_string()).collect(), ptx.map(|other| other.to_string()).collect()]
}

/// The machine code that devices of a capability run.
fn taken(capability: Capability) -> Vec<String> {
    let known = catalogue::architectures().iter().filter_map(|other| other.capability.arch());
    known
        .flat_map(|other| [Suffix::None, Suffix::A, Suffix::F].map(|suffix| Arch::new(other.number(), suffix)))
        .filter(|other| other.is_known() && sass_covers(*other, capability, false) == Coverage::Yes)
        .map(|other| other.to_string())
        .collect()
}

/// What its code runs on, and what code its devices run.
fn runs(out: &mut impl Write, row: &Architecture, arch: Arch) -> io::Result<()> {
    let [sass, ptx] = runners(arch);
    line(out, "code", &format!("sm_{arch} runs on {}", sass.join(" ")))?;
    if arch.suffix() == Suffix::None {
        line(out, "", &format!("compute_{arch} (PTX) runs on {} and everything newer", arch.capability()))?;
    } else {
        line(out, "", &format!("compute_{arch} (PTX) runs on {}", ptx.join(" ")))?;
    }
    let taken = taken(row.capability);
    line(out, "devices", &format!("of {} run sm_{}", row.capability, taken.join(" ")))?;
    if row.platform == Platform::Tegra && row.capability.major == 8 {
        line(out, "", "and, with a driver for CUDA 13.2 or newer, the desktop's sm_80 and sm_86")?;
    }
    Ok(())
}

fn build(out: &mut impl Write, arch: Arch) -> io::Result<()> {
    let Some(flags) = catalogue::flags_for(arch) else { return Ok(()) };
    writeln!(out, "  build for it")?;
    writeln!(out, "    nvcc   {}", flags.nvcc)?;
    writeln!(out, "    CMake  {}", flags.cmake)?;
    match flags.torch {
        Some(torch) => writeln!(out, "    torch  {torch}")?,
        None => writeln!(out, "    torch  its extension builder takes no {arch}")?,
    }
    if let Some(xla) = flags.xla {
        writeln!(out, "    XLA    {xla}")?;
    }
    Ok(())
}

fn line(out: &mut impl Write, label: &str, text: &str) -> io::Result<()> {
    let words: Vec<&str> = text.split(' ').collect();
    writeln!(out, "  {label:<9} {}", wrap(&words, 12, 12, width()))
}
