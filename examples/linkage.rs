//! Prints how the files of an environment find the CUDA libraries that they ask for:
//! `cargo run --example linkage -- .venv/lib/python3.12/site-packages`, or `-- --pid 1234` for what a process has loaded.
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::path::{Path, PathBuf};

use fatscan::linkage::{Disk, Resolution, judge, process};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    match (words.next().as_deref(), words.next()) {
        (Some("--pid"), Some(pid)) => {
            for file in process::libraries(pid.parse()?)? {
                println!("{}{}", file.path.display(), if file.is_deleted { " (deleted)" } else { "" });
            }
        }
        (Some(root), None) => print(&PathBuf::from(root)),
        _ => return Err("usage: linkage DIRECTORY | linkage --pid NUMBER".into()),
    }
    Ok(())
}

fn print(root: &Path) {
    let disk = Disk::new();
    let environment = disk.read(root);
    let linkages = judge(&environment.files, &disk.search(), &disk);
    let root = std::path::absolute(root).unwrap_or_default();
    let short = |path: &Path| path.strip_prefix(&root).unwrap_or(path).display().to_string();
    for file in linkages.files.iter().filter(|file| !file.asks.is_empty()) {
        println!(
            "{} ({}, CUDA {:?}, with its libraries {:?})",
            short(&file.path),
            file.machine,
            file.majors,
            file.all_majors
        );
        for ask in &file.asks {
            let what = match &ask.resolution {
                Resolution::Found { real, by, .. } => format!("{} by {by:?}", short(real)),
                Resolution::Loaded { path, how } => format!("{} if torch was imported ({how:?})", short(path)),
                other => format!("{other:?}"),
            };
            println!("    {} CUDA {:?} -> {what}", ask.name, ask.cuda.cuda);
        }
    }
    for finding in &linkages.findings {
        println!("{}: {:?}", finding.path.as_deref().map(short).unwrap_or_default(), finding.kind);
    }
    for (path, why) in &environment.unread {
        println!("{}: not read: {why}", short(path));
    }
    println!(
        "{} files, driver {:?}, cut {}",
        linkages.files.len(),
        linkages.driver,
        linkages.is_cut || environment.is_cut
    );
}
