//! What is to stay, as it was typed.

use fatscan::check::Config;
use fatscan::slim::{KeepPtx, Named, Wish};
use gpu_arch::rules::{Device, Driver};
use gpu_arch::{Target, catalogue, spelling};

use crate::args::{DriverArgs, KeepPtxArg, SlimArgs};
use crate::failure::Failure;
use crate::{check, target};

/// What is to stay.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) devices: Vec<Device>,
    pub(crate) keep: Vec<Target>,
    pub(crate) drop: Vec<Target>,
    keep_ptx: KeepPtx,
    unwrapped: bool,
    signed: bool,
}

impl Chosen {
    pub(super) fn new(args: &SlimArgs) -> Result<Self, Failure> {
        let keep_ptx = match args.keep_ptx {
            KeepPtxArg::Newest => KeepPtx::Newest,
            KeepPtxArg::All => KeepPtx::All,
            KeepPtxArg::None => KeepPtx::None,
        };
        let mut chosen = Self {
            keep_ptx,
            unwrapped: args.include_unwrapped,
            signed: args.allow_broken_signature,
            ..Self::default()
        };
        let list = |flag: &str, text: &str| {
            let list = spelling::code(text).map_err(|error| Failure::new(format!("{flag}: {error}")))?;
            if list.is_empty() { Err(Failure::new(format!("{flag}: no architecture is named"))) } else { Ok(list) }
        };
        match (&args.what.keep, &args.what.drop, &args.what.fleet) {
            (Some(text), ..) => chosen.keep = list("--keep", text)?,
            (_, Some(text), _) => chosen.drop = list("--drop", text)?,
            (.., Some(path)) => chosen.devices = fleet(path)?,
            _ => chosen.devices = devices("--for", &args.what.gpus, &args.driver)?,
        }
        Ok(chosen)
    }

    /// For GPUs alone: what `slim --for` leaves by default.
    pub(crate) fn of_gpus(flag: &str, gpus: &[String], driver: &DriverArgs) -> Result<Self, Failure> {
        Ok(Self { devices: devices(flag, gpus, driver)?, ..Self::default() })
    }

    pub(crate) fn wish(&self) -> Wish<'_> {
        let named = match (self.keep.as_slice(), self.drop.as_slice()) {
            ([], []) => None,
            (keep, []) => Some(Named::Keep(keep)),
            (_, drop) => Some(Named::Drop(drop)),
        };
        Wish { devices: &self.devices, named, keep_ptx: self.keep_ptx, unwrapped: self.unwrapped, signed: self.signed }
    }

    /// The compute capabilities, each once.
    pub(crate) fn gpus(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for device in &self.devices {
            let name = device.capability.to_string();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// What a tag says: `slim_80_90`, `slim_keep_sm_90`.
    pub(super) fn tag(&self) -> String {
        let joined = |list: &[Target]| list.iter().map(name).collect::<Vec<_>>().join("_");
        match (self.keep.as_slice(), self.drop.as_slice()) {
            ([], []) => {
                let numbers: Vec<String> = self.gpus().iter().map(|own| own.replace('.', "")).collect();
                format!("slim_{}", numbers.join("_"))
            }
            (keep, []) => format!("slim_keep_{}", joined(keep)),
            (_, drop) => format!("slim_drop_{}", joined(drop)),
        }
    }
}

/// The label of code in a fatbin: `sm_90a`, `compute_90`.
pub(crate) fn name(target: &Target) -> String {
    match target {
        Target::Sass(arch) => format!("sm_{arch}"),
        Target::Ptx(arch, _) => format!("compute_{arch}"),
        Target::Lto(arch) => format!("lto_{arch}"),
    }
}

/// Each GPU with its driver; of a range with both ends and what lies between.
fn devices(flag: &str, gpus: &[String], driver: &DriverArgs) -> Result<Vec<Device>, Failure> {
    let own = target::devices(flag, gpus, driver)?;
    let [oldest, newest] = target::read_drivers(driver)?.as_slice().try_into().unwrap_or_default();
    let (oldest, newest): (Driver, Driver) = (oldest, newest);
    let cuda = |driver: Driver| driver.version.and_then(catalogue::cuda_of_driver);
    let Some((oldest, newest)) = cuda(oldest).zip(cuda(newest)) else { return Ok(own) };
    let between = catalogue::toolkits().iter().map(|own| own.version).filter(|own| *own > oldest && *own < newest);
    let between: Vec<Driver> = between.map(Driver::of_cuda).collect();
    let mut all = Vec::new();
    for device in own {
        all.extend(between.iter().map(|driver| device.clone().with_driver(*driver)));
        all.push(device);
    }
    Ok(all)
}

/// The GPUs of a configuration, each with its driver.
fn fleet(path: &str) -> Result<Vec<Device>, Failure> {
    let text = check::read(path, "--fleet")?;
    let config = Config::parse(&text).map_err(|error| Failure::of_lines(&format!("--fleet `{path}`"), &error.text))?;
    let mut all: Vec<Device> = Vec::new();
    for own in
        config.fleets.iter().chain(&config.any_of).chain(config.files.iter().filter_map(|own| own.require.as_ref()))
    {
        if own.gpus.is_empty() {
            continue;
        }
        let driver = DriverArgs { driver: own.driver.clone(), driver_cuda: own.driver_cuda.clone() };
        let named = devices(&format!("fleet `{}`", own.name), &own.gpus, &driver);
        let named = named.map_err(|failure| failure.within(&format!("--fleet `{path}`")))?;
        for device in named {
            if !all.contains(&device) {
                all.push(device);
            }
        }
    }
    if all.is_empty() {
        let hint = "write it as for `fatscan fleet --config`: [fleet.production] with gpus = [\"T4\", \"H100\"]";
        return Err(Failure::with_hint(format!("--fleet `{path}` names no GPU"), hint));
    }
    Ok(all)
}
