use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An instant: microseconds since 1970-01-01T00:00:00Z. `Display` writes an instant as RFC 3339, in UTC.
///
/// A `Timestamp` converts to and from [`SystemTime`], and with the features `time` and `chrono` to and from
/// `time::OffsetDateTime` and `chrono::DateTime<Utc>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The instant that is `micros` microseconds after the beginning of 1970 in UTC.
    pub const fn from_unix_micros(micros: i64) -> Self {
        Self(micros)
    }
    /// Microseconds since 1970 in UTC.
    pub const fn unix_micros(self) -> i64 {
        self.0
    }
    /// The present time of the system clock.
    pub fn now() -> Self {
        Self::from(SystemTime::now())
    }
}

/// Rounds down to a microsecond. A time beyond the range (some 292,000 years from 1970) is clamped to the range.
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let micros = |length: Duration| i64::try_from(length.as_micros()).unwrap_or(i64::MAX);
        Self(match time.duration_since(UNIX_EPOCH) {
            Ok(after) => micros(after),
            Err(before) => {
                let before = before.duration();
                -micros(before.saturating_add(Duration::from_nanos(999)))
            }
        })
    }
}

/// The conversion is exact if a `SystemTime` can hold the instant, as on Linux; otherwise the result is the beginning
/// of 1970.
impl From<Timestamp> for SystemTime {
    fn from(given: Timestamp) -> Self {
        let length = Duration::from_micros(given.0.unsigned_abs());
        let made = if given.0 < 0 { UNIX_EPOCH.checked_sub(length) } else { UNIX_EPOCH.checked_add(length) };
        made.unwrap_or(UNIX_EPOCH)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DAY: i64 = 86_400;
        let seconds = self.0.div_euclid(1_000_000);
        let (year, month, day) = date(seconds.div_euclid(DAY));
        let left = seconds.rem_euclid(DAY);
        write!(f, "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", left / 3600, left / 60 % 60, left % 60)?;
        match self.0.rem_euclid(1_000_000) {
            0 => f.write_str("Z"),
            micros => write!(f, ".{micros:06}Z"),
        }
    }
}

/// Whole milliseconds, rounded up, so that a positive duration never becomes 0.
pub(crate) fn milliseconds(length: Duration) -> i64 {
    i64::try_from(length.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
}

/// The Gregorian year, month and day of day number `day` (0 is 1970-01-01). The computation uses periods of 400 years
/// that begin in March.
fn date(day: i64) -> (i64, i64, i64) {
    const ERA: i64 = 146_097;
    let shifted = day + 719_468;
    let (era, in_era) = (shifted.div_euclid(ERA), shifted.rem_euclid(ERA));
    let year = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
    let in_year = in_era - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let month_of_year = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month_of_year <= 2), month_of_year, in_year - (153 * month + 2) / 5 + 1)
}

#[cfg(feature = "time")]
mod with_time {
    use super::Timestamp;

    impl From<time::OffsetDateTime> for Timestamp {
        fn from(given: time::OffsetDateTime) -> Self {
            // Every year of an OffsetDateTime is within the range of a Timestamp.
            Self(i64::try_from(given.unix_timestamp_nanos().div_euclid(1000)).unwrap_or(i64::MAX))
        }
    }

    /// Fails for years that `OffsetDateTime` cannot hold.
    impl TryFrom<Timestamp> for time::OffsetDateTime {
        type Error = time::error::ComponentRange;
        fn try_from(given: Timestamp) -> Result<Self, Self::Error> {
            Self::from_unix_timestamp_nanos(i128::from(given.0) * 1000)
        }
    }
}

#[cfg(feature = "chrono")]
mod with_chrono {
    use super::Timestamp;
    use chrono::{DateTime, TimeZone, Utc};

    impl<Z: TimeZone> From<DateTime<Z>> for Timestamp {
        fn from(given: DateTime<Z>) -> Self {
            Self(given.timestamp_micros())
        }
    }

    /// Fails for years that `DateTime` cannot hold.
    impl TryFrom<Timestamp> for DateTime<Utc> {
        type Error = crate::Error;
        fn try_from(given: Timestamp) -> Result<Self, Self::Error> {
            DateTime::from_timestamp_micros(given.0).ok_or_else(|| {
                crate::Error::new(crate::ErrorCode::OutOfRange, "the instant is beyond the years of chrono::DateTime")
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_rfc_3339() {
        for (micros, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (1_745_566_200_000_000, "2025-04-25T07:30:00Z"),
            (951_782_400_000_001, "2000-02-29T00:00:00.000001Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00Z"),
            (-62_135_596_800_000_000, "0001-01-01T00:00:00Z"),
        ] {
            assert_eq!(Timestamp(micros).to_string(), text);
        }
        for extreme in [i64::MIN, i64::MAX] {
            assert!(Timestamp(extreme).to_string().ends_with('Z'));
        }
    }

    #[test]
    fn converts_both_ways() {
        for micros in [0, 1, -1, 1_745_566_200_000_000, -62_135_596_800_000_000] {
            assert_eq!(Timestamp::from(SystemTime::from(Timestamp(micros))), Timestamp(micros));
        }
        let between = UNIX_EPOCH - Duration::from_nanos(1);
        assert_eq!(Timestamp::from(between), Timestamp(-1));
        assert!(Timestamp::now() > Timestamp(1_700_000_000_000_000));
    }

    #[cfg(feature = "time")]
    #[test]
    fn converts_with_time() {
        let made = time::OffsetDateTime::try_from(Timestamp(-1)).unwrap();
        assert_eq!((made.year(), Timestamp::from(made)), (1969, Timestamp(-1)));
        assert!(time::OffsetDateTime::try_from(Timestamp(i64::MAX)).is_err());
    }

    #[cfg(feature = "chrono")]
    #[test]
    fn converts_with_chrono() {
        let made = chrono::DateTime::<chrono::Utc>::try_from(Timestamp(-1)).unwrap();
        assert_eq!((made.timestamp(), Timestamp::from(made)), (-1, Timestamp(-1)));
        assert!(chrono::DateTime::<chrono::Utc>::try_from(Timestamp(i64::MAX)).is_err());
    }
}
