//! What is known here of a package, which the server's word is compared with.

use launchway_api::open;
use launchway_api::updates::UpdateView;
use launchway_domain::build_number::BuildNumber;
use launchway_domain::version::Version;
use launchway_project::shell::quote;
use launchway_trust::{Sha256, Update};

use crate::failure::Failure;
use crate::trust::package::MeasuredPackage;
use crate::trust::publication::WantedTarget;

/// What is signed of a package.
#[derive(Clone, Debug)]
pub struct PackageFacts {
    /// The hash of its bytes.
    pub sha256: Sha256,
    /// Its length in bytes.
    pub length: u64,
    /// The hash of the list of its files.
    pub manifest: Sha256,
    /// The native app that it is for.
    pub fingerprint: Option<String>,
}

impl PackageFacts {
    /// Those of a package that was measured here.
    pub fn of(package: &MeasuredPackage, fingerprint: Option<String>) -> Self {
        Self {
            sha256: package.sha256,
            length: package.length,
            manifest: package.manifest(),
            fingerprint,
        }
    }

    /// The target of an update of this platform, version and build. Fails if one of them is not of its form.
    pub fn wanted(&self, (platform, version, build): (&open::Platform, &str, &str)) -> Result<WantedTarget, Failure> {
        let unknown = |what: &str, value: &str| Failure::failed(format!("cannot sign an update with {what} {value}"));
        let known = platform
            .known()
            .ok_or_else(|| unknown("the platform", platform.as_str()))?;
        let parsed = Version::parse(version).map_err(|_| unknown("version", version))?;
        let number = BuildNumber::parse(build).map_err(|_| unknown("build number", build))?;
        Ok(WantedTarget {
            platform: known,
            update: Update::new(parsed, number, self.fingerprint.clone(), self.manifest),
            sha256: self.sha256,
            length: self.length,
        })
    }
}

/// What another person runs to sign an update that waits. People paste it, so nothing of the server can end its words.
pub fn sign_command(update: &UpdateView) -> String {
    format!(
        "launchway update sign {} --sha256 {}",
        quote(&update.id),
        quote(&update.sha256)
    )
}

/// Checks that the server names the package that is known here. What is printed of it is what others compare with before
/// they sign.
pub fn check_package(update: &UpdateView, known: &str) -> Result<(), Failure> {
    if update.sha256 == known {
        return Ok(());
    }
    let message = format!(
        "the server says that {} has another package: SHA-256 {}",
        update.id, update.sha256
    );
    Err(Failure::failed(message).hint(format!("do not sign it: the package here has {known}")))
}
