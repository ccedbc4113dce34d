//! Signed updates in the dashboard: the roles of an app, the updates that await a signature, and revoked ones.

use launchway_developers::{Release, new_key, role_of};
use launchway_domain::platform::Platform;
use launchway_domain::tenancy::Role;
use launchway_domain::time::DAY;
use serde_json::{Value, json};

use super::{visit, visit_of};
use crate::stage::{BUNDLE, Stage};
use crate::support::{Fields, Says, package};

const PAGE: &str = "/trust?bundleId=com.example.app";

/// An update of production that nobody has signed.
async fn unsigned(stage: &Stage, version: &str) -> Value {
    stage.published(&stage.key, json!({"version": version, "configuration": "production"})).await
}

#[tokio::test]
async fn an_app_without_a_root_is_told_how_to_begin() {
    let stage = Stage::new().await;
    let visit = visit_of(&stage, stage.org, Role::Member).await;
    stage.published(&stage.key, json!({"version": "1.0.1"})).await;
    visit.html("/apps").await.says(&format!("/o/{}{PAGE}", stage.org));
    let page = visit.html(PAGE).await;
    page.says("This app does not sign its updates");
    page.says("launchway trust init");
    page.lacks("What signatures do not protect");
    visit.page("/trust?bundleId=com.example.other").await.is(404);
    visit.page("/trust").await.is(400);
    visit.page("/trust?bundleId=a%00b").await.is(400);
}

#[tokio::test]
async fn roles_are_shown_with_keys_and_expiry() {
    let stage = Stage::new().await;
    let visit = visit_of(&stage, stage.org, Role::Member).await;
    stage.developers(&["production"]).await;
    let page = visit.html(PAGE).await;
    for part in ["Signed</span>", "Valid</span>", "<code>root</code>", "updates of production", "1 of 1, 1 required"] {
        page.says(part);
    }
    page.says("What signatures do not protect");
    for part in ["expires on", "expired on", "launchway trust init", "Updates of other formats"] {
        page.lacks(part);
    }
    let owner = visit_of(&stage, stage.org, Role::Owner).await;
    let allowed = json!({"bundleId": BUNDLE, "allowed": true});
    stage.post(&owner.cookie, "/trust/other-formats", allowed).await.ok();
    visit.html(PAGE).await.says("Updates of other formats:");
    // The role of the configuration is valid for 180 days; no job renews the roles of this server here.
    stage.advance(155 * DAY);
    // The session has ended meanwhile.
    let later = visit_of(&stage, stage.org, Role::Admin).await;
    let page = later.html(PAGE).await;
    page.says("launchway trust sign c-production");
    page.says("<code>timestamp</code> expired on");
    page.lacks("launchway trust sign targets");
    page.lacks("launchway trust sign timestamp");
}

#[tokio::test]
async fn an_update_that_awaits_signatures_shows_the_command() {
    let stage = Stage::new().await;
    let visit = visit_of(&stage, stage.org, Role::Member).await;
    stage.developers(&["production"]).await;
    let update = unsigned(&stage, "1.0.1").await;
    let command = format!("launchway update sign {}</code>", update.id());
    let path = format!("/updates/{}", update.id());
    for page in [visit.html(&path).await, visit.html(PAGE).await] {
        page.says(&command);
        // A signer who takes the hash from the server signs blindly.
        page.lacks(&update.text("sha256")[..10]);
    }
    let page = visit.html(&path).await;
    page.says("Awaiting signature</span>");
    for part in ["Change rollout", "Pause…", "Withdraw…", "Promote…", "Roll back…", "name=\"releaseNotes\""] {
        page.lacks(part);
    }
    let change = visit.page(&format!("{path}/change?rollout=50")).await;
    change.is(400);
    change.text().says("awaits its signature cannot be changed");
    visit.html("").await.says("awaits its signature");

    let draft = json!({"bundleId": BUNDLE, "role": "c-production"});
    let made = stage.post(&stage.key, "/trust/drafts", draft).await;
    assert!(made.status.is_success(), "{}", made.text());
    let page = visit.html(PAGE).await;
    page.says("<code>c-production</code> version 2");
    page.says("0 of 1 keys signed, 1 required");
    page.says("in the draft");
    page.says(&format!("/o/{}{path}", stage.org));
}

