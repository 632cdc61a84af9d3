use gpu_arch::rules::Device;

/// A column: a GPU with its driver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// What it is called; in a [`super::Board`] no two are called the same.
    pub name: String,
    /// The fleet or group of a configuration that it is of.
    pub fleet: Option<String>,
    /// The GPU: its name, or its compute capability.
    pub gpu: String,
    /// Compute capability, `8.9`.
    pub cc: String,
    /// The driver, `535.183.01`, `CUDA 12.4`, a range as `535..580`; empty where it is not known.
    pub driver: String,
    /// Indices of its devices in the judgement: one, or those of the ends of a range.
    pub devices: Vec<usize>,
    /// Of the modules that load so many in a hundred may be compiled from PTX at first use.
    pub allow_jit: Option<u8>,
    /// Whether another target of its group is enough.
    pub is_one_of: bool,
}

impl Target {
    /// The targets of devices that come at `first` in a judgement: devices beside each other that differ in their driver
    /// only are the ends of a range, and one target.
    #[must_use]
    pub fn each(devices: &[Device], first: usize, fleet: Option<&str>, allow_jit: Option<u8>) -> Vec<Self> {
        let is_range = |one: &Device, next: &Device| one.clone().with_driver(next.driver) == *next;
        let mut at = first;
        let mut targets = Vec::new();
        for ends in devices.chunk_by(is_range) {
            let Some(device) = ends.first() else { continue };
            let next = at.saturating_add(ends.len());
            let mut drivers: Vec<String> = ends.iter().map(driver).collect();
            drivers.dedup();
            targets.push(Self {
                name: String::new(),
                fleet: fleet.map(ToOwned::to_owned),
                gpu: device.name.clone().unwrap_or_else(|| device.capability.to_string()),
                cc: device.capability.to_string(),
                driver: drivers.join(".."),
                devices: (at..next).collect(),
                allow_jit,
                is_one_of: false,
            });
            at = next;
        }
        targets
    }
}

impl Target {
    /// The GPU without the words that most names begin with: `RTX 4090`.
    #[must_use]
    pub fn short(&self) -> &str {
        let name = self.gpu.strip_prefix("NVIDIA ").unwrap_or(&self.gpu);
        name.strip_prefix("GeForce ").unwrap_or(name)
    }
}

fn driver(device: &Device) -> String {
    match (device.driver.version, device.driver.cuda) {
        (Some(version), None) => version.to_string(),
        (Some(version), Some(cuda)) => format!("{version}, CUDA {cuda}"),
        (None, Some(cuda)) => format!("CUDA {cuda}"),
        (None, None) => String::new(),
    }
}

/// Gives each a name of its own: that of the fleet where it is the only one there, else fleet and GPU; the driver where that
/// tells them apart, a number where nothing does.
pub(super) fn named(mut targets: Vec<Target>) -> Vec<Target> {
    let base = |target: &Target| match &target.fleet {
        Some(fleet) if targets.iter().filter(|own| own.fleet.as_ref() == Some(fleet)).count() == 1 => fleet.clone(),
        Some(fleet) => format!("{fleet}/{}", target.short()),
        None => target.short().to_owned(),
    };
    let bases: Vec<String> = targets.iter().map(base).collect();
    let mut names: Vec<String> = Vec::with_capacity(bases.len());
    for (target, base) in targets.iter().zip(&bases) {
        let is_shared = bases.iter().filter(|other| *other == base).count() > 1 && !target.driver.is_empty();
        let name = if is_shared { format!("{base} {}", target.driver) } else { base.clone() };
        let mut own = name.clone();
        let mut number = 1usize;
        while names.contains(&own) {
            number = number.saturating_add(1);
            own = format!("{name}#{number}");
        }
        names.push(own);
    }
    for (target, name) in targets.iter_mut().zip(names) {
        target.name = name;
    }
    targets
}
