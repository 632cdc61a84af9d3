//! Names of many products at once.
//!
//! Generated from `tables/families.toml` by `tables/generate.py`; the sources of the facts are named there.

use super::cc;
use crate::catalogue::{Family, FamilyMember, Host};

/// Every family, with its capabilities ascending.
#[rustfmt::skip]
pub(crate) static FAMILIES: &[Family] = &[
    Family { name: "Kepler", aliases: &[], members: &[FamilyMember { capability: cc(3, 0), examples: &["GTX 680", "Tesla K10"] }, FamilyMember { capability: cc(3, 2), examples: &["Jetson TK1"] }, FamilyMember { capability: cc(3, 5), examples: &["GTX 780 Ti", "Tesla K40"] }, FamilyMember { capability: cc(3, 7), examples: &["Tesla K80"] }], host: None, note: "" },
    Family { name: "Maxwell", aliases: &[], members: &[FamilyMember { capability: cc(5, 0), examples: &["GTX 750", "Tesla M10"] }, FamilyMember { capability: cc(5, 2), examples: &["GTX 980", "Tesla M40"] }, FamilyMember { capability: cc(5, 3), examples: &["Jetson Nano", "Jetson TX1"] }], host: None, note: "" },
    Family { name: "Pascal", aliases: &[], members: &[FamilyMember { capability: cc(6, 0), examples: &["Tesla P100"] }, FamilyMember { capability: cc(6, 1), examples: &["GTX 10 series", "Tesla P40"] }, FamilyMember { capability: cc(6, 2), examples: &["Jetson TX2"] }], host: None, note: "" },
    Family { name: "Volta", aliases: &[], members: &[FamilyMember { capability: cc(7, 0), examples: &["V100", "TITAN V"] }, FamilyMember { capability: cc(7, 2), examples: &["Jetson Xavier"] }], host: None, note: "" },
    Family { name: "Turing", aliases: &[], members: &[FamilyMember { capability: cc(7, 5), examples: &["T4", "GTX 16 series", "RTX 2080"] }], host: None, note: "" },
    Family { name: "Ampere", aliases: &[], members: &[FamilyMember { capability: cc(8, 0), examples: &["A100", "A30"] }, FamilyMember { capability: cc(8, 6), examples: &["RTX 3090", "A40", "RTX A6000"] }, FamilyMember { capability: cc(8, 7), examples: &["Jetson Orin"] }], host: None, note: "" },
    Family { name: "Ada Lovelace", aliases: &["Ada", "Lovelace"], members: &[FamilyMember { capability: cc(8, 9), examples: &["RTX 40 series", "L40", "L4"] }], host: None, note: "" },
    Family { name: "Hopper", aliases: &[], members: &[FamilyMember { capability: cc(9, 0), examples: &["H100", "H200", "GH200"] }], host: None, note: "" },
    Family { name: "Blackwell", aliases: &[], members: &[FamilyMember { capability: cc(10, 0), examples: &["B200", "GB200"] }, FamilyMember { capability: cc(10, 3), examples: &["B300", "GB300"] }, FamilyMember { capability: cc(11, 0), examples: &["Jetson Thor"] }, FamilyMember { capability: cc(12, 0), examples: &["RTX 50 series", "RTX PRO"] }, FamilyMember { capability: cc(12, 1), examples: &["GB10", "DGX Spark"] }], host: None, note: "Thor is 10.1 up to CUDA 12.9, 11.0 from 13.0" },
    Family { name: "Blackwell Ultra", aliases: &[], members: &[FamilyMember { capability: cc(10, 3), examples: &["B300", "GB300"] }], host: None, note: "" },
    Family { name: "Rubin", aliases: &[], members: &[FamilyMember { capability: cc(10, 7), examples: &[] }], host: None, note: "" },
    Family { name: "Grace Hopper", aliases: &["GH200 Grace Hopper"], members: &[FamilyMember { capability: cc(9, 0), examples: &["GH200"] }], host: Some(Host::Aarch64), note: "" },
    Family { name: "Grace Blackwell", aliases: &[], members: &[FamilyMember { capability: cc(10, 0), examples: &["GB200"] }, FamilyMember { capability: cc(10, 3), examples: &["GB300"] }, FamilyMember { capability: cc(12, 1), examples: &["GB10"] }], host: Some(Host::Aarch64), note: "" },
    Family { name: "DGX Spark", aliases: &["GB10 Grace Blackwell"], members: &[FamilyMember { capability: cc(12, 1), examples: &["GB10"] }], host: Some(Host::Aarch64), note: "" },
    Family { name: "DGX", aliases: &[], members: &[FamilyMember { capability: cc(6, 0), examples: &["P100"] }, FamilyMember { capability: cc(7, 0), examples: &["V100"] }, FamilyMember { capability: cc(8, 0), examples: &["A100"] }, FamilyMember { capability: cc(9, 0), examples: &["H100", "H200"] }, FamilyMember { capability: cc(10, 0), examples: &["B200", "GB200"] }, FamilyMember { capability: cc(10, 3), examples: &["B300", "GB300"] }, FamilyMember { capability: cc(12, 1), examples: &["DGX Spark"] }], host: None, note: "" },
    Family { name: "DGX-1", aliases: &[], members: &[FamilyMember { capability: cc(6, 0), examples: &["P100"] }, FamilyMember { capability: cc(7, 0), examples: &["V100"] }], host: None, note: "" },
    Family { name: "Jetson", aliases: &["Tegra"], members: &[FamilyMember { capability: cc(3, 2), examples: &["Jetson TK1"] }, FamilyMember { capability: cc(5, 3), examples: &["Jetson Nano", "Jetson TX1"] }, FamilyMember { capability: cc(6, 2), examples: &["Jetson TX2"] }, FamilyMember { capability: cc(7, 2), examples: &["Jetson Xavier"] }, FamilyMember { capability: cc(8, 7), examples: &["Jetson Orin"] }, FamilyMember { capability: cc(11, 0), examples: &["Jetson Thor"] }], host: None, note: "Thor is 10.1 up to CUDA 12.9, 11.0 from 13.0" },
    Family { name: "Jetson Xavier", aliases: &[], members: &[FamilyMember { capability: cc(7, 2), examples: &["Jetson AGX Xavier", "Jetson Xavier NX"] }], host: Some(Host::Aarch64), note: "" },
    Family { name: "Jetson Orin", aliases: &[], members: &[FamilyMember { capability: cc(8, 7), examples: &["Jetson AGX Orin", "Jetson Orin NX", "Jetson Orin Nano"] }], host: Some(Host::Aarch64), note: "" },
    Family { name: "Jetson Thor", aliases: &[], members: &[FamilyMember { capability: cc(11, 0), examples: &["Jetson AGX Thor", "Jetson T5000", "Jetson T4000"] }], host: Some(Host::Aarch64), note: "Thor is 10.1 up to CUDA 12.9, 11.0 from 13.0" },
    Family { name: "DRIVE Xavier", aliases: &[], members: &[FamilyMember { capability: cc(7, 2), examples: &["DRIVE AGX Xavier"] }], host: Some(Host::Aarch64), note: "" },
    Family { name: "DRIVE Orin", aliases: &[], members: &[FamilyMember { capability: cc(8, 7), examples: &["DRIVE AGX Orin"] }], host: Some(Host::Aarch64), note: "" },
    Family { name: "DRIVE Thor", aliases: &[], members: &[FamilyMember { capability: cc(11, 0), examples: &["DRIVE AGX Thor"] }], host: Some(Host::Aarch64), note: "Thor is 10.1 up to CUDA 12.9, 11.0 from 13.0" },
    Family { name: "GeForce GTX 600 series", aliases: &["GTX 6xx"], members: &[FamilyMember { capability: cc(3, 0), examples: &["GTX 680", "GTX 650"] }], host: None, note: "" },
    Family { name: "GeForce GTX 700 series", aliases: &["GTX 7xx"], members: &[FamilyMember { capability: cc(3, 0), examples: &["GTX 770", "GTX 760"] }, FamilyMember { capability: cc(3, 5), examples: &["GTX 780", "GTX 780 Ti"] }, FamilyMember { capability: cc(5, 0), examples: &["GTX 745", "GTX 750"] }, FamilyMember { capability: cc(5, 2), examples: &["GTX 750 v2"] }], host: None, note: "" },
    Family { name: "GeForce GTX 900 series", aliases: &["GTX 9xx"], members: &[FamilyMember { capability: cc(5, 0), examples: &["GTX 950M", "GTX 960M"] }, FamilyMember { capability: cc(5, 2), examples: &["GTX 970", "GTX 980"] }], host: None, note: "" },
    Family { name: "GeForce GTX 10 series", aliases: &["GTX 10xx"], members: &[FamilyMember { capability: cc(6, 1), examples: &["GTX 1060", "GTX 1080"] }], host: None, note: "" },
    Family { name: "GeForce GTX 16 series", aliases: &["GTX 16xx"], members: &[FamilyMember { capability: cc(7, 5), examples: &["GTX 1650", "GTX 1660"] }], host: None, note: "" },
    Family { name: "GeForce RTX 20 series", aliases: &["RTX 20xx"], members: &[FamilyMember { capability: cc(7, 5), examples: &["RTX 2060", "RTX 2080"] }, FamilyMember { capability: cc(8, 6), examples: &["RTX 2050"] }], host: None, note: "" },
    Family { name: "GeForce RTX 30 series", aliases: &["RTX 30xx"], members: &[FamilyMember { capability: cc(8, 6), examples: &["RTX 3060", "RTX 3090"] }, FamilyMember { capability: cc(8, 9), examples: &["RTX 3050 A Laptop GPU"] }], host: None, note: "" },
    Family { name: "GeForce RTX 40 series", aliases: &["RTX 40xx"], members: &[FamilyMember { capability: cc(8, 9), examples: &["RTX 4060", "RTX 4090"] }], host: None, note: "" },
    Family { name: "GeForce RTX 50 series", aliases: &["RTX 50xx"], members: &[FamilyMember { capability: cc(12, 0), examples: &["RTX 5060", "RTX 5090"] }], host: None, note: "" },
    Family { name: "RTX PRO", aliases: &["RTX PRO Blackwell"], members: &[FamilyMember { capability: cc(12, 0), examples: &["RTX PRO 4000 Blackwell", "RTX PRO 6000 Blackwell Workstation Edition"] }], host: None, note: "" },
];
