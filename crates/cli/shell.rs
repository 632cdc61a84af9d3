//! `fatscan completions` and `fatscan man`: the command line as shells and `man` want to have it; and words that were
//! meant as commands.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::args::{CompletionsArgs, ManArgs, program};
use crate::failure::Failure;
use crate::output::print;
use crate::unfinished::Unfinished;

/// The words that the manual explains.
const WORDS: &str = include_str!("GLOSSARY.md");

pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program(), "fatscan", &mut script);
    print(&script)
}

pub(crate) fn man(args: &ManArgs) -> Result<ExitCode, Failure> {
    let mut program = program();
    program.build();
    if let Some(folder) = &args.dir {
        return pages(&program, folder);
    }
    let Some(name) = &args.command else { return print(&page(&program, true)?) };
    let known = || program.get_subcommands().filter(|command| !command.is_hide_set());
    match known().find(|command| command.get_name() == name) {
        Some(command) => print(&page(command, false)?),
        None => {
            let names: Vec<&str> = known().map(clap::Command::get_name).collect();
            let hint = format!("the commands are {}", names.join(", "));
            Err(Failure::with_hint(format!("`{name}` is no command"), hint))
        }
    }
}

/// Writes all pages; each is there when it is whole.
fn pages(program: &clap::Command, folder: &Path) -> Result<ExitCode, Failure> {
    let of =
        |path: &Path, error: std::io::Error| Failure::new(format!("`{}` cannot be written: {error}", path.display()));
    std::fs::create_dir_all(folder).map_err(|error| of(folder, error))?;
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    let mut names = Vec::new();
    for (command, is_whole) in std::iter::once((program, true)).chain(commands.map(|command| (command, false))) {
        let name = if is_whole { "fatscan.1".to_owned() } else { format!("fatscan-{}.1", command.get_name()) };
        let path = folder.join(&name);
        let write = || {
            let file = Unfinished::begin(&path)?;
            file.take()?.write_all(&page(command, is_whole)?)?;
            file.sync()?;
            file.finish()
        };
        write().map_err(|error| of(&path, error))?;
        names.push(name);
    }
    print(format!("{}\n", names.join("\n")).as_bytes())
}

fn page(command: &clap::Command, is_whole: bool) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let source = concat!("fatscan ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command.clone()).source(source).render(&mut page)?;
    if is_whole {
        page.extend(words(WORDS).as_bytes());
    }
    Ok(page)
}

/// A section of a manual page from the list of words.
fn words(document: &str) -> String {
    let mut out = String::from(".SH WORDS\n");
    let plain = |text: &str| text.replace('\\', "\\e").replace('-', "\\-").replace("**", "").replace('`', "");
    for line in document.lines() {
        // a String takes everything
        let _ = match line.strip_prefix("- **").and_then(|line| line.split_once("**: ")) {
            Some((word, text)) => writeln!(out, ".TP\n\\fB{}\\fR\n\\&{}", plain(word), plain(text)),
            None => match line.strip_prefix("  ") {
                Some(text) => writeln!(out, "\\&{}", plain(text)),
                None => Ok(()),
            },
        };
    }
    out
}

/// A first word that is no path and looks like none was meant as a command.
pub(crate) fn mistyped(paths: &[PathBuf]) -> Option<Failure> {
    let path = paths.first()?;
    let word = path.to_str()?;
    let is_word = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') && word != "-";
    if !is_word || path.symlink_metadata().is_ok() {
        return None;
    }
    let program = program();
    let known = program.get_subcommands().map(clap::Command::get_name);
    let mut near: Vec<(usize, &str)> = known.map(|name| (distance(word, name), name)).collect();
    near.sort_unstable();
    // one wrong letter in three at most: `torch` is not `arch`
    let meant = near.first().filter(|(far, name)| far.saturating_mul(3) <= name.len().max(word.len()));
    let hint = match meant {
        Some((_, name)) => {
            let rest: Vec<String> = paths.iter().skip(1).map(|path| path.display().to_string()).collect();
            format!(
                "`fatscan {}` is meant?",
                std::iter::once((*name).to_owned()).chain(rest).collect::<Vec<_>>().join(" ")
            )
        }
        None => "`fatscan help` names the commands; a path of this name is `./".to_owned() + word + "`",
    };
    Some(Failure::with_hint(format!("`{word}` is neither a command nor a file or directory"), hint))
}

/// How many letters must be put in, taken out, changed or swapped with their neighbours.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<u8> = other.bytes().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    let mut last = None;
    for (line, own) in one.bytes().enumerate() {
        let mut next = vec![line.saturating_add(1)];
        for (column, letter) in other.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX);
            let left = column.checked_sub(1).and_then(|left| Some((left, *other.get(left)?)));
            let mut least = at(&row, column).saturating_add(usize::from(own != *letter));
            least = least.min(at(&row, column.saturating_add(1)).saturating_add(1));
            least = least.min(at(&next, column).saturating_add(1));
            if let Some((left, _)) = left.filter(|(_, left)| *left == own && last == Some(*letter)) {
                least = least.min(at(&before, left).saturating_add(1));
            }
            next.push(least);
        }
        last = Some(own);
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted() {
        for (one, other, far) in [
            ("check", "check", 0),
            ("chekc", "check", 1),
            ("lst", "list", 1),
            ("", "abc", 3),
            ("kernel", "kernels", 1),
            ("ab", "ba", 1),
            ("abcd", "xyz", 4),
        ] {
            assert_eq!(distance(one, other), far, "{one} {other}");
        }
    }

    #[test]
    fn words_become_a_section() {
        let section = words("# x\n\nText.\n\n- **a word**: of `x-y`,\n  and more\n- **b**: c\n");
        let expected = ".SH WORDS\n.TP\n\\fBa word\\fR\n\\&of x\\-y,\n\\&and more\n.TP\n\\fBb\\fR\n\\&c\n";
        assert_eq!(section, expected);
    }
}
