//! Accounts that sign in through the provider only: they have no password until their users set one.

use launchway_domain::id::OrgId;
use launchway_domain::tenancy::Role;
use launchway_domain::time::{MINUTE, SECOND};
use launchway_ops::two_factor;
use launchway_os::clock::Clock;
use launchway_web::dashboard::form_token;
use serde_json::{Value, json};

use super::fake::{Fake, come_back, is_refused, prove, session, stage};
use crate::auth::links::invite;
use crate::auth::two_factor::{enroll, hidden};
use crate::auth::{EMAIL, credentials, post, who};
use crate::dashboard::Visit;
use crate::pages::{page, submit};
use crate::support::{Fields, PASSWORD, Says, TestApp};

const SIGN_IN_AGAIN: &str = "sign in through the provider again, and repeat this within 10 minutes";

/// A signed-in member whose account was created through the provider.
async fn member<'a>(app: &'a TestApp, fake: &Fake) -> Visit<'a> {
    let (org, key) = app.org_with_key().await;
    invite(app, &key, EMAIL, "member").await;
    visit(app, fake, org).await
}

/// The member, signed in again.
async fn visit<'a>(app: &'a TestApp, fake: &Fake, org: OrgId) -> Visit<'a> {
    let cookie = session(&come_back(app, fake, |_| {}).await);
    let view = who(app, &cookie).await.ok();
    let token = form_token(&app.app, view.id().parse().unwrap(), view["user"].id().parse().unwrap());
    Visit { app, org, cookie, token }
}

