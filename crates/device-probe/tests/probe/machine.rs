//! A machine made of fakes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use device_probe::{
    CHILD_ARGUMENT, Environment, Finding, FindingCode, Isolation, Probe, ProbedDevice, Sources, ToolkitSources,
};
use tempfile::TempDir;

/// The identifiers of the devices of the fake libraries.
pub(crate) const UUID0: &str = "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f";
pub(crate) const UUID1: &str = "GPU-20212223-2425-2627-2829-2a2b2c2d2e2f";

/// The answers of `nvidia-smi` for the same devices.
pub(crate) const ROW0: &str = "index=0|uuid=GPU-10111213-1415-1617-1819-1a1b1c1d1e1f|driver_version=550.54.14|\
     compute_cap=8.9|pci.bus_id=00000000:41:00.0|pci.device_id=0x268410DE|mig.mode.current=[N/A]|\
     name=NVIDIA GeForce RTX 4090";
pub(crate) const ROW1: &str = "index=1|uuid=GPU-20212223-2425-2627-2829-2a2b2c2d2e2f|driver_version=550.54.14|\
     compute_cap=9.0|pci.bus_id=00000000:42:00.0|pci.device_id=0x233010DE|mig.mode.current=Disabled|\
     name=NVIDIA H100 80GB HBM3";

/// A folder with a root, libraries and programs, and the [`Sources`] that point there. It begins empty.
pub(crate) struct Machine {
    folder: TempDir,
    pub(crate) sources: Sources,
}

/// A macro of the fake libraries and its value; an empty one is only defined.
pub(crate) type Define<'a> = (&'a str, &'a str);

impl Machine {
    /// An empty machine; nothing, with a line that says so, where no library can be compiled.
    pub(crate) fn new() -> Option<Self> {
        let compiles = Command::new("cc").arg("--version").output().is_ok_and(|output| output.status.success());
        if !compiles || !cfg!(target_os = "linux") {
            println!("skipped: {}", if compiles { "not on Linux" } else { "no C compiler" });
            return None;
        }
        Some(Self::without_compiler())
    }

    /// An empty machine for tests that load no library.
    pub(crate) fn without_compiler() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut sources = Sources::system();
        sources.root = folder.path().join("root");
        sources.cuda_libraries = vec![PathBuf::from("libcuda-that-is-not-here.so.1")];
        sources.nvml_libraries = vec![PathBuf::from("libnvidia-ml-that-is-not-here.so.1")];
        sources.nvidia_smi = vec![PathBuf::from("nvidia-smi-that-is-not-here")];
        sources.environment = Environment::default();
        sources.isolation = Isolation::Child {
            program: std::env::current_exe().unwrap(),
            arguments: ["--exact", "child_of_the_probe", "--nocapture", CHILD_ARGUMENT].map(Into::into).to_vec(),
        };
        // far more than any answer takes, so that a slow machine fails no test
        sources.limit = Duration::from_secs(20);
        sources.toolkits = ToolkitSources::default();
        Self { folder, sources }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn compile(&self, source: &str, name: &str, defines: &[Define<'_>]) -> PathBuf {
        let library = self.path(name);
        fs::create_dir_all(library.parent().unwrap()).unwrap();
        let mut command = Command::new("cc");
        command.args(["-shared", "-fPIC", "-O0", "-w", "-o"]).arg(&library).arg(fake(source));
        for (name, value) in defines {
            command.arg(if value.is_empty() { format!("-D{name}") } else { format!("-D{name}={value}") });
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        library
    }

    /// A driver library.
    pub(crate) fn cuda(mut self, defines: &[Define<'_>]) -> Self {
        self.sources.cuda_libraries = vec![self.compile("cuda.c", "lib/libcuda.so.1", defines)];
        self
    }

    /// A driver library of a name of its own.
    pub(crate) fn cuda_named(mut self, name: &str, defines: &[Define<'_>]) -> Self {
        self.sources.cuda_libraries = vec![self.compile("cuda.c", name, defines)];
        self
    }

    /// A management library.
    pub(crate) fn nvml(mut self, defines: &[Define<'_>]) -> Self {
        self.sources.nvml_libraries = vec![self.compile("nvml.c", "lib/libnvidia-ml.so.1", defines)];
        self
    }

    /// An `nvidia-smi` with files beside it.
    pub(crate) fn smi(mut self, files: &[(&str, &str)]) -> Self {
        let program = self.path("smi/nvidia-smi");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::copy(fake("nvidia-smi"), &program).unwrap();
        executable(&program);
        for (name, text) in files {
            fs::write(program.with_file_name(name), text).unwrap();
        }
        self.sources.nvidia_smi = vec![program];
        self
    }

    /// An `nvidia-smi` that lists devices.
    pub(crate) fn smi_rows(self, rows: &[&str]) -> Self {
        self.smi(&[("rows", &(rows.join("\n") + "\n"))])
    }

    /// A file under the root.
    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        let path = self.sources.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// A function on the PCI bus, with the kernel module that serves it.
    pub(crate) fn pci(self, address: &str, class: &str, ids: (&str, &str), module: Option<&str>) -> Self {
        let place = format!("sys/bus/pci/devices/{address}");
        let machine = self
            .file(&format!("{place}/vendor"), &format!("{}\n", ids.0))
            .file(&format!("{place}/device"), &format!("{}\n", ids.1))
            .file(&format!("{place}/class"), &format!("{class}\n"));
        #[cfg(unix)]
        if let Some(module) = module {
            let link = machine.sources.root.join(place).join("driver");
            std::os::unix::fs::symlink(format!("../../../../bus/pci/drivers/{module}"), link).unwrap();
        }
        machine
    }

    /// The GPU of the first fake device on the PCI bus.
    pub(crate) fn pci_4090(self, module: Option<&str>) -> Self {
        self.pci("0000:41:00.0", "0x030000", ("0x10de", "0x2684"), module)
    }

    pub(crate) fn variables(mut self, variables: &[(&str, &str)]) -> Self {
        self.sources.environment = Environment::from_vars(variables.iter().copied());
        self
    }

    pub(crate) fn limit(mut self, milliseconds: u64) -> Self {
        self.sources.limit = Duration::from_millis(milliseconds);
        self
    }

    pub(crate) fn probe(&self) -> Probe {
        device_probe::probe(&self.sources)
    }
}

/// A file of `tests/fake`.
pub(crate) fn fake(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake").join(name)
}

/// Lets a file be run, also where the sources were unpacked without that.
pub(crate) fn executable(path: &Path) {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let _ = path;
}

/// A program of the shell.
pub(crate) fn write_program(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    executable(path);
}

/// The only finding of a code.
pub(crate) fn finding(probe: &Probe, code: FindingCode) -> &Finding {
    let found: Vec<&Finding> = probe.findings.iter().filter(|finding| finding.code == code).collect();
    match found.as_slice() {
        [finding] => finding,
        _ => panic!("not one {code} in {:#?}", probe.findings),
    }
}

pub(crate) fn codes(probe: &Probe) -> Vec<FindingCode> {
    probe.findings.iter().map(|finding| finding.code).collect()
}

pub(crate) fn advice(finding: &Finding) -> &str {
    finding.advice.as_deref().unwrap_or_default()
}

/// The capabilities that code is judged for.
pub(crate) fn judged(probe: &Probe) -> Vec<String> {
    probe.devices().iter().map(|device| device.capability.to_string()).collect()
}

pub(crate) fn capability(device: &ProbedDevice) -> String {
    device.capability.map(|capability| capability.to_string()).unwrap_or_default()
}
