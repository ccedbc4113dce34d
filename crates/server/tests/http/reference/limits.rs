//! Rate limits and paging (`docs/reference/conventions.md#rate-limits`).

use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Tier;
use launchway_domain::time::{MINUTE, SECOND};
use serde_json::json;

use super::Who::Key;
use super::data::Data;
use super::{Names, Page, run};
use crate::support::{START, TestApp};

/// The table of tiers. `X-RateLimit-Limit`: requests allowed per minute; `X-RateLimit-Remaining`: requests left in the
/// window; `X-RateLimit-Reset`: integer epoch seconds of window reset; "Exceeding the limit yields HTTP 429".
#[tokio::test]
async fn the_rate_limit_is_that_of_the_tier() {
    let app = TestApp::start().await;
    for (tier, per_minute) in [(Tier::Free, 60), (Tier::Pro, 300), (Tier::Enterprise, 1000)] {
        let org = app.org(tier).await;
        let key = app.key(org, &[Scope::Build]).await;
        let call = async || {
            let answer = app.get(&key, "/build").await;
            let number = |name: &str| answer.header(name).parse::<i64>().unwrap();
            let quota = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"].map(number);
            (answer, quota)
        };
        for made in 1..=per_minute {
            let (answer, quota) = call().await;
            assert_eq!(answer.status, 200, "{tier}: call {made}");
            assert_eq!(quota, [per_minute, per_minute - made, (START + MINUTE) / SECOND], "{tier}: call {made}");
        }
        let (answer, quota) = call().await;
        answer.refused(429, "Too many requests. Try again in 60 seconds.");
        assert_eq!(quota, [per_minute, 0, (START + MINUTE) / SECOND]);
    }
    app.advance(MINUTE);
    let org = app.org(Tier::Free).await;
    let key = app.key(org, &[Scope::Build]).await;
    let answer = app.get(&key, "/build").await;
    assert_eq!(answer.header("x-ratelimit-reset"), ((START + 2 * MINUTE) / SECOND).to_string());
}

#[tokio::test]
async fn pages_have_a_limit_and_an_offset() {
    let data = Data::new().await;
    let rows = rows! {
        "limit default 10, offset default 0": Key(Scope::Admin), "GET /api-keys"
            => Page(json!({"limit": 10, "offset": 0}), 10);
        "limit maximum 100": Key(Scope::Admin), "GET /api-keys?limit=500"
            => Page(json!({"limit": 100}), super::data::KEYS);
        "limit": Key(Scope::Admin), "GET /api-keys?limit=0" => Names(400, "limit");
        "limit": Key(Scope::Admin), "GET /api-keys?limit=-1" => Names(400, "limit");
        "offset": Key(Scope::Admin), "GET /api-keys?offset=-1" => Names(400, "offset");
        "offset": Key(Scope::Admin), "GET /api-keys?offset=13" => Page(json!({"offset": 13}), 1);
    };
    run(&data, rows).await;
}
