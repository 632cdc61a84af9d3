//! The driver API. Numbers and layouts: `cuda.h`.
#![expect(unsafe_code, reason = "the functions of a loaded library")]

use std::ffi::{c_char, c_int, c_uint};

use gpu_arch::{Capability, CudaVersion};

use crate::child::Answer;
use crate::way::{Failure, SeenDevice, Status, WayOutcome};

use super::{Library, MOST_DEVICES, checked, first_answer, note, text};

/// `CU_DEVICE_ATTRIBUTE_INTEGRATED`.
const INTEGRATED: c_int = 18;
/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR`.
const MAJOR: c_int = 75;
/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR`.
const MINOR: c_int = 76;

type Device = c_int;

/// The functions. Those that came late, or that are not needed for a capability, may be missing.
struct Functions {
    init: unsafe extern "system" fn(c_uint) -> c_int,
    version: Option<unsafe extern "system" fn(*mut c_int) -> c_int>,
    count: unsafe extern "system" fn(*mut c_int) -> c_int,
    get: unsafe extern "system" fn(*mut Device, c_int) -> c_int,
    attribute: unsafe extern "system" fn(*mut c_int, c_int, Device) -> c_int,
    name: Option<unsafe extern "system" fn(*mut c_char, c_int, Device) -> c_int>,
    bus_id: Option<unsafe extern "system" fn(*mut c_char, c_int, Device) -> c_int>,
    uuid: Option<unsafe extern "system" fn(*mut [u8; 16], Device) -> c_int>,
    memory: Option<unsafe extern "system" fn(*mut usize, Device) -> c_int>,
}

impl Functions {
    fn of(library: Library) -> Result<Self, Status> {
        // SAFETY: the types are those of the declarations in cuda.h, which never change under one name.
        unsafe {
            Ok(Self {
                init: library.required("cuInit")?,
                version: library.function("cuDriverGetVersion"),
                count: library.required("cuDeviceGetCount")?,
                get: library.required("cuDeviceGet")?,
                attribute: library.required("cuDeviceGetAttribute")?,
                name: library.function("cuDeviceGetName"),
                bus_id: library.function("cuDeviceGetPCIBusId"),
                // the first knows MIG instances
                uuid: library.function("cuDeviceGetUuid_v2").or_else(|| library.function("cuDeviceGetUuid")),
                memory: library.function("cuDeviceTotalMem_v2"),
            })
        }
    }

    fn version(&self) -> Option<CudaVersion> {
        let mut number = 0;
        // SAFETY: the pointer is to a number of this frame.
        let code = unsafe { self.version?(&raw mut number) };
        checked(code, "cuDriverGetVersion").ok()?;
        CudaVersion::from_api_number(u32::try_from(number).ok()?)
    }

    fn attribute(&self, attribute: c_int, device: Device) -> Result<u32, Failure> {
        let call = "cuDeviceGetAttribute";
        let mut value = 0;
        // SAFETY: the pointer is to a number of this frame.
        checked(unsafe { (self.attribute)(&raw mut value, attribute, device) }, call)?;
        u32::try_from(value).map_err(|_| Failure { code: u32::MAX, call: call.to_owned() })
    }

    fn capability(&self, device: Device) -> Result<Capability, Failure> {
        Ok(Capability::new(self.attribute(MAJOR, device)?, self.attribute(MINOR, device)?))
    }

    /// Calls a function that writes a text.
    fn text(
        function: Option<unsafe extern "system" fn(*mut c_char, c_int, Device) -> c_int>,
        device: Device,
    ) -> Option<String> {
        let mut buffer = [0_u8; 256];
        // SAFETY: the length is that of the buffer of this frame, less one byte that stays zero.
        let code = unsafe { function?(buffer.as_mut_ptr().cast(), 255, device) };
        (code == 0).then(|| text(&buffer))?
    }

    fn uuid(&self, device: Device) -> Option<String> {
        let mut bytes = [0; 16];
        // SAFETY: the pointer is to 16 bytes of this frame, the size of CUuuid.
        let code = unsafe { self.uuid?(&raw mut bytes, device) };
        (code == 0 && bytes != [0; 16]).then(|| spelled(&bytes))
    }

    fn memory(&self, device: Device) -> Option<u64> {
        let mut bytes = 0;
        // SAFETY: the pointer is to a number of this frame.
        let code = unsafe { self.memory?(&raw mut bytes, device) };
        (code == 0).then(|| u64::try_from(bytes).ok())?
    }

    fn device(&self, ordinal: u32) -> SeenDevice {
        let mut seen = SeenDevice { index: Some(ordinal), ..SeenDevice::default() };
        let mut device = 0;
        // SAFETY: the pointer is to a number of this frame.
        let code = unsafe { (self.get)(&raw mut device, c_int::try_from(ordinal).unwrap_or(c_int::MAX)) };
        if let Err(failure) = checked(code, "cuDeviceGet") {
            seen.failure = Some(failure);
            return seen;
        }
        seen.capability = note(self.capability(device), &mut seen.failure);
        seen.integrated = self.attribute(INTEGRATED, device).ok().map(|value| value != 0);
        seen.name = Self::text(self.name, device);
        seen.pci = Self::text(self.bus_id, device).and_then(|place| place.parse().ok());
        seen.uuid = self.uuid(device);
        seen.memory = self.memory(device);
        seen
    }
}

/// As `nvidia-smi` spells it. Whether it is that of a MIG instance, the driver API does not say.
fn spelled(bytes: &[u8; 16]) -> String {
    let mut text = String::from("GPU");
    for (place, byte) in bytes.iter().enumerate() {
        if matches!(place, 0 | 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// Asks the library.
pub(super) fn ask(library: &Library, outcome: &mut WayOutcome, tell: &mut dyn FnMut(Answer)) -> Result<(), Status> {
    let functions = Functions::of(*library)?;
    // answers before the driver is initialised, and also where that fails
    outcome.cuda = functions.version();
    tell(first_answer(outcome));
    // SAFETY: the flags must be 0.
    checked(unsafe { (functions.init)(0) }, "cuInit").map_err(Status::Failed)?;
    let mut count = 0;
    // SAFETY: the pointer is to a number of this frame.
    checked(unsafe { (functions.count)(&raw mut count) }, "cuDeviceGetCount").map_err(Status::Failed)?;
    let count = u32::try_from(count).unwrap_or(0).min(MOST_DEVICES);
    outcome.devices = (0..count).map(|ordinal| functions.device(ordinal)).collect();
    Ok(())
}
