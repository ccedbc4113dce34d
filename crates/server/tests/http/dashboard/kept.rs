//! Forms that arrive after their session has ended: the input waits for its user, and is never submitted automatically.

use launchway_domain::org::SESSION_LIFE;
use launchway_domain::tenancy::Role;
use launchway_domain::time::HOUR;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Visit, hidden, visit, visit_of};
use crate::pages::{encoded, page, submit};
use crate::support::{Answer, Fields, PASSWORD, Says, TestApp, noise, package};

const VARIABLE: [(&str, &str); 4] = [
    ("name", "API_URL"),
    ("value", "https://typed.example/<b>"),
    ("visibility", "plain"),
    ("configurations", "typed, too"),
];

fn email(visit: &Visit<'_>, role: Role) -> String {
    format!("{role}@{}.example", visit.org)
}

/// Ends the session whose cookie the browser still has.
async fn sign_out(visit: &Visit<'_>) {
    submit(visit.app, "/", &visit.cookie, &[("token", "sign-out")]).await.is(303);
}

fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        plain.push(u8::from_str_radix(&part[..2], 16).unwrap() as char);
        plain.push_str(&part[2..]);
    }
    plain
}

/// The redirect of a form that was sent too late: the page after the sign-in.
fn next_of(answer: &Answer) -> String {
    answer.is(303);
    decoded(answer.header("location").strip_prefix("/?next=").unwrap())
}

/// Signs in with the form of the sign-in page on the way to a page; returns the new cookie.
async fn sign_in(app: &TestApp, email: &str, next: &str) -> String {
    let form = page(app, &format!("/?{}", encoded(&[("next", next)])), "").await.text();
    form.says(&format!(r#"name="next" value="{next}""#));
    assert_eq!(form.contains("are kept for an hour"), next.contains("kept="), "{form}");
    let fields = [("email", email), ("password", PASSWORD), ("next", next)];
    let done = submit(app, "/", "", &fields).await;
    assert_eq!((done.status.as_u16(), done.header("location")), (303, next), "{}", done.text());
    done.cookie()
}

async fn variables(app: &TestApp, cookie: &str) -> serde_json::Value {
    app.get(cookie, "/env").await.ok()["total"].clone()
}

#[tokio::test]
async fn what_was_typed_is_there_after_the_next_sign_in() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Admin).await;
    sign_out(&visit).await;
    let next = next_of(&visit.send("/env", &VARIABLE).await);
    let cookie = sign_in(&app, &email(&visit, Role::Admin), &next).await;
    for _ in 0..2 {
        let shown = page(&app, &next, &cookie).await.text();
        for part in [
            // Nothing indicates that anything was done.
            r#"<p class="warning" role="status">"#,
            "Nothing was sent yet",
            r#"value="API_URL""#,
            "https://typed.example/&#60;b&#62;</textarea>",
            r#"value="typed, too""#,
        ] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        assert_eq!(variables(&app, &cookie).await, 0, "it is shown, never sent");
    }
    // The form that is shown again works.
    let shown = page(&app, &next, &cookie).await.text();
    let token = hidden(&shown).into_iter().find(|(name, _)| name == "token").unwrap().1;
    let again = Visit { app: &app, org: visit.org, cookie, token };
    again.done("/env", &VARIABLE[..3]).await;
    assert_eq!(variables(&app, &again.cookie).await, 1);
}

/// Nobody else gets the input, whether signed in, in another organization, or later.
#[tokio::test]
async fn what_was_typed_is_for_its_user_alone_and_for_an_hour() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Admin).await;
    let colleague = visit_of(&app, visit.org, Role::Owner).await;
    let stranger = super::visit(&app, Role::Owner).await;
    sign_out(&visit).await;
    let next = next_of(&visit.send("/env", &VARIABLE).await);
    let of_colleague = page(&app, &next, &colleague.cookie).await.text();
    of_colleague.says("belongs to another user");
    let of_stranger = page(&app, &next, &stranger.cookie).await;
    of_stranger.is(404);
    let elsewhere = next.replace(&visit.org.to_string(), &stranger.org.to_string());
    let texts = [of_colleague, of_stranger.text(), page(&app, &elsewhere, &stranger.cookie).await.text()];
    for text in texts {
        text.lacks("typed.example");
        text.lacks("API_URL");
    }
    app.advance(HOUR);
    let cookie = sign_in(&app, &email(&visit, Role::Admin), &next).await;
    let late = page(&app, &next, &cookie).await.text();
    late.says("is no longer available");
    late.lacks("typed.example");
}

