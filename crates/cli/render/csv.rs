//! Comma-separated values (RFC 4180), a line for each kind of code in an artefact or member, or for each image.

use std::collections::BTreeMap;
use std::io::{self, Write};

use fatscan::json::{Code, Module};
use fatscan::{Coverage, Linkage, Member, Report};

use super::notes::Labels;
use super::words::{self, Marks};
use crate::args::By;
use crate::escape;

pub(crate) fn write(out: &mut impl Write, report: &Report, by: By) -> io::Result<()> {
    let labels = Labels::of(report);
    match by {
        By::Module => by_module(out, report, &labels),
        By::Member | By::Artefact => by_code(out, report, by, &labels),
    }
}

fn by_code(out: &mut impl Write, report: &Report, by: By, labels: &Labels<'_>) -> io::Result<()> {
    line(
        out,
        &[
            "artefact",
            "member",
            "format",
            "machine",
            "kind",
            "arch",
            "isa",
            "source",
            "linkage",
            "count",
            "stored_bytes",
            "unpacked_bytes",
            "compression",
            "everywhere",
            "modules",
            "of_modules",
            "specialised_modules",
            "payload_says",
        ],
    )?;
    for artefact in &report.artefacts {
        if by == By::Artefact {
            let modules: Vec<_> = artefact.members.iter().flat_map(|member| member.modules.iter().cloned()).collect();
            let place = [&artefact.path, "", artefact.kind.name(), ""];
            rows(out, place, &Code::rows(&modules), &Shares::of(&artefact.members, labels))?;
            continue;
        }
        for member in &artefact.members {
            let place = [&artefact.path, &member.path, member.format, member.machine.unwrap_or_default()];
            rows(out, place, &Code::rows(&member.modules), &Shares::of(std::slice::from_ref(member), labels))?;
        }
    }
    Ok(())
}

/// What lines of one artefact or member say of modules and payloads.
struct Shares {
    /// Of loadable and of relocatable code, by kind and architecture: modules that hold it, of how many, and specialised
    /// modules beside them.
    modules: BTreeMap<(bool, String, String), [usize; 3]>,
    /// What payloads say instead, by the line that their images are in.
    says: BTreeMap<[String; 5], BTreeMap<String, usize>>,
}

impl Shares {
    fn of(members: &[Member], labels: &Labels<'_>) -> Self {
        let mut modules = BTreeMap::new();
        for relocatable in [false, true] {
            let coverage = Coverage::sum(members.iter().map(|member| Coverage::of(member, relocatable)));
            for ((kind, arch), count) in &coverage.images {
                let key = (relocatable, kind.name().to_owned(), words::name(*kind, *arch, &Marks::new()));
                modules.insert(key, [coverage.holding(*kind, *arch), coverage.deciding(), count.specialised]);
            }
        }
        let mut says: BTreeMap<[String; 5], BTreeMap<String, usize>> = BTreeMap::new();
        for member in members {
            for module in &member.modules {
                let own =
                    (0..module.images.len()).filter_map(|index| Some((index, labels.says(member, module, index)?)));
                let own: Vec<_> = own.collect();
                if own.is_empty() {
                    continue;
                }
                let view = Module::new(member, module);
                for (index, words) in own {
                    let Some(image) = view.images.get(index) else { continue };
                    let key =
                        line_of(&image.kind, image.arch.as_ref(), image.isa.as_ref(), &image.source, &image.linkage);
                    let number = says.entry(key).or_default().entry(words.to_owned()).or_default();
                    *number = number.saturating_add(1);
                }
            }
        }
        Self { modules, says }
    }

