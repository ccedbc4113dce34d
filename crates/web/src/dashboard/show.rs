//! How pages format values: times, sizes, durations, names of platforms. States are in [`super::states`].

use askama::Template;
use launchway_api::open;
use launchway_domain::platform::Platform;
use launchway_domain::submission::destination::KnownDestination;
use launchway_domain::time::{from_rfc3339, in_words};
use launchway_ops::api_error::ApiError;

/// Renders a part of a page as HTML.
pub fn render(part: &impl Template) -> Result<String, ApiError> {
    part.render().map_err(|error| ApiError::Internal(error.to_string()))
}

/// A time as an element that a script converts to the reader's zone.
#[derive(Template)]
#[template(
    source = r#"<time datetime="{{ iso }}">{{ crate::dashboard::show::time(iso) }}</time>"#,
    ext = "html"
)]
struct At<'a> {
    iso: &'a str,
}

/// A time of the API as HTML.
pub fn at(iso: &str) -> String {
    At { iso }.render().unwrap_or_default()
}

/// A time of the API as HTML, or `missing` if there is none.
pub fn at_or(iso: &Option<String>, missing: &'static str) -> String {
    iso.as_deref().map_or_else(|| missing.to_owned(), at)
}

/// An icon. Only names in this file draw anything.
pub fn icon(name: &str) -> &'static str {
    macro_rules! drawn {
        ($path:literal) => {
            concat!(
                r#"<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round">"#,
                $path,
                "</svg>"
            )
        };
    }
    match name {
        "check" => drawn!(r#"<circle cx="8" cy="8" r="6.5"/><path d="m5.2 8.2 2 2 3.6-4.2"/>"#),
        "cross" => {
            drawn!(r#"<path d="M5.4 1.5h5.2l3.9 3.9v5.2l-3.9 3.9H5.4l-3.9-3.9V5.4z"/><path d="m6 6 4 4m0-4-4 4"/>"#)
        }
        "waiting" => drawn!(r#"<circle cx="8" cy="8" r="6.5" stroke-dasharray="2.4 2.7"/>"#),
        "running" => drawn!(
            r#"<circle cx="8" cy="8" r="6.5" opacity=".3"/><path class="turn" d="M8 1.5A6.5 6.5 0 0 1 14.5 8"/>"#
        ),
        "dash" => drawn!(r#"<circle cx="8" cy="8" r="6.5"/><path d="M5 8h6"/>"#),
        "pause" => {
            drawn!(r#"<rect x="1.8" y="1.8" width="12.4" height="12.4" rx="2"/><path d="M6.2 5.5v5M9.8 5.5v5"/>"#)
        }
        "overview" => drawn!(
            r#"<rect x="1.8" y="1.8" width="5" height="7" rx="1"/><rect x="9.2" y="1.8" width="5" height="4" rx="1"/><rect x="1.8" y="11.4" width="5" height="2.8" rx="1"/><rect x="9.2" y="8.4" width="5" height="5.8" rx="1"/>"#
        ),
        "builds" => {
            drawn!(r#"<path d="m8 1.5 5.8 3.2v6.6L8 14.5l-5.8-3.2V4.7z"/><path d="M2.4 4.8 8 8l5.6-3.2M8 8v6.3"/>"#)
        }
        "updates" => drawn!(
            r#"<path d="M8 10.5v-8M4.8 5.5 8 2.3l3.2 3.2M2 10v2.5A1.5 1.5 0 0 0 3.5 14h9a1.5 1.5 0 0 0 1.5-1.5V10"/>"#
        ),
        "submissions" => drawn!(r#"<path d="M14 2 1.8 6.7l4.9 2.6L9.3 14zM6.7 9.3 14 2"/>"#),
        "apps" => drawn!(r#"<rect x="4" y="1.5" width="8" height="13" rx="1.8"/><path d="M7.2 12.2h1.6"/>"#),
        "settings" => drawn!(
            r#"<path d="M2 4.5h6M11.5 4.5H14M2 11.5h2.5M8 11.5h6"/><circle cx="9.8" cy="4.5" r="1.7"/><circle cx="6.2" cy="11.5" r="1.7"/>"#
        ),
        "warning" => drawn!(r#"<path d="M8 2 1.6 13.5h12.8z"/><path d="M8 6.5v3M8 11.6v.1"/>"#),
        "down" => drawn!(r#"<path d="m4 6.5 4 4 4-4"/>"#),
        "download" => drawn!(r#"<path d="M8 2v8M4.8 7 8 10.2 11.2 7M2.5 13.5h11"/>"#),
        _ => "",
    }
}

/// A time of the API for readers without scripts: `20 Nov 2026, 10:00 UTC`. A script converts it to their zone.
pub fn time(iso: &str) -> String {
    from_rfc3339(iso).map_or_else(|| iso.to_owned(), in_words)
}

/// Such as `12.3 MB`.
pub fn size(bytes: &i64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if *bytes < 1000 {
        return format!("{bytes} B");
    }
    let (mut value, mut unit) = (*bytes as f64 / 1000.0, 0);
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// Such as `4 s`, `2 min 10 s` or `1 h 5 min`.
pub fn duration(seconds: &f64) -> String {
    let whole = seconds.max(0.0) as i64;
    match whole {
        ..10 if *seconds < 10.0 => format!("{seconds:.1} s"),
        ..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A number with thin spaces between thousands: `12 345`.
pub fn count(number: &i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if *number < 0 {
        text.push('-');
    }
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// The display name of a platform.
pub fn platform(platform: &(impl Clone + Into<open::Platform>)) -> String {
    let platform = platform.clone().into();
    let known = platform.known().map(|known| match known {
        Platform::Android => "Android",
        Platform::Ios => "iOS",
        Platform::Visionos => "visionOS",
    });
    known.unwrap_or(platform.as_str()).to_owned()
}

/// The display name of a destination.
pub fn destination(destination: &open::KnownDestination) -> String {
    match destination.known() {
        Some(KnownDestination::TestFlight) => "TestFlight".to_owned(),
        Some(KnownDestination::AppStore) => "App Store".to_owned(),
        _ => format!("Google Play, {destination}"),
    }
}

/// The first characters of a hash or commit.
pub fn short(text: &str) -> &str {
    match text.char_indices().nth(10) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// The first line of a text.
pub fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The shown part of a list, and the links to the others.
pub struct Pager {
    /// The first row that is shown, from 1; 0 if there is none.
    pub first: i64,
    /// The last row that is shown.
    pub last: i64,
    /// The number of rows.
    pub total: i64,
    /// The query of the previous page.
    pub newer: Option<String>,
    /// The query of the next page.
    pub older: Option<String>,
}

/// Rows on a page of a list.
pub const ROWS: i64 = 25;

impl Pager {
    /// The pager of a list at `offset`. `query` is the rest of the query, such as `status=failed&`.
    pub fn new(offset: i64, shown: usize, total: i64, query: &str) -> Pager {
        let shown = i64::try_from(shown).unwrap_or(ROWS);
        let at = |offset: i64| format!("?{query}offset={offset}");
        Pager {
            first: if shown == 0 { 0 } else { offset + 1 },
            last: offset + shown,
            total,
            newer: (offset > 0).then(|| at((offset - ROWS).max(0))),
            older: (offset + shown < total).then(|| at(offset + ROWS)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_short_and_readable() {
        assert_eq!(time("2026-11-05T10:07:00.000Z"), "5 Nov 2026, 10:07 UTC");
        assert_eq!(time("2026-11-05T12:07:00+02:00"), "5 Nov 2026, 10:07 UTC");
        assert_eq!(time("nonsense"), "nonsense");
        assert_eq!([0, 999, 12_345_678].each_ref().map(size), ["0 B", "999 B", "12.3 MB"]);
        assert_eq!(
            [0.4, 9.96, 42.0, 130.0, 3900.0].each_ref().map(duration),
            ["0.4 s", "10.0 s", "42 s", "2 min 10 s", "1 h 5 min"]
        );
        assert_eq!(
            [999, -1000, 1_234_567]
                .each_ref()
                .map(count)
                .map(|text| text.replace('\u{202f}', " ")),
            ["999", "-1 000", "1 234 567"]
        );
        assert_eq!((short("0123456789abc"), short("ü")), ("0123456789", "ü"));
    }

    #[test]
    fn a_pager_knows_its_neighbours() {
        let pager = Pager::new(25, 25, 60, "status=failed&");
        assert_eq!((pager.first, pager.last, pager.total), (26, 50, 60));
        assert_eq!(pager.newer.as_deref(), Some("?status=failed&offset=0"));
        assert_eq!(pager.older.as_deref(), Some("?status=failed&offset=50"));
        let only = Pager::new(0, 3, 3, "");
        assert_eq!((only.newer, only.older), (None, None));
    }
}
