//! What must hold for every architecture, device and driver of the tables.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

use gpu_arch::catalogue::{Platform, architectures, branches, toolkits};
use gpu_arch::rules::{
    Code, Coverage, Device, Driver, Environment, Verdict, judge_module, ptx_covers, runs, sass_covers,
};
use gpu_arch::{Arch, Capability, CudaVersion, DriverVersion, Isa, Suffix, Target};

const PLAIN: Environment = Environment { force_ptx_jit: false, disable_ptx_jit: false };

/// Every architecture that exists, suffixed ones included.
fn archs() -> Vec<Arch> {
    let mut archs: Vec<Arch> = architectures().iter().filter_map(|row| row.capability.arch()).collect();
    archs.extend(toolkits().iter().flat_map(|row| row.archs));
    archs.sort_unstable();
    archs.dedup();
    archs
}

fn capabilities() -> Vec<Capability> {
    architectures().iter().map(|row| row.capability).collect()
}

/// The versions from 8.0 to 13.5 that something in the tables asks for.
fn cuda_versions() -> Vec<CudaVersion> {
    let mut versions: Vec<CudaVersion> = toolkits().iter().map(|row| row.version).collect();
    versions.push(CudaVersion::new(12, 7));
    versions.sort_unstable();
    versions
}

/// Images of every kind that ask something of a driver.
fn images() -> Vec<Code> {
    let mut images = Vec::new();
    for arch in archs() {
        let sass = Code::new(Target::Sass(arch));
        images.extend([sass, Code { zstd: true, ..sass }, Code { cubin_abi: Some(8), ..sass }]);
        for isa in [Isa::new(7, 8), Isa::new(8, 7), Isa::new(9, 2), Isa::new(9, 5)] {
            let ptx = Code::new(Target::Ptx(arch, Some(isa)));
            images.extend([ptx, Code { zstd: true, ..ptx }]);
        }
    }
    images
}

/// The accepted targets of every plain architecture, copied from the rule table: by driver before
/// CUDA 13.2; what 13.2 adds; what is uncertain from 13.2 on.
const SASS: [(u32, &str, &str, &str); 26] = [
    (30, "3.0 3.5 3.7", "", ""),
    (32, "3.2", "", ""),
    (35, "3.5 3.7", "", ""),
    (37, "3.7", "", ""),
    (50, "5.0 5.2", "", ""),
    (52, "5.2", "", ""),
    (53, "5.3", "", ""),
    (60, "6.0 6.1", "", ""),
    (61, "6.1", "", ""),
    (62, "6.2", "", ""),
    (70, "7.0 7.5", "", ""),
    (72, "7.2", "", ""),
    (75, "7.5", "", ""),
    (80, "8.0 8.6 8.9", "8.7 8.8", ""),
    (86, "8.6 8.9", "8.7 8.8", ""),
    (87, "8.7", "", "8.8 8.9"),
    (88, "8.8", "", "8.9"),
    (89, "8.9", "", ""),
    (90, "9.0", "", ""),
    (100, "10.0 10.3 10.7", "", ""),
    (101, "10.1 11.0", "", ""),
    (103, "10.3 10.7", "", ""),
    (107, "10.7", "", ""),
    (110, "11.0 10.1", "", ""),
    (120, "12.0 12.1", "", ""),
    (121, "12.1", "", ""),
];

/// The families, copied from the rule table (ptxas and nvlink 13.5).
const FAMILIES: [(u32, &str); 7] = [
    (100, "10.0 10.3 10.7"),
    (103, "10.3 10.7"),
    (107, "10.7"),
    (101, "10.1 11.0"),
    (110, "11.0 10.1"),
    (120, "12.0 12.1"),
    (121, "12.1"),
];

fn names(list: &str, capability: Capability) -> bool {
    list.split(' ').any(|word| word == capability.to_string())
}

