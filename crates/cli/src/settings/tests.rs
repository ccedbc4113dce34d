//! The precedence of settings, one row for each case.

use super::*;
use launchway_project::file::Server;

const KEY: &str = "lw_77777777777777777777777777777777777777774E8RLv";

fn url(text: &str) -> BaseUrl {
    text.parse().expect("an address")
}

fn login(address: &str) -> Login {
    Login {
        url: url(address),
        key: ApiKey::parse(KEY).expect("a key"),
        org: None,
    }
}

fn project(server: Server) -> Project {
    Project {
        server,
        ..Project::default()
    }
}

#[test]
fn flags_win_over_environment_over_project_over_login() {
    let flag = Some("https://flag.example");
    let variable = Some("https://variable.example");
    let file = Some("https://file.example");
    let saved = Some("https://saved.example");
    let rows = [
        (
            flag,
            variable,
            file,
            saved,
            Some(("https://flag.example/api", Origin::Flag("--url"))),
        ),
        (
            None,
            variable,
            file,
            saved,
            Some(("https://variable.example/api", Origin::Variable("LAUNCHWAY_URL"))),
        ),
        (
            None,
            Some(""),
            file,
            saved,
            Some(("https://file.example/api", Origin::Project)),
        ),
        (
            None,
            None,
            file,
            saved,
            Some(("https://file.example/api", Origin::Project)),
        ),
        (
            None,
            None,
            None,
            saved,
            Some(("https://saved.example/api", Origin::Login)),
        ),
        (None, None, None, None, None),
    ];
    for (flag, variable, file, saved, expected) in rows {
        let global = Global {
            url: flag.map(url),
            ..Global::default()
        };
        let environment = Environment::from([("LAUNCHWAY_URL", variable.unwrap_or_default())]);
        let server = Server {
            url: file.map(str::to_owned),
            ..Server::default()
        };
        let settings = decide(&global, &environment, project(server), saved.map(login)).expect("good settings");
        let found = settings.url.map(|found| (found.value.to_string(), found.source));
        assert_eq!(found, expected.map(|(text, source)| (text.to_owned(), source)));
    }
}

#[test]
fn the_organization_is_the_nearest_one_named() {
    let rows = [
        (Some("org_flag"), "org_variable", Some("org_file"), Some("org_flag")),
        (Some(""), "org_variable", Some("org_file"), Some("org_variable")),
        (None, "org_variable", Some("org_file"), Some("org_variable")),
        (None, "", Some("org_file"), Some("org_file")),
        (None, "", None, None),
    ];
    for (flag, variable, file, expected) in rows {
        let global = Global {
            org: flag.map(str::to_owned),
            ..Global::default()
        };
        let environment = Environment::from([("LAUNCHWAY_ORG", variable)]);
        let server = Server {
            org: file.map(str::to_owned),
            ..Server::default()
        };
        let settings = decide(&global, &environment, project(server), None).expect("good settings");
        assert_eq!(settings.org.map(|org| org.value).as_deref(), expected);
    }
}

#[test]
fn the_chosen_organization_counts_only_with_the_saved_key() {
    let chosen = || Login {
        org: Some("org_chosen".to_owned()),
        ..login("https://saved.example")
    };
    let rows = [("", Some("org_chosen")), (KEY, None)];
    for (variable, expected) in rows {
        let environment = Environment::from([("LAUNCHWAY_API_KEY", variable)]);
        let settings = decide(&Global::default(), &environment, Project::default(), Some(chosen()));
        let org = settings.expect("good settings").org;
        assert_eq!(org.map(|org| org.value).as_deref(), expected);
    }
}

#[test]
fn the_saved_key_goes_only_to_the_server_it_was_saved_for() {
    let saved = "https://saved.example";
    let decide_for = |address: &str| {
        let global = Global {
            url: Some(url(address)),
            ..Global::default()
        };
        decide(&global, &Environment::default(), Project::default(), Some(login(saved)))
            .expect("good settings")
            .key
    };
    assert!(matches!(
        decide_for("https://saved.example/api/"),
        Key::Known {
            source: Origin::Login,
            ..
        }
    ));
    for other in [
        "https://other.example",
        "http://saved.example",
        "https://saved.example:8443",
        "https://saved.example/x",
    ] {
        assert_eq!(decide_for(other), Key::ForAnotherServer(url(saved)), "{other}");
    }
}

