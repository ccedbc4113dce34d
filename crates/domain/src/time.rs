//! Times on the wire: ISO 8601 UTC with milliseconds (`docs/reference/conventions.md#times-sizes-and-durations`). Internally
//! they are epoch milliseconds.

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type EpochMs = i64;

/// Milliseconds of a second.
pub const SECOND: EpochMs = 1_000;
/// Milliseconds of a minute.
pub const MINUTE: EpochMs = 60 * SECOND;
/// Milliseconds of an hour.
pub const HOUR: EpochMs = 60 * MINUTE;
/// Milliseconds of a day.
pub const DAY: EpochMs = 24 * HOUR;

/// Formats a time such as `2026-11-20T10:00:00.000Z`. Years below 0 or above 9999 are clamped to four digits.
pub fn iso(time: EpochMs) -> String {
    String::from_utf8_lossy(&iso_bytes(time)).into_owned()
}

/// The same as [`iso`] without an allocation, for the answer to the public check.
pub fn iso_bytes(time: EpochMs) -> [u8; 24] {
    const YEAR_0: EpochMs = -62_167_219_200_000;
    const YEAR_9999_END: EpochMs = 253_402_300_799_999;
    let time = time.clamp(YEAR_0, YEAR_9999_END);
    let (days, in_day) = (time.div_euclid(DAY), time.rem_euclid(DAY));
    let (year, month, day) = civil(days);
    let mut text = *b"0000-00-00T00:00:00.000Z";
    let mut put = |from: usize, to: usize, mut value: i64| {
        for place in text[from..to].iter_mut().rev() {
            *place = b'0' + (value % 10) as u8;
            value /= 10;
        }
    };
    put(0, 4, year);
    put(5, 7, month);
    put(8, 10, day);
    put(11, 13, in_day / HOUR);
    put(14, 16, in_day / MINUTE % 60);
    put(17, 19, in_day / SECOND % 60);
    put(20, 23, in_day % SECOND);
    text
}

/// Parses exactly what [`iso`] writes.
pub fn from_iso(text: &str) -> Option<EpochMs> {
    let number = |from: usize, to: usize| {
        let digits = text.get(from..to)?;
        let all_digits = digits.bytes().all(|digit| digit.is_ascii_digit());
        all_digits.then(|| digits.parse::<i64>().ok())?
    };
    let days = days_before_month(number(0, 4)?, number(5, 7)?) + number(8, 10)? - 1;
    let in_day = number(11, 13)? * HOUR + number(14, 16)? * MINUTE + number(17, 19)? * SECOND + number(20, 23)?;
    // A text that does not round-trip is invalid.
    let time = days * DAY + in_day;
    (iso(time) == text).then_some(time)
}

const DAYS_OF_400_YEARS: i64 = 146_097;
/// The days from March 1 of the year 0 to 1970-01-01.
const MARCH_OF_YEAR_0: i64 = 719_468;

/// Year, month and day of a number of days since 1970-01-01, in the proleptic Gregorian calendar. Years are counted from
/// March so that the leap day is the last day of its year.
pub(crate) fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + MARCH_OF_YEAR_0;
    let (era, day_of_era) = (
        shifted.div_euclid(DAYS_OF_400_YEARS),
        shifted.rem_euclid(DAYS_OF_400_YEARS),
    );
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

/// The days from 1970-01-01 to the first of a month: the inverse of [`civil`].
pub(crate) fn days_before_month(year: i64, month: i64) -> i64 {
    let (year, month_from_march) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month_from_march + 2) / 5;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * DAYS_OF_400_YEARS + day_of_era - MARCH_OF_YEAR_0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_only_what_it_writes() {
        for time in [
            0,
            -1,
            951_782_400_000,
            1_795_255_201_007,
            253_402_300_799_999,
            -62_167_219_200_000,
        ] {
            assert_eq!(from_iso(&iso(time)), Some(time));
        }
        for text in [
            "",
            "1970-01-01T00:00:00.000",
            "1970-01-01T00:00:00Z",
            "1970-13-01T00:00:00.000Z",
            "1970-02-29T00:00:00.000Z",
            "1970-01-01T24:00:00.000Z",
            "1970-01-01 00:00:00.000Z",
            "+970-01-01T00:00:00.000Z",
            "1970-01-01T00:00:00.00éZ",
            "9999-99-99T99:99:99.999Z",
        ] {
            assert_eq!(from_iso(text), None, "{text}");
        }
    }

    #[test]
    fn writes_iso_with_milliseconds() {
        for (time, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_795_255_201_007, "2026-11-21T10:00:01.007Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (i64::MAX, "9999-12-31T23:59:59.999Z"),
            (i64::MIN, "0000-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(iso(time), text);
        }
    }
}
