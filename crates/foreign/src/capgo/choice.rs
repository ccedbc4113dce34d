//! The choice of an update for a Capgo client: the common decision, and the rules of this protocol above it
//! (`docs/reference/capgo.md#updates`).

use std::cell::Cell;

use launchway_domain::ota::{
    Abilities, Current, Held, NativeCode, Release, ReleaseCaller, ReleaseDecision, decide_release,
};
use launchway_domain::platform::Platform;
use launchway_domain::release::{Format, UpdateKind};
use launchway_domain::version::Version;

use super::device::{Device, DevicePlatform};
use super::request::UpdateRequest;
use super::response::ErrorCode;

/// A release that Capgo's clients install.
pub trait CapgoRelease: Release {
    /// Its name.
    fn name(&self) -> &str;
    /// Its version; of no meaning for the return to the built-in content.
    fn version(&self) -> &Version;
}

/// What a client is told, before the address of the update is known.
#[derive(Debug, PartialEq, Eq)]
pub enum Choice<'c, C> {
    /// It installs this release.
    Update(&'c C),
    /// It returns to the built-in content.
    BuiltIn,
    /// There is a newer release for another version of the app.
    NeedsNewApp(&'c C),
    /// It keeps what it runs.
    Keep(ErrorCode),
}

impl DevicePlatform {
    /// The platform whose releases a client receives. A desktop app shows the web content of phones; releases of different
    /// platforms have no common order, so it is always the same one.
    pub const fn releases(self) -> Platform {
        match self {
            DevicePlatform::Mobile(platform) => platform,
            DevicePlatform::Electron => Platform::Android,
        }
    }
}

/// What a device runs: `named` is the release with the name that it sent.
///
/// Where a name may be both that of a release and that of the built-in content, it is the release: a device that runs it and was
/// taken for one without it would be offered it again and again.
pub fn current<'h>(device: &Device<'_>, named: Option<Held<'h>>) -> Current<'h> {
    match named {
        Some(held) if device.update_name().is_some() => Current::Known(held),
        _ if device.may_run_built_in() => Current::Embedded,
        _ => Current::Unknown,
    }
}

/// Chooses the answer to a request of a device that runs `current`. `highest_first` is as [`decide_release`] takes it.
pub fn choose<'c, C: CapgoRelease>(
    request: &UpdateRequest<'_>,
    platform: Platform,
    current: Current<'_>,
    highest_first: &'c [C],
) -> Choice<'c, C> {
    let device = &request.device;
    let caller = ReleaseCaller {
        platform,
        configuration: device.default_channel.as_deref(),
        format: Format::Archive,
        runtime_version: None,
        binary_version: request.installed.as_ref(),
        native_code: NativeCode::Unsaid,
        current,
        abilities: Abilities::ALL,
    };
    let is_reached = |release: &C| release.rollout().includes(release.id(), device.device_id.as_deref());
    let under_native = Cell::new(false);
    let decision = decide_release(&caller, highest_first, |release| {
        if release.kind() == UpdateKind::Update && request.is_under_native(release.version()) {
            under_native.set(true);
            return false;
        }
        is_reached(release)
    });
    match decision {
        ReleaseDecision::Update(release) | ReleaseDecision::RollBackTo(release) => Choice::Update(release),
        ReleaseDecision::BuiltIn(_) => Choice::BuiltIn,
        ReleaseDecision::OtherBinary(release) => other_binary(release, request.installed.as_ref()),
        // No release was left out, so the same choice without that rule is the same.
        ReleaseDecision::UpToDate if !under_native.get() => Choice::Keep(ErrorCode::NoNewVersion),
        ReleaseDecision::UpToDate => match decide_release(&caller, highest_first, is_reached) {
            ReleaseDecision::Update(_) | ReleaseDecision::OtherBinary(_) => Choice::Keep(ErrorCode::UnderNative),
            _ => Choice::Keep(ErrorCode::NoNewVersion),
        },
    }
}

/// Tells an app that is too old for a release of it, and one that is too new that there is none for it.
fn other_binary<'c, C: CapgoRelease>(release: &'c C, installed: Option<&Version>) -> Choice<'c, C> {
    let is_older = match (release.binary_range(), installed) {
        (Some(range), Some(installed)) => range.is_below(installed),
        _ => false,
    };
    match release.kind() {
        UpdateKind::Embedded => Choice::Keep(ErrorCode::NoNewVersion),
        UpdateKind::Update if is_older => Choice::Keep(ErrorCode::UnderNative),
        UpdateKind::Update => Choice::NeedsNewApp(release),
    }
}

#[cfg(test)]
mod tests {
    use launchway_domain::release::Sequence;

    use super::*;

    fn device<'d>(name: &'d str, build: &'d str) -> Device<'d> {
        Device {
            version_name: Some(name.into()),
            version_build: Some(build.into()),
            ..Device::default()
        }
    }

    #[test]
    fn a_name_of_a_release_is_that_release() {
        let held = || {
            Some(Held {
                sequence: Sequence::new(3),
                configuration: None,
                is_withdrawn: false,
            })
        };
        for (name, named, expected) in [
            ("builtin", None, Current::Embedded),
            ("builtin", held(), Current::Embedded),
            ("1.0.0", None, Current::Embedded),
            ("1.0.0", held(), Current::Known(held().unwrap())),
            ("1.0.1", held(), Current::Known(held().unwrap())),
            ("1.0.1", None, Current::Unknown),
        ] {
            assert_eq!(current(&device(name, "1.0.0"), named), expected, "{name}");
        }
        assert_eq!(current(&Device::default(), None), Current::Unknown);
    }

    #[test]
    fn the_desktop_client_gets_what_phones_get() {
        assert_eq!(DevicePlatform::Electron.releases(), Platform::Android);
        assert_eq!(DevicePlatform::Mobile(Platform::Ios).releases(), Platform::Ios);
    }
}
