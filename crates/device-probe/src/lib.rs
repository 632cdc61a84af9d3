//! Which NVIDIA devices and driver are here, as plain data.