#[tokio::test]
async fn secrets_and_files_are_not_kept() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Admin).await;
    sign_out(&visit).await;
    let fields = [("name", "TOKEN"), ("value", "hunter2"), ("visibility", "secret"), ("password", "hunter2")];
    let next = next_of(&visit.send("/env", &fields).await);
    // More than a form may use in memory.
    let zip = package("photo.jpg", &noise(3 << 20));
    let typed = [("bundleId", "com.example.typed"), ("version", "7.8.9"), ("releaseNotes", "My notes")];
    let file = Some(("dist.zip", &zip[..]));
    let published = next_of(&visit.send_parts("/updates/new", &visit.token, &typed, file).await);
    let cookie = sign_in(&app, &email(&visit, Role::Admin), &next).await;
    let shown = page(&app, &next, &cookie).await.text();
    shown.says(r#"value="TOKEN""#);
    shown.lacks("hunter2");
    let shown = page(&app, &published, &cookie).await.text();
    for part in ["com.example.typed", "7.8.9", "My notes", "and secrets were not kept"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    let list = app.get(&cookie, "/update").await.ok();
    assert_eq!(list["total"], 0);
}

/// Only forms of this server's own pages are kept, and only up to a size.
#[tokio::test]
async fn nothing_is_kept_of_what_comes_from_elsewhere() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Admin).await;
    sign_out(&visit).await;
    let mut forged = visit.token.clone();
    let last = forged.pop().unwrap();
    forged.push(if last == 'A' { 'B' } else { 'A' });
    let mut other_user = visit.token.split('.').map(str::to_owned).collect::<Vec<_>>();
    other_user[1] = super::visit(&app, Role::Owner).await.caller().await;
    for token in ["", "x", "..", &forged, &other_user.join(".")] {
        let fields = [("token", token), ("name", "x")];
        let answer = submit(&app, &format!("/o/{}/env", visit.org), "", &fields).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/"), "{token}");
    }
    let request = app
        .request(Method::POST, &format!("{}/o/{}/env", app.origin, visit.org))
        .header("content-type", "application/x-www-form-urlencoded")
        .header("origin", "https://evil.example")
        .body(encoded(&[("token", &visit.token), ("name", "planted")]));
    let answer = Answer::to(request).await;
    assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/"));
    let large = "x".repeat(300 << 10);
    let next = next_of(&visit.send("/env", &[("name", "A"), ("value", &large)]).await);
    next.lacks("kept=");
}

/// Sends the first half of a form and stalls; returns the status line of the response.
async fn begin(visit: &Visit<'_>, path: &str, kind: &str, body: &str) -> String {
    let origin = &visit.app.origin;
    let address = origin.strip_prefix("http://").unwrap();
    let head = format!(
        "POST /o/{}{path} HTTP/1.1\r\nHost: {address}\r\nOrigin: {origin}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
        visit.org,
        2 * body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = [0; "HTTP/1.1 303".len()];
    stream.read_exact(&mut answer).await.unwrap();
    String::from_utf8(answer.to_vec()).unwrap()
}

/// The attack: a client without a session starts forms over many connections and finishes none. A server that waited
/// for the rest would have to hold what has arrived.
#[tokio::test]
async fn strangers_fill_no_memory_with_forms() {
    const PAIRS: &str = "application/x-www-form-urlencoded";
    const PARTS: &str = "multipart/form-data; boundary=x";
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Admin).await;
    sign_out(&visit).await;
    let much = "x".repeat(100 << 10);
    let mut forged = visit.token.clone();
    let last = forged.pop().unwrap();
    forged.push(if last == 'A' { 'B' } else { 'A' });
    let field =
        |name: &str, value: &str| format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
    for (path, kind, body) in [
        ("/env", PAIRS, format!("value={much}")),
        ("/env", PAIRS, format!("token={forged}&value={much}")),
        ("/env", PAIRS, format!("value={much}&token={}", visit.token)),
        ("/updates/new", PARTS, field("releaseNotes", &much)),
        ("/updates/new", PARTS, field("token", &forged) + &field("releaseNotes", &much)),
        ("/updates/new", PARTS, field("releaseNotes", &much) + &field("token", &visit.token)),
        ("/updates/new", PARTS, field("a", "b").repeat(50) + &field("c", &much)),
        ("/updates/new", PARTS, field(&much, "")),
    ] {
        let answer = begin(&visit, path, kind, &body).await;
        assert_eq!(answer, "HTTP/1.1 303", "{path} {}", &body[..100]);
    }
    // A client with a token of this server is served.
    let typed = [("name", "A"), ("value", &*much)];
    assert!(next_of(&visit.send("/env", &typed).await).contains("kept="));
    let typed = [("releaseNotes", &*much)];
    let sent = visit.send_parts("/updates/new", &visit.token, &typed, None).await;
    assert!(next_of(&sent).contains("kept="));
}

/// A token identifies its user only for a limited time.
#[tokio::test]
async fn nothing_is_kept_of_a_form_whose_session_began_too_long_ago() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Admin).await;
    sign_out(&visit).await;
    app.advance(SESSION_LIFE - 1);
    let next = next_of(&visit.send("/env", &VARIABLE).await);
    next.says("kept=");
    app.advance(1);
    let zip = package("index.html", b"hello");
    for late in [
        visit.send("/env", &VARIABLE).await,
        visit.send_parts("/updates/new", &visit.token, &VARIABLE, Some(("dist.zip", &zip))).await,
    ] {
        assert_eq!((late.status.as_u16(), late.header("location")), (303, "/"));
    }
    // The same if the user has signed in again.
    let fresh = Visit { cookie: app.sign_in(&email(&visit, Role::Admin)).await, token: visit.token.clone(), ..visit };
    fresh.send("/env", &VARIABLE).await.is(403);
}

