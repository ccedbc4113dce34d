//! The audit log of each of a user's organizations records what the user does with the account.

use launchway_domain::id::OrgId;
use launchway_domain::tenancy::{Role, Tier};
use launchway_ops::accounts;
use launchway_store::AuditRow;
use serde_json::{Value, json};

use super::links::invite;
use super::two_factor::enroll;
use super::{EMAIL, cookie, credentials, post};
use crate::support::{Answer, Fields, PASSWORD, Setup, TestApp, until};

/// Two organizations with the same user, and one without; returns the user's id.
async fn stage(app: &TestApp) -> ([OrgId; 3], String) {
    let orgs = [app.org(Tier::Pro).await, app.org(Tier::Pro).await, app.org(Tier::Pro).await];
    let first = app.user(orgs[0], EMAIL, Role::Owner).await;
    let session = app.get(&first, "/auth/session").await.ok();
    let user = session["user"].id().to_owned();
    let mut tx = app.app.db.write().await.unwrap();
    let id = user.parse().unwrap();
    assert!(tx.system("a test").join(orgs[1], id, Role::Member, 0).await.unwrap());
    tx.commit().await.unwrap();
    (orgs, user)
}

/// The lines about the account in one log, oldest first.
async fn lines(app: &TestApp, org: OrgId) -> Vec<AuditRow> {
    let mut rows = app.audit(org).await;
    rows.retain(|row| row.action.starts_with("user.") || row.action.starts_with("session."));
    rows
}

/// The last line, which must be the same in both of the user's logs and in no other log.
async fn last(app: &TestApp, orgs: &[OrgId; 3]) -> AuditRow {
    let last = lines(app, orgs[0]).await.pop().unwrap();
    assert_eq!(lines(app, orgs[1]).await.last(), Some(&last));
    assert_eq!(lines(app, orgs[2]).await, []);
    last
}

fn told(row: &AuditRow) -> (&str, &str, &str, &str, &str) {
    (&row.action, &row.actor, &row.resource, &row.address, &row.request_id)
}

async fn session_id(app: &TestApp, cookie: &str) -> String {
    let view = app.get(cookie, "/auth/session").await.ok();
    view.id().to_owned()
}

fn request_id(answer: &Answer) -> &str {
    answer.header("x-request-id")
}

async fn everything_leaves_a_line(app: &TestApp) {
    let (orgs, user) = stage(app).await;
    let from = "203.0.113.7";
    let answer = post(app, "/auth/sign-in", credentials(EMAIL, PASSWORD), &[("x-forwarded-for", from)]).await;
    answer.ok();
    let browser = cookie(&answer);
    let session = session_id(app, &browser).await;
    let line = last(app, &orgs).await;
    assert_eq!(told(&line), ("user.sign_in", &*user, &*session, from, request_id(&answer)));

    let second = app.sign_in(EMAIL).await;
    let second_id = session_id(app, &second).await;
    let path = format!("/auth/sessions?id={second_id}");
    let answer = app.delete(&browser, &path).await;
    answer.ok();
    let line = last(app, &orgs).await;
    assert_eq!(told(&line), ("session.revoke", &*user, &*second_id, "127.0.0.1", request_id(&answer)));
    app.delete(&browser, &path).await.expect(404);

    let answer = app.post(&browser, "/auth/sign-out", ()).await;
    answer.ok();
    let line = last(app, &orgs).await;
    assert_eq!(told(&line), ("user.sign_out", &*user, &*session, "127.0.0.1", request_id(&answer)));

    let token = accounts::offer_reset(&app.app, EMAIL).await.unwrap();
    let line = last(app, &orgs).await;
    assert_eq!(told(&line), ("user.offer_reset", "operator", &*user, "", ""));
    let body = json!({"token": token, "password": "a password that ada set anew"});
    let answer = post(app, "/auth/reset", body.clone(), &[]).await;
    answer.ok();
    let line = last(app, &orgs).await;
    assert_eq!(told(&line), ("user.reset_password", &*user, &*user, "127.0.0.1", request_id(&answer)));
    post(app, "/auth/reset", body, &[]).await.expect(401);
    assert_eq!(last(app, &orgs).await, line, "a dead link leaves none");

    let actions: Vec<_> = lines(app, orgs[1]).await.into_iter().map(|row| row.action).collect();
    let expected =
        ["user.sign_in", "user.sign_in", "session.revoke", "user.sign_out", "user.offer_reset", "user.reset_password"];
    assert_eq!(actions, expected);
    let check = launchway_ops::audit::verify(&app.app).await.unwrap();
    assert_eq!(check.problems, Vec::<String>::new());
}

#[tokio::test]
async fn what_a_user_does_with_the_account_leaves_a_line() {
    everything_leaves_a_line(&TestApp::start().await).await;
}

#[tokio::test]
async fn what_a_user_does_with_the_account_leaves_a_line_on_postgres() {
    everything_leaves_a_line(&TestApp::with(Setup::on_postgres()).await).await;
}

