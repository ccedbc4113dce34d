//! The SDK's packages for apps: their own tests, and the package for Capacitor in a real browser against a real server.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use launchway_testing::kill_guard::KillGuard;
use launchway_testing::says::Says;
use serde_json::json;

use crate::browser::Browser;
use crate::deployment::{Deployment, Ground};
use crate::packages::package;
use crate::projects::root;

const BUNDLE: &str = "com.example.browser";

#[test]
fn the_packages_for_apps_pass_their_tests() {
    passes("sdk/ts/test");
}

#[test]
#[ignore = "long run"]
fn the_packages_for_apps_pass_their_long_tests() {
    passes("sdk/ts/test-long");
}

fn passes(script: &str) {
    let output = Command::new(root().join(script)).output().unwrap();
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{script}:\n{stdout}\n{stderr}");
}

/// A page that uses the package, and the process that serves it until its standard input ends.
struct Page {
    child: Child,
    address: String,
    _kill_guard: KillGuard,
}

impl Page {
    fn serve() -> Page {
        let mut command = Command::new(root().join("sdk/ts/capacitor/browser/serve"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        lines.read_line(&mut address).unwrap();
        address.as_str().says("http://127.0.0.1:");
        Page {
            _kill_guard: KillGuard::on(&child),
            child,
            address: address.trim_end().to_owned(),
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn a_page_in_a_browser_can_check_and_not_install() {
    let page = Page::serve();
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let fields = json!({"bundleId": BUNDLE, "platform": "android", "version": "1.2.0", "configuration": "production"});
    let content = package("index.html", b"<p>1.2.0</p>");
    let update = deployment.api().publish(&content, fields).await;

    let mut browser = Browser::start();
    let (address, server) = (&page.address, deployment.node().origin());
    browser.open(&format!(
        "{address}/?serverUrl={server}/api&bundleId={BUNDLE}&configuration=production"
    ));
    browser.until_shown("\nend");
    let text = browser.text();
    let found = json!({
        "id": update["id"], "version": "1.2.0", "buildNumber": update["buildNumber"],
        "sha256": update["sha256"], "size": update["size"],
    });
    let check = text.lines().find_map(|line| line.strip_prefix("check ")).unwrap();
    let check: serde_json::Value = serde_json::from_str(check).unwrap();
    assert_eq!(check, json!({"status": "available", "update": found}), "{text}");
    text.as_str().says("check-before LaunchwayError notConfigured: ");
    text.as_str().says("event updateAvailable 1.2.0");
    for method in ["sync", "download", "reload"] {
        text.as_str().says(&format!(
            "{method} LaunchwayError unavailable: {method} works in the app on a phone"
        ));
    }
    text.as_str().says("list []");
    text.as_str().says("device kept");
}
