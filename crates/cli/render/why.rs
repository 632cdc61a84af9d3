//! The kernels behind a verdict: those that only modules hold which do not load, and those without code.

use std::collections::BTreeMap;
use std::io::{self, Write};

use fatscan::{CodeKind, Judgement, Member, Report, demangle_each, holes};
use gpu_arch::rules::{Device, Environment};

use crate::escape;
use crate::terminal::{count, width, wrap};

/// Kernels of one name, template arguments aside.
#[derive(Default)]
struct Group {
    kernels: usize,
    /// What their names say of the GPU that they are picked for.
    evidence: Vec<String>,
    held_by: Vec<String>,
}

/// Groups that are shown of a file; more are counted.
const SHOWN: usize = 20;

pub(crate) fn text(
    out: &mut impl Write,
    report: &Report,
    judgement: &Judgement,
    environment: &Environment,
) -> io::Result<()> {
    for (artefact, judged) in report.artefacts.iter().zip(&judgement.artefacts) {
        for (index, device) in judgement.devices.iter().enumerate() {
            writeln!(out, "\nkernels of {} that do not load on {}", escape::text(&artefact.path), device.capability)?;
            let mut none = true;
            for (member, judged) in artefact.members.iter().zip(&judged.members) {
                let limits = judged.verdicts.get(index).map(|verdict| verdict.limits.as_slice()).unwrap_or_default();
                let empty = limits.iter().filter(|limit| limit.kind == fatscan::LimitKind::EmptyKernels);
                let empty: Vec<&str> = empty.map(|limit| limit.text.as_str()).collect();
                let groups = groups(member, device, environment);
                if groups.is_empty() && empty.is_empty() {
                    continue;
                }
                none = false;
                file(out, member, &groups, &empty)?;
            }
            if none {
                writeln!(out, "  none: every kernel is in a module that loads")?;
            }
        }
    }
    Ok(())
}

fn file(out: &mut impl Write, member: &Member, groups: &BTreeMap<String, Group>, empty: &[&str]) -> io::Result<()> {
    writeln!(out, "  {}", escape::text(&member.path))?;
    let mut para = |text: &str| {
        let words: Vec<&str> = text.split(' ').collect();
        writeln!(out, "      {}", wrap(&words, 8, 6, width()))
    };
    for text in empty {
        para(text)?;
    }
    let proven = groups.values().filter(|group| !group.evidence.is_empty()).map(|group| group.kernels).sum::<usize>();
    let all = groups.values().map(|group| group.kernels).sum::<usize>();
    if all > 0 {
        para(&format!(
            "{}, of which {proven} carry an architecture in their names, which shows that they are picked by device",
            count(all, "kernel", "kernels")
        ))?;
    }
    let mut sorted: Vec<(&String, &Group)> = groups.iter().collect();
    sorted.sort_by_key(|(name, group)| (core::cmp::Reverse(group.kernels), *name));
    for (name, group) in sorted.iter().take(SHOWN) {
        let evidence = match group.evidence.as_slice() {
            [] => String::new(),
            words => format!("; named for {}", words.join(", ")),
        };
        let text = format!("{} x {name} ({}{evidence})", group.kernels, group.held_by.join(" "));
        para(&escape::text(&text))?;
    }
    let more = sorted.len().saturating_sub(SHOWN);
    if more > 0 {
        para(&format!("and {} more", count(more, "name", "names")))?;
    }
    Ok(())
}

/// The kernels of a member that a device would lack, by name without template arguments.
fn groups(member: &Member, device: &Device, environment: &Environment) -> BTreeMap<String, Group> {
    let holes = holes(member, device, environment);
    let names: Vec<&str> = holes.iter().map(|hole| &*hole.name).collect();
    let demangled = demangle_each(&names);
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for (hole, name) in holes.iter().zip(demangled) {
        let full = name.unwrap_or_else(|| hole.name.to_string());
        let group = groups.entry(without_arguments(&full)).or_default();
        group.kernels = group.kernels.saturating_add(1);
        for word in evidence(&full) {
            if !group.evidence.contains(&word) && group.evidence.len() < 4 {
                group.evidence.push(word);
            }
        }
        for column in &hole.held_by {
            let prefix = if column.kind == CodeKind::Sass { "sm" } else { "compute" };
            let own = format!("{prefix}_{}", column.arch);
            if !group.held_by.contains(&own) {
                group.held_by.push(own);
            }
        }
    }
    groups
}

/// `void a::b<...>(...)` as `a::b`.
fn without_arguments(name: &str) -> String {
    let mut text = String::new();
    let mut depth = 0_usize;
    for letter in name.chars() {
        match letter {
            '<' => depth = depth.saturating_add(1),
            '>' => depth = depth.saturating_sub(1),
            // what stands in front of a name in brackets belongs to it: `(anonymous namespace)::k`
            '(' if depth == 0 && !text.is_empty() && !text.ends_with([' ', ':']) => break,
            letter if depth == 0 => text.push(letter),
            _ => {}
        }
    }
    let text = text.trim();
    text.strip_prefix("void ").unwrap_or(text).to_owned()
}

/// Words of a name that are architectures: `sm90`, `Sm100`, `cutlass_70`, `volta`.
fn evidence(name: &str) -> Vec<String> {
    const GENERATIONS: [&str; 8] = ["kepler", "maxwell", "pascal", "volta", "turing", "ampere", "hopper", "blackwell"];
    let lower = name.to_ascii_lowercase();
    let mut found: Vec<String> = Vec::new();
    let mut say = |word: &str| {
        if !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    };
    for generation in GENERATIONS.into_iter().filter(|word| lower.contains(word)) {
        say(generation);
    }
    for prefix in ["sm_", "sm", "cutlass_", "arch_"] {
        for (at, _) in lower.match_indices(prefix) {
            let before = lower.get(..at).and_then(|text| text.chars().next_back());
            if before.is_some_and(|letter| letter.is_ascii_lowercase()) {
                continue;
            }
            let rest = lower.get(at.saturating_add(prefix.len())..).unwrap_or_default();
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if (2..=3).contains(&digits) {
                say(&format!("{prefix}{}", rest.get(..digits).unwrap_or_default()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_arguments_and_keep_their_scope() {
        assert_eq!(without_arguments("void a::b<int, c<d>>(e<f>*, int)"), "a::b");
        assert_eq!(without_arguments("k(int)"), "k");
        assert_eq!(without_arguments("void (anonymous namespace)::k<4>(int)"), "(anonymous namespace)::k");
        assert_eq!(without_arguments("_Z1kv"), "_Z1kv");
    }

    #[test]
    fn architectures_in_names_are_evidence() {
        assert_eq!(evidence("cutlass::gemm::kernel::GemmUniversal<cutlass::arch::Sm90>"), ["sm90"]);
        assert_eq!(evidence("volta_sgemm_128x64_nn"), ["volta"]);
        assert_eq!(evidence("cutlass_70_wmma"), ["cutlass_70"]);
        assert_eq!(evidence("prism90, warp_sm8"), Vec::<String>::new());
        assert_eq!(evidence("flash_fwd_sm_100_kernel"), ["sm_100"]);
    }
}
