//! A newer driver, or a newer part of it beside the driver that is there.

use gpu_arch::CudaVersion;
use gpu_arch::catalogue::{self, Platform, ProductClass, ProductLookup};
use gpu_arch::rules::{Device, ReasonCode, Verdict};

use super::{About, Fix, FixKind};

/// The first toolkit with the package.
const FIRST: CudaVersion = CudaVersion::new(10, 0);

/// The reasons that a newer driver library alone does away with.
const BY_LIBRARY: [ReasonCode; 4] =
    [ReasonCode::RuntimeMajor, ReasonCode::PtxIsa, ReasonCode::Zstd, ReasonCode::CubinAbi];

/// Whether a newer driver helps at all: it does not where nothing fits, unless the GPU itself waits for it.
fn helps(about: &About<'_>) -> bool {
    let is_new = about.verdict.reasons.iter().any(|reason| reason.code == ReasonCode::DriverUnknownDevice);
    let hopeless = about.verdict.verdict == Verdict::NotCovered && !is_new;
    !about.device.driver.is_unknown() && !about.verdict.verdict.is_usable() && !hopeless
}

pub(super) fn update(about: &About<'_>) -> Option<Fix> {
    let wanted = about.verdict.needs_driver.filter(|_| helps(about))?;
    let branch = wanted.branch();
    let text = match last_driver(about.device) {
        Some(last) if last < branch => return None,
        Some(last) => format!("update the driver to {wanted} or newer (branch {branch}, at most {last} on this GPU)"),
        None => format!("update the driver to {wanted} or newer (branch {branch})"),
    };
    Some(Fix { kind: FixKind::Driver, text, lines: Vec::new() })
}

fn last_driver(device: &Device) -> Option<u16> {
    catalogue::architecture(device.capability).and_then(|row| row.last_driver)
}

/// The package `cuda-compat`: the driver's library of a newer CUDA version over the driver that is there.
pub(super) fn compat(about: &About<'_>) -> Option<Fix> {
    let reasons = &about.verdict.reasons;
    // the kernel's part must know the device, and the package is for Linux
    let is_kernel = |code| matches!(code, ReasonCode::DriverUnknownDevice | ReasonCode::DriverDroppedDevice);
    let is_out = about.verdict.verdict == Verdict::NotCovered || reasons.iter().any(|reason| is_kernel(reason.code));
    if !helps(about) || is_out || about.is_windows() {
        return None;
    }
    let by_library = reasons.iter().filter(|reason| BY_LIBRARY.contains(&reason.code));
    let wanted = by_library.filter_map(|reason| reason.needs_cuda).max()?.max(FIRST);
    // there is no package for a CUDA version without a toolkit, as 12.7
    let cuda = catalogue::toolkits().iter().map(|toolkit| toolkit.version).find(|version| *version >= wanted)?;
    let branch = catalogue::driver_for_cuda(cuda).map(|driver| driver.branch());
    if last_driver(about.device).zip(branch).is_some_and(|(last, branch)| last < branch) {
        return None;
    }
    let only = match allowed(about.device) {
        Allowed::No => return None,
        Allowed::Yes => "",
        Allowed::Perhaps => {
            "; only on data center GPUs, Jetson and the RTX cards that NVIDIA lists, others give CUDA error 804"
        }
    };
    let (major, minor) = (cuda.major, cuda.minor);
    let text = format!(
        "or keep the driver and install `cuda-compat-{major}-{minor}` beside it, or a newer `cuda-compat-MAJOR-MINOR` of \
         NVIDIA's packages for Linux that takes the branch of this driver, and have its library found first{only}"
    );
    let lines = vec![
        format!("apt-get install cuda-compat-{major}-{minor}"),
        format!("export LD_LIBRARY_PATH=/usr/local/cuda-{major}.{minor}/compat${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"),
    ];
    Some(Fix { kind: FixKind::Compat, text, lines })
}

/// Whether the package works on a device. Source: NVIDIA, "CUDA Compatibility", forward compatibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowed {
    Yes,
    No,
    /// A card of which some are listed, or a device that is not known well enough.
    Perhaps,
}

fn allowed(device: &Device) -> Allowed {
    if device.platform == Platform::Tegra {
        return Allowed::Yes;
    }
    let of = |class, name: &str| match class {
        ProductClass::Geforce => Allowed::No,
        ProductClass::DatacenterOrOther if !is_other(name) => Allowed::Yes,
        _ => Allowed::Perhaps,
    };
    let Some(name) = &device.name else {
        let rows = catalogue::products().iter().filter(|row| row.capability == device.capability);
        let mut answers = rows.map(|row| of(row.class, row.name));
        let Some(first) = answers.next() else { return Allowed::Perhaps };
        return if answers.all(|answer| answer == first) { first } else { Allowed::Perhaps };
    };
    if name.to_ascii_uppercase().contains("GEFORCE") {
        return Allowed::No;
    }
    match catalogue::product(name) {
        ProductLookup::Found(row) => of(row.class, row.name),
        _ => Allowed::Perhaps,
    }
}

/// Whether a product of the table's last class is no data center card by its name.
fn is_other(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["GEFORCE", "CMP", "RTX", "GB10", "TITAN"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forward_compatibility_is_for_data_center_and_jetson() {
        let named = |name: &str| match catalogue::product(name) {
            ProductLookup::Found(row) => {
                allowed(&Device { name: Some(row.name.to_owned()), ..Device::of(row.capability) })
            }
            other => panic!("{name}: {other:?}"),
        };
        for name in ["H100", "A100 PCIe 40GB", "T4", "L40S", "Tesla V100 PCIe 16GB", "A10", "Jetson AGX Orin"] {
            assert_eq!(named(name), Allowed::Yes, "{name}");
        }
        for name in ["RTX 4090", "RTX 5090", "GeForce RTX 3050", "GTX 1080"] {
            assert_eq!(named(name), Allowed::No, "{name}");
        }
        for name in ["RTX A6000", "GB10"] {
            assert_eq!(named(name), Allowed::Perhaps, "{name}");
        }
        // by the capability alone: 8.9 is L40S and RTX 4090
        let of = |major, minor| allowed(&Device::of(gpu_arch::Capability::new(major, minor)));
        assert_eq!([of(8, 7), of(8, 9), of(12, 0)], [Allowed::Yes, Allowed::Perhaps, Allowed::Perhaps]);
        let unknown = Device { name: Some("something".to_owned()), ..Device::of(gpu_arch::Capability::new(9, 0)) };
        assert_eq!(allowed(&unknown), Allowed::Perhaps);
    }
}
