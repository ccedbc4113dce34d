//! What the routes of other services' clients share: the headers of their requests, addresses of packages, and reports of devices.

use axum::http::HeaderMap;
use launchway_domain::app::SIGNED_URL_SECONDS;
use launchway_domain::id::UpdateId;
use launchway_domain::report::ReportKind;
use launchway_domain::time::EpochMs;
use launchway_ops::app::App;
use launchway_ota::ForeignRelease;
use launchway_store::Report;

/// The length of most addresses of packages in bytes.
const URL_BYTES: usize = 512;

/// The headers of a request, wherever they are.
pub trait Headers {
    /// The first value under a name in lower case.
    fn value(&self, name: &str) -> Option<&[u8]>;
}

impl Headers for HeaderMap {
    fn value(&self, name: &str) -> Option<&[u8]> {
        Some(self.get(name)?.as_bytes())
    }
}

/// Where a client loads the package of a release.
pub fn package_url(app: &App, release: &ForeignRelease, now: EpochMs) -> String {
    let (key, name) = (&release.blob_key, &release.file_name);
    let mut url = Vec::with_capacity(URL_BYTES);
    app.foreign_urls.push(&mut url, release.update_id, now, |url| {
        Some(app.blob.presign_get_into(url, key, name, now, SIGNED_URL_SECONDS))
    });
    // It is ASCII.
    String::from_utf8(url).unwrap_or_default()
}

/// What a device reports that has no token: its protocol has none.
pub fn report(
    app: &App,
    update_id: UpdateId,
    device_id: &str,
    kind: ReportKind,
    reason: Option<String>,
    at: EpochMs,
) -> Report {
    let claim = app.report_tokens.claim(update_id, device_id);
    Report {
        update_id,
        kind,
        device: app.report_tokens.device(&claim, kind),
        unkeyed: claim.unkeyed,
        at,
        reason,
    }
}
