//! What CodePush clients report about an update (`docs/reference/codepush.md#reports`).

use launchway_domain::report::ReportKind;
use serde_json::Value;

/// The maximum size of the body of a report in bytes. Longer ones are answered and not read.
pub const MAX_REPORT_BYTES: usize = 16 * 1024;
/// The answer to every report, with status 200, also to one that nobody understands: on any other answer a client keeps the report and
/// sends it again at each start.
pub const REPORT_ANSWER: &str = "OK";
/// The maximum number of bytes of a text in a report. No id of ours is longer.
const MAX_TEXT_BYTES: usize = 256;

/// A report about an update of CodePush.
#[derive(Debug, PartialEq, Eq)]
pub struct Report {
    /// The deployment key.
    pub deployment_key: String,
    /// The label of the update.
    pub label: String,
    /// What happened.
    pub kind: ReportKind,
    /// The client's own name of the device.
    pub client_unique_id: Option<String>,
}

impl Report {
    /// Reads a report that an update runs, or was rolled back. `None` for any other body: a report about a new version of the app
    /// itself names no update.
    pub fn of_deployment(body: &[u8]) -> Option<Self> {
        let fields = Fields::read(body)?;
        let kind = match fields.text(&["status"])? {
            "DeploymentSucceeded" => ReportKind::Confirmed,
            // The app did not start with it, and the client went back.
            "DeploymentFailed" => ReportKind::RolledBack,
            _ => return None,
        };
        fields.report(kind)
    }

    /// Reads a report that an update was downloaded; `None` for any other body.
    pub fn of_download(body: &[u8]) -> Option<Self> {
        Fields::read(body)?.report(ReportKind::Downloaded)
    }
}

/// The object of a report.
struct Fields(Value);

impl Fields {
    fn read(body: &[u8]) -> Option<Self> {
        let is_short = body.len() <= MAX_REPORT_BYTES;
        is_short.then(|| serde_json::from_slice(body).ok())?.map(Self)
    }

    /// The first of these fields that is a text and not empty.
    fn text(&self, names: &[&str]) -> Option<&str> {
        let mut texts = names.iter().filter_map(|name| self.0.get(name)?.as_str());
        texts
            .find(|text| !text.is_empty())
            .filter(|text| text.len() <= MAX_TEXT_BYTES)
    }

    fn report(&self, kind: ReportKind) -> Option<Report> {
        let owned = |names: &[&str]| self.text(names).map(str::to_owned);
        Some(Report {
            deployment_key: owned(&["deploymentKey", "deployment_key"])?,
            label: owned(&["label"])?,
            kind,
            client_unique_id: owned(&["clientUniqueId", "client_unique_id"]),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn report(kind: ReportKind, device: Option<&str>) -> Option<Report> {
        Some(Report {
            deployment_key: "abcdefghij".to_owned(),
            label: "v3".to_owned(),
            kind,
            client_unique_id: device.map(str::to_owned),
        })
    }

    #[test]
    fn reports_become_ours() {
        for (body, expected) in [
            (
                r#"{"app_version":"1.0.0","deployment_key":"abcdefghij","client_unique_id":"d","label":"v3","status":"DeploymentSucceeded","previous_label_or_app_version":"v2"}"#,
                report(ReportKind::Confirmed, Some("d")),
            ),
            (
                r#"{"deploymentKey":"abcdefghij","label":"v3","status":"DeploymentFailed"}"#,
                report(ReportKind::RolledBack, None),
            ),
            // A new version of the app itself.
            (
                r#"{"app_version":"1.0.0","deployment_key":"abcdefghij","client_unique_id":"d"}"#,
                None,
            ),
            (r#"{"deployment_key":"abcdefghij","label":"v3","status":"Other"}"#, None),
            (
                r#"{"deployment_key":"abcdefghij","label":3,"status":"DeploymentFailed"}"#,
                None,
            ),
            (
                r#"{"deployment_key":"","label":"v3","status":"DeploymentFailed"}"#,
                None,
            ),
        ] {
            assert_eq!(Report::of_deployment(body.as_bytes()), expected, "{body}");
        }
        let body = br#"{"client_unique_id":null,"deployment_key":"abcdefghij","label":"v3"}"#;
        assert_eq!(Report::of_download(body), report(ReportKind::Downloaded, None));
    }

    #[test]
    fn a_report_that_is_too_long_is_not_read() {
        let body = |length: usize| {
            let start = r#"{"deployment_key":"abcdefghij","label":"v3"}"#;
            format!("{start}{}", " ".repeat(length - start.len()))
        };
        assert!(Report::of_download(body(MAX_REPORT_BYTES).as_bytes()).is_some());
        assert!(Report::of_download(body(MAX_REPORT_BYTES + 1).as_bytes()).is_none());
        let long = "k".repeat(MAX_TEXT_BYTES + 1);
        let body = format!(r#"{{"deployment_key":"{long}","label":"v3"}}"#);
        assert_eq!(Report::of_download(body.as_bytes()), None);
    }

    proptest! {
        #[test]
        fn any_body_is_read_or_left(body in prop::collection::vec(any::<u8>(), 0..200), deep in 0usize..8000) {
            let _ = (Report::of_deployment(&body), Report::of_download(&body));
            prop_assert_eq!(Report::of_download("[".repeat(deep).as_bytes()), None);
        }
    }
}
