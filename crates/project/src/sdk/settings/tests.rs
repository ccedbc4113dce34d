//! Which settings an app gets, and which projects get none.

use super::*;
use crate::file;

const APP: BuiltApp<'_> = BuiltApp {
    platform: Platform::Android,
    profile: None,
    configuration: None,
};

/// The settings of a project with these dependencies and this `launchway.toml`.
fn of(dependencies: &str, text: &str, app: BuiltApp<'_>) -> Result<Option<String>, String> {
    let folder = tempfile::tempdir().unwrap();
    let manifest = format!("{{\"dependencies\": {{{dependencies}}}}}");
    std::fs::write(folder.path().join("package.json"), manifest).unwrap();
    let project = file::parse(text).unwrap();
    let found = settings(&Source::new(folder.path()), &project, app);
    found
        .map(|found| found.map(|settings| settings.to_json()))
        .map_err(|error| error.to_string())
}

const SERVER: &str = "[server]\nurl = 'https://launchway.example.com'\n";
const SDK: &str = "\"@launchway/capacitor\": \"1\"";

#[test]
fn an_app_with_the_sdk_gets_its_settings() {
    let whole = "[app]\nbundle_id = 'com.example.app'\n[app.ios]\nbundle_id = 'com.example.App'\n\
                 [build.production]\nconfiguration = 'production'\n[build.staging]\nconfiguration = 'staging'\n\
                 bundle_id = 'com.example.staging'\n[sdk]\nserver_url = 'https://updates.example.com/'\n\
                 check_on = 'resume'\napply = 'onBackground'\nready_mode = 'manual'\nready_timeout_ms = 30000\n\
                 wifi_only = true\nkeep_slots = 3\nentry_file = 'web/index.html'\n";
    let tail = "\"checkOn\":\"resume\",\"apply\":\"onBackground\",\"readyMode\":\"manual\",\"readyTimeoutMs\":30000,\
                \"wifiOnly\":true,\"keepSlots\":3,\"entryFile\":\"web/index.html\"}\n";
    let rows = [
        (APP, "com.example.app", "production"),
        (
            BuiltApp {
                platform: Platform::Ios,
                ..APP
            },
            "com.example.App",
            "production",
        ),
        (
            BuiltApp {
                profile: Some("staging"),
                ..APP
            },
            "com.example.staging",
            "staging",
        ),
        (
            BuiltApp {
                configuration: Some("nightly"),
                ..APP
            },
            "com.example.app",
            "nightly",
        ),
    ];
    for (app, bundle_id, configuration) in rows {
        let expected = format!(
            "{{\"serverUrl\":\"https://updates.example.com/api\",\"bundleId\":\"{bundle_id}\",\
             \"configuration\":\"{configuration}\",{tail}"
        );
        assert_eq!(of("", whole, app), Ok(Some(expected)), "{app:?}");
    }
}

#[test]
fn only_what_is_set_is_written() {
    let expected = "{\"serverUrl\":\"https://launchway.example.com/api\"}\n";
    assert_eq!(of(SDK, SERVER, APP), Ok(Some(expected.to_owned())));
}

#[test]
fn a_project_without_the_sdk_gets_none() {
    assert_eq!(of("\"@capacitor/core\": \"8\"", "", APP), Ok(None));
    for name in crate::sdk::PACKAGES {
        let found = of(&format!("\"{name}\": \"1\""), SERVER, APP);
        assert!(found.is_ok_and(|found| found.is_some()), "{name}");
    }
    let plain = of("", &format!("{SERVER}[sdk]\n"), APP);
    assert!(plain.is_ok_and(|found| found.is_some()));
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let rows = [
        (
            "",
            "the app contains the SDK, but launchway.toml does not name its server; set url under [server], or \
             server_url under [sdk], such as https://launchway.example.com",
        ),
        (
            "[server]\nurl = 'launchway.example.com'",
            "launchway.toml: url under [server] is `launchway.example.com`, but must start with https:// or http://",
        ),
        (
            "[sdk]\nserver_url = 'https://a@example.com'",
            "launchway.toml: server_url under [sdk] is `https://a@example.com`, but must not contain a user name or \
             password",
        ),
        (
            "[server]\nurl = 'https://a.example'\n[build.production]\nconfiguration = 'a b'",
            "launchway.toml: configuration must be 1 to 64 letters, digits, `.`, `_` and `-`",
        ),
        (
            "[server]\nurl = 'https://a.example'\n[app]\nbundle_id = 'a b'",
            "launchway.toml: bundle_id must be a bundle identifier such as com.example.app, of at most 155 letters, \
             digits, `.`, `_` and `-`",
        ),
        (
            "[server]\nurl = 'https://a.example'\n[build.one]\nconfiguration = 'one'\n[build.two]\nconfiguration = 'two'",
            "launchway.toml has several build profiles: one, two. Choose one of them",
        ),
    ];
    for (text, expected) in rows {
        assert_eq!(of(SDK, text, APP), Err(expected.to_owned()), "{text}");
    }
}

#[test]
fn profiles_that_agree_need_no_name() {
    let text = format!("{SERVER}[build.one]\nconfiguration = 'same'\n[build.two]\nextends = 'one'\nflavor = 'two'\n");
    let found = of(SDK, &text, APP).unwrap().unwrap();
    assert!(found.contains("\"configuration\":\"same\""), "{found}");
}

#[test]
fn every_way_to_write_an_address_has_one_form() {
    let rows = [
        ("https://host.example", Ok("https://host.example/api")),
        (" HTTPS://Host.Example/ ", Ok("https://host.example/api")),
        ("https://host.example/api", Ok("https://host.example/api")),
        ("https://host.example/api/", Ok("https://host.example/api")),
        ("http://127.0.0.1:8787", Ok("http://127.0.0.1:8787/api")),
        ("https://host.example/mobile", Ok("https://host.example/mobile/api")),
        ("https://host.example/mobile/api", Ok("https://host.example/mobile/api")),
        ("https://host.example/myapi", Ok("https://host.example/myapi/api")),
        ("host.example", Err(AddressProblem::Scheme)),
        ("ftp://host.example", Err(AddressProblem::Scheme)),
        ("https://", Err(AddressProblem::Host)),
        ("https:///api", Err(AddressProblem::Host)),
        ("https://a b", Err(AddressProblem::Host)),
        ("https://a\"b", Err(AddressProblem::Host)),
        ("https://user:secret@host.example", Err(AddressProblem::Credentials)),
        ("https://host.example?a=b", Err(AddressProblem::Tail)),
        ("https://host.example/#a", Err(AddressProblem::Tail)),
    ];
    for (text, expected) in rows {
        assert_eq!(api_address(text), expected.map(str::to_owned), "{text}");
    }
}
