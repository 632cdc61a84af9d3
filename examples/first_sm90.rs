//! Scans bytes in memory and stops at the first module with code for sm_90: `cargo run --example first_sm90 FILE`.
#![allow(clippy::print_stdout, clippy::arithmetic_side_effects, reason = "an example")]

use std::ops::ControlFlow;

use fatscan::{Artefact, Input, Member, Options, Scanner, Sink};

/// The first module that was found: its member, its offset there, and its architectures.
#[derive(Default)]
struct First(Option<(String, u64, Vec<String>)>);

impl Sink for First {
    fn member(&mut self, _: &Artefact, member: Member) -> ControlFlow<()> {
        for module in &member.modules {
            let names: Vec<String> = module.images.iter().filter_map(|image| image.arch_name()).collect();
            if names.iter().any(|name| name == "sm_90") {
                self.0 = Some((member.path.clone(), module.base() + module.offset, names));
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name a file")?;
    let bytes = std::fs::read(&path)?;
    let mut first = First::default();
    let _ = Scanner::new(Options::new())?.scan(&[Input::Bytes { name: &path, bytes: &bytes }], &mut first);
    match first.0 {
        Some((member, offset, names)) => println!("{member} at {offset:#x}: {}", names.join(" ")),
        None => println!("no module with sm_90"),
    }
    Ok(())
}
