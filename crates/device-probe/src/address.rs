//! Where a device sits on the PCI bus.

use std::fmt;
use std::str::FromStr;

/// A PCI address: `0000:41:00.0`.
///
/// Read in every spelling that drivers use: with a domain of four or eight digits or without one, in either case, with
/// or without the function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PciAddress {
    /// The domain, 0 on most machines.
    pub domain: u32,
    /// The bus.
    pub bus: u8,
    /// The device, or slot, on the bus.
    pub device: u8,
    /// The function of the device, 0 for a GPU.
    pub function: u8,
}

impl fmt::Display for PciAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:04x}:{:02x}:{:02x}.{:x}", self.domain, self.bus, self.device, self.function)
    }
}

/// The text is no PCI address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ParsePciAddressError;

impl fmt::Display for ParsePciAddressError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a PCI address is written `domain:bus:device.function`, as in `0000:41:00.0`")
    }
}

impl std::error::Error for ParsePciAddressError {}

impl FromStr for PciAddress {
    type Err = ParsePciAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (place, function) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
        let parts: Vec<&str> = place.split(':').collect();
        let (domain, bus, device) = match parts.as_slice() {
            [domain, bus, device] => (*domain, *bus, *device),
            [bus, device] => ("0", *bus, *device),
            _ => return Err(ParsePciAddressError),
        };
        let byte = |digits: &str| u8::from_str_radix(digits, 16).map_err(|_| ParsePciAddressError);
        Ok(Self {
            domain: u32::from_str_radix(domain, 16).map_err(|_| ParsePciAddressError)?,
            bus: byte(bus)?,
            device: byte(device)?,
            function: byte(function)?,
        })
    }
}

impl serde::Serialize for PciAddress {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for PciAddress {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