#[test]
fn plain_sass_covers_what_the_table_says() {
    for (number, legacy, unified, uncertain) in SASS {
        for capability in capabilities() {
            let code = Arch::plain(number);
            let before = if names(legacy, capability) { Coverage::Yes } else { Coverage::No };
            assert_eq!(sass_covers(code, capability, false), before, "sm_{code} on {capability}");
            let after = if names(legacy, capability) || names(unified, capability) {
                Coverage::Yes
            } else if names(uncertain, capability) {
                Coverage::Uncertain
            } else {
                Coverage::No
            };
            assert_eq!(sass_covers(code, capability, true), after, "sm_{code} on {capability}, unified");
        }
    }
}

#[test]
fn family_code_covers_its_family() {
    for (number, members) in FAMILIES {
        for capability in capabilities() {
            let code = Arch::new(number, Suffix::F);
            let expected = if names(members, capability) { Coverage::Yes } else { Coverage::No };
            assert_eq!(sass_covers(code, capability, true), expected, "sm_{code} on {capability}");
            assert_eq!(ptx_covers(code, capability), expected, "compute_{code} on {capability}");
        }
    }
}

#[test]
fn accelerated_code_runs_on_exactly_its_capability() {
    let accelerated: Vec<Arch> = archs().into_iter().filter(|arch| arch.suffix() == Suffix::A).collect();
    let written: Vec<String> = accelerated.iter().map(ToString::to_string).collect();
    assert_eq!(written, ["90a", "100a", "101a", "103a", "107a", "110a", "120a", "121a"]);
    for code in accelerated {
        for capability in capabilities() {
            let thor = [Capability::new(10, 1), Capability::new(11, 0)];
            let is_own =
                code.capability() == capability || (thor.contains(&code.capability()) && thor.contains(&capability));
            let expected = if is_own { Coverage::Yes } else { Coverage::No };
            assert_eq!(sass_covers(code, capability, true), expected, "sm_{code} on {capability}");
            assert_eq!(ptx_covers(code, capability), expected, "compute_{code} on {capability}");
        }
    }
}

#[test]
fn plain_ptx_runs_on_everything_newer() {
    for code in archs().into_iter().filter(|arch| arch.suffix() == Suffix::None) {
        for capability in capabilities() {
            // 11.0 is the new name of 10.1
            let renamed = code.number() == 110 && capability == Capability::new(10, 1);
            let fits = capability >= code.capability() || renamed;
            assert_eq!(ptx_covers(code, capability) == Coverage::Yes, fits, "compute_{code} on {capability}");
        }
    }
}

/// Drivers from old to new by version, within the branches that support the device.
fn drivers_for(capability: Capability) -> Vec<Driver> {
    let last = architectures().iter().find(|row| row.capability == capability).and_then(|row| row.last_driver);
    let mut numbers: Vec<u16> = vec![300, 340];
    numbers.extend(branches().iter().map(|row| row.branch));
    numbers.push(620);
    numbers.retain(|number| last.is_none_or(|last| *number <= last));
    numbers.into_iter().map(|number| Driver::of_version(DriverVersion::of_branch(number))).collect()
}

#[test]
fn a_newer_driver_never_makes_a_verdict_worse() {
    let images = images();
    for capability in capabilities() {
        let by_version = drivers_for(capability);
        let by_cuda: Vec<Driver> = cuda_versions()
            .into_iter()
            .filter(|cuda| {
                let last =
                    architectures().iter().find(|row| row.capability == capability).and_then(|row| row.last_driver);
                match last {
                    Some(580) => *cuda <= CudaVersion::new(13, 0),
                    Some(_) => *cuda <= CudaVersion::new(11, 4),
                    None => true,
                }
            })
            .map(Driver::of_cuda)
            .collect();
        for platform in [Platform::Discrete, Platform::Tegra, Platform::Sbsa] {
            for image in &images {
                for drivers in [&by_version, &by_cuda] {
                    let mut before = None;
                    for driver in drivers {
                        let device = Device { platform, ..Device::of(capability).with_driver(*driver) };
                        if platform == Platform::Tegra && driver.cuda.is_none() {
                            continue; // numbered otherwise
                        }
                        let verdict = runs(image, &device, &PLAIN).verdict;
                        if let Some(before) = before {
                            assert!(verdict <= before, "{image:?} on {device:?}: {before} became {verdict}");
                        }
                        before = Some(verdict);
                    }
                }
            }
        }
    }
}

