//! A check that trips each rule, and one as near to it as can be that does not.

use super::*;

/// A check that trips a rule, and one as near to it as can be that does not.
pub(crate) struct Case {
    pub(crate) rule: Rule,
    pub(crate) trips: Vec<String>,
    pub(crate) holds: Vec<String>,
}

/// Two checks of one wheel.
fn flags(folder: &Folder, name: &str, rule: Rule, bytes: Vec<u8>, trips: &str, holds: &str) -> Case {
    let path = folder.write(&format!("{name}-1.0-py3-none-any.whl"), bytes);
    let with = |flags: &str| [vec![path.clone()], words(flags)].concat();
    Case { rule, trips: with(trips), holds: with(holds) }
}

pub(crate) fn case(folder: &Folder, rule: Rule) -> Option<Case> {
    let own = |bytes: Vec<u8>, trips: &str, holds: &str| {
        Some(flags(folder, &rule.id().replace('-', "_"), rule, bytes, trips, holds))
    };
    let two = |name: &str, bytes: Vec<u8>| {
        let good = folder.write("good-1.0-py3-none-any.whl", good());
        let other =
            if bytes.is_empty() { folder.file(name).to_str().unwrap().to_owned() } else { folder.write(name, bytes) };
        let require = words("--require 9.0");
        Some(Case {
            rule,
            trips: [vec![good.clone(), other], require.clone()].concat(),
            holds: [vec![good], require].concat(),
        })
    };
    match rule {
        Rule::Unreadable => two("missing.whl", Vec::new()),
        Rule::Damage => {
            let cut = Zip::new().deflated("a/b.so", &library(&[module(&["80", "90"])])).central(Central::Truncated);
            two("cut.whl", cut.bytes())
        }
        // a 7z archive, which is not unpacked
        Rule::Unread => two("more.7z", b"7z\xbc\xaf\x27\x1c\x00\x04".to_vec()),
        Rule::HostMismatch => own(good(), "--host aarch64", "--host x86_64"),
        Rule::NotCovered => own(good(), "--require 12.0", "--require 9.0"),
        Rule::DriverTooOld => {
            // zstd needs the driver of CUDA 12.4, branch 550
            let zstd = vec![packed("80", Codec::Zstd), packed("90", Codec::Zstd)];
            own(wheel_of(&[zstd]), "--require 9.0 --driver 535.183.01", "--require 9.0 --driver 550.54.14")
        }
        Rule::Partial => {
            let modules = [module(&["75", "80"]), module(&["80", "90"]), module(&["80", "90"])];
            own(wheel_of(&modules), "--require 7.5", "--require 8.0")
        }
        // one in four is what a file that runs may lack
        Rule::Newer | Rule::Older | Rule::Gap | Rule::Refused => {
            let (last, on) = match rule {
                Rule::Newer => (module(&["100", "120"]), "10.0"),
                Rule::Older => (module(&["70", "75"]), "7.5"),
                _ => (module(&["75", "100"]), "10.0"),
            };
            let all = || module(&["75", "90", "100"]);
            let holds = if rule == Rule::Refused { "7.5" } else { on };
            let refused = vec![sass("75"), Entry::sass("90", Cubin::abi7("80").bytes())];
            let last = if rule == Rule::Refused { refused } else { last };
            let modules = [all(), all(), all(), last];
            own(wheel_of(&modules), "--require 9.0", &format!("--require {holds}"))
        }
        // two of three kernels have a body for 9.0 and none for 8.0
        Rule::EmptyKernels => {
            let cubin = |arch: &str, bytes: [usize; 3]| {
                let mut cubin = Cubin::abi7(arch).without_functions();
                for (name, bytes) in ["k1", "k2", "k3"].into_iter().zip(bytes) {
                    let name = name.to_owned();
                    let own = Function { name, entry: true, binding: 1, size: bytes, registers: 8, shared: 0 };
                    cubin = cubin.function(own);
                }
                Entry::sass(arch, cubin.bytes())
            };
            let module = vec![cubin("80", [128, 128, 512]), cubin("90", [40_960, 81_920, 512])];
            own(wheel_of(&[module]), "--require 8.0", "--require 9.0")
        }
        Rule::Unknown => {
            // whether Orin's own code runs on desktop GPUs, with the driver that united them, is denied by one source
            // and affirmed by another
            let orin = wheel_of(&[module(&["75", "87"])]);
            own(orin, "--require 8.9 --driver-cuda 13.2", "--require 8.7 --driver-cuda 13.2")
        }
        Rule::Jit => {
            let code = vec![sass("75"), ptx("80", (8, 0))];
            own(wheel_of(&[code]), "--require 9.0", "--require 7.5")
        }
        Rule::NoDeviceCode => {
            let pure =
                Zip::wheel("pure", "1.0", "py3-none-any", &[ZipMember::deflated("pure/__init__.py", b"x = 1\n")]);
            let pure = folder.write("pure-1.0-py3-none-any.whl", pure.bytes());
            let good = folder.write("code-1.0-py3-none-any.whl", good());
            let with = |path: String| [vec![path], words("--require 9.0")].concat();
            Some(Case { rule, trips: with(pure), holds: with(good) })
        }
        Rule::Missing => own(good(), "--contains 8.0;9.0+PTX", "--contains 8.0;9.0"),
        Rule::Extra => own(good(), "--contains 8.0 --strict", "--contains 9.0,8.0 --strict"),
        Rule::MaxSize => own(good(), "--max-size 100", "--max-size 1MB"),
        Rule::ExpiredIgnore => {
            let path = folder.write("ignored-1.0-py3-none-any.whl", good());
            let config = |name: &str, day: &str| {
                let text = format!("[[ignore]]\nrule = \"jit\"\nreason = \"known\"\nexpires = \"{day}\"\n");
                args(&[&path, "--require", "9.0", "--config", &folder.write(name, text)])
            };
            Some(Case { rule, trips: config("old.toml", "2020-01-31"), holds: config("new.toml", "9999-12-31") })
        }
        Rule::UnmatchedFiles => {
            let path = folder.write("named-1.0-py3-none-any.whl", good());
            let config = |name: &str, glob: &str| {
                let text = format!("[[files]]\nglob = \"{glob}\"\ncontains = \"9.0\"\n");
                args(&[&path, "--config", &folder.write(name, text)])
            };
            Some(Case { rule, trips: config("away.toml", "libother.so"), holds: config("there.toml", "libpkg.so") })
        }
        Rule::Specialised => {
            let modules = [module(&["80", "90"]), module(&["90a"])];
            own(wheel_of(&modules), "--require 8.0", "--require 9.0")
        }
        _ => declared::case(folder, rule),
    }
}