/// A tab whose session was replaced by a sign-in in another tab: its form is shown again, with the new session's token.
#[tokio::test]
async fn a_form_of_an_older_session_is_shown_again() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Admin).await;
    let fresh = app.sign_in(&email(&visit, Role::Admin)).await;
    let old = Visit { app: &app, org: visit.org, cookie: fresh.clone(), token: visit.token.clone() };
    let sent = old.send("/env", &VARIABLE).await;
    sent.is(303);
    let shown = page(&app, sent.header("location"), &fresh).await.text();
    shown.says(r#"value="API_URL""#);
    assert_eq!(variables(&app, &fresh).await, 0);
    let typed = [("bundleId", "com.example.typed"), ("version", "7.8.9")];
    let zip = package("index.html", b"hello");
    let sent = old.send_parts("/updates/new", &old.token, &typed, Some(("dist.zip", &zip))).await;
    let shown = page(&app, sent.header("location"), &fresh).await.text();
    shown.says(r#"value="7.8.9""#);
    // If someone else is signed in on the browser by now, they do not get it.
    let colleague = visit_of(&app, visit.org, Role::Owner).await;
    let mixed = Visit { app: &app, org: visit.org, cookie: colleague.cookie.clone(), token: visit.token.clone() };
    let sent = mixed.send("/env", &VARIABLE).await;
    sent.is(403);
    let text = sent.text();
    text.says("a different user than the one who filled in this form");
    text.lacks("typed.example");
    let link = text.split_once(r#"plain" href=""#).unwrap().1.split_once('"').unwrap().0;
    page(&app, link, &colleague.cookie).await.lacks("typed.example");
    page(&app, link, &fresh).await.says("typed.example");
    assert_eq!(variables(&app, &fresh).await, 0);
}

/// A user who is no longer a member, or has lost the role, sees the input as text, because there is no form to show it
/// in.
#[tokio::test]
async fn who_was_removed_gets_the_text_back_but_no_page() {
    let app = TestApp::start().await;
    let owner = visit(&app, Role::Owner).await;
    let admin = visit_of(&app, owner.org, Role::Admin).await;
    let id = admin.caller().await;
    owner.confirmed(&format!("/members/{id}/role"), &[("role", "member")]).await;
    let refused = admin.send("/env", &VARIABLE).await;
    refused.is(403);
    refused.says("https://typed.example/&#60;b&#62;");
    owner.confirmed(&format!("/members/{id}/remove"), &[]).await;
    let refused = admin.send("/env", &VARIABLE).await;
    refused.is(404);
    refused.says("https://typed.example/&#60;b&#62;");
    // The same after the session has ended.
    sign_out(&admin).await;
    let next = next_of(&admin.send("/env", &VARIABLE).await);
    let cookie = sign_in(&app, &email(&admin, Role::Admin), &next).await;
    let shown = page(&app, &next, &cookie).await;
    shown.is(404);
    shown.says("https://typed.example/&#60;b&#62;");
    assert_eq!(variables(&app, &owner.cookie).await, 0);
}

/// A change that was confirmed too late asks again, and says if the state changed meanwhile.
#[tokio::test]
async fn a_confirmation_is_asked_again_after_the_sign_in() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Member).await;
    let update = app.published(&key, json!({"version": "1.0.1", "rollout": 20})).await;
    let update = update.id();
    let path = format!("/updates/{update}/change");
    let form = visit.hidden(&format!("{path}?rollout=60")).await;
    let fields: Vec<_> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    sign_out(&visit).await;
    let sent = submit(&app, &format!("/o/{org}{path}"), &visit.cookie, &fields).await;
    let next = next_of(&sent);
    let cookie = sign_in(&app, &email(&visit, Role::Member), &next).await;
    let read = async || {
        let read = app.get(&key, &format!("/update?id={update}")).await;
        read.ok()["rollout"].clone()
    };
    let asked = page(&app, &next, &cookie).await.text();
    asked.says("Raise the rollout of 1.0.1");
    asked.lacks("When you looked");
    assert_eq!(read().await, 20);
    app.patch(&key, &format!("/update?id={update}"), json!({"rollout": 30})).await.ok();
    let asked = page(&app, &next, &cookie).await.text();
    asked.says(r#"When you looked">20 %</td><td data-label="Now">30 %<"#);
    let form = hidden(&asked);
    let fields: Vec<_> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    submit(&app, &format!("/o/{org}{path}"), &cookie, &fields).await.is(303);
    assert_eq!(read().await, 60);
}
