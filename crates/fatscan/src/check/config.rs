//! `fatscan.toml`.

use core::fmt;
use std::collections::BTreeMap;

use gpu_arch::Target;
use serde::Deserialize;
use toml::Spanned;

use super::{Date, FileDemands, Ignore, Rule, Severity, Vendored};
use crate::pattern::Pattern;

/// A configuration file: fleets of GPUs, levels by file, ignores.
///
/// ```toml
/// allow-jit = false              # as the flags of `fatscan check`
/// no-device-code = "fail"
///
/// [levels]                       # deny, warn, note, allow
/// specialised = "allow"
///
/// [fleet.production]             # every GPU of a fleet is demanded
/// gpus = ["T4", "A100", "RTX 4090", "H100", "B200"]
/// driver = "580.65.06"
///
/// [[any-of]]                     # one of these is enough
/// name = "either Hopper"
/// gpus = ["H100", "H200"]
///
/// [[files]]                      # other demands for some files
/// glob = "pkg/_C_hopper.abi3.so"
/// contains = "9.0a"
/// require = ["H100"]
/// levels = { specialised = "allow" }
///
/// [[ignore]]
/// rule = "partial"
/// member = "torch/lib/libtorch_cuda_linalg.so"
/// device = "T4"
/// reason = "no linear algebra on the T4 machines"
/// expires = "2027-06-30"
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// PTX is enough.
    pub allow_jit: Option<u8>,
    /// Percentage of modules that is enough.
    pub allow_partial: Option<u8>,
    /// What is uncertain passes.
    pub allow_unknown: Option<bool>,
    /// Code that must be there, as text.
    pub contains: Option<String>,
    /// Nothing else may be there.
    pub strict: Option<bool>,
    /// What packages say of themselves must be true.
    pub declared: Option<bool>,
    /// Oddities are told.
    pub lint: Option<bool>,
    /// Host architecture.
    pub host: Option<String>,
    /// Largest artefact in bytes.
    pub max_size: Option<u64>,
    /// What is asked of vendored libraries of NVIDIA.
    pub vendored: Option<Vendored>,
    /// What an artefact without device code weighs.
    pub no_device_code: Option<Severity>,
    /// Devices that are demanded each, with their driver.
    pub fleets: Vec<Fleet>,
    /// Devices of which one is enough.
    pub any_of: Vec<Fleet>,
    /// Levels of rules.
    pub levels: BTreeMap<Rule, Severity>,
    /// Demands of their own for some files.
    pub files: Vec<FileTable>,
    /// What is accepted.
    pub ignores: Vec<Ignore>,
}

/// GPUs with one driver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fleet {
    /// Name.
    pub name: String,
    /// GPUs as typed.
    pub gpus: Vec<String>,
    /// Version of the driver.
    pub driver: Option<String>,
    /// CUDA version of the driver.
    pub driver_cuda: Option<String>,
    /// PTX is enough there: a percentage of the modules that load; the configuration's own where none is given.
    pub allow_jit: Option<u8>,
}

/// A table of `[[files]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTable {
    /// What is demanded, but devices.
    pub demands: FileDemands,
    /// GPUs as typed that these files must run on instead of the fleets; where it is empty, on none.
    pub require: Option<Fleet>,
}

/// Why a configuration cannot be used: the parser's words with line and column, or a value that means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// One or more lines.
    pub text: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl core::error::Error for ConfigError {}