/// Files that are accepted together wait together: only those that lack signatures show a command.
#[tokio::test]
async fn a_draft_with_its_signatures_waits_for_the_others() {
    let stage = Stage::new().await;
    let visit = visit_of(&stage, stage.org, Role::Member).await;
    let mut developers = stage.developers(&["production"]).await;
    let (role, now) = (role_of("production"), stage.app.clock.now());
    let signers = developers.signers(&role);
    signers.keys.push(new_key());
    signers.threshold = 2;
    let targets = developers.sign_targets(now);
    let half = developers.sign_role_with(&role, 2, now + 100 * DAY, &developers.roles[&role].keys[..1]);
    stage.send_signed(&[], &[("targets", &targets), ("c-production", &half)]).await;
    let page = visit.html(PAGE).await;
    page.says("1 of 2 keys signed, 2 required");
    page.says("launchway trust sign c-production --bundle-id com.example.app");
    page.says("published together with the other drafts");
    page.lacks("launchway trust sign targets");
    // It joins the draft after this one: signed now, it would take the signatures away.
    let update = unsigned(&stage, "1.0.1").await;
    let page = visit.html(PAGE).await;
    page.says("Sign it when the draft of its role is published");
    page.lacks(&format!("launchway update sign {}", update.id()));
}

#[tokio::test]
async fn an_update_from_the_browser_awaits_its_signature() {
    let stage = Stage::new().await;
    let visit = visit_of(&stage, stage.org, Role::Member).await;
    stage.developers(&["production"]).await;
    let fields = [("bundleId", BUNDLE), ("platform", "android"), ("version", "1.0.1"), ("configuration", "production")];
    let zip = package("index.html", b"<h1>hello</h1>");
    let sent = visit.send_parts("/updates/new", &visit.token, &fields, Some(("dist.zip", &zip))).await;
    let path = visit.leads(&sent, "/updates/new");
    visit.html(&path).await.says("No device is offered it before");
}

#[tokio::test]
async fn a_revoked_update_is_marked() {
    let stage = Stage::new().await;
    let visit = visit_of(&stage, stage.org, Role::Member).await;
    let mut developers = stage.developers(&["production"]).await;
    let waiting = unsigned(&stage, "1.2.2").await;
    stage.advance(1000);
    let (role, package) = (role_of("production"), package("index.html", b"<h1>bad</h1>"));
    let release = Release { role: &role, platform: Platform::Android, version: "1.2.3", build: 4, package: &package };
    let update = stage.release(&mut developers, &release).await;
    let path = format!("/updates/{}", update.id());
    let page = visit.html(&path).await;
    page.says("<code>c-production</code></a>");
    page.lacks("Revoked");
    // Nobody rolls back to what nobody has signed.
    page.lacks(waiting.id());

    let revoked = developers.revoke(&role, &package, stage.app.clock.now());
    stage.send_signed(&[], &[("c-production", &revoked)]).await;
    let page = visit.html(&path).await;
    page.says("Revoked</span>");
    page.says("revokes this package");
    page.lacks("Promote…");
    visit.html(PAGE).await.says("revokes 1");
}

#[tokio::test]
async fn an_update_that_its_role_no_longer_lists_says_so() {
    let stage = Stage::new().await;
    let visit = visit_of(&stage, stage.org, Role::Member).await;
    let mut developers = stage.developers(&["production"]).await;
    let (role, package) = (role_of("production"), package("index.html", b"<h1>old</h1>"));
    let release = Release { role: &role, platform: Platform::Android, version: "1.2.3", build: 4, package: &package };
    let update = stage.release(&mut developers, &release).await;
    let path = format!("/updates/{}", update.id());
    visit.html(&path).await.lacks("no longer lists this update");
    developers.signers(&role).content.targets.clear();
    let shorter = developers.sign_role(&role, stage.app.clock.now());
    stage.send_signed(&[], &[("c-production", &shorter)]).await;
    let page = visit.html(&path).await;
    page.says("no longer lists this update");
    page.lacks("Revoked");
}

/// The trust of another organization's app is as unknown as an app that nobody has.
#[tokio::test]
async fn no_page_shows_the_trust_of_another_organization() {
    let stage = Stage::new().await;
    let theirs = visit_of(&stage, stage.org, Role::Owner).await;
    stage.developers(&["production"]).await;
    let update = unsigned(&stage, "1.0.1").await;
    theirs.html(PAGE).await.says(update.id());
    let ours = visit(&stage, Role::Owner).await;
    for bundle in [BUNDLE, "COM.EXAMPLE.APP", "com.example.nobody"] {
        let foreign = ours.page(&format!("/trust?bundleId={bundle}")).await;
        foreign.is(404);
        foreign.text().lacks("c-production");
    }
    ours.page(&format!("/updates/{}", update.id())).await.is(404);
}
