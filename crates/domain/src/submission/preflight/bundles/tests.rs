//! Each single fault of an extension, of entitlements and of a slice is reported with its code.

use super::super::tests::{NOW, codes, extension, ipa, single};
use super::*;

/// The app with a changed extension.
fn with(change: impl FnOnce(&mut Extension)) -> Binary {
    let mut changed = extension();
    change(&mut changed);
    Binary {
        extensions: vec![extension(), changed],
        ..ipa()
    }
}

#[test]
fn each_fault_of_an_extension_is_told() {
    let text = |text: &str| Some(text.to_owned());
    single(
        &with(|it| {
            it.bundle_id = text("com.example.application.share");
            (it.profile, it.entitlements) = (None, None);
        }),
        Code::BundleIdMismatch,
        "PlugIns/Share.appex does not begin with that of the app",
    );
    single(&with(|it| it.signed = Some(false)), Code::Unsigned, "ITMS-90034");
    single(
        &with(|it| it.architectures = Some(vec!["armv7".to_owned()])),
        Code::ArchitectureMissing,
        "PlugIns/Share.appex has no code for arm64",
    );
    single(
        &with(|it| it.architectures = Some(vec!["arm64".to_owned(), "x86_64".to_owned()])),
        Code::SimulatorBuild,
        "ITMS-90087",
    );
    for (kind, end, pattern, words) in [
        (
            ProfileKind::Other,
            Some(NOW + 1),
            "*",
            "Share.appex is not for the App Store",
        ),
        (ProfileKind::AppStore, Some(NOW), "*", "Share.appex has expired"),
        (
            ProfileKind::AppStore,
            None,
            "com.example.app",
            "not for com.example.app.share",
        ),
    ] {
        let profile = Profile {
            kind,
            expires_at: end,
            bundle_id_pattern: pattern.to_owned(),
        };
        single(&with(|it| it.profile = Some(profile)), Code::ProfileUnfit, words);
    }
    let watch = with(|it| {
        it.path = "Watch/Wrist.app".to_owned();
        it.architectures = Some(vec!["arm64_32".to_owned()]);
    });
    assert_eq!(codes(&watch, |_| {}), []);
}

#[test]
fn each_fault_of_entitlements_is_told() {
    for (entitlements, code, words) in [
        (
            Entitlements {
                application_id: Some("TEAM.com.example.other".to_owned()),
                ..Entitlements::default()
            },
            Code::ProfileUnfit,
            "ITMS-90046",
        ),
        (
            Entitlements {
                debuggable: true,
                ..Entitlements::default()
            },
            Code::Debuggable,
            "get-task-allow",
        ),
        (
            Entitlements {
                not_granted: vec!["aps-environment".to_owned()],
                ..Entitlements::default()
            },
            Code::ProfileUnfit,
            "does not grant: aps-environment. The store would say: ITMS-90163",
        ),
    ] {
        let app = Binary {
            entitlements: Some(entitlements.clone()),
            ..ipa()
        };
        single(&app, code, "The app ");
        single(&app, code, words);
        let of_extension = with(|it| it.entitlements = Some(entitlements));
        single(&of_extension, code, "PlugIns/Share.appex ");
        single(&of_extension, code, words);
    }
}

#[test]
fn code_for_simulators_in_any_slice_is_told() {
    let fat = Binary {
        architectures: Some(vec!["x86_64".to_owned(), "arm64".to_owned()]),
        ..ipa()
    };
    single(&fat, Code::SimulatorBuild, "The executable contains code for x86_64");
    let library = Binary {
        simulator_code: vec!["Frameworks/Other.framework/Other".to_owned()],
        ..ipa()
    };
    single(
        &library,
        Code::SimulatorBuild,
        "Frameworks/Other.framework/Other contains",
    );
}
