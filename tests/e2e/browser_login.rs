//! `launchway login --browser` with a real browser: the code is compared and confirmed, denied, or expires.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;

use serde_json::json;

use crate::browser::Browser;
use crate::cli::Cli;
use crate::deployment::{Deployment, Ground};

const EMAIL: &str = "ada@example.com";
const PASSWORD: &str = "correct horse battery";

/// A command line that waits for the confirmation of its code.
struct Waiting {
    child: Child,
    said: BufReader<std::process::ChildStderr>,
    url: String,
    code: String,
}

impl Waiting {
    fn start(cli: &Cli, origin: &str) -> Waiting {
        let mut child = cli.start(["login", "--browser", "--url", origin]);
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = || {
            let mut line = String::new();
            said.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        let (first, second) = (line(), line());
        let url = first.strip_prefix("Open ").unwrap_or_else(|| panic!("{first}"));
        let code = second.strip_prefix("and confirm the code ");
        Waiting {
            url: url.to_owned(),
            code: code.unwrap_or_else(|| panic!("{second}")).to_owned(),
            child,
            said,
        }
    }

    /// Waits for its end; returns the exit code and its other output.
    fn end(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.said.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_is_confirmed_refused_or_too_late() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let (origin, org) = (deployment.node().origin(), deployment.team().id);
    let user = ["create-user", "--email", EMAIL, "--org", &org, "--role", "owner"];
    let _ = deployment.node().admin_with_input(&user, PASSWORD);
    let (cli, mut browser) = (Cli::new(), Browser::start());

    // A user who is not signed in yet follows the link.
    let waiting = Waiting::start(&cli, &origin);
    browser.open(&waiting.url);
    shoot(&mut browser, "device-sign-in");
    browser.fill("E-mail address", EMAIL);
    browser.fill("Password", "not the password");
    browser.click("Sign in");
    browser.until_shown("The address or the password is wrong");
    browser.fill("Password", PASSWORD);
    browser.click("Sign in");
    let asked = browser.until_shown("Confirm only a request that you started yourself");
    for shown in [waiting.code.as_str(), EMAIL, "launchway on ", "build, submit, update"] {
        assert!(asked.contains(shown), "{shown}: {asked}");
    }
    shoot(&mut browser, "device-confirm");
    browser.click("Confirm");
    browser.until_shown("Confirmed.");
    shoot(&mut browser, "device-confirmed");
    let (code, said) = waiting.end();
    assert_eq!(code, Some(0), "{said}");
    let caller = cli.run(["whoami", "--json"]).json();
    assert_eq!(
        (&caller["organization"]["id"], &caller["key"]["scopes"]),
        (&json!(org), &json!(["build", "submit", "update"]))
    );
    assert!(caller["key"]["expiresAt"].is_string(), "{caller}");
    cli.run(["update", "list", "--json"]).json();

    // A signed-in user types the code manually and denies it.
    let other = Cli::new();
    let waiting = Waiting::start(&other, &origin);
    browser.open(&format!("{origin}/device"));
    shoot(&mut browser, "device-code");
    browser.fill("Code", "xxxxxxxx");
    browser.click("Continue");
    browser.until_shown("This code is unknown");
    browser.fill("Code", &waiting.code.replace('-', " ").to_lowercase());
    browser.click("Continue");
    assert!(
        browser
            .until_shown("Confirm only a request that you started")
            .contains(&waiting.code)
    );
    browser.click("Refuse");
    browser.until_shown("The command line gets no key.");
    let (code, said) = waiting.end();
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("the sign-in was refused in the browser"), "{said}");

    // A code that expires while the page is open.
    let waiting = Waiting::start(&other, &origin);
    browser.open(&waiting.url);
    browser.until_shown("Confirm only a request that you started");
    deployment.sql("UPDATE device_logins SET expires_at = created_at").await;
    browser.click("Confirm");
    browser.until_shown("older than 10 minutes");
    shoot(&mut browser, "device-too-late");
    let (code, said) = waiting.end();
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("the code was not confirmed in time"), "{said}");
    assert_eq!(other.run(["whoami"]).code, 4, "nothing was kept");
}

/// Screenshots on a phone and on a desktop, and in dark mode; nothing on the page is wider than the page.
fn shoot(browser: &mut Browser, name: &str) {
    for (kind, width, height) in [("phone", 360, 740), ("desktop", 1280, 800)] {
        browser.resize(width, height, kind == "phone");
        let wide = browser.eval("document.documentElement.scrollWidth");
        assert_eq!(wide, json!(width), "{name} on a {kind}");
        browser.screenshot(&format!("{name}-{kind}"));
    }
    browser.prefer("dark");
    browser.screenshot(&format!("{name}-dark"));
    browser.prefer("light");
}