#[tokio::test]
async fn a_first_password_is_set_after_a_fresh_sign_in() {
    let (app, fake) = stage().await;
    let old = member(&app, &fake).await;
    let form = old.html("/profile").await;
    form.says("Set a password");
    form.lacks(r#"name="current""#);
    app.advance(10 * MINUTE);
    let fields = [("password", PASSWORD)];
    let refused = old.send("/profile/password", &fields).await;
    refused.is(400);
    refused.says(SIGN_IN_AGAIN);
    let fresh = visit(&app, &fake, old.org).await;
    app.advance(10 * MINUTE - SECOND);
    let location = fresh.done("/profile/password", &fields).await;
    assert_eq!(location, "/profile?done=password-changed");
    post(&app, "/auth/sign-in", credentials(EMAIL, PASSWORD), &[]).await.ok();
    for visit in [&old, &fresh] {
        assert_eq!(visit.page("/profile").await.status.as_u16(), 303, "its session has ended");
    }
    // From now on it is required, however recent the sign-in is.
    let fresh = visit(&app, &fake, old.org).await;
    let fields = [("current", ""), ("password", "another good password")];
    fresh.send("/profile/password", &fields).await.says("current password is wrong");
    assert!(fresh.html("/profile").await.contains("Change password"));
}

#[tokio::test]
async fn codes_are_turned_on_after_a_fresh_sign_in_and_off_by_a_code() {
    let (app, fake) = stage().await;
    let old = member(&app, &fake).await;
    app.advance(10 * MINUTE);
    let refused = old.send("/profile/two-factor", &[]).await;
    refused.is(400);
    refused.says(SIGN_IN_AGAIN);
    let fresh = visit(&app, &fake, old.org).await;
    let form = fresh.html("/profile/two-factor").await;
    assert!(!form.contains(r#"name="present""#), "nothing is asked: {form}");
    fresh.send("/profile/two-factor", &[]).await.is(200);
    let user = fresh.caller().await.parse().unwrap();
    let secret = two_factor::pending_secret(&app.app, user).await.unwrap().unwrap();
    let shown = || secret.display_code(app.clock.now()).to_string();
    fresh.send("/profile/two-factor/confirm", &[("code", &shown())]).await.is(200);
    app.advance(30 * SECOND);
    let form = fresh.html("/profile/two-factor").await;
    form.lacks(r#"name="present""#);
    form.says(r#"name="code""#);
    for code in ["", "12345x"] {
        let refused = fresh.send("/profile/two-factor/remove", &[("code", code)]).await;
        refused.is(400);
        refused.says(r#"role="alert">code is "#);
    }
    let location = fresh.done("/profile/two-factor/remove", &[("code", &shown())]).await;
    assert_eq!(location, "/profile?done=two-factor-removed");
}

async fn organizations(app: &TestApp, cookie: &str) -> Vec<Value> {
    let view = who(app, cookie).await.ok();
    let mine = view["organizations"].as_array().unwrap();
    mine.iter().map(|org| json!([org["id"], org["role"]])).collect()
}

/// Two more organizations invite the member.
async fn invited_by_two(app: &TestApp) -> ([OrgId; 2], String) {
    let ((one, first), (two, second)) = (app.org_with_key().await, app.org_with_key().await);
    invite(app, &first, EMAIL, "admin").await;
    let (_, token) = invite(app, &second, EMAIL, "member").await;
    ([one, two], token)
}

#[tokio::test]
async fn a_sign_in_takes_the_invitations_that_wait() {
    let (app, fake) = stage().await;
    let home = member(&app, &fake).await.org;
    app.advance(SECOND);
    let ([one, two], token) = invited_by_two(&app).await;
    // The link cannot be used, because there is no password to enter; its page says what to do.
    let form = page(&app, &format!("/invite?token={token}"), "").await.text();
    form.says("through the provider without a password");
    form.says("/sign-in/provider");
    let refused = submit(&app, "/invite", "", &[("token", &token), ("password", PASSWORD)]).await;
    is_refused(&refused, 401, "The address or the password is wrong");
    let cookie = session(&come_back(&app, &fake, |_| {}).await);
    let mut joined = organizations(&app, &cookie).await;
    let mut expected = vec![json!([home, "member"]), json!([one, "admin"]), json!([two, "member"])];
    assert_eq!(joined[0], expected[0], "the oldest first");
    for list in [&mut joined, &mut expected] {
        list.sort_by_key(Value::to_string);
    }
    assert_eq!(joined, expected);
    for org in [one, two] {
        let actions: Vec<_> = app.audit(org).await.into_iter().map(|row| row.action).collect();
        assert!(actions.ends_with(&["member.add".to_owned(), "user.sign_in".to_owned()]), "{actions:?}");
    }
}

#[tokio::test]
async fn an_invitation_of_a_member_keeps_nobody_out() {
    let (app, fake) = stage().await;
    let (org, key) = app.org_with_key().await;
    invite(&app, &key, EMAIL, "admin").await;
    // Within one millisecond their order is undefined.
    app.advance(SECOND);
    let (id, _) = invite(&app, &key, EMAIL, "member").await;
    let cookie = session(&come_back(&app, &fake, |_| {}).await);
    assert_eq!(organizations(&app, &cookie).await, [json!([org, "admin"])]);
    assert_eq!(app.get(&key, &format!("/orgs/invitations?id={id}")).await.ok()["status"], "accepted");
}

/// Nothing happens before the code is entered.
#[tokio::test]
async fn invitations_are_taken_only_by_a_whole_sign_in() {
    let (app, fake) = stage().await;
    let visit = member(&app, &fake).await;
    let (_, recovery) = enroll(&app, visit.caller().await.parse().unwrap()).await;
    invited_by_two(&app).await;
    let asked = come_back(&app, &fake, |_| {}).await;
    is_refused(&asked, 200, r#"name="one-time-code""#);
    assert_eq!(organizations(&app, &visit.cookie).await.len(), 1);
    let html = asked.text();
    let fields = ["email", "proof"].map(|name| (name, hidden(&html, name)));
    let fields = [&fields[..], &[("one-time-code", recovery[0].as_str())]].concat();
    let cookie = session(&submit(&app, "/", "", &fields).await);
    assert_eq!(organizations(&app, &cookie).await.len(), 3);
}

/// The creator of an account with a password may not own the address, so the link requires the password.
#[tokio::test]
async fn who_has_a_password_joins_by_the_link_and_the_password() {
    let (app, fake) = stage().await;
    app.org_with_user(EMAIL, Role::Member).await;
    prove(&app, EMAIL).await;
    let (_, token) = invited_by_two(&app).await;
    let cookie = session(&come_back(&app, &fake, |_| {}).await);
    assert_eq!(organizations(&app, &cookie).await.len(), 1);
    let joined = submit(&app, "/invite", "", &[("token", &token), ("password", PASSWORD)]).await;
    let cookie = session(&joined);
    assert_eq!(organizations(&app, &cookie).await.len(), 2);
}
