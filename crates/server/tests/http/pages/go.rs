//! `/go/{id}` leads to the page of a build or an update in the organization that has it
//! (`docs/reference/dashboard.md#short-addresses`).

use launchway_domain::tenancy::Role;
use reqwest::StatusCode;

use super::page;
use crate::dashboard::visit;
use crate::support::{Says, TestApp};

#[tokio::test]
async fn an_address_without_organization_leads_to_the_page() {
    let app = TestApp::start().await;
    let (ours, theirs) = (visit(&app, Role::Member).await, visit(&app, Role::Owner).await);
    let build = app.queue(ours.org, |_| {}).await;
    let answer = page(&app, &format!("/go/{build}"), &ours.cookie).await;
    answer.is(303);
    assert_eq!(answer.header("location"), format!("/o/{}/builds/{build}", ours.org));
    assert_eq!(answer.header("cache-control"), "no-store");
    ours.html(&format!("/builds/{build}")).await;

    // For others it is as if it did not exist.
    let foreign = page(&app, &format!("/go/{build}"), &theirs.cookie).await;
    let missing = page(&app, &format!("/go/build_{:0>26}", "7"), &theirs.cookie).await;
    assert_eq!(foreign.status, StatusCode::NOT_FOUND);
    assert_eq!((foreign.status, foreign.text()), (missing.status, missing.text()));
    for odd in ["submission_1", "update_", "org_01kb0000000000000000000001", "x", "%00", "%ff"] {
        let answer = page(&app, &format!("/go/{odd}"), &ours.cookie).await;
        assert!(answer.status.is_client_error(), "{odd}: {}", answer.status);
    }
}

#[tokio::test]
async fn it_leads_there_after_the_sign_in() {
    let app = TestApp::start().await;
    let ours = visit(&app, Role::Member).await;
    let build = app.queue(ours.org, |_| {}).await;
    let answer = page(&app, &format!("/go/{build}"), "").await;
    answer.is(303);
    let sign_in = answer.header("location").to_owned();
    assert!(sign_in.starts_with("/?next="), "{sign_in}");
    page(&app, &sign_in, "").await.says(&format!("value=\"/go/{build}\""));
}
