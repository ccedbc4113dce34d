//! The plain pages (sign-in, set-up, links) work with forms alone, without scripts.

mod dress;
mod go;
mod reference;

use launchway_domain::tenancy::{Role, Tier};
use launchway_ops::accounts;
use reqwest::Method;
use serde_json::json;

use crate::support::{Answer, Fields, PASSWORD, Says, TestApp};

const EMAIL: &str = "ada@example.com";
const TYPED_PASSWORD: &str = "typed and never shown";

/// Encodes fields as a browser encodes a form.
pub fn encoded(fields: &[(&str, &str)]) -> String {
    let escape = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02X}")).collect() };
    let pairs = fields.iter().map(|(name, value)| format!("{name}={}", escape(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// Sends a form like the server's own page. An empty cookie means none.
pub async fn submit(app: &TestApp, path: &str, cookie: &str, fields: &[(&str, &str)]) -> Answer {
    let request = app
        .request(Method::POST, &format!("{}{path}", app.origin))
        .header("content-type", "application/x-www-form-urlencoded")
        .header("origin", &app.origin)
        .header("cookie", cookie)
        .body(encoded(fields));
    Answer::to(request).await
}

pub async fn page(app: &TestApp, path: &str, cookie: &str) -> Answer {
    app.get(cookie, &format!("{}{path}", app.origin)).await
}

/// The first page of a signed-in user's dashboard.
async fn home(app: &TestApp, cookie: &str) -> String {
    let answer = page(app, "/", cookie).await;
    answer.is(303);
    answer.header("location").to_owned()
}

/// The cookie of a response that signs in and redirects to the first page.
pub fn signed_in(answer: &Answer) -> String {
    answer.is(303);
    assert_eq!(answer.header("location"), "/");
    answer.cookie()
}

fn is_problem(answer: &Answer, status: u16, message: &str) {
    answer.is(status);
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(answer.header("set-cookie"), "");
    let alert = format!(r#"role="alert">{message}</p>"#);
    answer.says(&alert);
}

async fn invite(app: &TestApp, email: &str) -> String {
    let (_, key) = app.org_with_key().await;
    let made = app.post(&key, "/orgs/invitations", json!({"email": email})).await.created();
    let link = made.text("link");
    link.split_once("token=").unwrap().1.to_owned()
}

#[tokio::test]
async fn a_new_server_is_set_up_by_its_link() {
    let app = TestApp::start().await;
    page(&app, "/", "").await.says("Open the setup link");
    let token = accounts::offer_setup(&app.app).await.unwrap().unwrap();
    let link = format!("/setup?token={token}");
    let form = page(&app, &link, "").await;
    form.is(200);
    form.says(&format!(r#"<input type="hidden" name="token" value="{token}">"#));
    let fields =
        [("token", token.as_str()), ("organization", "Example & Co"), ("email", EMAIL), ("password", PASSWORD)];
    let cookie = signed_in(&submit(&app, "/setup", "", &fields).await);
    let home = page(&app, &home(&app, &cookie).await, &cookie).await.text();
    home.says("Example &#38; Co");
    home.says("ada@example.com, owner");
    home.says("First steps");
    let used = page(&app, &link, "").await;
    used.says("This link was already used");
    used.lacks("<form");
    let again = submit(&app, "/setup", "", &fields).await;
    is_problem(&again, 401, "This link was already used or has expired. Ask for a new one.");
    // The first page now requires a sign-in.
    page(&app, "/", "").await.says("Sign in");
}

#[tokio::test]
async fn a_browser_signs_in_and_out() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Free).await;
    app.user(org, EMAIL, Role::Member).await;
    let wrong = submit(&app, "/", "", &[("email", EMAIL), ("password", TYPED_PASSWORD)]).await;
    is_problem(&wrong, 401, "The address or the password is wrong");
    let cookie = signed_in(&submit(&app, "/", "", &[("email", EMAIL), ("password", PASSWORD)]).await);
    let home = page(&app, &home(&app, &cookie).await, &cookie).await.text();
    home.says("ada@example.com, member");
    home.says("An admin of the organization can create one for you.");
    let out = submit(&app, "/", &cookie, &[("token", "sign-out")]).await;
    assert_eq!((out.status.as_u16(), out.header("location")), (303, "/"));
    assert!(out.header("set-cookie").starts_with("launchway=; "), "{}", out.header("set-cookie"));
    page(&app, "/", &cookie).await.says("Sign in");
}

#[tokio::test]
async fn the_environment_is_shown() {
    let app = TestApp::with(settings!(environment = "development")).await;
    let org = app.org(Tier::Free).await;
    let cookie = app.user(org, EMAIL, Role::Owner).await;
    let home = page(&app, &home(&app, &cookie).await, &cookie).await.text();
    home.says(r#"<span class="tag">development</span>"#);
    let view = app.get(&cookie, "/auth/session").await.ok();
    assert_eq!(view["environment"], "development");
}

#[tokio::test]
async fn an_invitation_is_taken_by_its_link() {
    let app = TestApp::start().await;
    let token = invite(&app, "bob@example.com").await;
    let link = format!("/invite?token={token}");
    let text = page(&app, &link, "").await.text();
    text.says("Test invites bob@example.com as member");
    // A password manager offers a new password, and keeps it under the address.
    text.says(r#"type="password" autocomplete="new-password""#);
    text.says(r#"name="username" value="bob@example.com" autocomplete="username""#);
    text.lacks("current-password");
    let short = submit(&app, "/invite", "", &[("token", &token), ("password", "elevenchars")]).await;
    is_problem(&short, 400, "password must have at least 12 characters");
    short.lacks("elevenchars");
    let cookie = signed_in(&submit(&app, "/invite", "", &[("token", &token), ("password", PASSWORD)]).await);
    let home = page(&app, &home(&app, &cookie).await, &cookie).await.text();
    home.says("bob@example.com, member");
    for dead in [link.as_str(), "/invite?token=nonsense", "/invite"] {
        let answer = page(&app, dead, "").await;
        is_problem(&answer, 401, "This link was already used or has expired. Ask for a new one.");
        assert!(!answer.text().contains("<form"), "{dead}");
    }
}

#[tokio::test]
async fn a_password_is_set_by_its_link() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Free).await;
    let session = app.user(org, EMAIL, Role::Owner).await;
    let token = accounts::offer_reset(&app.app, EMAIL).await.unwrap();
    let text = page(&app, &format!("/reset?token={token}"), "").await.text();
    text.says(&token);
    text.says("Set password");
    let fields = [("token", token.as_str()), ("password", "another good password")];
    let done = submit(&app, "/reset", "", &fields).await;
    assert_eq!((done.status.as_u16(), done.header("location")), (303, "/"));
    assert_eq!(done.header("set-cookie"), "", "who holds a link signs in with the password");
    page(&app, "/", &session).await.says("Sign in");
    signed_in(&submit(&app, "/", "", &[("email", EMAIL), ("password", "another good password")]).await);
    let again = submit(&app, "/reset", "", &fields).await;
    is_problem(&again, 401, "This link was already used or has expired. Ask for a new one.");
}

/// The page shows the input again with the problem, but never a password.
#[tokio::test]
async fn a_refused_form_keeps_what_was_typed() {
    let app = TestApp::start().await;
    let token = accounts::offer_setup(&app.app).await.unwrap().unwrap();
    let fields =
        [("token", token.as_str()), ("organization", "Typed Apps"), ("email", "typed"), ("password", TYPED_PASSWORD)];
    let set_up = submit(&app, "/setup", "", &fields).await;
    is_problem(&set_up, 400, "email must be an address such as ada@example.com");
    let invitation = invite(&app, "bob@example.com").await;
    let org = app.org(Tier::Free).await;
    app.user(org, EMAIL, Role::Admin).await;
    let reset = accounts::offer_reset(&app.app, EMAIL).await.unwrap();
    for (answer, kept) in [
        (set_up, vec![token.as_str(), "Typed Apps", "typed"]),
        (submit(&app, "/", "", &[("email", "Typed@x"), ("password", TYPED_PASSWORD)]).await, vec!["Typed@x"]),
        (
            submit(&app, "/invite", "", &[("token", &invitation), ("password", "typed")]).await,
            vec![invitation.as_str()],
        ),
        (submit(&app, "/reset", "", &[("token", &reset), ("password", "typed")]).await, vec![reset.as_str()]),
    ] {
        let text = answer.text();
        assert!(answer.status.is_client_error() && text.contains(r#"role="alert""#), "{text}");
        for value in kept {
            assert!(text.contains(&format!(r#"value="{value}""#)), "{value} in {text}");
        }
        text.lacks(TYPED_PASSWORD);
        let empty = r#"type="password" autocomplete="#;
        let shown = text.split(empty).skip(1).all(|rest| rest.split_once("value=").unwrap().1.starts_with(r#""""#));
        assert!(shown, "a password field comes back empty: {text}");
    }
}

#[tokio::test]
async fn a_form_of_another_site_does_nothing() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Free).await;
    let cookie = app.user(org, EMAIL, Role::Owner).await;
    let invitation = invite(&app, "eve@example.com").await;
    let reset = accounts::offer_reset(&app.app, EMAIL).await.unwrap();
    for (path, fields) in [
        ("/", vec![("email", EMAIL), ("password", PASSWORD)]),
        ("/", vec![("token", "sign-out")]),
        ("/invite", vec![("token", invitation.as_str()), ("password", PASSWORD)]),
        ("/reset", vec![("token", reset.as_str()), ("password", TYPED_PASSWORD)]),
    ] {
        for (name, value) in [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")]
        {
            let request = app
                .request(Method::POST, &format!("{}{path}", app.origin))
                .header(name, value)
                .header("cookie", &cookie)
                .body(encoded(&fields));
            let answer = Answer::to(request).await;
            is_problem(&answer, 403, "This form was sent from another site");
        }
    }
    // A request without headers about its site does not come from a browser: it may sign in, but not use a cookie.
    let silent = async |fields: &[(&str, &str)]| {
        let request = app.request(Method::POST, &format!("{}/", app.origin)).header("cookie", &cookie);
        Answer::to(request.body(encoded(fields))).await
    };
    is_problem(&silent(&[("token", "sign-out")]).await, 403, "This form was sent from another site");
    assert_eq!(page(&app, "/", &cookie).await.status.as_u16(), 303, "the session lives");
    signed_in(&silent(&[("email", EMAIL), ("password", PASSWORD)]).await);
}

#[tokio::test]
async fn a_form_has_bounds() {
    let app = TestApp::start().await;
    app.org_with_key().await;
    let send = async |body: Vec<u8>| {
        let request = app.request(Method::POST, &format!("{}/", app.origin)).header("origin", &app.origin);
        Answer::to(request.body(body)).await
    };
    send(vec![b'x'; (16 << 10) + 1]).await.refused(413, "The form is too large");
    send(b"email=\xff".to_vec()).await.refused(400, "The form is not valid UTF-8");
    send(b"email=a&email=b".to_vec()).await.refused(400, "email is given twice");
    send(b"email=%ff".to_vec()).await.refused(400, "email is not valid UTF-8");
}
