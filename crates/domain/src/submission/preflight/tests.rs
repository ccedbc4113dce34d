//! A valid binary passes, and each single fault is reported with its code and the app store's error.

use super::*;

pub(super) const NOW: EpochMs = 1_795_255_200_000;

fn store_profile() -> Profile {
    Profile {
        kind: ProfileKind::AppStore,
        expires_at: Some(NOW + 1),
        bundle_id_pattern: "com.example.app".to_owned(),
    }
}

pub(super) fn extension() -> Extension {
    Extension {
        path: "PlugIns/Share.appex".to_owned(),
        bundle_id: Some("com.example.app.share".to_owned()),
        architectures: Some(vec!["arm64".to_owned()]),
        signed: Some(true),
        profile: Some(Profile {
            bundle_id_pattern: "com.example.app.*".to_owned(),
            ..store_profile()
        }),
        entitlements: Some(Entitlements {
            application_id: Some("TEAM.com.example.app.share".to_owned()),
            ..Entitlements::default()
        }),
    }
}

pub(super) fn ipa() -> Binary {
    Binary {
        format: BinaryFormat::Ipa,
        size: 10_000_000,
        bundle_id: "com.example.app".to_owned(),
        version: Some("1.2.0".to_owned()),
        build_number: Some("42".to_owned()),
        platforms: vec![Platform::Ios],
        simulator: false,
        debuggable: None,
        target_sdk: None,
        architectures: Some(vec!["arm64".to_owned()]),
        signer: Some(Some("aa".to_owned())),
        signer_not_after: Some(NOW + 1),
        signer_subject: Some("CN=Upload,O=Example".to_owned()),
        profile: Some(store_profile()),
        entitlements: Some(Entitlements {
            application_id: Some("TEAM.com.example.app".to_owned()),
            ..Entitlements::default()
        }),
        simulator_code: Vec::new(),
        extensions: vec![extension()],
        sdk: Some("26.1".to_owned()),
        icon: Some(true),
        system_classes: Some(vec!["PHPhotoLibrary".to_owned(), "UIView".to_owned()]),
        info_keys: Some(vec!["NSPhotoLibraryAddUsageDescription".to_owned()]),
    }
}

fn aab() -> Binary {
    Binary {
        format: BinaryFormat::Aab,
        platforms: vec![Platform::Android],
        debuggable: Some(false),
        target_sdk: Some(36),
        architectures: Some(vec!["arm64-v8a".to_owned(), "armeabi-v7a".to_owned()]),
        profile: None,
        entitlements: None,
        extensions: Vec::new(),
        sdk: None,
        icon: None,
        system_classes: None,
        info_keys: None,
        ..ipa()
    }
}

