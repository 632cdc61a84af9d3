//! Prints members as they are read, and what was not read: `cargo run --example sink PATH...`.
#![allow(clippy::print_stdout, clippy::arithmetic_side_effects, reason = "an example")]

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use fatscan::{Artefact, Diagnostic, Input, Member, Options, Scanner, Sink, Unread};

struct Print;

impl Sink for Print {
    fn member(&mut self, artefact: &Artefact, member: Member) -> ControlFlow<()> {
        let images = member.modules.iter().flat_map(|module| &module.images);
        let names: BTreeSet<String> = images.filter_map(|image| image.arch_name()).collect();
        let names: Vec<String> = names.into_iter().collect();
        println!("{:?} {:?}: {}", artefact.path, member.path, names.join(" "));
        ControlFlow::Continue(())
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) -> ControlFlow<()> {
        println!("{} {:?}: {}", diagnostic.code, diagnostic.at.to_string(), diagnostic.message());
        ControlFlow::Continue(())
    }

    fn unread(&mut self, unread: Unread) -> ControlFlow<()> {
        println!("not read {:?}: {}", unread.at.to_string(), unread.why);
        ControlFlow::Continue(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let inputs: Vec<Input<'_>> = paths.iter().map(|path| Input::Path(Path::new(path))).collect();
    let _ = Scanner::new(Options::new())?.scan(&inputs, &mut Print);
    Ok(())
}
