//! One browser, one address or one organization cannot block the pages for the others.

use launchway_domain::tenancy::Role;

use super::{visit, visit_of};
use crate::auth::who;
use crate::support::{Fields, Says, TestApp};

#[tokio::test]
async fn a_browser_loads_a_bounded_number_of_pages_a_minute() {
    let app = TestApp::start().await;
    let busy = visit(&app, Role::Member).await;
    let colleague = visit_of(&app, busy.org, Role::Admin).await;
    let view = who(&app, &busy.cookie).await.ok();
    let session = view.id().parse().unwrap();
    let now = app.app.clock.now();
    while app.app.pages.count(session, busy.org, now).is_ok() {}
    for path in ["", "/builds", "/usage", "/members"] {
        let refused = busy.page(path).await;
        assert_eq!(refused.status.as_u16(), 429, "{path}");
        assert_eq!(refused.header("retry-after"), "60");
        refused.says("Try again in 60 seconds");
        colleague.page(path).await.is(200);
    }
    app.advance(60_000);
    busy.page("/builds").await.is(200);
}

#[tokio::test]
async fn an_organization_searches_a_bounded_number_of_logs_at_a_time() {
    let app = TestApp::start().await;
    let (busy, other) = (visit(&app, Role::Member).await, visit(&app, Role::Member).await);
    let mut paths = Vec::new();
    for visit in [&busy, &other] {
        let build = app.queue(visit.org, |_| {}).await;
        paths.push([format!("/builds/{build}/log/search?text=x"), format!("/builds/{build}/log/lines")]);
    }
    let mut calls = Vec::new();
    while let Ok(call) = app.app.fair_work.begin(busy.org) {
        calls.push(call);
    }
    for (refused, served) in paths[0].iter().zip(&paths[1]) {
        busy.page(refused).await.is(429);
        other.page(served).await.is(200);
    }
    drop(calls);
    busy.page(&paths[0][0]).await.is(200);
}
