//! Times on the wire: ISO 8601 UTC with milliseconds (`docs/reference/conventions.md#times-sizes-and-durations`). Internally
//! they are epoch milliseconds.

use jiff::civil::DateTime;
use jiff::fmt::rfc2822;
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

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

/// When the calendar ends: the first millisecond of the year 10000.
pub(crate) const END: EpochMs = 253_402_300_800_000;

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
const YEAR_0: DateTime = DateTime::constant(0, 1, 1, 0, 0, 0, 0);

/// Formats a time such as `2026-11-20T10:00:00.000Z`. Years below 0 or above 9999 are clamped to four digits.
pub fn iso(time: EpochMs) -> String {
    String::from_utf8_lossy(&iso_bytes(time)).into_owned()
}

/// The same as [`iso`] without an allocation, for the answer to the public check.
pub fn iso_bytes(time: EpochMs) -> [u8; 24] {
    let time = utc(time);
    let mut text = *b"0000-00-00T00:00:00.000Z";
    // The library's formatter takes twice the time.
    let mut put = |from: usize, to: usize, mut value: u16| {
        for place in text[from..to].iter_mut().rev() {
            *place = b'0' + (value % 10) as u8;
            value /= 10;
        }
    };
    put(0, 4, time.year().unsigned_abs());
    put(5, 7, time.month().unsigned_abs().into());
    put(8, 10, time.day().unsigned_abs().into());
    put(11, 13, time.hour().unsigned_abs().into());
    put(14, 16, time.minute().unsigned_abs().into());
    put(17, 19, time.second().unsigned_abs().into());
    put(20, 23, time.millisecond().unsigned_abs());
    text
}

/// Formats a time in the basic form of ISO 8601, such as `20261120T100000Z`.
pub fn iso_basic(time: EpochMs) -> [u8; 16] {
    let whole = iso_bytes(time);
    let mut text = [b'Z'; 16];
    for (from, to) in [
        (0..4, 0..4),
        (5..7, 4..6),
        (8..13, 6..11),
        (14..16, 11..13),
        (17..19, 13..15),
    ] {
        text[to].copy_from_slice(&whole[from]);
    }
    text
}

/// Formats the date of a time in UTC, such as `2026-11-20`.
pub fn date(time: EpochMs) -> String {
    String::from_utf8_lossy(&iso_bytes(time)[..10]).into_owned()
}

/// Formats a time to the minute, such as `2026-11-20 10:00`.
pub fn minute(time: EpochMs) -> String {
    utc(time).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Formats a time for readers, such as `5 Nov 2026, 10:00 UTC`.
pub fn in_words(time: EpochMs) -> String {
    utc(time).strftime("%-d %b %Y, %H:%M UTC").to_string()
}

/// Parses exactly what [`iso`] writes.
pub fn from_iso(text: &str) -> Option<EpochMs> {
    let time = epoch_ms(text.strip_suffix('Z')?.parse().ok()?)?;
    // A text that does not round-trip is invalid.
    (iso_bytes(time) == text.as_bytes()).then_some(time)
}

/// Parses any time of RFC 3339, with its offset.
pub fn from_rfc3339(text: &str) -> Option<EpochMs> {
    let time: Timestamp = text.parse().ok()?;
    Some(time.as_millisecond())
}

/// Parses a date of HTTP such as `Sun, 06 Nov 1994 08:49:37 GMT`.
pub fn from_http_date(text: &str) -> Option<EpochMs> {
    // The other two forms of RFC 9110 are obsolete, and nobody sends them.
    let time = rfc2822::DateTimeParser::new().parse_timestamp(text.trim()).ok()?;
    Some(time.as_millisecond())
}

/// The time of a date and a minute in UTC; `None` if the calendar does not have it.
pub fn from_utc(year: i16, month: i8, day: i8, hour: i8, minute: i8) -> Option<EpochMs> {
    epoch_ms(DateTime::new(year, month, day, hour, minute, 0, 0).ok()?)
}

/// The calendar's fields of a time in UTC. Times outside the years 0 to 9999 are clamped.
pub(crate) fn utc(time: EpochMs) -> DateTime {
    // A timestamp is faster, but ends some hours before the calendar does.
    let fields = match Timestamp::from_millisecond(time) {
        Ok(time) => Offset::UTC.to_datetime(time),
        Err(_) => EPOCH.saturating_add(SignedDuration::from_millis(time)),
    };
    fields.max(YEAR_0)
}

fn epoch_ms(time: DateTime) -> Option<EpochMs> {
    EpochMs::try_from(time.duration_since(EPOCH).as_millis()).ok()
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
            "2016-12-31T23:59:60.000Z",
            "2016-12-31 23:59:59.000Z",
            "2016-12-31T23:59:59.000z",
            "2016-12-31T23:59:59.000",
            "2016-12-31T23:59:59,000Z",
            "2016-12-31T23:59:59.000ZZ",
            "2016-12-31T23:59:59.000+00:00Z",
            "2016-12-31T23:59:59.000[UTC]Z",
            "-000001-01-01T00:00:00.000Z",
            "20161231T235959.000Z",
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

    #[test]
    fn the_whole_calendar_is_written_and_read() {
        let first = from_utc(0, 1, 1, 0, 0).expect("the first day");
        let mut last = String::new();
        for time in (first..END).step_by(97 * DAY as usize).chain([END - 1]) {
            let text = iso(time);
            assert_eq!(from_iso(&text), Some(time));
            assert!(text > last, "{text} is after {last}");
            last = text;
        }
        assert_eq!(END - first, 25 * 146_097 * DAY, "the days of ten thousand years");
    }

    #[test]
    fn other_forms_are_those_of_the_standards() {
        assert_eq!(&iso_basic(1_795_255_201_007), b"20261121T100001Z");
        assert_eq!(&iso_basic(i64::MAX), b"99991231T235959Z");
        assert_eq!(date(-1), "1969-12-31");
        assert_eq!(in_words(1_795_255_201_007), "21 Nov 2026, 10:00 UTC");
        assert_eq!(minute(1_795_255_201_007), "2026-11-21 10:00");
        assert_eq!(minute(i64::MIN), "0000-01-01 00:00");
        assert_eq!(in_words(0), "1 Jan 1970, 00:00 UTC");
        for (text, time) in [
            ("2026-11-21T10:00:01.007Z", Some(1_795_255_201_007)),
            ("2026-11-21T10:00:01Z", Some(1_795_255_201_000)),
            ("2026-11-21T12:00:01+02:00", Some(1_795_255_201_000)),
            ("2026-11-21T10:00:01", None),
            ("2026-11-21", None),
            ("1795255201", None),
            ("", None),
        ] {
            assert_eq!(from_rfc3339(text), time, "{text}");
        }
        for (fields, time) in [
            ((1970, 1, 1, 0, 0), Some(0)),
            ((2000, 2, 29, 23, 59), Some(951_868_740_000)),
            ((1900, 2, 29, 0, 0), None),
            ((2026, 4, 31, 0, 0), None),
            ((2026, 0, 1, 0, 0), None),
            ((2026, 13, 1, 0, 0), None),
            ((2026, 1, 1, 24, 0), None),
            ((2026, 1, 1, 0, 60), None),
            ((2026, -1, 1, 0, 0), None),
        ] {
            let (year, month, day, hour, minute) = fields;
            assert_eq!(from_utc(year, month, day, hour, minute), time, "{fields:?}");
        }
    }
}