#[test]
fn a_key_in_the_environment_wins_even_when_it_is_none() {
    let with_key = |key: &str| {
        let environment = Environment::from([("LAUNCHWAY_API_KEY", key)]);
        let key = decide(
            &Global::default(),
            &environment,
            Project::default(),
            Some(login("https://saved.example")),
        );
        key.map(|settings| settings.key)
    };
    let spaced = with_key(&format!(" {KEY}\n")).expect("a key");
    assert!(matches!(
        spaced,
        Key::Known {
            source: Origin::Variable(_),
            ..
        }
    ));
    assert!(matches!(
        with_key("").expect("absent"),
        Key::Known {
            source: Origin::Login,
            ..
        }
    ));
    assert_eq!(
        with_key("lw_mistyped").expect("good settings"),
        Key::Unusable(Origin::Variable("LAUNCHWAY_API_KEY"))
    );
}

#[test]
fn a_key_of_the_environment_goes_only_to_the_users_address() {
    let good = "https://good.example";
    let decide_with = |in_file: &str, flag: Option<&str>, variable: &str, saved: Option<&str>| {
        let global = Global {
            url: flag.map(url),
            ..Global::default()
        };
        let environment = Environment::from([("LAUNCHWAY_API_KEY", KEY), ("LAUNCHWAY_URL", variable)]);
        let server = Server {
            url: Some(in_file.to_owned()),
            ..Server::default()
        };
        decide(&global, &environment, project(server), saved.map(login)).map(|settings| settings.key)
    };
    let refused = Key::AddressOfProject(Origin::Variable("LAUNCHWAY_API_KEY"));
    for other in [
        "https://evil.example",
        "http://good.example",
        "https://good.example:8443",
        "https://good.example.evil.example",
        "https://good.example/elsewhere",
    ] {
        assert_eq!(
            decide_with(other, None, "", None).expect("good settings"),
            refused,
            "{other}"
        );
        assert_eq!(
            decide_with(other, None, "", Some(good)).expect("good settings"),
            refused,
            "{other}"
        );
        let named = [
            decide_with(other, Some(good), "", None),
            decide_with(other, None, good, None),
        ];
        for key in named {
            assert!(matches!(key.expect("good settings"), Key::Known { .. }), "{other}");
        }
    }
    let same = decide_with("https://good.example/api/", None, "", Some(good));
    assert!(
        matches!(same.expect("good settings"), Key::Known { .. }),
        "the user has logged in there"
    );
    for tricky in [
        "https://good.example@evil.example",
        "https://good.example:443@evil.example",
        "//evil.example",
    ] {
        let failure = decide_with(tricky, None, "", None).expect_err(tricky);
        assert_eq!(failure.exit, Exit::Usage, "{tricky}");
    }
}

#[test]
fn dev_has_an_address_of_its_own() {
    let server = Server {
        url: Some("https://production.example".to_owned()),
        dev_url: Some("https://development.example".to_owned()),
        ..Server::default()
    };
    let decide_with = |server: Server| {
        let global = Global {
            dev: true,
            ..Global::default()
        };
        decide(&global, &Environment::default(), project(server), None).expect("good settings")
    };
    let settings = decide_with(server.clone());
    assert_eq!(settings.service, Service::Development);
    assert_eq!(
        settings.url.map(|url| url.value),
        Some(url("https://development.example"))
    );
    let settings = decide_with(Server {
        dev_url: None,
        ..server
    });
    assert_eq!(settings.url, None, "production must not be meant by --dev");
}

#[test]
fn an_address_that_is_none_is_named_with_its_place() {
    let environment = Environment::from([("LAUNCHWAY_URL", "launchway.example")]);
    let failure = decide(&Global::default(), &environment, Project::default(), None).expect_err("no address");
    assert_eq!(failure.exit, Exit::Usage);
    assert_eq!(
        failure.message,
        "the address in LAUNCHWAY_URL: must start with https:// or http://"
    );
}
