//! A calendar month in UTC.

use std::fmt;
use std::str::FromStr;

use crate::time::{END, EpochMs, from_utc, utc};

/// A calendar month in UTC, written `2026-11`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Month {
    year: u16,
    /// From 1 to 12.
    number: u8,
}

/// The text is not a valid month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a month must have the form 2026-11")]
pub struct MonthError;

impl Month {
    /// The month of a time. Years below 0 or above 9999 are clamped to four digits.
    pub fn of(time: EpochMs) -> Month {
        let time = utc(time);
        Month {
            year: time.year().unsigned_abs(),
            number: time.month().unsigned_abs(),
        }
    }

    /// The month after this one.
    pub fn next(self) -> Month {
        if self.number < 12 {
            Month {
                number: self.number + 1,
                ..self
            }
        } else {
            Month {
                year: self.year + 1,
                number: 1,
            }
        }
    }

    /// Its first millisecond; the end of the calendar for the month after the last.
    pub fn start(self) -> EpochMs {
        from_utc(self.year as i16, self.number as i8, 1, 0, 0).unwrap_or(END)
    }

    /// Its name for people, such as `November 2026`.
    pub fn in_words(self) -> String {
        utc(self.start()).strftime("%B %Y").to_string()
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.number)
    }
}

impl FromStr for Month {
    type Err = MonthError;

    fn from_str(text: &str) -> Result<Self, MonthError> {
        let (year, number) = text.split_once('-').ok_or(MonthError)?;
        let digits = |part: &str, count| part.len() == count && part.bytes().all(|digit| digit.is_ascii_digit());
        if !digits(year, 4) || !digits(number, 2) {
            return Err(MonthError);
        }
        let year = year.parse().map_err(|_| MonthError)?;
        let number = number.parse().map_err(|_| MonthError)?;
        if (1..=12).contains(&number) {
            Ok(Month { year, number })
        } else {
            Err(MonthError)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::DAY;

    const NOVEMBER: EpochMs = 1_793_491_200_000;

    fn month(text: &str) -> Month {
        text.parse().expect(text)
    }

    #[test]
    fn months_begin_and_end_in_utc() {
        for (time, text) in [
            (NOVEMBER - 1, "2026-10"),
            (NOVEMBER, "2026-11"),
            (NOVEMBER + 30 * DAY - 1, "2026-11"),
            (NOVEMBER + 30 * DAY, "2026-12"),
            (951_782_400_000, "2000-02"),
            (0, "1970-01"),
            (-1, "1969-12"),
            (i64::MAX, "9999-12"),
            (i64::MIN, "0000-01"),
        ] {
            assert_eq!(Month::of(time).to_string(), text);
        }
    }

    #[test]
    fn a_month_knows_its_start_the_next_and_its_words() {
        assert_eq!(month("2026-11").start(), NOVEMBER);
        assert_eq!(month("2026-12").next(), month("2027-01"));
        assert_eq!(month("2028-02").in_words(), "February 2028");
        let mut time = month("1999-12").start();
        for _ in 0..400 {
            let this = Month::of(time);
            assert_eq!(this.start(), time);
            assert_eq!(Month::of(time - 1).next(), this);
            time = this.next().start();
        }
        assert_eq!(
            Month::of(i64::MAX).next().start(),
            Month::of(i64::MAX).start() + 31 * DAY
        );
        assert!(month("2026-09") < month("2026-10") && month("2026-12") < month("2027-01"));
    }

    #[test]
    fn what_is_no_month_is_refused() {
        for text in [
            "",
            "2026",
            "2026-00",
            "2026-13",
            "2026-1",
            "26-11",
            "2026-11-01",
            "2026-+1",
            "+026-11",
            " 2026-11",
        ] {
            assert_eq!(text.parse::<Month>(), Err(MonthError), "{text}");
        }
    }
}
