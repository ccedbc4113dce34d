//! Failed sign-ins slow down per account and per client address, IPv6 by its /64
//! (`docs/reference/callers.md#failed-sign-ins`).

use launchway_config::RawSettings;
use launchway_domain::tenancy::Role;
use launchway_domain::time::{MINUTE, SECOND};
use launchway_ops::limits::calls::Tries;
use launchway_os::clock::Clock;
use launchway_testing::postgres::Postgres;
use serde_json::json;

use super::{EMAIL, credentials, post};
use crate::support::{Answer, Fields, PASSWORD, TestApp};

const WRONG: &str = "not the password";
const PER_ACCOUNT: usize = 5;
const PER_ADDRESS: usize = 20;

async fn with_user() -> TestApp {
    on(None).await
}

/// On this database, or on SQLite.
async fn on(database_url: Option<String>) -> TestApp {
    let settings = RawSettings { database_url, ..RawSettings::default() };
    let app = TestApp::with(settings).await;
    app.org_with_user(EMAIL, Role::Owner).await;
    app
}

async fn sign_in(app: &TestApp, email: &str, password: &str, address: &str) -> Answer {
    post(app, "/auth/sign-in", credentials(email, password), &[("x-forwarded-for", address)]).await
}

fn is_slowed_down(answer: &Answer, seconds: u64) {
    answer.refused(429, &format!("Too many requests. Try again in {seconds} seconds."));
    assert_eq!(answer.header("retry-after"), seconds.to_string());
}

#[tokio::test]
async fn an_account_takes_five_wrong_passwords_a_minute() {
    let app = with_user().await;
    app.advance(15 * SECOND);
    for n in 0..PER_ACCOUNT {
        sign_in(&app, EMAIL, WRONG, &format!("192.0.2.{n}")).await.refused(401, "The address or the password is wrong");
    }
    // Now even the right one is delayed, in any letter case of the address.
    is_slowed_down(&sign_in(&app, EMAIL, PASSWORD, "198.51.100.1").await, 45);
    is_slowed_down(&sign_in(&app, "ADA@example.com", PASSWORD, "198.51.100.1").await, 45);
    app.advance(45 * SECOND);
    sign_in(&app, EMAIL, PASSWORD, "198.51.100.1").await.ok();
}

#[tokio::test]
async fn wrong_passwords_at_the_same_time_are_not_more() {
    for app in [with_user().await, on(Some(Postgres::shared().fresh_database())).await] {
        let tries = (0..4 * PER_ACCOUNT).map(|n| {
            let app = &app;
            async move { sign_in(app, EMAIL, WRONG, &format!("192.0.2.{n}")).await.status.as_u16() }
        });
        let answers = futures::future::join_all(tries).await;
        let looked_at = answers.iter().filter(|status| **status == 401).count();
        assert_eq!(looked_at, PER_ACCOUNT, "{answers:?}");
        assert!(answers.iter().all(|status| [401, 429].contains(status)), "{answers:?}");
        app.advance(MINUTE);
        // A right one does not count, however often it comes.
        for _ in 0..=PER_ACCOUNT {
            sign_in(&app, EMAIL, PASSWORD, "192.0.2.1").await.ok();
        }
    }
}

#[tokio::test]
async fn right_passwords_do_not_count() {
    let app = with_user().await;
    for _ in 0..PER_ADDRESS + 1 {
        sign_in(&app, EMAIL, PASSWORD, "192.0.2.1").await.ok();
    }
}

