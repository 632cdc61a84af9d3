//! The management library. Numbers and layouts: `nvml.h`.
#![expect(unsafe_code, reason = "the functions of a loaded library")]

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use gpu_arch::{Capability, CudaVersion};

use crate::address::PciAddress;
use crate::child::Answer;
use crate::way::{Failure, MigInstance, SeenDevice, Status, WayOutcome};

use super::{Library, MOST_DEVICES, checked, first_answer, note, text};

type Device = *mut c_void;
type Text = unsafe extern "C" fn(Device, *mut c_char, c_uint) -> c_int;

/// `nvmlPciInfo_t`, 68 bytes. The older function writes the first 52, with the same fields in front.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct PciInfo {
    _bus_id_legacy: [u8; 16],
    domain: c_uint,
    bus: c_uint,
    device: c_uint,
    /// The device id above the vendor id.
    device_and_vendor: c_uint,
    _subsystem: c_uint,
    _bus_id: [u8; 32],
}

/// `nvmlMemory_t`, bytes.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Memory {
    total: c_ulonglong,
    _free: c_ulonglong,
    _used: c_ulonglong,
}

/// The functions. On a Jetson many return "not supported"; none but the first four is needed.
struct Functions {
    init: unsafe extern "C" fn() -> c_int,
    shutdown: Option<unsafe extern "C" fn() -> c_int>,
    count: unsafe extern "C" fn(*mut c_uint) -> c_int,
    handle: unsafe extern "C" fn(c_uint, *mut Device) -> c_int,
    driver: Option<unsafe extern "C" fn(*mut c_char, c_uint) -> c_int>,
    cuda: Option<unsafe extern "C" fn(*mut c_int) -> c_int>,
    name: Option<Text>,
    uuid: Option<Text>,
    capability: Option<unsafe extern "C" fn(Device, *mut c_int, *mut c_int) -> c_int>,
    pci: Option<unsafe extern "C" fn(Device, *mut PciInfo) -> c_int>,
    memory: Option<unsafe extern "C" fn(Device, *mut Memory) -> c_int>,
    mig_mode: Option<unsafe extern "C" fn(Device, *mut c_uint, *mut c_uint) -> c_int>,
    most_instances: Option<unsafe extern "C" fn(Device, *mut c_uint) -> c_int>,
    instance: Option<unsafe extern "C" fn(Device, c_uint, *mut Device) -> c_int>,
}

impl Functions {
    fn of(library: Library) -> Result<Self, Status> {
        // SAFETY: the types are those of the declarations in nvml.h, which never change under one name.
        unsafe {
            Ok(Self {
                init: library.required("nvmlInit_v2")?,
                shutdown: library.function("nvmlShutdown"),
                count: library.required("nvmlDeviceGetCount_v2")?,
                handle: library.required("nvmlDeviceGetHandleByIndex_v2")?,
                driver: library.function("nvmlSystemGetDriverVersion"),
                cuda: library
                    .function("nvmlSystemGetCudaDriverVersion_v2")
                    .or_else(|| library.function("nvmlSystemGetCudaDriverVersion")),
                name: library.function("nvmlDeviceGetName"),
                uuid: library.function("nvmlDeviceGetUUID"),
                capability: library.function("nvmlDeviceGetCudaComputeCapability"),
                pci: library
                    .function("nvmlDeviceGetPciInfo_v3")
                    .or_else(|| library.function("nvmlDeviceGetPciInfo_v2")),
                memory: library.function("nvmlDeviceGetMemoryInfo"),
                mig_mode: library.function("nvmlDeviceGetMigMode"),
                most_instances: library.function("nvmlDeviceGetMaxMigDeviceCount"),
                instance: library.function("nvmlDeviceGetMigDeviceHandleByIndex"),
            })
        }
    }

    /// The text that a function writes about a device.
    fn text(function: Option<Text>, device: Device) -> Option<String> {
        let mut buffer = [0_u8; 256];
        // SAFETY: the handle is one that the library gave; the length is that of the buffer of this frame, less one
        // byte that stays zero.
        let code = unsafe { function?(device, buffer.as_mut_ptr().cast(), 255) };
        (code == 0).then(|| text(&buffer))?
    }

    fn driver(&self) -> Option<String> {
        let mut buffer = [0_u8; 256];
        // SAFETY: as in `text`.
        let code = unsafe { self.driver?(buffer.as_mut_ptr().cast(), 255) };
        (code == 0).then(|| text(&buffer))?
    }

    fn cuda(&self) -> Option<CudaVersion> {
        let mut number = 0;
        // SAFETY: the pointer is to a number of this frame.
        let code = unsafe { self.cuda?(&raw mut number) };
        (code == 0).then(|| CudaVersion::from_api_number(u32::try_from(number).ok()?))?
    }

