//! What a process has mapped.

use std::path::PathBuf;

use fatscan::linkage::process::{libraries, parse};

fn parsed(table: &str, there: &[(&str, u64)]) -> Vec<(String, bool)> {
    let found = parse(table.as_bytes(), |path, inode| there.contains(&(path, inode)));
    found.into_iter().map(|own| (own.path.display().to_string(), own.is_deleted)).collect()
}

#[test]
fn a_table_of_mappings_gives_the_files_that_are_code() {
    let table = "\
00400000-00452000 r-xp 00000000 08:02 173521                             /usr/bin/python3.12
00651000-00652000 r--p 00051000 08:02 173521                             /usr/bin/python3.12
7f0000000000-7f0000001000 r--p 00000000 08:02 7                          /data/model.safetensors
7f1000000000-7f1000001000 r-xp 00000000 08:02 9                          /a b/lib  x.so
7f2000000000-7f2000001000 r-xp 00000000 08:02 10                         /gone/libcudart.so.12 (deleted)
7f3000000000-7f3000001000 r-xp 00000000 08:02 11                         /odd/line\\012break.so
7f4000000000-7f4000001000 r-xp 00000000 00:01 12                         /memfd:jit (deleted)
7f5000000000-7f5000001000 rwxp 00000000 00:00 0
7ffc00000000-7ffc00021000 r-xp 00000000 00:00 0                          [vdso]
7f6000000000-7f6000001000 r-xp 00000000 08:02 13                         /really/x (deleted)
7f7000000000-7f7000001000 r-xp 00000000 08:02 14                         /really\\012so
7f8000000000-7f8000001000 r-xp 00000000 08:02 9                          /a b/lib  x.so
not a line
";
    let there = [("/really/x (deleted)", 13), ("/really\\012so", 14)];
    let by_hand = [
        ("/a b/lib  x.so", false),
        ("/gone/libcudart.so.12", true),
        ("/odd/line\nbreak.so", false),
        ("/really/x (deleted)", false),
        ("/really\\012so", false),
        ("/usr/bin/python3.12", false),
    ];
    let mut by_hand: Vec<(String, bool)> = by_hand.map(|(path, gone)| (path.to_owned(), gone)).to_vec();
    by_hand.sort_by_key(|(path, _)| PathBuf::from(path));
    assert_eq!(parsed(table, &there), by_hand);
    assert!(parse(&[0xff; 4096], |_, _| false).is_empty());
}

#[test]
#[cfg(target_os = "linux")]
fn this_process_has_its_program_and_libc() {
    let found = libraries(std::process::id()).unwrap();
    let program = std::env::current_exe().unwrap();
    assert!(found.iter().any(|own| own.path == program && !own.is_deleted), "{found:?}");
    if !cfg!(target_env = "gnu") {
        eprintln!("skipped: a static program has no libc.so.6");
        return;
    }
    assert!(found.iter().any(|own| own.path.ends_with("libc.so.6")), "{found:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_process_that_is_not_there_or_whose_program_is_gone_is_told() {
    let error = libraries(u32::MAX).unwrap_err();
    assert!(error.to_string().contains("no process has the number 4294967295"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("a sleeper");
    if std::fs::copy("/bin/sleep", &program).is_err() {
        eprintln!("skipped: no /bin/sleep");
        return;
    }
    let mut child = match std::process::Command::new(&program).arg("30").spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("skipped: a copy of /bin/sleep does not start: {error}");
            return;
        }
    };
    std::fs::remove_file(&program).unwrap();
    // the program is mapped a moment after the child has started
    let mut found = libraries(child.id());
    for _ in 0..200 {
        if found.as_ref().is_ok_and(|found| found.iter().any(|own| own.path == program)) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
        found = libraries(child.id());
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let found = found.unwrap();
    assert!(found.iter().any(|own| own.path == program && own.is_deleted), "{found:?}");
}

#[test]
#[cfg(not(target_os = "linux"))]
fn other_systems_say_that_they_cannot() {
    assert_eq!(libraries(1).unwrap_err().kind(), std::io::ErrorKind::Unsupported);
}
