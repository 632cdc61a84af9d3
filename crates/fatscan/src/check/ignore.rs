use super::{Date, Demands, Finding, Rule, Severity};
use crate::locator::Locator;
use crate::pattern::Pattern;

/// Findings that are known and accepted, until a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignore {
    /// The rule.
    pub rule: Rule,
    /// Files; all where none is given.
    pub member: Option<Pattern>,
    /// Artefacts; all where none is given.
    pub artefact: Option<Pattern>,
    /// The fleet or group that the device is of; all findings where none is given.
    pub fleet: Option<String>,
    /// The device, by name or capability as typed; all where none is given.
    pub device: Option<String>,
    /// The capability of that device: devices of one capability run the same code.
    pub capability: Option<gpu_arch::Capability>,
    /// Why, for whoever reads it later.
    pub reason: String,
    /// The last day on which it counts.
    pub expires: Date,
}

impl Ignore {
    fn matches(&self, finding: &Finding, artefact: &str) -> bool {
        self.rule == finding.rule
            && self.member.as_ref().is_none_or(|glob| glob.matches(&finding.member))
            && self.artefact.as_ref().is_none_or(|glob| glob.matches(artefact))
            && (self.fleet.is_none()
                || self.fleet.as_ref() == finding.device.as_ref().and_then(|own| own.fleet.as_ref()))
            && (self.device.is_none() || (self.capability.is_some() && self.capability == finding.capability))
    }
}

/// The reason of the ignore that covers a finding, if one does today.
pub(super) fn reason(finding: &Finding, artefact: &str, demands: &Demands) -> Option<String> {
    let valid = demands.ignores.iter().filter(|ignore| ignore.expires >= demands.today);
    valid.into_iter().find(|ignore| ignore.matches(finding, artefact)).map(|ignore| ignore.reason.clone())
}

/// Ignores that have reached their end are findings of their own: whoever set the day wanted to be asked.
pub(super) fn expired(demands: &Demands) -> Vec<Finding> {
    let ended = demands.ignores.iter().filter(|ignore| ignore.expires < demands.today);
    let severity = demands.levels.get(&Rule::ExpiredIgnore).copied().unwrap_or(Severity::Deny);
    ended
        .map(|ignore| Finding {
            artefact: None,
            at: Locator::default(),
            member: String::new(),
            code: None,
            rule: Rule::ExpiredIgnore,
            severity,
            device: None,
            capability: ignore.capability,
            subject: None,
            message: format!("the ignore of `{}` ended on {}: {}", ignore.rule, ignore.expires, ignore.reason),
            hint: Some("mend what it covers, or give it another day and reason".to_owned()),
            ignored_by: None,
        })
        .collect()
}
