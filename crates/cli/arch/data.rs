//! The same for programs, and in a table for issues.

use std::io::{self, Write};

use fatscan::json::Tool;
use fatscan::json::arch::{Answer, Architecture, Architectures, Build, Meaning};
use gpu_arch::catalogue;
use gpu_arch::{Arch, Suffix};

use super::{Found, names, runners, suffixes, taken};
use crate::escape;
use crate::render::csv;

pub(super) fn answer(asked: &str, found: &Found) -> Answer {
    let mut answer =
        Answer { asked: asked.to_owned(), product: None, note: None, architecture: None, meanings: Vec::new() };
    let note = |name: &str| catalogue::family(name).map(|family| family.note).filter(|note| !note.is_empty());
    match found {
        Found::Arch(arch) => answer.architecture = architecture(*arch),
        Found::Product(name, capability) => {
            answer.product = Some((*name).to_owned());
            answer.note = note(name).map(ToOwned::to_owned);
            answer.architecture = capability.arch().and_then(architecture);
        }
        Found::Several(meanings) => {
            answer.note = note(asked).map(ToOwned::to_owned);
            let meanings = meanings.iter().map(|own| Meaning {
                cc: own.capability.to_string(),
                examples: own.examples.iter().map(ToString::to_string).collect(),
            });
            answer.meanings = meanings.collect();
        }
    }
    answer
}

fn architecture(arch: Arch) -> Option<Architecture> {
    let row = catalogue::architecture(arch.capability())?;
    let [sass_runs_on, ptx_runs_on] = runners(arch);
    let build = catalogue::flags_for(arch).map(|flags| Build {
        nvcc: flags.nvcc.to_string(),
        cmake: flags.cmake.to_string(),
        torch: flags.torch.map(|flags| flags.to_string()),
        xla: flags.xla.map(|flags| flags.to_string()),
    });
    Some(Architecture {
        cc: row.capability.to_string(),
        sass: format!("sm_{arch}"),
        ptx: format!("compute_{arch}"),
        generation: row.name.to_owned(),
        chips: row.chips.iter().map(ToString::to_string).collect(),
        platform: row.platform.to_string(),
        first_toolkit: catalogue::first_toolkit(arch).map(|version| version.to_string()),
        last_toolkit: row.last_toolkit.map(|version| version.to_string()),
        first_driver: row.first_driver.map(u32::from),
        last_driver: row.last_driver.map(u32::from),
        note: Some(row.note).filter(|note| !note.is_empty()).map(ToOwned::to_owned),
        products: names(row).into_iter().map(ToOwned::to_owned).collect(),
        suffixes: suffixes(arch),
        sass_runs_on,
        ptx_runs_on,
        ptx_runs_on_newer: arch.suffix() == Suffix::None,
        runs: taken(row.capability).into_iter().map(|own| format!("sm_{own}")).collect(),
        build,
    })
}

pub(super) fn json(out: &mut impl Write, answers: Vec<Answer>) -> io::Result<()> {
    escape::json_line(out, &Architectures { schema: 1, tool: Tool::default(), answers })
}

/// A line for each answer; one of several capabilities has a line for each.
pub(super) fn csv(out: &mut impl Write, answers: &[Answer]) -> io::Result<()> {
    csv::line(
        out,
        &[
            "asked",
            "product",
            "cc",
            "sass",
            "ptx",
            "generation",
            "platform",
            "first_toolkit",
            "last_toolkit",
            "first_driver",
            "last_driver",
            "sass_runs_on",
            "runs",
            "nvcc",
            "cmake",
            "torch",
        ],
    )?;
    for own in answers {
        let product = own.product.as_deref().unwrap_or_default();
        if let Some(arch) = &own.architecture {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
            let [nvcc, cmake, torch] = arch
                .build
                .as_ref()
                .map_or_else(Default::default, |build| [build.nvcc.clone(), build.cmake.clone(), text(&build.torch)]);
            csv::line(
                out,
                &[
                    &own.asked,
                    product,
                    &arch.cc,
                    &arch.sass,
                    &arch.ptx,
                    &arch.generation,
                    &arch.platform,
                    &text(&arch.first_toolkit),
                    &text(&arch.last_toolkit),
                    &number(arch.first_driver),
                    &number(arch.last_driver),
                    &arch.sass_runs_on.join(" "),
                    &arch.runs.join(" "),
                    &nvcc,
                    &cmake,
                    &torch,
                ],
            )?;
        }
        for meaning in &own.meanings {
            let examples = meaning.examples.join(", ");
            let mut cells = vec![own.asked.as_str(), examples.as_str(), meaning.cc.as_str()];
            cells.resize(16, "");
            csv::line(out, &cells)?;
        }
    }
    Ok(())
}

pub(super) fn markdown(out: &mut impl Write, answers: &[Answer]) -> io::Result<()> {
    writeln!(out, "| asked | compute capability | code | generation | CUDA | driver | runs on | runs |")?;
    writeln!(out, "|---|---|---|---|---|---|---|---|")?;
    let range = |first: Option<String>, last: Option<String>| match (first, last) {
        (Some(first), Some(last)) => format!("{first} to {last}"),
        (Some(first), None) => format!("{first} and newer"),
        (None, _) => String::new(),
    };
    for own in answers {
        let asked = own.product.as_ref().unwrap_or(&own.asked);
        if let Some(arch) = &own.architecture {
            let toolkits = range(arch.first_toolkit.clone(), arch.last_toolkit.clone());
            let number = |number: Option<u32>| number.map(|number| number.to_string());
            let drivers = range(number(arch.first_driver), number(arch.last_driver));
            let cells = [
                asked,
                &arch.cc,
                &arch.sass,
                &arch.generation,
                &toolkits,
                &drivers,
                &arch.sass_runs_on.join(" "),
                &arch.runs.join(" "),
            ];
            writeln!(out, "| {} |", cells.map(|cell| escape::markdown(cell)).join(" | "))?;
        }
        for meaning in &own.meanings {
            let examples = escape::markdown(&meaning.examples.join(", "));
            writeln!(out, "| {} | {} |  | {examples} |  |  |  |  |", escape::markdown(&own.asked), meaning.cc)?;
        }
    }
    Ok(())
}