pub(super) fn codes(binary: &Binary, change: impl Fn(&mut Expectations<'_>)) -> Vec<(Code, String)> {
    let (bundle_id, platform) = (BundleId::parse("com.example.app").unwrap(), binary.platforms[0]);
    let name = match Store::of(platform) {
        Store::AppStore => "app_store",
        Store::GooglePlay => "production",
    };
    let destination = Destination::parse(platform, name).unwrap();
    let mut asked = Expectations {
        bundle_id: &bundle_id,
        platform,
        destination: &destination,
        version: Some("1.2.0"),
        build_number: Some("42"),
        live_version: Some("1.1.9"),
        live_build_number: Some("41"),
        upload_key: Some("AA"),
        target_sdk_floor: TARGET_SDK_FLOOR,
        apple_sdk_floor: APPLE_SDK_FLOOR,
        now: NOW,
    };
    change(&mut asked);
    let found = findings(binary, &asked);
    found.into_iter().map(|error| (error.code, error.message)).collect()
}

pub(super) fn single(binary: &Binary, wanted: Code, words: &str) {
    let found = codes(binary, |_| {});
    let [(code, message)] = &found[..] else {
        panic!("{wanted}: {found:?}")
    };
    assert_eq!(*code, wanted, "{message}");
    assert!(message.contains(words), "{message}");
}

#[test]
fn fit_binaries_pass() {
    for binary in [ipa(), aab()] {
        assert_eq!(codes(&binary, |_| {}), []);
        // An unstated fact is not a finding.
        let silent = Binary {
            version: None,
            build_number: None,
            debuggable: None,
            target_sdk: None,
            architectures: None,
            signer: None,
            signer_not_after: None,
            signer_subject: None,
            profile: None,
            entitlements: None,
            extensions: vec![Extension::default()],
            sdk: None,
            icon: None,
            system_classes: None,
            info_keys: None,
            ..binary
        };
        assert_eq!(codes(&silent, |_| {}), []);
    }
    let visionos = Binary {
        platforms: vec![Platform::Visionos],
        ..ipa()
    };
    assert_eq!(codes(&visionos, |_| {}), []);
}

#[test]
fn each_fault_of_an_ipa_is_told() {
    let text = |text: &str| Some(text.to_owned());
    single(
        &Binary {
            format: BinaryFormat::Apk,
            ..ipa()
        },
        Code::WrongFormat,
        "the App Store",
    );
    single(
        &Binary {
            size: MAX_IPA + 1,
            ..ipa()
        },
        Code::TooLarge,
        "4000000000",
    );
    single(
        &Binary {
            bundle_id: "com.example.App".to_owned(),
            ..ipa()
        },
        Code::BundleIdMismatch,
        "ITMS-90054",
    );
    single(
        &Binary {
            simulator: true,
            ..ipa()
        },
        Code::SimulatorBuild,
        "ITMS-90087",
    );
    single(
        &Binary {
            architectures: Some(vec!["armv7".to_owned()]),
            ..ipa()
        },
        Code::ArchitectureMissing,
        "arm64",
    );
    single(
        &Binary {
            profile: Some(Profile {
                kind: ProfileKind::Other,
                ..store_profile()
            }),
            ..ipa()
        },
        Code::ProfileUnfit,
        "ITMS-90161",
    );
    single(
        &Binary {
            profile: Some(Profile {
                expires_at: Some(NOW),
                ..store_profile()
            }),
            ..ipa()
        },
        Code::ProfileUnfit,
        "expired",
    );
    single(
        &Binary {
            signer: Some(None),
            ..ipa()
        },
        Code::Unsigned,
        "ITMS-90034",
    );
    single(
        &Binary {
            signer_not_after: Some(NOW),
            ..ipa()
        },
        Code::CertificateExpired,
        "expired",
    );
    single(
        &Binary {
            system_classes: Some(vec!["AVCaptureDevice".to_owned(), "CNContactStore".to_owned()]),
            ..ipa()
        },
        Code::PurposeStringMissing,
        "NSCameraUsageDescription, NSContactsUsageDescription",
    );
    let found = codes(
        &Binary {
            version: text("1.2.0.1"),
            ..ipa()
        },
        |asked| asked.version = None,
    );
    assert!(matches!(&found[..], [(Code::VersionMalformed, _)]), "{found:?}");
    let found = codes(&ipa(), |asked| asked.platform = Platform::Visionos);
    assert!(matches!(&found[..], [(Code::PlatformMismatch, _)]), "{found:?}");
    let found = codes(&ipa(), |asked| asked.live_version = Some("1.2"));
    assert!(matches!(&found[..], [(Code::VersionNotNewer, _)]), "{found:?}");
}

#[test]
fn each_fault_of_an_android_binary_is_told() {
    let text = |text: &str| Some(text.to_owned());
    single(
        &Binary {
            debuggable: Some(true),
            ..aab()
        },
        Code::Debuggable,
        "debuggable",
    );
    single(
        &Binary {
            target_sdk: Some(35),
            ..aab()
        },
        Code::TargetSdkTooLow,
        "at least API level 36",
    );
    single(
        &Binary {
            architectures: Some(vec!["x86".to_owned()]),
            ..aab()
        },
        Code::ArchitectureMissing,
        "x86_64",
    );
    single(
        &Binary {
            signer: Some(None),
            ..aab()
        },
        Code::Unsigned,
        "not signed",
    );
    single(
        &Binary {
            signer: Some(text("bb")),
            ..aab()
        },
        Code::SignatureMismatch,
        "wrong key",
    );
    single(
        &Binary {
            build_number: text("43"),
            ..aab()
        },
        Code::BuildNumberMismatch,
        "not 42",
    );
    for (number, code) in [
        ("0", Code::VersionMalformed),
        ("2100000001", Code::VersionMalformed),
        ("1.2", Code::VersionMalformed),
        ("41", Code::BuildNumberUsed),
        ("7", Code::BuildNumberUsed),
    ] {
        let found = codes(
            &Binary {
                build_number: text(number),
                ..aab()
            },
            |asked| asked.build_number = None,
        );
        assert!(matches!(&found[..], [(told, _)] if *told == code), "{number} {found:?}");
    }
    // Google compares only the version code.
    assert_eq!(codes(&aab(), |asked| asked.live_version = Some("9.9")), []);
    let internal = Destination::parse(Platform::Android, "internal").unwrap();
    let old = Binary {
        target_sdk: Some(30),
        ..aab()
    };
    let bundle_id = BundleId::parse("com.example.app").unwrap();
    let asked = Expectations {
        bundle_id: &bundle_id,
        platform: Platform::Android,
        destination: &internal,
        version: None,
        build_number: None,
        live_version: None,
        live_build_number: None,
        upload_key: None,
        target_sdk_floor: TARGET_SDK_FLOOR,
        apple_sdk_floor: APPLE_SDK_FLOOR,
        now: NOW,
    };
    assert_eq!(findings(&old, &asked), []);
}

#[test]
fn purpose_strings_are_wanted_of_each_class_once() {
    let mut classes = std::collections::BTreeSet::new();
    for (class, keys) in PURPOSE_STRINGS {
        assert!(classes.insert(class), "{class}");
        assert!(!keys.is_empty(), "{class}");
        assert!(keys.iter().all(|key| key.ends_with("UsageDescription")), "{class}");
        let used = [(*class).to_owned()];
        assert_eq!(missing_purpose_strings(&used, &[]), keys[..1], "{class}");
        for key in *keys {
            assert_eq!(missing_purpose_strings(&used, &[(*key).to_owned()]), Vec::<&str>::new());
        }
    }
    // App Store Connect may accept an upload without keys for these.
    for class in ["CLLocationManager", "LAContext", "ATTrackingManager", "UIView"] {
        assert_eq!(missing_purpose_strings(&[class.to_owned()], &[]), Vec::<&str>::new());
    }
}

#[test]
fn a_profile_covers_the_bundle_id() {
    for (pattern, is_fit) in [
        ("com.example.app", true),
        ("com.example.*", true),
        ("*", true),
        ("", true),
        ("com.example.other", false),
        ("com.example.app.*", false),
        ("com.Example.app", true),
    ] {
        let binary = Binary {
            profile: Some(Profile {
                bundle_id_pattern: pattern.to_owned(),
                ..store_profile()
            }),
            ..ipa()
        };
        if is_fit {
            assert_eq!(codes(&binary, |_| {}), [], "{pattern}");
        } else {
            single(&binary, Code::ProfileUnfit, pattern);
        }
    }
}

#[test]
fn an_app_needs_an_icon_and_a_recent_sdk() {
    for (sdk, is_fit) in [
        ("26.0", true),
        ("27", true),
        ("18.5", false),
        ("9.3", false),
        ("", true),
        ("new", true),
    ] {
        let binary = Binary {
            sdk: Some(sdk.to_owned()),
            ..ipa()
        };
        if is_fit {
            assert_eq!(codes(&binary, |_| {}), [], "{sdk}");
        } else {
            single(&binary, Code::SdkTooOld, "ITMS-90725");
        }
        assert_eq!(codes(&binary, |asked| asked.apple_sdk_floor = 9), []);
    }
    let plain = Binary {
        icon: Some(false),
        ..ipa()
    };
    single(&plain, Code::IconMissing, "ITMS-90713");
    let headset = Binary {
        platforms: vec![Platform::Visionos],
        ..plain
    };
    assert_eq!(codes(&headset, |_| {}), []);
}

#[test]
fn a_debug_key_is_told_once() {
    for (subject, is_debug) in [
        ("CN=Android Debug,O=Android,C=US", true),
        ("C=US, O=Android, CN=Android Debug", true),
        ("CN=Android Debugger,O=Example", false),
        ("CN=Upload,O=Android Debug", false),
    ] {
        let binary = Binary {
            signer_subject: Some(subject.to_owned()),
            // Another key than the upload key, too.
            signer: Some(Some(if is_debug { "bb" } else { "aa" }.to_owned())),
            ..aab()
        };
        if is_debug {
            single(&binary, Code::SignatureMismatch, "debug mode");
        } else {
            assert_eq!(codes(&binary, |_| {}), [], "{subject}");
        }
    }
}
