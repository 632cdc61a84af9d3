//! Words of Python to what the library takes: GPUs, drivers, demands.

use std::collections::BTreeMap;

use device_probe::{Recording, Sources, probe};
use fatscan_core::check::{Date, Demands, Rule, Severity};
use fatscan_core::{Mapping, Options, Pattern, Policy};
use gpu_arch::rules::{Device, Driver, Environment};
use gpu_arch::spelling::{self, SpellingError, SpellingErrorKind};
use gpu_arch::{CudaVersion, DriverVersion, Target, catalogue};
use pyo3::prelude::*;

use crate::job::Failure;

/// A word that is not understood.
fn wrong(text: impl Into<String>, hint: impl Into<String>) -> Failure {
    Failure::with_hint("argument", text, hint)
}

/// How to scan.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    threads: usize,
    mmap: String,
    follow_links: bool,
    exclude: Vec<String>,
}

impl Settings {
    /// The options with these settings.
    pub(crate) fn apply(&self, options: Options) -> Result<Options, Failure> {
        let mapping = match self.mmap.as_str() {
            "auto" => Mapping::Auto,
            "never" => Mapping::Never,
            "always" => Mapping::Always,
            other => return Err(wrong(format!("mmap: `{other}` is unknown"), "it is auto, never or always")),
        };
        let mut options = options.with_threads(self.threads).with_mapping(mapping);
        options.follow_links = self.follow_links;
        Ok(options)
    }

    pub(crate) fn patterns(&self) -> Result<Vec<Pattern>, Failure> {
        let pattern =
            |word: &String| Pattern::new(word).map_err(|error| Failure::new("argument", format!("exclude: {error}")));
        self.exclude.iter().map(pattern).collect()
    }
}

/// The GPUs to judge for.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Gpus {
    /// By name; none: those of the recording, or of this machine.
    names: Option<Vec<String>>,
    recording: Option<String>,
    driver: Option<String>,
    driver_cuda: Option<String>,
}

impl Gpus {
    /// The devices. Asks the driver of this machine, which takes its time.
    pub(crate) fn devices(&self) -> Result<Vec<Device>, Failure> {
        let driver = self.driver()?;
        let mut devices: Vec<Device> = Vec::new();
        match &self.names {
            Some(names) => {
                for name in names {
                    let named = spelling::devices(name).map_err(|error| refused(&error))?;
                    devices.extend(named.into_iter().map(|named| {
                        let name = named.name.map(ToOwned::to_owned);
                        Device { name, host: named.host, ..Device::of(named.capability) }.with_driver(driver)
                    }));
                }
            }
            None => {
                devices = self.probed()?;
                if !driver.is_unknown() {
                    devices = devices.into_iter().map(|device| device.with_driver(driver)).collect();
                }
            }
        }
        let mut known: Vec<Device> = Vec::new();
        for device in devices {
            if !known.contains(&device) {
                known.push(device);
            }
        }
        Ok(known)
    }

    fn probed(&self) -> Result<Vec<Device>, Failure> {
        let probe = match &self.recording {
            Some(json) => {
                let recording: Result<Recording, _> = serde_json::from_str(json);
                let malformed = |error| Failure::new("argument", format!("gpus: not a recording of devices: {error}"));
                recording.map_err(malformed)?.probe
            }
            None => probe(&Sources::system()),
        };
        let devices = probe.devices();
        if devices.is_empty() {
            return Err(Failure::with_hint(
                "no-device",
                probe.headline(),
                "name a GPU: gpus=\"8.9\", gpus=\"RTX 4090\"",
            ));
        }
        Ok(devices)
    }

    fn driver(&self) -> Result<Driver, Failure> {
        let version = match &self.driver {
            Some(text) => {
                let version: Option<DriverVersion> = text.parse().ok();
                let version = version.filter(|version| version.branch() >= 100);
                let hint = "write it like driver=\"535.183.01\"; the CUDA version of a driver is driver_cuda=\"12.4\"";
                Some(version.ok_or_else(|| wrong(format!("driver: `{text}` is no version of a driver"), hint))?)
            }
            None => None,
        };
        let cuda = match &self.driver_cuda {
            Some(text) => {
                let cuda: Option<CudaVersion> = text.parse().ok();
                let cuda = cuda.filter(|cuda| (5..100).contains(&cuda.major));
                let text = format!("driver_cuda: `{text}` is no version");
                Some(cuda.ok_or_else(|| wrong(text, "write it like driver_cuda=\"12.4\""))?)
            }
            None => None,
        };
        if let (Some(version), Some(cuda)) = (version, cuda) {
            // a newer CUDA than the driver's own comes from the cuda-compat package; an older one from nowhere
            if let Some(own) = catalogue::cuda_of_driver(version).filter(|own| *own > cuda) {
                let text = format!("driver {version} and driver_cuda {cuda} contradict each other: it has CUDA {own}");
                return Err(wrong(text, "give one of them"));
            }
        }
        Ok(Driver { version, cuda })
    }
}

