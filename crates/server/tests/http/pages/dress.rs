//! The content of pages: no script, no other host, nothing that a name could break out of.

use launchway_domain::actor::Actor;
use launchway_domain::tenancy::Role;
use launchway_ops::write::Write;
use launchway_ops::{accounts, orgs};
use reqwest::Method;

use super::{invite, page, submit};
use crate::support::{Answer, Fields, PASSWORD, Says, TestApp};

/// Every page, on a server with an organization, as seen without a session and by an owner.
async fn all(app: &TestApp) -> Vec<(String, Answer)> {
    let token = invite(app, "bob@example.com").await;
    let mut pages = Vec::new();
    for (path, cookie) in [
        ("/", ""),
        ("/?next=/o/x", ""),
        ("/setup?token=x", ""),
        (&format!("/invite?token={token}"), ""),
        ("/invite?token=dead", ""),
        ("/reset?token=x", ""),
        ("/docs", ""),
        ("/api/docs", ""),
    ] {
        pages.push((path.to_owned(), page(app, path, cookie).await));
    }
    let wrong = submit(app, "/", "", &[("email", "x"), ("password", "y")]).await;
    pages.push(("a wrong sign-in".to_owned(), wrong));
    pages
}

/// The values of an attribute, wherever it is.
fn values<'t>(text: &'t str, attribute: &str) -> Vec<&'t str> {
    let opening = format!(" {attribute}=\"");
    text.split(&opening).skip(1).map(|rest| rest.split_once('"').unwrap().0).collect()
}

#[tokio::test]
async fn every_page_forbids_scripts_frames_and_caches() {
    let app = TestApp::start().await;
    for (name, answer) in all(&app).await {
        let policy = answer.header("content-security-policy");
        let directives: Vec<_> = policy.split("; ").collect();
        for wanted in ["default-src 'none'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"] {
            assert!(directives.contains(&wanted), "{name}: {policy}");
        }
        for forbidden in ["unsafe", "script-src", "*", "http:", "https:", "data:"] {
            assert!(!policy.contains(forbidden), "{name}: {policy}");
        }
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{name}");
        assert_eq!(answer.header("cache-control"), "no-store", "{name}");
        // Links contain tokens: no other host may learn them. `no-referrer` would make forms send `Origin: null`.
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{name}");
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8", "{name}");
    }
}

#[tokio::test]
async fn every_page_is_whole_without_scripts_and_other_hosts() {
    let app = TestApp::start().await;
    let mut assets = Vec::new();
    for (name, answer) in all(&app).await {
        let text = answer.text();
        assert!(text.contains(r#"<html lang="en">"#) && text.contains("<main"), "{name}");
        for part in ["<script", "<iframe", "<style", " style=", " onclick=", " onload=", "javascript:"] {
            assert!(!text.contains(part), "{name} has {part}");
        }
        for attribute in ["href", "src", "action"] {
            for value in values(&text, attribute) {
                let own = value.starts_with('#') || (value.starts_with('/') && !value.starts_with("//"));
                assert!(own, "{name}: {attribute}={value}");
            }
        }
        // Every field has a label.
        for id in values(&text, "id").into_iter().filter(|id| text.contains(&format!("<input id=\"{id}\""))) {
            assert!(text.contains(&format!("<label for=\"{id}\">")), "{name}: {id}");
        }
        assets
            .extend(values(&text, "href").into_iter().filter(|value| value.starts_with("/assets/")).map(str::to_owned));
    }
    assets.sort_unstable();
    assets.dedup();
    assert_eq!(assets.len(), 2, "{assets:?}");
    for path in &assets {
        let kind = if path.ends_with("/icon.svg") { "image/svg+xml" } else { "text/css; charset=utf-8" };
        let asset = app.request(Method::GET, &format!("{}{path}", app.origin)).send().await.unwrap();
        let asset = Answer::of(asset).await;
        assert_eq!((asset.status.as_u16(), asset.header("content-type")), (200, kind), "{path}");
        assert_eq!(asset.header("x-content-type-options"), "nosniff");
        assert_eq!(asset.header("cache-control"), "public, max-age=31536000, immutable");
        let text = asset.text();
        assert!(!text.is_empty() && !text.contains("@import") && !text.contains("url("), "{path}");
        assert!(!text.replace("http://www.w3.org/2000/svg", "").contains("http"), "{path} names a host");
    }
}

#[tokio::test]
async fn a_hostile_name_stays_a_name() {
    const NAME: &str = r#"<script>alert("1")</script>'&"#;
    const ADDRESS: &str = r#""><img/src=x>&'@example.com"#;
    let app = TestApp::start().await;
    let org = orgs::plan(&app.app, NAME.to_owned());
    let hash = app.app.passwords.hash(PASSWORD).await.unwrap();
    let mut write = Write::open(&app.app, org.id, Actor::Operator, None).await.unwrap();
    orgs::insert(&mut write, &org).await.unwrap();
    let user = accounts::create_user(&mut write, ADDRESS, &hash).await.unwrap();
    accounts::join(&mut write, org.id, &user, Role::Owner).await.unwrap();
    write.commit().await.unwrap();
    let cookie = app.sign_in(ADDRESS).await;
    let body = serde_json::json!({"email": ADDRESS});
    let made = app.post(&cookie, "/orgs/invitations", body).await.created();
    let invite = made.text("link").strip_prefix(&app.origin).unwrap().to_owned();

    let hostile = [("token", NAME), ("organization", NAME), ("email", ADDRESS), ("name", NAME), ("password", NAME)];
    let in_query = "%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E";
    let pages = [
        page(&app, &format!("/o/{}", org.id), &cookie).await,
        page(&app, &invite, "").await,
        page(&app, &format!("/setup?token={in_query}"), "").await,
        page(&app, &format!("/reset?token={in_query}"), "").await,
        page(&app, &format!("/invite?token={in_query}"), "").await,
        submit(&app, "/", "", &hostile).await,
        submit(&app, "/setup", "", &hostile).await,
        submit(&app, "/invite", "", &hostile).await,
        submit(&app, "/reset", "", &hostile).await,
    ];
    for (number, answer) in pages.iter().enumerate() {
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8", "page {number}");
        let text = answer.text();
        let text = text.replace("<script type=\"module\" src=\"/assets/", "");
        for part in ["<script", "<img", "\"\">", "alert(\""] {
            assert!(!text.contains(part), "page {number} has {part}: {text}");
        }
    }
    pages[0].is(200);
    pages[0].says("&#60;script&#62;");
    pages[1].says("&#60;img/src=x&#62;");
}
