//! The install page: with a signed link, for anyone who has it, while it is valid, and nothing else.

use launchway_domain::build::Outcome;
use launchway_domain::id::{BuildId, OrgId};
use launchway_domain::time::DAY;
use serde_json::{Value, json};

use crate::stage::builds::{Play, built, read, runner};
use crate::support::{Answer, Fields, NOBODY, Says, TestApp};

/// A successful build with one file.
async fn done(app: &TestApp, org: OrgId, key: &str, fields: Value, file: &str) -> BuildId {
    let id = built(app, key, fields).await;
    let play = Play { app, org, id };
    play.leased(runner(app, None, &[]).await).await;
    play.gives(file, b"an app").await;
    play.ends(Outcome::Success).await;
    id
}

async fn link(app: &TestApp, key: &str, id: BuildId) -> String {
    let view = read(app, key, id).await;
    view["install"].text("url").to_owned()
}

/// The target of a button.
fn target(page: &str) -> String {
    let (_, rest) = page.split_once("class=\"button\" href=\"").unwrap();
    let (target, _) = rest.split_once('"').unwrap();
    target.replace("&#38;", "&").replace("&amp;", "&")
}

/// A page that reveals nothing about any build.
fn assert_tells_nothing(answer: &Answer, status: u16) {
    answer.is(status);
    for part in ["com.example", "build_", "org_", "app.apk", "1.2.3"] {
        assert!(!answer.text().contains(part), "{part}: {}", answer.text());
    }
    assert!(answer.header("content-security-policy").starts_with("default-src 'none'"));
}

