//! What `doctor` finds in the settings of a client.

use super::*;
use crate::commands::doctor::Status;

fn setting(setting: Setting, platform: Option<Platform>, text: &str) -> FoundSetting {
    FoundSetting {
        setting,
        platform,
        path: "file".to_owned(),
        value: SettingValue::of(text),
    }
}

fn home() -> NewHome {
    NewHome {
        server: "https://launchway.example.com".to_owned(),
        android: "com.example.app".to_owned(),
        ios: "com.example.ios".to_owned(),
    }
}

fn app(platform: Platform) -> PlatformApp {
    PlatformApp {
        platform,
        bundle_id: home().bundle_id(platform).to_owned(),
        version: Some("1.0.0".to_owned()),
    }
}

#[test]
fn an_address_counts_for_the_platform_of_its_file() {
    let android = "https://launchway.example.com/codepush/com.example.app/";
    let found = [
        setting(Setting::Address, Some(Platform::Android), android),
        setting(Setting::Address, Some(Platform::Ios), android),
    ];
    let on = |platform| {
        let findings = address_findings(UpdateClient::Codepush, &found, &home(), &app(platform));
        findings
            .into_iter()
            .map(|finding| finding.fix.unwrap_or_default())
            .collect::<Vec<_>>()
    };
    assert_eq!(on(Platform::Android), [""; 0]);
    let expected = "set the address to https://launchway.example.com/codepush/com.example.ios/";
    assert_eq!(on(Platform::Ios), [expected]);
    let slashless = [setting(Setting::Address, None, android.trim_end_matches('/'))];
    assert!(address_findings(UpdateClient::Codepush, &slashless, &home(), &app(Platform::Android)).is_empty());
    let computed = FoundSetting {
        value: SettingValue::Computed,
        ..slashless[0].clone()
    };
    let findings = address_findings(UpdateClient::Codepush, &[computed], &home(), &app(Platform::Android));
    assert_eq!(findings[0].status, Status::Warning);
}

#[test]
fn only_one_update_client_may_be_in_an_app() {
    let codepush = (UpdateClient::Codepush, "react-native-code-push");
    let expo = (UpdateClient::Expo, "expo-updates");
    assert!(several(&[codepush], false).is_none() && several(&[], true).is_none());
    assert!(several(&[codepush, expo], false).is_some() && several(&[codepush], true).is_some());
}

#[test]
fn every_address_of_capgo_is_one_of_the_server() {
    let base = "https://launchway.example.com/capgo";
    let good = [
        setting(Setting::StatsAddress, None, &format!("{base}/stats")),
        setting(Setting::ChannelAddress, None, &format!("{base}/channel_self")),
        setting(Setting::AppId, None, "com.example.app"),
    ];
    assert!(capgo(&good, &home()).is_empty());
    assert_eq!(capgo(&[], &home()).len(), 2);
    let bad = [
        good[0].clone(),
        setting(Setting::ChannelAddress, None, "https://plugin.capgo.app/channel_self"),
        setting(Setting::AppId, None, "other"),
        setting(Setting::PublicKey, None, "-----BEGIN RSA PUBLIC KEY-----"),
    ];
    assert_eq!(capgo(&bad, &home()).len(), 3);
}

#[test]
fn a_deployment_key_has_the_form_that_clients_send() {
    let of = |text: &str| deployment_keys(&[setting(Setting::DeploymentKey, None, text)]);
    assert!(of("abcDEF-123_456").is_empty());
    assert_eq!(of("short")[0].status, Status::Problem);
    assert_eq!(of("with a space in it")[0].status, Status::Problem);
    assert_eq!(deployment_keys(&[])[0].status, Status::Warning);
}