    /// The last five cells of a line.
    fn cells(&self, code: &Code) -> [String; 5] {
        let relocatable = code.linkage == Linkage::Relocatable.name();
        let arch = code.arch.clone().unwrap_or_default();
        let [everywhere, modules, of, specialised] = match self.modules.get(&(relocatable, code.kind.clone(), arch)) {
            Some([held, of, beside]) => {
                let everywhere = held == of && *of > 0;
                [everywhere.to_string(), held.to_string(), of.to_string(), beside.to_string()]
            }
            // what nothing loads and other vendors' code is in no coverage
            None => [const { String::new() }; 4],
        };
        let line = line_of(&code.kind, code.arch.as_ref(), code.isa.as_ref(), &code.source, &code.linkage);
        let says = self.says.get(&line).into_iter().flatten().map(|(says, number)| format!("{says} ({number})"));
        [everywhere, modules, of, specialised, says.collect::<Vec<_>>().join("; ")]
    }
}

fn line_of(kind: &str, arch: Option<&String>, isa: Option<&String>, source: &str, linkage: &str) -> [String; 5] {
    let text = |text: Option<&String>| text.cloned().unwrap_or_default();
    [kind.to_owned(), text(arch), text(isa), source.to_owned(), linkage.to_owned()]
}

fn rows(out: &mut impl Write, place: [&str; 4], codes: &[Code], shares: &Shares) -> io::Result<()> {
    let [artefact, member, format, machine] = place;
    for code in codes {
        let [everywhere, modules, of_modules, specialised, says] = shares.cells(code);
        line(
            out,
            &[
                artefact,
                member,
                format,
                machine,
                &code.kind,
                code.arch.as_deref().unwrap_or_default(),
                code.isa.as_deref().unwrap_or_default(),
                &code.source,
                &code.linkage,
                &code.count.to_string(),
                &code.stored_bytes.to_string(),
                &code.unpacked_bytes.map(|bytes| bytes.to_string()).unwrap_or_default(),
                &compression(&code.compression),
                &everywhere,
                &modules,
                &of_modules,
                &specialised,
                &says,
            ],
        )?;
    }
    Ok(())
}

fn compression(counts: &BTreeMap<String, u64>) -> String {
    counts.iter().map(|(name, count)| format!("{name}:{count}")).collect::<Vec<_>>().join(" ")
}

fn by_module(out: &mut impl Write, report: &Report, labels: &Labels<'_>) -> io::Result<()> {
    line(
        out,
        &[
            "artefact",
            "place",
            "image",
            "section",
            "source",
            "wrapped",
            "kind",
            "arch",
            "isa",
            "linkage",
            "flags",
            "compression",
            "stored_bytes",
            "unpacked_bytes",
            "debug",
            "identifier",
            "options",
            "payload_says",
        ],
    )?;
    for artefact in &report.artefacts {
        for member in &artefact.members {
            for own in &member.modules {
                let module = Module::new(member, own);
                for (index, image) in module.images.iter().enumerate() {
                    line(
                        out,
                        &[
                            &artefact.path,
                            &module.place,
                            &index.to_string(),
                            module.section.as_deref().unwrap_or_default(),
                            &module.source,
                            module.wrapped.map(|wrapped| if wrapped { "true" } else { "false" }).unwrap_or_default(),
                            &image.kind,
                            image.arch.as_deref().unwrap_or_default(),
                            image.isa.as_deref().unwrap_or_default(),
                            &image.linkage,
                            &format!("{:#x}", image.flags),
                            &image.compression,
                            &image.stored_bytes.to_string(),
                            &image.unpacked_bytes.map(|bytes| bytes.to_string()).unwrap_or_default(),
                            if image.debug { "true" } else { "false" },
                            image.identifier.as_deref().unwrap_or_default(),
                            image.options.as_deref().unwrap_or_default(),
                            labels.says(member, own, index).unwrap_or_default(),
                        ],
                    )?;
                }
            }
        }
    }
    Ok(())
}

pub(crate) fn line(out: &mut impl Write, all: &[&str]) -> io::Result<()> {
    fields(out, all)?;
    out.write_all(b"\r\n")
}

/// Fields without the end of the line.
pub(super) fn fields(out: &mut impl Write, fields: &[&str]) -> io::Result<()> {
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        out.write_all(escape::csv(field).as_bytes())?;
    }
    Ok(())
}
