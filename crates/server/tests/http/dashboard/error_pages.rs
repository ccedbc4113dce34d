//! Pages that cannot be shown: members keep the navigation, and others learn nothing.

use launchway_domain::tenancy::Role;
use reqwest::StatusCode;

use super::visit;
use crate::pages::page;
use crate::support::{Says, TestApp};

const NAVIGATION: &str = r#"<nav class="side" aria-label="Sections">"#;

#[tokio::test]
async fn error_pages_have_the_navigation() {
    let app = TestApp::start().await;
    let member = visit(&app, Role::Member).await;
    for (path, status, words) in [
        ("/builds/none", 404, "Page not found"),
        ("/nothing", 404, "Page not found"),
        ("/builds/nothing/at/all", 404, "Page not found"),
        ("/audit", 403, "You are not allowed to do this"),
        ("/builds?offset=x", 400, "The request failed"),
    ] {
        let answer = member.page(path).await;
        answer.is(status);
        let html = answer.text();
        html.says(NAVIGATION);
        html.says(words);
        html.says(&format!(r#"<a class="button" href="/o/{}">To the overview</a>"#, member.org));
        assert!(answer.header("content-security-policy").contains("script-src 'self'"), "{path}");
    }
    member.send("/nothing", &[]).await.is(404);
    let other = visit(&app, Role::Owner).await;
    let stranger = page(&app, &format!("/o/{}/nothing", member.org), &other.cookie).await;
    stranger.is(404);
    stranger.text().lacks(NAVIGATION);
    assert_eq!(page(&app, &format!("/o/{}/nothing", member.org), "").await.status, StatusCode::SEE_OTHER);
}
