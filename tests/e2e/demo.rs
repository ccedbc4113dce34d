//! The commands that `serve --demo` prints work when pasted as they are (`docs/reference/operation.md#demo`).

use serde_json::{Value, json};

use crate::api::Api;
use crate::cli::Cli;
use crate::deployment::{Deployment, Ground, Turn};
use crate::first_run::printed;
use crate::packages::{files_below, unpack};
use crate::projects::root;

#[tokio::test(flavor = "multi_thread")]
async fn what_the_demo_prints_works_when_pasted() {
    let turn = Turn::beside_others().await;
    let mut deployment = Deployment::with(Ground::SqliteDirectory, turn, |builder| {
        builder.arg("serve").arg("--demo").env("LAUNCHWAY_NO_RUNNER", "false")
    });
    let text = printed(deployment.node(), "/docs.").await;
    let lines = |start: &str| {
        text.lines()
            .map(str::trim)
            .filter(|line| line.starts_with(start))
            .collect::<Vec<_>>()
    };
    let (curl, cli) = (lines("curl "), [lines("echo "), lines("launchway ")].concat());
    assert_eq!((curl.len(), cli.len()), (1, 4), "{text}");
    let url = curl[0]
        .strip_prefix("curl '")
        .and_then(|rest| rest.strip_suffix('\''))
        .expect("a URL in quotes");
    let (person, phone) = (Cli::new(), Api::new(deployment.node(), ""));
    let ask = async || phone.get(url).await.ok();
    let sample = files_below(&root().join("examples/sample-app"));

    let first = ask().await;
    assert_eq!(
        (&first["version"], &first["buildNumber"]),
        (&json!("1.0.0"), &json!("2")),
        "{first}"
    );
    for (name, bytes) in unpack(&phone.download(&first).await) {
        assert!(sample[&name] == bytes, "{name} is not the one of the sample app");
    }
    // On a machine without curl, the rest of the test is enough.
    let pasted = person.paste(&format!("{} --silent", curl[0]));
    if pasted.code != 127 {
        assert_eq!(pasted.json()["version"], first["version"]);
    }

    let mut last = None;
    for line in cli {
        let pasted = person.paste(line);
        assert_eq!(pasted.code, 0, "{line}: {pasted:?}");
        last = Some(pasted);
    }
    let build = last.expect("the build is shown last").stdout;
    assert!(
        build.contains("success") && build.contains("sample-app.tar.gz"),
        "{build}"
    );
    let second = ask().await;
    assert_eq!(second["version"], "1.0.1", "{second}");
    assert!(
        unpack(&phone.download(&second).await) == sample,
        "another app than the sample was published"
    );
    can_be_opened(&text, &phone).await;

    // It does not change a database in use.
    assert_eq!(deployment.nodes[0].terminate().code(), Some(0));
    deployment.nodes[0].restart_same_port();
    let text = printed(deployment.node(), "demo").await;
    assert!(!text.contains("lw_"), "{text}");
    assert_eq!(ask().await["version"], "1.0.1");
}

/// The printed account can sign in, and the printed address shows the document.
async fn can_be_opened(text: &str, phone: &Api) {
    let last = text.lines().last().unwrap();
    let after = |word: &str| {
        let mut words = last.split_whitespace().skip_while(|before| *before != word);
        words.nth(1).unwrap().trim_end_matches('.').to_owned()
    };
    let account = json!({"email": after("as"), "password": after("password")});
    let caller = phone.post("/auth/sign-in", account).await.ok();
    assert_eq!(caller["organizations"].as_array().map(Vec::len), Some(1));
    assert_ne!(caller["user"]["email"], Value::Null);
    let docs = phone.get(&after("at")).await;
    assert_eq!(docs.header("content-type"), "text/html; charset=utf-8");
}