type RawLevels = BTreeMap<Spanned<String>, Spanned<String>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawConfig {
    // read before all else, see `newer`
    #[serde(rename = "version")]
    _version: Option<i64>,
    allow_jit: Option<Spanned<toml::Value>>,
    allow_partial: Option<Spanned<u8>>,
    allow_unknown: Option<bool>,
    contains: Option<String>,
    strict: Option<bool>,
    declared: Option<bool>,
    lint: Option<bool>,
    host: Option<String>,
    max_size: Option<u64>,
    no_device_code: Option<Spanned<String>>,
    vendored: Option<Spanned<String>>,
    #[serde(default)]
    levels: RawLevels,
    #[serde(default)]
    fleet: BTreeMap<Spanned<String>, RawFleet>,
    #[serde(default)]
    any_of: Vec<RawGroup>,
    #[serde(default)]
    files: Vec<RawFiles>,
    #[serde(default)]
    ignore: Vec<RawIgnore>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawFleet {
    gpus: Vec<String>,
    driver: Option<String>,
    driver_cuda: Option<String>,
    allow_jit: Option<Spanned<toml::Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawGroup {
    name: String,
    gpus: Vec<String>,
    driver: Option<String>,
    driver_cuda: Option<String>,
    allow_jit: Option<Spanned<toml::Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawFiles {
    glob: Spanned<String>,
    artefact: Option<Spanned<String>>,
    contains: Option<Spanned<String>>,
    require: Option<Spanned<Vec<String>>>,
    driver: Option<Spanned<String>>,
    driver_cuda: Option<Spanned<String>>,
    allow_jit: Option<Spanned<toml::Value>>,
    #[serde(default)]
    levels: RawLevels,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawIgnore {
    rule: Spanned<String>,
    member: Option<Spanned<String>>,
    artefact: Option<Spanned<String>>,
    device: Option<String>,
    fleet: Option<Spanned<String>>,
    reason: Spanned<String>,
    expires: Spanned<String>,
}

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// [`ConfigError`] with line and column.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        newer(text)?;
        let raw: RawConfig = toml::from_str(text).map_err(of_parser)?;
        let at = |span: std::ops::Range<usize>, error: String| ConfigError {
            text: format!("{} {error}", position(text, span.start)),
        };
        let levels = |raw: RawLevels| levels(raw, &at);
        let pattern =
            |glob: &Spanned<String>| Pattern::new(glob.get_ref()).map_err(|error| at(glob.span(), error.to_string()));
        let names: Vec<String> = raw
            .fleet
            .keys()
            .map(|name| name.get_ref().clone())
            .chain(raw.any_of.iter().map(|group| group.name.clone()))
            .collect();
        let known = |fleet: Spanned<String>| {
            if names.contains(fleet.get_ref()) {
                return Ok(fleet.into_inner());
            }
            let error = format!("`{}` is no fleet or any-of of this file", fleet.get_ref());
            Err(at(fleet.span(), error))
        };
        let allow_jit = |value: Option<Spanned<toml::Value>>| value.map(|value| jit(&value, &at)).transpose();
        let mut ignores = Vec::new();
        for ignore in raw.ignore {
            let rule = ignore.rule.get_ref().parse().map_err(|error| at(ignore.rule.span(), error))?;
            let expires = ignore.expires.get_ref().parse::<Date>().map_err(|error| at(ignore.expires.span(), error))?;
            if ignore.reason.get_ref().trim().is_empty() {
                return Err(at(ignore.reason.span(), "an ignore needs a reason".to_owned()));
            }
            ignores.push(Ignore {
                rule,
                member: ignore.member.as_ref().map(pattern).transpose()?,
                artefact: ignore.artefact.as_ref().map(pattern).transpose()?,
                device: ignore.device,
                fleet: ignore.fleet.map(known).transpose()?,
                capability: None,
                reason: ignore.reason.into_inner(),
                expires,
            });
        }
        let fleet = |name: String, fleet: RawFleet| {
            let allow_jit = allow_jit(fleet.allow_jit)?;
            Ok(Fleet { name, gpus: fleet.gpus, driver: fleet.driver, driver_cuda: fleet.driver_cuda, allow_jit })
        };
        // in the order of the file
        let mut named: Vec<(Spanned<String>, RawFleet)> = raw.fleet.into_iter().collect();
        named.sort_by_key(|(name, _)| name.span().start);
        let fleets: Result<_, ConfigError> =
            named.into_iter().map(|(name, own)| fleet(name.into_inner(), own)).collect();
        let of_group = |own: RawGroup| {
            let RawGroup { name, gpus, driver, driver_cuda, allow_jit } = own;
            fleet(name, RawFleet { gpus, driver, driver_cuda, allow_jit })
        };
        let any_of: Result<_, ConfigError> = raw.any_of.into_iter().map(of_group).collect();
        let table = |own: RawFiles| {
            let contains = |text: &Spanned<String>| code(text.get_ref()).map_err(|error| at(text.span(), error));
            let demands = FileDemands {
                artefact: own.artefact.as_ref().map(pattern).transpose()?,
                contains: own.contains.as_ref().map(contains).transpose()?,
                allow_jit: allow_jit(own.allow_jit)?,
                ..FileDemands::levels(pattern(&own.glob)?, levels(own.levels)?)
            };
            if let (None, Some(driver)) = (&own.require, own.driver.as_ref().or(own.driver_cuda.as_ref())) {
                return Err(at(driver.span(), "a driver goes with require: it is that of its GPUs".to_owned()));
            }
            let (driver, driver_cuda) = (own.driver.map(Spanned::into_inner), own.driver_cuda.map(Spanned::into_inner));
            let require = match own.require {
                Some(gpus) => {
                    let is_wrong = |gpu: &&String| gpu_arch::spelling::devices(gpu).is_err();
                    if let Some(gpu) = gpus.get_ref().iter().find(is_wrong) {
                        let error = gpu_arch::spelling::devices(gpu).err().map(|error| error.to_string());
                        return Err(at(gpus.span(), format!("require: {}", error.unwrap_or_default())));
                    }
                    let name = own.glob.into_inner();
                    Some(Fleet { name, gpus: gpus.into_inner(), driver, driver_cuda, allow_jit: None })
                }
                None => None,
            };
            Ok(FileTable { demands, require })
        };
        let files: Result<_, ConfigError> = raw.files.into_iter().map(table).collect();
        let percent = |number: Spanned<u8>| match *number.get_ref() {
            value if value <= 100 => Ok(value),
            other => Err(at(number.span(), format!("allow-partial: {other} is no percentage"))),
        };
        let no_device_code =
            |word: Spanned<String>| no_device_code(word.get_ref()).map_err(|error| at(word.span(), error));
        let vendored =
            |word: Spanned<String>| word.get_ref().parse::<Vendored>().map_err(|error| at(word.span(), error));
        Ok(Self {
            allow_jit: allow_jit(raw.allow_jit)?.filter(|percent| *percent > 0),
            allow_partial: raw.allow_partial.map(percent).transpose()?,
            allow_unknown: raw.allow_unknown,
            contains: raw.contains,
            strict: raw.strict,
            declared: raw.declared,
            lint: raw.lint,
            host: raw.host,
            max_size: raw.max_size,
            vendored: raw.vendored.map(vendored).transpose()?,
            no_device_code: raw.no_device_code.map(no_device_code).transpose()?,
            fleets: fleets?,
            any_of: any_of?,
            levels: levels(raw.levels)?,
            files: files?,
            ignores,
        })
    }
}

/// The newest form of a configuration that is read here.
const VERSION: i64 = 1;

/// A file that says that it is newer may say everything else in another way.
fn newer(text: &str) -> Result<(), ConfigError> {
    #[derive(Deserialize)]
    struct Version {
        version: Option<Spanned<i64>>,
    }
    let version: Version = toml::from_str(text).map_err(of_parser)?;
    match version.version {
        Some(version) if *version.get_ref() != VERSION => {
            let (own, at) = (version.get_ref(), position(text, version.span().start));
            let what = if *own > VERSION { "newer than this fatscan reads" } else { "no version" };
            Err(ConfigError { text: format!("{at} version = {own} is {what}: the newest is {VERSION}") })
        }
        _ => Ok(()),
    }
}

fn of_parser(error: toml::de::Error) -> ConfigError {
    ConfigError { text: error.to_string().trim_end().to_owned() }
}

/// The code that a text names; none for an empty one.
fn code(text: &str) -> Result<Vec<Target>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let code = gpu_arch::spelling::code(text).map_err(|error| format!("contains: {error}"))?;
    let mut code: Vec<Target> = code.into_iter().map(Target::without_isa).collect();
    code.sort_unstable();
    code.dedup();
    Ok(code)
}

/// `true`, `false` or a percentage.
fn jit(
    value: &Spanned<toml::Value>,
    at: &dyn Fn(std::ops::Range<usize>, String) -> ConfigError,
) -> Result<u8, ConfigError> {
    match value.get_ref() {
        toml::Value::Boolean(allowed) => Ok(if *allowed { 100 } else { 0 }),
        toml::Value::Integer(percent @ 0..=100) => Ok(u8::try_from(*percent).unwrap_or(100)),
        _ => Err(at(value.span(), "allow-jit: neither true nor false nor a percentage".to_owned())),
    }
}

/// `fail`, `warn` or `pass`.
pub(crate) fn no_device_code(word: &str) -> Result<Severity, String> {
    match word {
        "fail" => Ok(Severity::Deny),
        "warn" => Ok(Severity::Warn),
        "pass" => Ok(Severity::Allow),
        other => Err(format!("no-device-code: `{other}` is none of fail, warn, pass")),
    }
}

fn levels(
    raw: RawLevels,
    at: &dyn Fn(std::ops::Range<usize>, String) -> ConfigError,
) -> Result<BTreeMap<Rule, Severity>, ConfigError> {
    let level = |(rule, level): (Spanned<String>, Spanned<String>)| {
        let severity = match level.get_ref().as_str() {
            "deny" => Severity::Deny,
            "warn" => Severity::Warn,
            "note" => Severity::Note,
            "allow" => Severity::Allow,
            other => {
                let error = format!("levels: `{other}` is none of deny, warn, note, allow");
                return Err(at(level.span(), error));
            }
        };
        let rule = rule.get_ref().parse::<Rule>().map_err(|error| at(rule.span(), error))?;
        Ok((rule, severity))
    };
    raw.into_iter().map(level).collect()
}

/// `at line 3, column 8:` of a byte offset.
fn position(text: &str, offset: usize) -> String {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count().saturating_add(1);
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count().saturating_add(1);
    format!("at line {line}, column {column}:")
}
