//! The devices and the driver that were typed.

use gpu_arch::rules::{Device, Driver, Environment};
use gpu_arch::spelling::{self, SpellingError, SpellingErrorKind};
use gpu_arch::{CudaVersion, DriverVersion, catalogue};

use crate::args::DriverArgs;
use crate::failure::Failure;

/// The devices that a flag names, with the driver of `--driver` and `--driver-cuda`.
pub(crate) fn devices(flag: &str, gpus: &[String], driver: &DriverArgs) -> Result<Vec<Device>, Failure> {
    let drivers = read_drivers(driver)?;
    if gpus.is_empty() {
        return Err(Failure::with_hint(
            "no GPU is named",
            "name one by its compute capability or its name: --gpu 8.9, --gpu \"RTX 4090\"",
        ));
    }
    let mut devices: Vec<Device> = Vec::new();
    for gpu in gpus {
        let named = spelling::devices(gpu).map_err(|error| refused(flag, &error, None))?;
        for named in named {
            let name = named.name.map(ToOwned::to_owned);
            let device = Device { name, host: named.host, ..Device::of(named.capability) };
            for driver in &drivers {
                let device = device.clone().with_driver(*driver);
                if !devices.contains(&device) {
                    devices.push(device);
                }
            }
        }
    }
    Ok(devices)
}

/// The failure for a name that is refused. All that an ambiguous one stands for can be copied from its hint.
pub(crate) fn refused(flag: &str, error: &SpellingError, hint: Option<&str>) -> Failure {
    let text = format!("{flag}: {error}");
    let SpellingErrorKind::AmbiguousDevice { meanings } = &error.kind else {
        return hint.map_or_else(|| Failure::new(text.clone()), |hint| Failure::with_hint(text.clone(), hint));
    };
    let all: Vec<String> = meanings.iter().map(|meaning| meaning.capability.to_string()).collect();
    let hint = match flag {
        "--missing-for" => "name one of them".to_owned(),
        _ if flag.starts_with("--") => format!("name one, or all: {flag} {}", all.join(",")),
        _ => format!("name one, or all: gpus = [\"{}\"]", all.join("\", \"")),
    };
    Failure::with_hint(text, hint)
}

/// The variables of this process that the driver goes by.
pub(crate) fn environment() -> Environment {
    Environment::from_vars(
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    )
}

/// The driver that was typed, or both ends of a range: what loads with both loads with those between. A newer driver takes
/// what an older one does, until it no longer supports the device.
pub(crate) fn read_drivers(args: &DriverArgs) -> Result<Vec<Driver>, Failure> {
    let range = args.driver.as_deref().and_then(|text| text.split_once("..").map(|ends| (text, ends)));
    let Some((text, (oldest, newest))) = range else { return Ok(vec![read_driver(args)?]) };
    let wrong = |why: &str| {
        Failure::with_hint(format!("--driver: `{text}` {why}"), "write both ends of a range: --driver 535.54.03..580")
    };
    if args.driver_cuda.is_some() {
        return Err(wrong("is a range, which goes without the CUDA version of a driver"));
    }
    let end = |text: &str| {
        let driver = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let driver = driver.ok_or_else(|| wrong("lacks an end"))?;
        read_driver(&DriverArgs { driver: Some(driver), driver_cuda: None })
    };
    let (oldest, newest) = (end(oldest)?, end(newest)?);
    if oldest.version > newest.version {
        return Err(wrong("begins with the newer driver"));
    }
    Ok(vec![oldest, newest])
}

pub(crate) fn read_driver(args: &DriverArgs) -> Result<Driver, Failure> {
    let parse_error = |flag: &str, value: &str, example: &str| {
        Failure::with_hint(format!("{flag}: `{value}` is no version"), format!("write it like {flag} {example}"))
    };
    let version = match &args.driver {
        Some(text) => {
            let version: Result<DriverVersion, _> = text.parse();
            let version = version.map_err(|_| parse_error("--driver", text, "535.183.01"))?;
            // a driver of today has three digits before the dot, a CUDA version has one or two
            if version.branch() < 100 {
                let hint = format!("the CUDA version of a driver goes to --driver-cuda {text}");
                return Err(Failure::with_hint(format!("--driver: `{text}` is no version of a driver"), hint));
            }
            Some(version)
        }
        None => None,
    };
    let cuda = match &args.driver_cuda {
        Some(text) => {
            let cuda: Result<CudaVersion, _> = text.parse();
            let cuda = cuda.map_err(|_| parse_error("--driver-cuda", text, "12.4"))?;
            if !(5..100).contains(&cuda.major) {
                return Err(parse_error("--driver-cuda", text, "12.4"));
            }
            Some(cuda)
        }
        None => None,
    };
    if let (Some(version), Some(cuda)) = (version, cuda) {
        let own = catalogue::cuda_of_driver(version);
        // a newer CUDA than the driver's own comes from the cuda-compat package; an older one from nowhere
        if let Some(own) = own.filter(|own| *own > cuda) {
            return Err(Failure::with_hint(
                format!(
                    "--driver {version} and --driver-cuda {cuda} contradict each other: that driver has CUDA {own}"
                ),
                "give one of them",
            ));
        }
    }
    Ok(Driver { version, cuda })
}
