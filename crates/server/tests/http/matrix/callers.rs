//! Every kind of caller, and its refusal at each endpoint.

use launchway_domain::actor::Actor;
use launchway_domain::id::OrgId;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::DAY;
use launchway_ops::api_keys::{self, KeyPlan};
use launchway_ops::write::Write;
use reqwest::Method;
use serde_json::json;

use super::table::Door;
use crate::device_logins::confirmed_admin_key;
use crate::support::{Answer, Fields, TestApp};

/// What a caller presents.
#[derive(Clone, Debug)]
pub enum Who {
    Nobody,
    BrokenKey,
    Key(Scope),
    /// A key with all scopes from a browser sign-in that a member with this role confirmed.
    BrowserKey(Role),
    Session(Role),
    /// An owner's session in a request from another site.
    OtherSite,
    /// A caller with access that names an organization in which it cannot act.
    OtherOrg(Box<Who>),
}

/// A caller: its name for messages, its headers, its kind.
#[derive(Clone, Debug)]
pub struct Caller {
    pub name: String,
    pub headers: Vec<(&'static str, String)>,
    pub query: String,
    pub who: Who,
}

impl Caller {
    pub fn new(name: &str, who: Who, headers: &[(&'static str, &str)]) -> Caller {
        let own = |(name, value): &(&'static str, &str)| (*name, (*value).to_owned());
        Caller { name: name.to_owned(), headers: headers.iter().map(own).collect(), query: String::new(), who }
    }

    pub fn key(name: &str, key: &str, who: Who) -> Caller {
        Caller::new(name, who, &[("authorization", &format!("Bearer {key}"))])
    }

    pub fn session(name: &str, cookie: &str, app: &TestApp, role: Role) -> Caller {
        Caller::new(name, Who::Session(role), &[("cookie", cookie), ("origin", &app.origin)])
    }

    /// The same caller with an `orgId` that is not its own.
    pub fn naming(self, org: &str) -> Caller {
        Caller {
            name: format!("{} with orgId={org}", self.name),
            query: format!("&orgId={org}"),
            who: Who::OtherOrg(Box::new(self.who)),
            ..self
        }
    }

    pub async fn send(&self, app: &TestApp, method: &str, path: &str, body: Option<&str>) -> Answer {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let mut request = app.request(method, path);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_owned());
        }
        Answer::to(request).await
    }
}

/// The expected refusal of a caller at an endpoint; `None` if it has access.
pub fn refusal(door: Door, method: &str, who: &Who) -> Option<(u16, String)> {
    let forbidden = |message: &str| Some((403, message.to_owned()));
    match (door, who) {
        (Door::Open, _) => None,
        (Door::OwnPages, Who::OtherSite) => forbidden("Sign in on this server's own pages"),
        (Door::OwnPages, _) => None,
        (_, Who::Nobody) => Some((401, "No authentication provided".to_owned())),
        // Endpoints of runners ignore keys and sessions.
        (Door::Runner, Who::Session(_) | Who::OtherSite) => Some((401, "No authentication provided".to_owned())),
        (Door::Runner, Who::OtherOrg(who)) => refusal(door, method, who),
        (Door::Runner, _) => Some((401, "Invalid or expired API key".to_owned())),
        (_, Who::BrokenKey) => Some((401, "Invalid or expired API key".to_owned())),
        (_, Who::OtherOrg(_)) => forbidden("orgId must be an organization that this caller can act in"),
        (_, Who::OtherSite) if method != "GET" => {
            forbidden("A change made with a session must come from the dashboard's own pages")
        }
        (_, Who::OtherSite) => refusal(door, method, &Who::Session(Role::Owner)),
        (Door::User | Door::Founder, Who::Key(_) | Who::BrowserKey(_)) => {
            forbidden("This requires a signed-in user. An API key has no session.")
        }
        (Door::Founder, Who::Session(_)) => forbidden("Only the operator of this server can create organizations"),
        (_, Who::Key(has)) => match door {
            Door::Scope(needed) if needed != has.as_str() => forbidden(&lacks(needed)),
            Door::Admin | Door::Owner if *has != Scope::Admin => forbidden(&lacks("admin")),
            _ => None,
        },
        (Door::Admin, Who::Session(role)) if *role == Role::Member => forbidden(&needs("admin", *role)),
        (Door::Owner, Who::Session(role) | Who::BrowserKey(role)) if *role != Role::Owner => {
            forbidden(&needs("owner", *role))
        }
        (_, Who::Session(_) | Who::BrowserKey(_)) => None,
    }
}

/// `docs/reference/conventions.md#fixed-messages`
fn lacks(scope: &str) -> String {
    format!("API key does not have '{scope}' scope")
}

fn needs(role: &str, has: Role) -> String {
    format!("This requires the role {role} in the organization, but your role is {has}")
}

/// A key that expires after a day.
async fn key_for_a_day(app: &TestApp, org: OrgId) -> String {
    let mut write = Write::open(&app.app, org, Actor::Operator, None).await.unwrap();
    let plan = KeyPlan { name: "for a day".to_owned(), scopes: Scope::ALL.to_vec(), life: Some(DAY) };
    let (key, _) = api_keys::create(&mut write, plan).await.unwrap();
    write.commit().await.unwrap();
    key.reveal().to_owned()
}

/// Every kind of caller of one organization. Moves the clock by a day, so that one key expires.
pub async fn all(app: &TestApp) -> Vec<Caller> {
    let org = app.org(Tier::Enterprise).await;
    let foreign = app.org(Tier::Enterprise).await.to_string();
    let admin_key = app.key(org, &[Scope::Admin]).await;
    // Lists are newest first: a moment later it is at the top.
    app.advance(1);
    let revoked = app.key(org, &Scope::ALL).await;
    let list = app.get(&admin_key, "/api-keys").await.ok();
    let id = list["items"][0].id();
    let gone = app.delete(&admin_key, &format!("/api-keys?id={id}")).await;
    assert_eq!(gone.ok(), json!({"id": id, "status": "revoked"}));
    let expired = key_for_a_day(app, org).await;
    app.advance(DAY);

    let mut keys = Vec::new();
    for scope in Scope::ALL {
        let key = app.key(org, &[scope]).await;
        keys.push(Caller::key(&format!("key with {scope} only"), &key, Who::Key(scope)));
    }
    let mut sessions = Vec::new();
    let mut cookie = String::new();
    for role in Role::ALL {
        cookie = app.user(org, &format!("{role}@example.com"), role).await;
        sessions.push(Caller::session(&format!("session of {role}"), &cookie, app, role));
        if role >= Role::Admin {
            let key = confirmed_admin_key(app, &cookie, org).await;
            keys.push(Caller::key(&format!("browser key of {role}"), &key, Who::BrowserKey(role)));
        }
    }
    let signed_out = app.sign_in("owner@example.com").await;
    app.post(&signed_out, "/auth/sign-out", ()).await.ok();

    let cut = &revoked[..revoked.len() - 1];
    let unknown = launchway_domain::api_key::ApiKey::from_random(&[9; 128]).unwrap();
    let mut callers = vec![
        Caller::new("nobody", Who::Nobody, &[]),
        Caller::new("another scheme", Who::Nobody, &[("authorization", "Basic YTpi")]),
        Caller::new("a key without scheme", Who::Nobody, &[("authorization", &admin_key)]),
        Caller::new("a key in the wrong scheme", Who::Nobody, &[("authorization", &format!("Token {admin_key}"))]),
        Caller::new("an unknown cookie", Who::Nobody, &[("cookie", "launchway=AAAA")]),
        Caller::new("an empty cookie", Who::Nobody, &[("cookie", "launchway=")]),
        Caller::new("a cookie that signed out", Who::Nobody, &[("cookie", &signed_out), ("origin", &app.origin)]),
        Caller::new("an empty Bearer value", Who::BrokenKey, &[("authorization", "Bearer")]),
        Caller::key("a Bearer value of no form", "nonsense", Who::BrokenKey),
        Caller::key("a key cut short", cut, Who::BrokenKey),
        Caller::key("a key that nobody made", unknown.reveal(), Who::BrokenKey),
        Caller::key("a key and more", &format!("{admin_key} {admin_key}"), Who::BrokenKey),
        Caller::key("a revoked key", &revoked, Who::BrokenKey),
        Caller::key("an expired key", &expired, Who::BrokenKey),
    ];
    let with_cookie = Caller::key("a bad key beside a good cookie", "lw_x", Who::BrokenKey);
    callers
        .push(Caller { headers: [with_cookie.headers.clone(), sessions[2].headers.clone()].concat(), ..with_cookie });
    for (name, headers) in [
        ("Origin of another site", vec![("origin", "https://evil.example")]),
        ("an opaque Origin", vec![("origin", "null")]),
        ("Sec-Fetch-Site: cross-site", vec![("sec-fetch-site", "cross-site")]),
        ("Sec-Fetch-Site: same-site", vec![("sec-fetch-site", "same-site"), ("origin", app.origin.as_str())]),
    ] {
        let headers = [vec![("cookie", cookie.as_str())], headers].concat();
        callers.push(Caller::new(name, Who::OtherSite, &headers));
    }
    for org in [foreign.as_str(), "org_01h455vb4pex5vsknk084sn02q", "nonsense"] {
        callers.extend(keys.iter().map(|caller| caller.clone().naming(org)));
        callers.push(sessions[2].clone().naming(org));
    }
    callers.extend(keys);
    // The valid sessions come last: one of the calls signs them out.
    callers.extend(sessions);
    callers
}
