//! The plain values as text in JSON and the like: `"sm_90a"`, `"9.0"`, `"550.54.14"`.

use crate::catalogue::{Host, Platform};
use crate::rules::{Coverage, ReasonCode, Verdict};
use crate::{Arch, Capability, CudaVersion, DriverVersion, Isa, Target};

macro_rules! written {
    ($($name:ty),*) => {$(
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )*};
}

macro_rules! read {
    ($($name:ty),*) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

written!(Arch, Capability, CudaVersion, DriverVersion, Isa, Target, Platform, Host);
read!(Arch, Capability, CudaVersion, DriverVersion, Isa, Target, Platform, Host);
written!(Coverage, ReasonCode, Verdict);
