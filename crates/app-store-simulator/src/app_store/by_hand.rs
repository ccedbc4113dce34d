//! Manual actions of a person in App Store Connect, or with an upload tool, concurrent to the service.

use launchway_domain::time::iso;
use serde_json::json;

use super::{AppStore, RequestContext};
use crate::settings::ByHand;

impl AppStore {
    /// Uploads a build if its number is free, and attaches it to its version if requested.
    ///
    /// # Errors
    /// What is missing.
    pub(super) fn do_by_hand(&mut self, context: &mut RequestContext<'_>, done: &ByHand) -> Result<(), String> {
        let platform = match done.platform.as_str() {
            "ios" => "IOS",
            "visionos" => "VISION_OS",
            _ => return Err("platform must be ios or visionos.".to_owned()),
        };
        let app = self.all("apps").find(|(_, app)| app.text("bundleId") == done.bundle_id);
        let app = app
            .map(|(id, _)| id.clone())
            .ok_or("There is no app of that bundleId.")?;
        let known = self.all("builds").find(|(_, build)| {
            build.related("app") == app
                && build.text("#version") == done.version
                && build.text("version") == done.build_number
                && build.text("#platform") == platform
        });
        let build = match known.map(|(id, _)| id.clone()) {
            Some(build) => build,
            None => self.upload_by_hand(context, &app, platform, done),
        };
        if !done.attach {
            return Ok(());
        }
        // App Store Connect lets a version be withdrawn from review, changed and resubmitted, so any build may end up
        // there.
        let version = self.all("appStoreVersions").filter(|(_, version)| {
            version.related("app") == app
                && version.text("platform") == platform
                && version.text("versionString") == done.version
        });
        let version = version.last().map(|(id, _)| id.clone());
        let version = version.ok_or("There is no such version.")?;
        self.relate(&version, "build", "builds", &build);
        context.ledger.note("attached_by_hand", done.build_number.clone());
        Ok(())
    }

    /// Uploads a build that is already processed.
    fn upload_by_hand(&mut self, context: &mut RequestContext<'_>, app: &str, platform: &str, done: &ByHand) -> String {
        let upload = json!({
            "cfBundleShortVersionString": done.version,
            "cfBundleVersion": done.build_number,
            "platform": platform,
            "createdDate": iso(context.now),
            "state": {"state": "COMPLETE", "errors": [], "warnings": [], "infos": []},
        });
        let upload = self.make("buildUploads", upload, &[]);
        self.belongs(&upload, app);
        let build = json!({
            "version": done.build_number,
            "uploadedDate": iso(context.now),
            "expired": false,
            "processingState": "VALID",
            "usesNonExemptEncryption": false,
            "#version": done.version,
            "#platform": platform,
        });
        let related = [("app", "apps", app), ("buildUpload", "buildUploads", upload.as_str())];
        let build = self.make("builds", build, &related);
        self.relate(&upload, "build", "builds", &build);
        let detail = json!({
            "autoNotifyEnabled": true,
            "internalBuildState": "IN_BETA_TESTING",
            "externalBuildState": "READY_FOR_BETA_SUBMISSION",
        });
        self.make("buildBetaDetails", detail, &[("build", "builds", &build)]);
        let numbers = format!("{} {}", done.version, done.build_number);
        context.ledger.note("uploaded_by_hand", numbers);
        build
    }
}
