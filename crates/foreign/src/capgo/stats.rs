//! Reads what clients report, and joins it to our kinds of reports (`docs/reference/capgo.md#stats`).
//!
//! A client keeps reports that were not accepted and sends them again with all later ones, so every body is accepted: what is
//! beyond the limits or malformed is left out.

use std::borrow::Cow;

use launchway_domain::report::ReportKind;

use super::device::{Device, DevicePlatform};
use super::fields::{Document, Field, Fields};
use super::response::Response;

/// How much of a body is read, in bytes.
pub const MAX_STATS_BYTES: usize = 64 * 1024;
/// How many events of a body are read.
pub const MAX_STATS_EVENTS: usize = 100;

/// Something that happened on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatsEvent<'b> {
    /// The device and its app, with the name of the update concerned as what it runs.
    pub device: Device<'b>,
    /// What it means for the update.
    pub kind: ReportKind,
    /// The client's word for it.
    pub action: &'static str,
}

/// The actions that tell how an update does. Downloads that fail are not among them: clients report them with the name of what
/// runs, not of what they download.
const ACTIONS: [(&str, ReportKind); 9] = [
    ("download_complete", ReportKind::Downloaded),
    ("set", ReportKind::Installed),
    ("app_launch_ready", ReportKind::Confirmed),
    // The app did not say in time that it started, so the client went back.
    ("update_fail", ReportKind::RolledBack),
    ("set_fail", ReportKind::Failed),
    ("app_crash", ReportKind::Failed),
    ("app_crash_native", ReportKind::Failed),
    ("app_initialization_failure", ReportKind::Failed),
    ("app_anr", ReportKind::Failed),
];

/// Reads the events of a body, of which the first [`MAX_STATS_BYTES`] are given: one object, or an array of them, which may be
/// cut off. Events that say nothing about an update are left out.
pub fn read_stats(body: &[u8]) -> Vec<StatsEvent<'_>> {
    let body = body.get(..MAX_STATS_BYTES).unwrap_or(body).trim_ascii_start();
    let mut rest = body.strip_prefix(b"[").unwrap_or(body);
    let mut events = Vec::new();
    for _ in 0..MAX_STATS_EVENTS {
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Document<'_>>();
        let Some(Ok(Document(fields))) = values.next() else {
            break;
        };
        events.extend(fields.and_then(event));
        let read = values.byte_offset();
        match rest.get(read..).map(<[u8]>::trim_ascii_start) {
            Some([b',', following @ ..]) => rest = following,
            _ => break,
        }
    }
    events
}

fn event(mut fields: Fields<'_>) -> Option<StatsEvent<'_>> {
    let action = fields.take_text(Field::Action)?;
    let (action, kind) = ACTIONS.into_iter().find(|(known, _)| *known == action)?;
    let mut device = Device::read(&mut fields);
    // Some events add the name of a file; no name of an update has a colon.
    device.version_name = device.version_name.map(before_colon);
    device.update_name()?;
    // The desktop client says `set` when the app told it that it started, and nothing before.
    let kind = match (device.platform, kind) {
        (Some(DevicePlatform::Electron), ReportKind::Installed) => ReportKind::Confirmed,
        (_, kind) => kind,
    };
    Some(StatsEvent { device, kind, action })
}

/// A name up to its first colon.
fn before_colon(name: Cow<'_, str>) -> Cow<'_, str> {
    match (name.find(':'), name) {
        (None, name) => name,
        (Some(end), Cow::Borrowed(name)) => Cow::Borrowed(&name[..end]),
        (Some(end), Cow::Owned(mut name)) => {
            name.truncate(end);
            Cow::Owned(name)
        }
    }
}

/// The answer to every body.
pub fn stats_answer() -> Response {
    Response::ok("{\"status\":\"ok\"}".to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(action: &str, name: &str) -> String {
        format!(r#"{{"action": "{action}", "version_name": "{name}", "app_id": "com.example.app", "platform": "ios"}}"#)
    }

    #[test]
    fn an_event_or_a_list_of_them_is_read() {
        let crash = one("app_crash", "1.2.3");
        let events = read_stats(crash.as_bytes());
        assert_eq!(events.len(), 1);
        assert_eq!((events[0].kind, events[0].action), (ReportKind::Failed, "app_crash"));
        assert_eq!(events[0].device.update_name(), Some("1.2.3"));
        let list = format!(
            " [ {} , {}, {},{}] ",
            one("set", "1.2.3"),
            one("app_moved_to_foreground", "1.2.3"),
            one("update_fail", "1.2.3:a"),
            crash
        );
        let events: Vec<_> = read_stats(list.as_bytes())
            .into_iter()
            .map(|event| (event.kind, event.device.version_name))
            .collect();
        let name = || Some(Cow::from("1.2.3"));
        assert_eq!(
            events,
            [
                (ReportKind::Installed, name()),
                (ReportKind::RolledBack, name()),
                (ReportKind::Failed, name())
            ]
        );
        let desktop = one("set", "1.2.3").replace("ios", "electron");
        assert_eq!(read_stats(desktop.as_bytes())[0].kind, ReportKind::Confirmed);
        assert_eq!(stats_answer().body, r#"{"status":"ok"}"#);
    }

    #[test]
    fn events_that_say_nothing_about_an_update_are_left_out() {
        for body in [
            one("set", "builtin"),
            one("download_fail", "1.2.3"),
            "{\"action\": \"set\"}".to_owned(),
            "{\"action\": 5, \"version_name\": \"1.2.3\"}".to_owned(),
            "[5, null, []]".to_owned(),
            String::new(),
            "[".to_owned(),
        ] {
            assert_eq!(read_stats(body.as_bytes()), [], "{body}");
        }
    }

    #[test]
    fn what_is_beyond_the_limits_is_left_out() {
        let many = format!("[{}]", vec![one("set", "1.2.3"); MAX_STATS_EVENTS + 50].join(","));
        assert_eq!(read_stats(many.as_bytes()).len(), MAX_STATS_EVENTS);
        let long = one("set", &"a".repeat(200));
        let large = format!("[{}]", vec![long.clone(); MAX_STATS_EVENTS * 10].join(","));
        assert_eq!(read_stats(large.as_bytes()).len(), MAX_STATS_EVENTS);
        let padded = format!("[{},{}{}]", long, " ".repeat(MAX_STATS_BYTES), long);
        assert_eq!(read_stats(padded.as_bytes()).len(), 1);
        let cut = format!("[{},{}", long, &long[..30]);
        assert_eq!(read_stats(cut.as_bytes()).len(), 1);
    }

    proptest! {
        #[test]
        fn every_body_is_read(bytes in prop::collection::vec(any::<u8>(), 0..300), marks in r#"[\[\]{},: "a]{0,80}"#, cut in 0..400_usize) {
            read_stats(&bytes);
            read_stats(marks.as_bytes());
            let list = format!("[{}]", vec![one("set", "1.2.3"); 4].join(","));
            let read = read_stats(&list.as_bytes()[..cut.min(list.len())]).len();
            prop_assert!(read <= 4);
        }
    }
}
