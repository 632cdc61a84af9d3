//! What a comparison must not find.

use fatscan::diff::{CodeDiff, MemberDiff};
use fatscan::json::difference::Failed;
use gpu_arch::rules::Verdict;

use super::Compared;
use crate::args::FAIL_ON_WORDS;
use crate::failure::Failure;
use crate::size;
use crate::terminal::{bytes, count};

/// One word of `--fail-on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailOn {
    /// A file lost an architecture.
    LostArch,
    /// A kernel went, or an architecture lost it.
    LostKernel,
    /// A verdict is worse for some GPU.
    WorseVerdict,
    /// The artefact is larger by more than so many thousandths.
    Share(u64),
    /// The artefact is larger by more than so many bytes.
    Bytes(u64),
}

impl FailOn {
    /// Words with commas between them.
    pub(super) fn parse(words: &[String]) -> Result<Vec<Self>, Failure> {
        let words = words.iter().flat_map(|word| word.split(',')).map(str::trim).filter(|word| !word.is_empty());
        words.map(Self::one).collect()
    }

    fn one(word: &str) -> Result<Self, Failure> {
        match word {
            "lost-arch" => return Ok(Self::LostArch),
            "lost-kernel" => return Ok(Self::LostKernel),
            "worse-verdict" => return Ok(Self::WorseVerdict),
            _ => {}
        }
        let Some(limit) = word.strip_prefix("bytes=") else {
            return Err(Failure::with_hint(
                format!("--fail-on: `{word}` is nothing to fail on"),
                format!("there are {}", FAIL_ON_WORDS.join(", ")),
            ));
        };
        let number = limit.strip_prefix('+').unwrap_or(limit);
        let limit = match number.strip_suffix('%') {
            // thousandths of a whole are tenths of a percent
            Some(percent) => size::parse(percent).is_some().then(|| tenths(percent)).flatten().map(Self::Share),
            None => size::parse(number).map(Self::Bytes),
        };
        limit.ok_or_else(|| {
            Failure::with_hint(format!("--fail-on: `{word}` is no limit"), "write it like bytes=+5% or bytes=+20MB")
        })
    }
}

/// `5`, `2.5` in tenths; more digits are none of a percentage that can be meant.
fn tenths(percent: &str) -> Option<u64> {
    let (whole, fraction) = percent.split_once('.').unwrap_or((percent, "0"));
    let fraction: u64 = if fraction.len() == 1 { fraction.parse().ok()? } else { return None };
    whole.parse::<u64>().ok()?.checked_mul(10)?.checked_add(fraction)
}

/// What of it was found. A side that does not hold what is to be compared is no reason to pass.
pub(super) fn failed(pairs: &[Compared], demands: &[FailOn]) -> Result<Vec<Failed>, Failure> {
    let mut found = Vec::new();
    for own in pairs {
        for demand in demands {
            one(own, *demand, &mut found)?;
        }
    }
    Ok(found)
}

fn one(own: &Compared, demand: FailOn, found: &mut Vec<Failed>) -> Result<(), Failure> {
    let artefact = &own.new.artefact.path;
    let mut say = |on: &str, member: Option<&MemberDiff>, message: String| {
        let member = member.map(|member| member.path.clone());
        let place = member.as_ref().map(|member| format!("!{member}")).unwrap_or_default();
        let message = format!("{artefact}{place}: {message}");
        found.push(Failed { on: on.to_owned(), artefact: artefact.clone(), member, message });
    };
    let unknown = |on: &str| {
        let text = format!("--fail-on {on}: a report of `fatscan list` does not hold what this compares");
        Err(Failure::with_hint(text, "give the files themselves"))
    };
    match demand {
        FailOn::LostArch => {
            for member in &own.found.members {
                let is_lost = |row: &&CodeDiff| {
                    row.count.0 > 0
                        && row.count.1 == 0
                        && !row.relocatable
                        && ["sass", "ptx"].contains(&row.kind.as_str())
                };
                let lost: Vec<&str> = member.code.iter().filter(is_lost).map(|row| row.arch.as_str()).collect();
                if !lost.is_empty() {
                    let what = if member.present.1 { "lost" } else { "the file went, and with it" };
                    say("lost-arch", Some(member), format!("{what} {}", lost.join(" ")));
                }
            }
        }
        FailOn::LostKernel => {
            if own.old.model.is_none() || own.new.model.is_none() {
                return unknown("lost-kernel");
            }
            for member in &own.found.members {
                if !member.present.1 {
                    say("lost-kernel", Some(member), "the file went, and with it its kernels".to_owned());
                }
                let Some(kernels) = &member.kernels else { continue };
                let went = kernels.went.iter().map(|name| name.to_string());
                let lost = kernels.lost.iter().map(|(name, archs)| format!("{name} in {}", archs.join(" ")));
                let all: Vec<String> = went.chain(lost).collect();
                let Some(first) = all.first() else { continue };
                let number = count(all.len(), "kernel", "kernels");
                let more = if all.len() > 1 { ", ..." } else { "" };
                say("lost-kernel", Some(member), format!("lost {number}: {first}{more} (--kernels names them)"));
            }
        }
        FailOn::WorseVerdict => {
            if !own.found.judged {
                return unknown("worse-verdict");
            }
            // what held no code has nothing to lose
            let is_worse = |(old, new): (Verdict, Verdict)| new > old && old != Verdict::NoDeviceCode;
            for verdict in own.found.verdicts.iter().filter(|own| is_worse(own.verdict)) {
                let (old, new) = verdict.verdict;
                say("worse-verdict", None, format!("on {}: was {old}, is {new}", verdict.capability));
            }
        }
        FailOn::Share(_) | FailOn::Bytes(_) => {
            let (old, new) = own.found.size;
            // what was not there has no size to grow from
            let allowed = match demand {
                FailOn::Share(tenths) => share(old, tenths),
                FailOn::Bytes(most) => most,
                _ => 0,
            };
            if old > 0 && new > old.saturating_add(allowed) {
                let more = bytes(new.saturating_sub(old));
                say(
                    "bytes",
                    None,
                    format!("{} -> {}: {more} more, {} are allowed", bytes(old), bytes(new), bytes(allowed)),
                );
            }
        }
    }
    Ok(())
}

/// So many tenths of a percent of `bytes`.
fn share(bytes: u64, tenths: u64) -> u64 {
    let share = u128::from(bytes).saturating_mul(u128::from(tenths)).checked_div(1000).unwrap_or_default();
    u64::try_from(share).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read() {
        let read = |text: &str| FailOn::parse(&[text.to_owned()]).map_err(|_| ());
        assert_eq!(
            read("lost-arch, lost-kernel,worse-verdict"),
            Ok(vec![FailOn::LostArch, FailOn::LostKernel, FailOn::WorseVerdict])
        );
        assert_eq!(read("bytes=+5%,bytes=2.5%"), Ok(vec![FailOn::Share(50), FailOn::Share(25)]));
        assert_eq!(read("bytes=+20MB,bytes=1KiB"), Ok(vec![FailOn::Bytes(20_000_000), FailOn::Bytes(1024)]));
        for wrong in ["lost", "bytes", "bytes=", "bytes=%", "bytes=-5%", "bytes=1.25%", "bytes=x", "bytes=5MB%"] {
            assert_eq!(read(wrong), Err(()), "{wrong}");
        }
        assert_eq!(share(1_000, 25), 25);
        assert_eq!(share(u64::MAX, u64::MAX), u64::MAX);
    }
}