/// All that an ambiguous name stands for can be copied.
fn refused(error: &SpellingError) -> Failure {
    let hint = match &error.kind {
        SpellingErrorKind::AmbiguousDevice { meanings } => {
            let all: Vec<String> = meanings.iter().map(|meaning| meaning.capability.to_string()).collect();
            format!("name one, or all: [\"{}\"]", all.join("\", \""))
        }
        SpellingErrorKind::NamesCode => "code that must be there goes to check(contains=...)".to_owned(),
        _ => "name it by its compute capability or its name: \"8.9\", \"RTX 4090\"".to_owned(),
    };
    wrong(error.to_string(), hint)
}

/// What is demanded.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Wanted {
    contains: Option<String>,
    strict: bool,
    allow_jit: Option<u8>,
    allow_partial: Option<u8>,
    allow_unknown: bool,
    host: Option<String>,
    max_size: Option<u64>,
    levels: BTreeMap<String, String>,
    /// Whether devices are demanded.
    runs: bool,
}

impl Wanted {
    pub(crate) fn demands(&self) -> Result<Demands, Failure> {
        let mut contains: Vec<Target> = match &self.contains {
            Some(text) => spelling::code(text)
                .map_err(|error| Failure::new("argument", format!("contains: {error}")))?
                .into_iter()
                .map(Target::without_isa)
                .collect(),
            None => Vec::new(),
        };
        contains.sort_unstable();
        contains.dedup();
        if contains.is_empty() && !self.runs && self.strict {
            let hint =
                "name what may be there (contains=\"8.0;9.0+PTX\") or where all of it must run (require=\"9.0\")";
            return Err(wrong("strict without contains and without a GPU", hint));
        }
        if contains.is_empty() && !self.runs && self.max_size.is_none() && self.host.is_none() {
            let hint =
                "name GPUs that it must run on (require=\"9.0\") or code that it must hold (contains=\"9.0+PTX\")";
            return Err(wrong("nothing is demanded", hint));
        }
        if [self.allow_jit, self.allow_partial].iter().flatten().any(|percent| *percent > 100) {
            return Err(wrong("allow_jit and allow_partial are percentages", "0 to 100"));
        }
        if let Some(host) = self.host.as_ref().filter(|host| !["x86_64", "aarch64"].contains(&host.as_str())) {
            return Err(wrong(format!("host: `{host}` is unknown"), "it is x86_64 or aarch64"));
        }
        let mut levels = BTreeMap::new();
        for (rule, level) in &self.levels {
            let rule: Rule = rule.parse().map_err(|error| Failure::new("argument", format!("levels: {error}")))?;
            let severity = match level.as_str() {
                "deny" => Severity::Deny,
                "warn" => Severity::Warn,
                "allow" => Severity::Allow,
                other => return Err(wrong(format!("levels: `{other}` is unknown"), "it is deny, warn or allow")),
            };
            levels.insert(rule, severity);
        }
        Ok(Demands {
            allow_jit: self.allow_jit,
            allow_partial: self.allow_partial,
            allow_unknown: self.allow_unknown,
            contains,
            strict: self.strict,
            host: self.host.clone(),
            max_size: self.max_size,
            levels,
            today: Date::today(),
            ..Demands::default()
        })
    }

    pub(crate) const fn runs(&self) -> bool {
        self.runs
    }
}

/// How to judge: with the variables of this process that the driver goes by, or without any.
pub(crate) fn policy(alternatives: bool, of_this_process: bool) -> Policy {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let environment = match of_this_process {
        true => Environment::from_vars(std::env::vars_os().filter_map(text)),
        false => Environment::default(),
    };
    Policy { environment, alternatives, ..Policy::default() }
}
