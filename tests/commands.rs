//! Every command that the documents show is run, and prints what they show.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    clippy::print_stdout,
    reason = "a panic here is a failing test, and the counts are shown"
)]

mod program;

use std::path::Path;

use program::{Folder, finish, program as command};

const DOCUMENTS: [&str; 7] = [
    "README.md",
    "docs/VERDICTS.md",
    "docs/RULES.md",
    "docs/PERFORMANCE.md",
    "docs/ENVIRONMENTS.md",
    "docs/FLEET.md",
    "docs/DECLARED.md",
];
/// The environment that the documents name; it is the active one too.
const VENV: &str = ".venv";
/// What a command begins with.
const STARTS: [&str; 2] = ["fatscan ", "cargo run --release -- "];
/// What stands for the words that a shell or another program puts in.
const VALUES: [(&str, &str); 3] =
    [("$TORCH_CUDA_ARCH_LIST", "8.0;9.0+PTX"), ("{dest_dir}", "dist"), ("dist/*.whl", "dist/pkg-1.0-py3-none-any.whl")];

/// A fenced block, with the language behind its fence.
struct Block {
    language: String,
    text: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| !line.trim_start().starts_with("```")).collect();
            blocks.push(Block { language: language.to_owned(), text: text.join("\n") });
        }
    }
    blocks
}

/// A command of a document.
struct Shown {
    place: String,
    words: Vec<String>,
    /// The block that it is in.
    block: String,
    /// What the document says that it prints.
    output: Option<String>,
}

impl Shown {
    /// The words that name files.
    fn files(&self) -> impl Iterator<Item = &str> {
        let is_file = |word: &&str| {
            let is_folder = ["dist", "software", VENV].contains(word);
            is_folder || [".whl", ".so", ".toml", ".tgz"].iter().any(|end| word.ends_with(end))
        };
        self.words.iter().map(String::as_str).filter(is_file)
    }
}

/// The words of a command, up to a comment, a redirection or another command; quotes hold words together.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for character in text.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, '#' | '>' | '&' | '|') if word.is_none() => break,
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    for word in &mut words {
        if let Some((_, value)) = VALUES.iter().find(|(name, _)| name == word) {
            *word = (*value).to_owned();
        }
    }
    words
}

/// The words of the commands of a line. One in a quoted text ends with it.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for start in STARTS {
        for (at, _) in line.match_indices(start) {
            let (before, rest) = (&line[..at], &line[at + start.len()..]);
            if before.is_empty() || before.ends_with([' ', '"']) {
                let is_quoted = before.matches('"').count() % 2 == 1;
                let rest = if is_quoted { rest.split('"').next().unwrap() } else { rest };
                found.push(words(rest));
            }
        }
    }
    found
}

fn shown(document: &str, text: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    // the first command of the last block, which an output that follows belongs to
    let mut first = None;
    for Block { language, text } in blocks(text) {
        if language == "text" {
            if let Some(own) = first.take().and_then(|index: usize| all.get_mut(index)) {
                own.output = Some(text);
            }
            continue;
        }
        let start = all.len();
        for line in text.lines() {
            all.extend(commands(line).into_iter().map(|words| Shown {
                place: format!("{document}: {line}"),
                words,
                block: text.clone(),
                output: None,
            }));
        }
        first = (start < all.len()).then_some(start);
    }
    all
}

#[test]
fn every_command_of_the_documents_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut ran, mut here, mut compared, mut there) = (0, 0, 0, 0);
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        // a plain count, in which a command that was not understood is missing
        let code = blocks(&text).into_iter().filter(|block| block.language != "text");
        there += code
            .map(|block| STARTS.iter().map(|start| block.text.matches(start).count()).sum::<usize>())
            .sum::<usize>();
        for own in shown(document, &text) {
            // the rule: what names only files of the repository is run on them; else each file is made, from the samples
            let is_here = own.files().all(|file| root.join(file).exists());
            let folder = Folder::new();
            let mut call = command();
            call.args(&own.words);
            stand_in(&folder, VENV, "");
            call.env("VIRTUAL_ENV", folder.file(VENV));
            if is_here {
                call.current_dir(root);
            } else {
                own.files().for_each(|file| stand_in(&folder, file, &own.block));
                call.current_dir(folder.path());
            }
            let run = finish(call);
            // no GPU may be here, and a stand-in may fail a check; but each argument is understood
            let asks_device = own.words.iter().any(|word| word == "--device");
            let codes: &[i32] = if is_here {
                &[0]
            } else if asks_device {
                &[0, 1, 2]
            } else {
                &[0, 1]
            };
            assert!(codes.contains(&run.code.unwrap()), "{}: {:?}\n{}\n{}", own.place, run.code, run.out, run.err);
            assert!(!run.err.contains("Usage"), "{}\n{}", own.place, run.err);
            assert!(!run.err.contains("FS0101"), "{}: a file has no stand-in\n{}", own.place, run.err);
            ran += 1;
            here += usize::from(is_here);
            if let (true, Some(output)) = (is_here, &own.output) {
                assert_eq!(run.out.trim_end(), output.trim_end(), "{}", own.place);
                compared += 1;
            }
        }
    }
    println!("{ran} commands ran, {here} of them on files of the repository, {compared} compared with their output");
    assert_eq!(ran, there, "commands that were run, and those that a plain count finds");
    assert!(ran >= 20 && here >= 1 && compared >= 1);
}

/// A file under a name that a document gives: a library, a wheel, or the configuration that the block shows.
fn stand_in(folder: &Folder, file: &str, block: &str) {
    if file == VENV {
        let site = format!("{VENV}/lib/python3.12/site-packages");
        folder.write(&format!("{VENV}/pyvenv.cfg"), "version = 3.12.11\n");
        folder.write(&format!("{site}/torch/lib/libtorch.so"), testkit::truth::bytes("libpartial.so"));
        folder.write(&format!("{site}/torch-2.15.0.dist-info/RECORD"), "torch/lib/libtorch.so,,\n");
        return;
    }
    let wheel = testkit::sample::wheel();
    match file.rsplit_once('.') {
        Some((_, "so")) => folder.write(file, testkit::truth::bytes("libpartial.so")),
        Some((_, "toml")) => folder.write(file, block),
        Some(_) => folder.write(file, wheel),
        None => folder.write(&format!("{file}/pkg-1.0-py3-none-any.whl"), wheel),
    };
}

#[test]
fn a_command_is_cut_out_of_its_line() {
    for (line, expected) in [
        ("fatscan x.whl --gpu \"GTX 1080\"  # a GPU", vec!["x.whl", "--gpu", "GTX 1080"]),
        ("  script: fatscan check dist/*.whl > x.xml", vec!["check", VALUES[2].1]),
        (
            "repair = \"auditwheel repair {wheel} && fatscan check {dest_dir} --contains '8.0;9.0'\"",
            vec!["check", "dist", "--contains", "8.0;9.0"],
        ),
    ] {
        assert_eq!(commands(line), [expected], "{line}");
    }
    assert_eq!(commands("paired.py 5 \"fatscan a.so\" \"fatscan b.so\""), [["a.so"], ["b.so"]]);
    assert!(commands("cp fatscan.toml x").is_empty());
}