#[tokio::test]
async fn an_android_app_is_downloaded_from_its_page() {
    let (app, org, key) = TestApp::with_org().await;
    let fields = json!({"distribution": "internal", "configuration": "staging", "version": "9.9.9", "buildNumber": 42});
    let id = done(&app, org, &key, fields, "app <ü>.apk").await;
    let view = read(&app, &key, id).await;
    assert_eq!(view["install"]["expiresAt"], "2026-11-27T10:00:00.000Z");
    let link = link(&app, &key, id).await;
    assert!(link.starts_with(&format!("{}/install/{id}?expires=", app.origin)));
    let page = app.get(NOBODY, &link).await;
    assert_eq!((page.status.as_u16(), page.header("content-type")), (200, "text/html; charset=utf-8"));
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    assert_eq!(page.header("cache-control"), "no-store");
    assert!(page.header("content-security-policy").starts_with("default-src 'none'; style-src 'self'"));
    let text = page.text();
    let sha256 = view["artifacts"][0].text("sha256");
    for part in [
        "<h1>com.example.app</h1>",
        "Android · 1.2.3 (42)",
        "app &#60;ü&#62;.apk",
        "0.0 kB",
        sha256,
        "staging",
        "2026-11-27 10:00 UTC",
        "<svg class=\"qr\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    text.lacks("<script");
    text.lacks("style=");
    let target = target(&text);
    let answer = app.get(NOBODY, &format!("{}{target}", app.origin)).await;
    answer.is(302);
    let got = app.get(NOBODY, answer.header("location")).await;
    assert_eq!((got.status.as_u16(), got.bytes.as_slice()), (200, &b"an app"[..]));
    // The URL is new each time: the link outlives it.
    app.advance(6 * DAY);
    app.get(NOBODY, answer.header("location")).await.is(403);
    let later = app.get(NOBODY, &format!("{}{target}", app.origin)).await;
    app.get(NOBODY, later.header("location")).await.is(200);
}

#[tokio::test]
async fn an_ios_app_is_installed_by_its_manifest() {
    let app = TestApp::with(settings!(public_url = "https://builds.example.com")).await;
    let (org, key) = app.org_with_key().await;
    app.post(&key, "/apps", json!({"bundleId": "com.example.app", "name": "Tom & <Jerry>"})).await.created();
    let fields = json!({"platform": "ios", "distribution": "internal"});
    let id = done(&app, org, &key, fields, "App.ipa").await;
    let link = link(&app, &key, id).await.replace("https://builds.example.com", &app.origin);
    let page = app.get(NOBODY, &link).await;
    page.is(200);
    page.says("<h1>Tom &#38; &#60;Jerry&#62;</h1>");
    page.lacks("plain http");
    let target = target(&page.text());
    let url = target.strip_prefix("itms-services://?action=download-manifest&url=").unwrap();
    let url = url.replace("%3A", ":").replace("%2F", "/").replace("%3F", "?");
    let url = url.replace("%3D", "=").replace("%26", "&");
    assert!(url.starts_with(&format!("https://builds.example.com/install/{id}/manifest.plist?")), "{url}");
    let manifest = app.get(NOBODY, &url.replace("https://builds.example.com", &app.origin)).await;
    manifest.is(200);
    let text = manifest.text();
    for part in [
        "<string>software-package</string>",
        "<string>com.example.app</string>",
        "<string>1.2.3</string>",
        "<string>Tom &amp; &lt;Jerry&gt;</string>",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (_, rest) = text.split_once("<string>https://").unwrap();
    let asset = rest.split_once("</string>").unwrap().0.replace("&amp;", "&");
    let asset = format!("https://{asset}").replace("https://builds.example.com", &app.origin);
    assert_eq!(app.get(NOBODY, &asset).await.bytes, b"an app");
    // Android's link also leads to the bytes; the manifest of an Android app leads to nothing.
    let android = done(&app, org, &key, json!({"distribution": "internal"}), "app.apk").await;
    let link = self::link(&app, &key, android).await.replace("https://builds.example.com", &app.origin);
    let wrong = app.get(NOBODY, &link.replace('?', "/manifest.plist?")).await;
    assert_tells_nothing(&wrong, 404);
}

#[tokio::test]
async fn over_plain_http_an_ios_page_says_why_it_cannot_work() {
    let (app, org, key) = TestApp::with_org().await;
    let fields = json!({"platform": "ios", "distribution": "development"});
    let id = done(&app, org, &key, fields, "App.ipa").await;
    app.get(NOBODY, &link(&app, &key, id).await).await.says("Apple&#39;s systems install only from https");
}

#[tokio::test]
async fn a_forged_expired_or_orphaned_link_tells_nothing() {
    let (app, org, key) = TestApp::with_org().await;
    let fields = json!({"distribution": "internal"});
    let id = done(&app, org, &key, fields.clone(), "app.apk").await;
    let other = done(&app, org, &key, fields, "app.apk").await;
    let link = link(&app, &key, id).await;
    let (start, proof) = link.split_once('?').unwrap();
    let mut forged = vec![
        start.to_owned(),
        format!("{start}?"),
        link.replace(&id.to_string(), &other.to_string()),
        link.replace(&id.to_string(), "nonsense"),
        link.replace(&id.to_string(), "build_01h455vb4pex5vsknk084sn02q"),
        link.replace("expires=1", "expires=2"),
        format!("{link}A"),
        format!("{link}&signature=x"),
        link[..link.len() - 1].to_owned(),
    ];
    for place in 0..proof.len() {
        let mut bytes = proof.as_bytes().to_vec();
        bytes[place] = if bytes[place] == b'x' { b'y' } else { b'x' };
        forged.push(format!("{start}?{}", String::from_utf8(bytes).unwrap()));
    }
    for path in ["", "/app", "/manifest.plist"] {
        for link in &forged {
            let link = match link.split_once('?') {
                Some((start, proof)) => format!("{start}{path}?{proof}"),
                None => format!("{link}{path}"),
            };
            assert_tells_nothing(&app.get(NOBODY, &link).await, 404);
        }
    }
    let of_expired = [link.clone(), link.replace('?', "/app?")];
    app.advance(7 * DAY - 1);
    app.get(NOBODY, &link).await.is(200);
    app.advance(1);
    for link in &of_expired {
        let expired = app.get(NOBODY, link).await;
        assert_tells_nothing(&expired, 403);
        expired.says("This link has expired");
    }
    let link = self::link(&app, &key, id).await;
    app.delete(&key, &format!("/build?id={id}")).await.ok();
    assert_tells_nothing(&app.get(NOBODY, &link).await, 404);
}

#[tokio::test]
async fn only_what_a_device_takes_by_a_link_has_one() {
    let (app, org, key) = TestApp::with_org().await;
    for (platform, distribution, file, has) in [
        ("android", "internal", "a.apk", true),
        ("android", "development", "a.apk", true),
        ("android", "simulator", "a.apk", true),
        ("android", "store", "a.apk", false),
        ("android", "internal", "a.aab", false),
        ("ios", "internal", "a.ipa", true),
        ("ios", "development", "a.ipa", true),
        ("ios", "simulator", "a.ipa", false),
        ("ios", "store", "a.ipa", false),
        ("ios", "internal", "a.zip", false),
        ("visionos", "internal", "a.ipa", true),
    ] {
        let fields = json!({"platform": platform, "distribution": distribution});
        let id = done(&app, org, &key, fields, file).await;
        let view = read(&app, &key, id).await;
        assert_eq!(!view["install"].is_null(), has, "{platform} {distribution} {file}");
    }
    // A failed build has none either, whatever it produced.
    let id = built(&app, &key, json!({"distribution": "internal"})).await;
    let play = Play { app: &app, org, id };
    play.leased(runner(&app, None, &[]).await).await;
    play.gives("a.apk", b"x").await;
    play.ends(Outcome::Failed(launchway_domain::build::BuildErrorCode::StepFailed)).await;
    assert_eq!(read(&app, &key, id).await["install"], Value::Null);
}
