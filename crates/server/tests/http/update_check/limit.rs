//! The limit of checks by client address, seen through trusted proxies only.

use launchway_domain::time::{MINUTE, SECOND};
use reqwest::Method;

use crate::support::{Answer, NOBODY, TestApp};

async fn limited(trusted_proxies: &str) -> TestApp {
    TestApp::with(settings!(check_limit = "2", trusted_proxies = trusted_proxies)).await
}

async fn ask_from(app: &TestApp, forwarded: &[&str]) -> Answer {
    let mut request = app.request(Method::GET, "/update/check/com.example.app?currentVersion=1.0.0");
    for value in forwarded {
        request = request.header("x-forwarded-for", *value);
    }
    Answer::to(request).await
}

#[tokio::test]
async fn a_client_has_checks_a_minute_and_is_told_when_to_return() {
    let app = limited("127.0.0.1").await;
    app.advance(20 * SECOND);
    for _ in 0..2 {
        ask_from(&app, &[]).await.ok();
    }
    let refused = ask_from(&app, &[]).await;
    refused.refused(429, "Too many requests. Try again in 40 seconds.");
    assert_eq!(refused.header("retry-after"), "40");
    assert_eq!(refused.header("access-control-allow-origin"), "*");
    assert_eq!(refused.header("cache-control"), "no-cache, no-store, must-revalidate");
    app.advance(40 * SECOND - 1);
    ask_from(&app, &[]).await.is(429);
    app.advance(1);
    ask_from(&app, &[]).await.ok();
    app.advance(-MINUTE);
    assert_ne!(ask_from(&app, &[]).await.status, 500, "a clock that goes back");
}

/// Every spelling of one client, and other clients.
#[tokio::test]
async fn a_client_is_an_ipv4_address_or_an_ipv6_network() {
    let app = limited("127.0.0.1,10.0.0.0/8").await;
    let clients: [&[&[&str]]; 6] = [
        &[&["192.0.2.1"], &["::ffff:192.0.2.1"], &["spoofed, 192.0.2.1"], &["198.51.100.9, 192.0.2.1"]],
        &[&["192.0.2.2"], &["192.0.2.2, 10.0.0.1"], &["192.0.2.2, 10.0.0.1, 10.9.9.9"]],
        &[&["2001:db8:0:1::1"], &["2001:db8:0:1:ffff:ffff:ffff:ffff"], &["2001:0db8:0000:0001::abcd"]],
        &[&["2001:db8:0:2::1"], &["192.0.2.1", "2001:db8:0:2::9"], &["2001:db8:0:2::2, 10.0.0.1"]],
        &[&["192.0.2.3", "10.0.0.1"], &["192.0.2.3"], &["192.0.2.3 ,10.0.0.1"]],
        &[&[], &["not an address"], &["127.0.0.1"]],
    ];
    for spellings in clients {
        for (at, spelling) in spellings.iter().enumerate() {
            let status = ask_from(&app, spelling).await.status;
            assert_eq!(status == 429, at >= 2, "{spelling:?} after {at} others of {spellings:?}");
        }
    }
}

/// The attack: a client with an IPv6 /48 uses a new /64 for each request.
#[tokio::test]
async fn many_clients_of_one_network_are_limited_together() {
    let app = limited("127.0.0.1").await;
    let mut refused = 0;
    for n in 0..40 {
        let status = ask_from(&app, &[&format!("2001:db8:0:{n:02x}00::1")]).await.status;
        refused += usize::from(status == 429);
    }
    assert_eq!(refused, 40 - 16 * 2);
    ask_from(&app, &["2001:db8:1::1"]).await.ok();
}

/// "the client address comes from `X-Forwarded-For` only through proxies that the configuration trusts".
#[tokio::test]
async fn a_header_from_elsewhere_changes_nothing() {
    let app = limited("10.0.0.1").await;
    for (at, forwarded) in ["192.0.2.1", "192.0.2.2", "192.0.2.3", "10.0.0.1"].into_iter().enumerate() {
        let status = ask_from(&app, &[forwarded]).await.status;
        assert_eq!(status == 429, at >= 2, "{forwarded}");
    }
}

#[tokio::test]
async fn wrong_questions_count_too() {
    let app = limited("127.0.0.1").await;
    for _ in 0..2 {
        app.get(NOBODY, "/update/check/com.example.app").await.refused(400, "currentVersion is required");
    }
    app.get(NOBODY, "/update/check/com.example.app").await.is(429);
}