#[tokio::test]
async fn a_refused_sign_in_leaves_a_line_for_a_known_account() {
    let app = TestApp::start().await;
    let (orgs, user) = stage(&app).await;
    let before = lines(&app, orgs[0]).await.len();
    let sign_in = async |email: &str| post(&app, "/auth/sign-in", credentials(email, "not the password"), &[]).await;
    let unknown = sign_in("nobody@example.com").await;
    let known = sign_in(EMAIL).await;
    assert_eq!((known.status, known.bytes), (unknown.status, unknown.bytes), "the answer is the same");
    // The line is written concurrently with the response.
    until("the line is there", async || lines(&app, orgs[0]).await.len() > before).await;
    let line = last(&app, &orgs).await;
    let request = known.headers["x-request-id"].to_str().unwrap();
    assert_eq!(told(&line), ("user.refuse_sign_in", &*user, &*user, "127.0.0.1", request));
    assert_eq!(lines(&app, orgs[0]).await.len(), before + 1, "the unknown address left none");
}

/// The operator's changes of an account are in the logs of the user's organizations; changes that affect everyone are
/// in the installation's log.
#[tokio::test]
async fn the_operators_commands_leave_lines() {
    let app = TestApp::start().await;
    let (orgs, user) = stage(&app).await;
    enroll(&app, user.parse().unwrap()).await;
    let directory = tempfile::tempdir().unwrap();
    let backup = directory.path().join("backup");
    for command in [
        &["remove-two-factor", "--email", EMAIL][..],
        &["reset-password", "--email", EMAIL],
        &["backup", backup.to_str().unwrap()],
    ] {
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_launchway-server"))
            .arg("admin")
            .args(command)
            .arg("--data-dir")
            .arg(&app.app.config.data_dir)
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let line = last(&app, &orgs).await;
    assert_eq!(told(&line), ("user.offer_reset", "operator", &*user, "", ""));
    let before = lines(&app, orgs[0]).await;
    let removed = &before[before.len() - 2];
    assert_eq!(told(removed), ("user.remove_two_factor", "operator", &*user, "", ""));
    app.sign_in(EMAIL).await;
    let mut tx = app.app.db.read().await.unwrap();
    let own = tx.system("a test").audit_chain(None, 0, 10).await.unwrap();
    let actions: Vec<_> = own.iter().map(|line| (&*line.row.actor, &*line.row.action)).collect();
    assert_eq!(actions, [("operator", "backup.create")]);
}

/// Accepting an invitation with an account is a sign-in in every organization; so is a first run.
#[tokio::test]
async fn links_that_sign_in_leave_a_line_too() {
    let app = TestApp::start().await;
    let token = accounts::offer_setup(&app.app).await.unwrap().unwrap();
    let body = json!({"token": token, "organization": "First", "email": EMAIL, "password": PASSWORD});
    let set_up = post(&app, "/auth/setup", body, &[]).await.ok();
    let org = |view: &Value| view["organization"].id().parse::<OrgId>().unwrap();
    let first = org(&set_up);
    let line = lines(&app, first).await.pop().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (user, session) = (text(&set_up["user"]["id"]), text(&set_up["id"]));
    assert_eq!((&*line.action, &line.actor, &line.resource), ("user.sign_in", &user, &session));

    let second = app.org(Tier::Pro).await;
    let admin = app.key(second, &[launchway_domain::scope::Scope::Admin]).await;
    let (_, invitation) = invite(&app, &admin, EMAIL, "member").await;
    let body = json!({"token": invitation, "password": PASSWORD});
    let joined = post(&app, "/auth/invitation", body, &[]).await.ok();
    for org in [first, second] {
        let line = lines(&app, org).await.pop().unwrap();
        assert_eq!((&*line.action, line.resource), ("user.sign_in", text(&joined["id"])), "{org}");
    }
}

/// Users of the same organizations sign in and out concurrently, with changes of the organizations in between. The logs
/// are written in one order, so there is no deadlock.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_do_not_lock_each_other_out() {
    let app = TestApp::with(Setup::on_postgres()).await;
    let (orgs, _) = stage(&app).await;
    let key = app.key(orgs[0], &[launchway_domain::scope::Scope::Admin]).await;
    let work = (0..6).map(async |number| {
        if number % 2 == 0 {
            let browser = app.sign_in(EMAIL).await;
            app.post(&browser, "/auth/sign-out", ()).await.ok();
        } else {
            app.post(&key, "/api-keys", json!({"name": "CI", "scopes": ["update"]})).await.created();
        }
    });
    futures::future::join_all(work).await;
    assert_eq!(lines(&app, orgs[1]).await.len(), 6);
    let check = launchway_ops::audit::verify(&app.app).await.unwrap();
    assert_eq!(check.problems, Vec::<String>::new());
}
