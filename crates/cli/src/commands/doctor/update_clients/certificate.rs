//! The certificate by which an app verifies Expo's manifests: that it is there, readable and named.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use launchway_credentials::SigningCertificate;
use launchway_domain::time::{EpochMs, iso};
use launchway_project::packages::join;
use launchway_project::sdk::additions::AppFolder;
use launchway_project::source::Source;
use launchway_project::update_client::settings::{FoundSetting, Setting};

use super::CHECK;
use crate::commands::doctor::Finding;

/// What is wrong with the certificate at this time; nothing for an app without one.
pub fn look(found: &[FoundSetting], app: AppFolder<'_>, now: EpochMs) -> Vec<Finding> {
    let mut findings = Vec::new();
    let certificates = found.iter().filter(|found| found.setting == Setting::Certificate);
    for (path, place) in certificates.filter_map(|found| Some((&found.path, found.value.text()?))) {
        let file = join(app.directory, place.trim_start_matches("./"));
        let text = Source::new(app.root).text(&file);
        match text.as_deref().map(certificate_of) {
            None => {
                let message =
                    format!("{path}: codeSigningCertificate names {file}, which is not a file of the project");
                findings.push(Finding::problem(CHECK, message, "correct the path, or add the file"));
            }
            Some(None) => {
                let message = format!("{file} is not a certificate in PEM form");
                let fix = "make one with `npx expo-updates codesigning:generate`";
                findings.push(Finding::problem(CHECK, message, fix));
            }
            Some(Some(certificate)) if certificate.not_after < now => {
                let message = format!(
                    "{file} expired at {}: the app refuses every update",
                    iso(certificate.not_after)
                );
                let fix = "build the app with a new certificate, and sign with its key";
                findings.push(Finding::problem(CHECK, message, fix));
            }
            Some(Some(_)) => {}
        }
    }
    let has = |setting| found.iter().any(|found| found.setting == setting);
    if has(Setting::Certificate) && !has(Setting::CertificateKeyId) {
        let message = "codeSigningCertificate is set without codeSigningMetadata, so that the app names no key";
        let fix = "set codeSigningMetadata to { \"keyid\": \"main\", \"alg\": \"rsa-v1_5-sha256\" }";
        findings.push(Finding::problem(CHECK, message, fix));
    }
    findings
}

/// The first certificate of a PEM file, if it can be read.
fn certificate_of(text: &str) -> Option<SigningCertificate> {
    let (_, rest) = text.split_once("-----BEGIN CERTIFICATE-----")?;
    let (body, _) = rest.split_once("-----END CERTIFICATE-----")?;
    let body: String = body.split_whitespace().collect();
    SigningCertificate::from_der(&STANDARD.decode(body).ok()?).ok()
}
