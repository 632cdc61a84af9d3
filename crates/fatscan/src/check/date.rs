use core::fmt;
use core::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

/// A day of the Gregorian calendar, `2027-03-31`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// The day of that year, month (1 to 12) and day of the month, if there is one.
    #[must_use]
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let leap = (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400);
        let days = match month {
            2 => {
                if leap {
                    29
                } else {
                    28
                }
            }
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        (1..=days).contains(&day).then_some(Self { year, month, day })
    }

    /// Today, in universal time.
    #[must_use]
    pub fn today() -> Self {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self::of_days(seconds.checked_div(86_400).unwrap_or(0))
    }

    /// The day that lies so many days behind 1970-01-01, counted year by year and month by month.
    fn of_days(days: u64) -> Self {
        let mut left = days;
        for year in 1970..u16::MAX {
            for month in 1..=12 {
                let length = (28..=31).rev().find(|day| Self::new(year, month, *day).is_some()).unwrap_or(28);
                match left.checked_sub(u64::from(length)) {
                    Some(rest) => left = rest,
                    None => {
                        let day = u8::try_from(left.saturating_add(1)).unwrap_or(1);
                        return Self { year, month, day };
                    }
                }
            }
        }
        Self::default()
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl FromStr for Date {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || format!("`{text}` is no date; it is written like 2027-03-31");
        let mut parts = text.split('-');
        let (Some(year), Some(month), Some(day), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(error());
        };
        let parsed = year.parse().ok().zip(month.parse().ok()).zip(day.parse().ok());
        parsed.and_then(|((year, month), day)| Self::new(year, month, day)).ok_or_else(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(Date::of_days(0).to_string(), "1970-01-01");
        assert_eq!(Date::of_days(11_016).to_string(), "2000-02-29");
        assert_eq!(Date::of_days(11_017).to_string(), "2000-03-01");
        assert_eq!(Date::of_days(20_787).to_string(), "2026-11-30");
        assert!(Date::new(2100, 2, 29).is_none());
        assert!("2027-13-01".parse::<Date>().is_err());
        assert!("2027-3".parse::<Date>().is_err());
        assert!("2027-03-31".parse::<Date>().unwrap() < "2027-04-01".parse().unwrap());
    }
}
