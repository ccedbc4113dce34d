//! What the routes of other services' clients share: addresses of packages, and reports of devices.

use launchway_domain::app::SIGNED_URL_SECONDS;
use launchway_domain::id::UpdateId;
use launchway_domain::report::ReportKind;
use launchway_domain::time::EpochMs;
use launchway_ops::app::App;
use launchway_ota::ForeignRelease;
use launchway_store::Report;

/// Where a client loads the package of a release.
pub fn package_url(app: &App, release: &ForeignRelease, now: EpochMs) -> String {
    let (key, name) = (&release.blob_key, &release.file_name);
    app.blob.presign_get(key, name, now, SIGNED_URL_SECONDS).url
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