#[tokio::test]
async fn an_address_takes_twenty_wrong_passwords_a_minute() {
    for (address, same, other) in
        [("192.0.2.1", "192.0.2.1", "192.0.2.2"), ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:2::1")]
    {
        let app = with_user().await;
        for n in 0..PER_ADDRESS {
            let answer = sign_in(&app, &format!("nobody{n}@example.com"), WRONG, address).await;
            answer.refused(401, "The address or the password is wrong");
        }
        is_slowed_down(&sign_in(&app, EMAIL, PASSWORD, same).await, 60);
        sign_in(&app, EMAIL, PASSWORD, other).await.ok();
        app.advance(MINUTE);
        sign_in(&app, EMAIL, PASSWORD, same).await.ok();
    }
}

/// The responses do not reveal which addresses have an account.
#[tokio::test]
async fn an_unknown_account_is_answered_as_a_wrong_password() {
    let app = with_user().await;
    for n in 0..=PER_ACCOUNT {
        let known = sign_in(&app, EMAIL, WRONG, &format!("192.0.2.{n}")).await;
        let unknown = sign_in(&app, "eve@example.com", WRONG, &format!("198.51.100.{n}")).await;
        assert_eq!((known.status, &known.bytes), (unknown.status, &unknown.bytes));
    }
    app.advance(MINUTE);
    sign_in(&app, "no address", WRONG, "192.0.2.9").await.refused(401, "The address or the password is wrong");
}

#[tokio::test]
async fn an_invitation_is_no_way_around() {
    let app = with_user().await;
    let (_, key) = app.org_with_key().await;
    let invitation = app.post(&key, "/orgs/invitations", json!({"email": EMAIL})).await.created();
    let token = invitation.text("link").split_once("token=").unwrap().1;
    for n in 0..PER_ACCOUNT {
        let body = json!({"token": token, "password": WRONG});
        let answer = post(&app, "/auth/invitation", body, &[("x-forwarded-for", &format!("192.0.2.{n}"))]).await;
        answer.refused(401, "The address or the password is wrong");
    }
    let body = json!({"token": token, "password": PASSWORD});
    is_slowed_down(&post(&app, "/auth/invitation", body, &[]).await, 60);
    is_slowed_down(&sign_in(&app, EMAIL, PASSWORD, "198.51.100.1").await, 60);
}

/// Otherwise a client over its limit could lock out any account, and add any number of accounts to the counters.
#[tokio::test]
async fn an_address_that_is_over_its_limit_counts_for_no_account() {
    for app in TestApp::on_both().await {
        app.org_with_user(EMAIL, Role::Owner).await;
        for n in 0..PER_ADDRESS {
            sign_in(&app, &format!("nobody{n}@example.com"), WRONG, "192.0.2.1").await;
        }
        for _ in 0..=PER_ACCOUNT {
            is_slowed_down(&sign_in(&app, EMAIL, WRONG, "192.0.2.1").await, 60);
        }
        sign_in(&app, EMAIL, PASSWORD, "198.51.100.1").await.ok();
    }
}

/// The service stores nothing that strangers can invent without bound, so there is no table to fill.
#[tokio::test]
async fn no_flood_frees_an_account_or_an_address() {
    let app = with_user().await;
    let calls = &app.app.calls;
    for n in 0..PER_ACCOUNT {
        sign_in(&app, EMAIL, WRONG, &format!("192.0.2.{n}")).await;
    }
    for n in 0..PER_ADDRESS {
        sign_in(&app, &format!("nobody{n}@example.com"), WRONG, "192.0.2.100").await;
    }
    let now = app.clock.now();
    for n in 0..300_000u32 {
        // Each in its own block: addresses of one block share a limit.
        let network = (0x2001_u128 << 112) | (u128::from(n) << 80);
        for address in [std::net::IpAddr::from(n.to_be_bytes()), network.to_be_bytes().into()] {
            calls.count_address(Tries::SignIns, address, now).await.unwrap();
        }
    }
    // As many subjects as an earlier table held before it stopped counting.
    for n in 0..110_000 {
        calls.count(&format!("flood:{n}"), 5, now).await.unwrap();
    }
    is_slowed_down(&sign_in(&app, EMAIL, PASSWORD, "198.51.100.1").await, 60);
    is_slowed_down(&sign_in(&app, "eve@example.com", WRONG, "192.0.2.100").await, 60);
    for n in 0..=PER_ACCOUNT {
        let answer = sign_in(&app, "new@example.com", WRONG, &format!("203.0.113.{n}")).await;
        assert_eq!(answer.status.as_u16(), if n < PER_ACCOUNT { 401 } else { 429 });
    }
}