    fn capability(&self, device: Device) -> Result<Option<Capability>, Failure> {
        let Some(function) = self.capability else {
            return Ok(None);
        };
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the handle is one that the library gave; the pointers are to numbers of this frame.
        let code = unsafe { function(device, &raw mut major, &raw mut minor) };
        if code == NOT_SUPPORTED {
            return Ok(None);
        }
        checked(code, "nvmlDeviceGetCudaComputeCapability")?;
        Ok(u32::try_from(major).ok().zip(u32::try_from(minor).ok()).map(|(major, minor)| Capability::new(major, minor)))
    }

    fn pci(&self, device: Device) -> Option<PciInfo> {
        let mut info = PciInfo::default();
        // SAFETY: the handle is one that the library gave; the pointer is to a structure of this frame, of the size
        // and layout that the newer function fills, and the older one fills less of it.
        let code = unsafe { self.pci?(device, &raw mut info) };
        (code == 0).then_some(info)
    }

    fn memory(&self, device: Device) -> Option<u64> {
        let mut memory = Memory::default();
        // SAFETY: the handle is one that the library gave; the pointer is to a structure of this frame.
        let code = unsafe { self.memory?(device, &raw mut memory) };
        (code == 0 && memory.total != 0).then_some(memory.total)
    }

    fn mig_mode(&self, device: Device) -> Option<bool> {
        let (mut current, mut pending) = (0, 0);
        // SAFETY: the handle is one that the library gave; the pointers are to numbers of this frame.
        let code = unsafe { self.mig_mode?(device, &raw mut current, &raw mut pending) };
        (code == 0).then_some(current != 0)
    }

    fn instances(&self, device: Device) -> Option<Vec<MigInstance>> {
        let (most_instances, instance) = (self.most_instances?, self.instance?);
        let mut most = 0;
        // SAFETY: the handle is one that the library gave; the pointer is to a number of this frame.
        let code = unsafe { most_instances(device, &raw mut most) };
        if code != 0 {
            return None;
        }
        let instances = (0..most.min(MOST_DEVICES)).filter_map(|index| {
            let mut handle: Device = std::ptr::null_mut();
            // SAFETY: as above. Places without an instance are an error.
            let code = unsafe { instance(device, index, &raw mut handle) };
            if code != 0 {
                return None;
            }
            Some(MigInstance { uuid: Self::text(self.uuid, handle)?, name: Self::text(self.name, handle) })
        });
        Some(instances.collect())
    }

    fn device(&self, index: u32) -> SeenDevice {
        let mut seen = SeenDevice { index: Some(index), ..SeenDevice::default() };
        let mut device: Device = std::ptr::null_mut();
        // SAFETY: the pointer is to a handle of this frame.
        let code = unsafe { (self.handle)(index, &raw mut device) };
        if let Err(failure) = checked(code, "nvmlDeviceGetHandleByIndex") {
            seen.failure = Some(failure);
            return seen;
        }
        seen.capability = note(self.capability(device), &mut seen.failure).flatten();
        seen.name = Self::text(self.name, device);
        seen.uuid = Self::text(self.uuid, device);
        seen.memory = self.memory(device);
        if let Some(info) = self.pci(device) {
            seen.pci = address(&info);
            let is_nvidia = info.device_and_vendor & 0xffff == 0x10de;
            seen.pci_id = u16::try_from(info.device_and_vendor >> 16).ok().filter(|_| is_nvidia);
        }
        seen.mig = self.mig_mode(device);
        if seen.mig == Some(true) {
            seen.instances = self.instances(device).unwrap_or_default();
        }
        seen
    }
}

/// `NVML_ERROR_NOT_SUPPORTED`.
const NOT_SUPPORTED: c_int = 3;

fn address(info: &PciInfo) -> Option<PciAddress> {
    Some(PciAddress {
        domain: info.domain,
        bus: u8::try_from(info.bus).ok()?,
        device: u8::try_from(info.device).ok()?,
        function: 0,
    })
}

/// Asks the library.
pub(super) fn ask(library: &Library, outcome: &mut WayOutcome, tell: &mut dyn FnMut(Answer)) -> Result<(), Status> {
    let functions = Functions::of(*library)?;
    tell(first_answer(outcome));
    // SAFETY: has no arguments.
    checked(unsafe { (functions.init)() }, "nvmlInit").map_err(Status::Failed)?;
    outcome.driver = functions.driver().and_then(|version| version.parse().ok());
    outcome.cuda = functions.cuda();
    let mut count = 0;
    // SAFETY: the pointer is to a number of this frame.
    checked(unsafe { (functions.count)(&raw mut count) }, "nvmlDeviceGetCount").map_err(Status::Failed)?;
    outcome.devices = (0..count.min(MOST_DEVICES)).map(|index| functions.device(index)).collect();
    if let Some(shutdown) = functions.shutdown {
        // SAFETY: has no arguments, and no handle is used after it. What it returns changes nothing.
        unsafe { shutdown() };
    }
    Ok(())
}