#[test]
fn an_added_image_that_the_driver_takes_never_makes_a_module_worse() {
    let images = images();
    let environments =
        [PLAIN, Environment { force_ptx_jit: true, ..PLAIN }, Environment { disable_ptx_jit: true, ..PLAIN }];
    let drivers = ["470", "535", "560", "580", "595", "620"];
    for capability in capabilities() {
        for driver in drivers {
            let device = Device::of(capability).with_driver(Driver::of_version(driver.parse().unwrap()));
            for environment in &environments {
                // every pair with a step that meets each residue, to keep the run short
                for (index, first) in images.iter().enumerate() {
                    let second = &images[(index * 37 + 11) % images.len()];
                    let alone = |code: &Code| judge_module(std::slice::from_ref(code), &device, environment).verdict;
                    let both = judge_module(&[*first, *second], &device, environment).verdict;
                    let (own, other) = (alone(first), alone(second));
                    // never better than the best of them, and never worse for what is taken by itself
                    assert!(both >= own.min(other), "{first:?} + {second:?} on {device:?}");
                    if other.is_usable() {
                        assert!(both <= own, "{first:?} + {second:?} on {device:?}");
                    }
                    if own.is_usable() {
                        assert!(both <= other, "{first:?} + {second:?} on {device:?}");
                    }
                    if first.target.without_isa() != second.target.without_isa() {
                        let swapped = judge_module(&[*second, *first], &device, environment).verdict;
                        assert_eq!(both, swapped);
                    }
                }
            }
        }
    }
}

#[test]
fn verdict_and_reasons_agree() {
    let images = images();
    for capability in capabilities() {
        for driver in ["470", "535", "560", "580", "595"] {
            let device = Device::of(capability).with_driver(Driver::of_version(driver.parse().unwrap()));
            for image in &images {
                let verdict = judge_module(std::slice::from_ref(image), &device, &PLAIN);
                let fit = runs(image, &device, &PLAIN);
                assert_eq!((verdict.verdict, &verdict.reasons), (fit.verdict, &fit.reasons));
                assert_eq!(verdict.picked.is_some(), verdict.verdict != Verdict::NotCovered);
                let known = device.platform != Platform::Tegra || driver == "595";
                if known {
                    assert_eq!(verdict.reasons.is_empty(), verdict.verdict.is_usable(), "{image:?} on {device:?}");
                }
                let has_need = verdict.needs_cuda.is_some();
                assert!(verdict.verdict != Verdict::DriverTooOld || has_need, "{image:?} on {device:?}");
                let ranks: Vec<u8> = verdict.reasons.iter().map(|reason| reason.code.rank()).collect();
                assert!(ranks.is_sorted());
                for reason in &verdict.reasons {
                    let first = reason.text.chars().next().unwrap();
                    assert!(!first.is_uppercase() && !reason.text.ends_with('.'), "{:?}", reason.text);
                }
            }
        }
    }
}

/// The driver that a verdict asks for is one that does.
#[test]
fn the_needed_driver_is_enough() {
    for capability in capabilities() {
        for driver in ["450", "535", "560"] {
            let device = Device::of(capability).with_driver(Driver::of_version(driver.parse().unwrap()));
            for image in images() {
                let fit = runs(&image, &device, &PLAIN);
                let needed = fit.needs_driver.filter(|_| fit.verdict == Verdict::DriverTooOld);
                if let Some(needed) = needed {
                    let newer = device.clone().with_driver(Driver::of_version(needed));
                    assert!(runs(&image, &newer, &PLAIN).verdict.is_usable(), "{image:?} on {newer:?}");
                }
            }
        }
    }
}
