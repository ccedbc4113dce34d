//! The page of two-factor codes: password and first code add an app; password and code remove it.

use super::{Visit, visit};

use launchway_domain::tenancy::Role;
use launchway_domain::time::{MINUTE, SECOND};
use launchway_domain::totp::Secret;
use launchway_ops::two_factor;
use launchway_os::clock::Clock;

use crate::support::{PASSWORD, Says, TestApp};

const PAGE: &str = "/profile/two-factor";
const PRESENT: (&str, &str) = ("present", PASSWORD);

/// The secret that the page showed for the app.
async fn waiting(visit: &Visit<'_>) -> Secret {
    let user = visit.caller().await.parse().unwrap();
    two_factor::pending_secret(&visit.app.app, user).await.unwrap().unwrap()
}

fn shown(app: &TestApp, secret: &Secret) -> String {
    secret.display_code(app.clock.now()).to_string()
}

/// The recovery codes that a page shows.
fn recovery_codes(html: &str) -> Vec<String> {
    let list = html.split_once(r#"<code id="recovery">"#).unwrap().1.split_once("</code>").unwrap().0;
    list.split_whitespace().map(str::to_owned).collect()
}

#[tokio::test]
async fn an_app_is_added_by_its_first_code() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Member).await;
    assert!(visit.html("/profile").await.contains("Codes are off"));
    // Someone at an unlocked browser cannot lock the user out.
    for password in ["", "not the password"] {
        let refused = visit.send(PAGE, &[("present", password)]).await;
        refused.is(400);
        refused.says("current password is wrong");
    }
    let user = visit.caller().await.parse().unwrap();
    assert!(two_factor::pending_secret(&app.app, user).await.unwrap().is_none());
    let html = visit.send(PAGE, &[PRESENT]).await.text();
    let first = waiting(&visit).await;
    assert!(html.contains(first.text().as_str()) && html.contains(r#"class="qr""#), "{html}");
    // A new secret replaces it; reloading the page shows the same one.
    visit.send(PAGE, &[PRESENT]).await;
    let secret = waiting(&visit).await;
    assert_ne!(first.text(), secret.text());
    assert!(visit.html(PAGE).await.contains(secret.text().as_str()));
    for (code, message) in [
        ("", "code must be the six digits that the app shows"),
        ("12345", "code must be the six digits that the app shows"),
        (shown(&app, &first).as_str(), "code is wrong: enter the code that the app shows now"),
    ] {
        let refused = visit.send("/profile/two-factor/confirm", &[("code", code)]).await;
        refused.is(400);
        refused.says(message);
    }
    let code = shown(&app, &secret);
    let done = visit.send("/profile/two-factor/confirm", &[("code", code.as_str())]).await;
    done.is(200);
    assert_eq!(recovery_codes(&done.text()).len(), 10);
    let html = visit.html(PAGE).await;
    assert!(!html.contains(r#"id="recovery""#), "once");
    assert!(!html.contains(secret.text().as_str()), "nor is the secret shown again");
    html.says("You have 10 recovery codes left");
    let again = visit.send(PAGE, &[PRESENT]).await;
    assert_eq!(again.status.as_u16(), 400, "they are on already");
}

/// A setup left unfinished in an unlocked browser is of no use to a later visitor.
#[tokio::test]
async fn a_secret_waits_ten_minutes_for_its_first_code() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Member).await;
    visit.send(PAGE, &[PRESENT]).await;
    let secret = waiting(&visit).await;
    app.advance(10 * MINUTE - SECOND);
    assert!(visit.html(PAGE).await.contains(secret.text().as_str()));
    app.advance(SECOND);
    assert!(!visit.html(PAGE).await.contains(secret.text().as_str()));
    let code = shown(&app, &secret);
    let refused = visit.send("/profile/two-factor/confirm", &[("code", &code)]).await;
    refused.is(400);
    refused.says("Start again");
}

#[tokio::test]
async fn codes_are_turned_off_by_password_and_code() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Member).await;
    visit.send(PAGE, &[PRESENT]).await;
    let secret = waiting(&visit).await;
    let code = shown(&app, &secret);
    let html = visit.send("/profile/two-factor/confirm", &[("code", code.as_str())]).await.text();
    let recovery = recovery_codes(&html);
    app.advance(30 * SECOND);
    for (password, code, message) in [
        ("not the password", recovery[0].as_str(), "current password is wrong"),
        (PASSWORD, "", "code is required"),
        (PASSWORD, code.as_str(), "code is wrong or already used"),
    ] {
        let fields = [("present", password), ("code", code)];
        let refused = visit.send("/profile/two-factor/remove", &fields).await;
        refused.is(400);
        refused.says(message);
        assert!(!refused.text().contains(&recovery[0]), "nothing typed is shown");
    }
    let fields = [("present", PASSWORD), ("code", recovery[0].as_str())];
    let location = visit.done("/profile/two-factor/remove", &fields).await;
    assert_eq!(location, "/profile?done=two-factor-removed");
    assert!(visit.html("/profile").await.contains("Codes are off"));
    let actions: Vec<_> = app.audit(visit.org).await.into_iter().map(|row| row.action).collect();
    assert!(actions.contains(&"user.remove_two_factor".to_owned()), "{actions:?}");
}
