//! The markup of dashboard pages: a strict policy, nothing from other hosts, and stored markup shown as text.

use launchway_domain::build::plan::Step;
use launchway_domain::build::{BuildErrorCode, BuildFailure, GitFacts};
use launchway_domain::submission::SubmissionStatus;
use launchway_domain::submission::error::{SubmissionError, SubmissionErrorCode};
use launchway_domain::tenancy::Role;
use launchway_os::clock::Clock;
use reqwest::StatusCode;
use serde_json::json;

use super::{Visit, visit, visit_of};
use crate::support::{Fields, Says, TestApp};

const HOSTILE: &str = r#"<script>alert("1")</script><img src=x onerror='x'>{{7*7}}"#;

/// The pages of an organization that name no resource.
const LISTS: [&str; 20] = [
    "",
    "/builds",
    "/submissions",
    "/submissions/new",
    "/updates",
    "/updates/audience",
    "/updates/new",
    "/apps",
    "/deployment-keys",
    "/env",
    "/credentials",
    "/api-keys",
    "/webhooks",
    "/members",
    "/runners",
    "/usage",
    "/audit",
    "/audit/print",
    "/profile",
    "/profile/two-factor",
];

#[tokio::test]
async fn every_page_is_strict() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Owner).await;
    let build = app.queue(visit.org, |_| {}).await;
    let build = format!("/builds/{build}");
    for path in LISTS.into_iter().chain([build.as_str(), "/builds/none", "/nothing"]) {
        let answer = visit.page(path).await;
        if path == "/nothing" {
            answer.is(404);
            continue;
        }
        let policy = answer.header("content-security-policy");
        let mut directives: Vec<_> = policy.split("; ").collect();
        directives.sort_unstable();
        let wanted = [
            "base-uri 'none'",
            "connect-src 'self'",
            "default-src 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "img-src 'self'",
            "script-src 'self'",
            "style-src 'self'",
        ];
        assert_eq!(directives, wanted, "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
        let text = answer.text();
        for part in [" style=", " onclick=", " onload=", "javascript:", "<style", "<iframe", "hx-on", "js:"] {
            assert!(!text.contains(part), "{path} has {part}");
        }
        for attribute in ["href=\"", "src=\"", "action=\"", "data-follow=\""] {
            for value in text.split(attribute).skip(1).map(|rest| rest.split_once('"').unwrap().0) {
                let own = value.starts_with(['#', '?']) || (value.starts_with('/') && !value.starts_with("//"));
                assert!(own, "{path}: {attribute}{value}");
            }
        }
        // The page contains no inline script, and every asset exists.
        for tag in text.split("<script").skip(1) {
            assert!(tag.split_once('>').unwrap().1.starts_with("</script>"), "{path}: {tag}");
        }
        for asset in text.split("=\"/assets/").skip(1).map(|rest| rest.split_once('"').unwrap().0) {
            let found = crate::pages::page(&app, &format!("/assets/{asset}"), "").await;
            assert_eq!(found.status, StatusCode::OK, "{asset}");
        }
    }
}

/// The names in double quotes that follow a text of a template.
fn quoted<'t>(template: &'t str, before: &str, end: char) -> Vec<&'t str> {
    let calls = template.split(before).skip(1);
    calls.flat_map(|rest| rest.split(end).next().unwrap().split('"').skip(1).step_by(2)).collect()
}

#[test]
fn every_field_has_a_place_for_its_error() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../web/templates/dashboard");
    let mut forms = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let template = std::fs::read_to_string(&path).unwrap();
        for name in quoted(&template, "parts::problem(form, [", ']') {
            forms += 1;
            let calls =
                ["field", "choice", "wrong", "wrong_group"].map(|call| format!("parts::{call}(form, \"{name}\""));
            assert!(calls.iter().any(|call| template.contains(call)), "{} hides {name}", path.display());
        }
    }
    assert!(forms > 40, "{forms}");
}

/// Without scripts, too, the browser scrolls to what was refused.
#[tokio::test]
async fn the_refused_field_has_the_focus() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Owner).await;
    for (path, fields, focused) in [
        (
            "/apps",
            &[("bundleId", "n o")][..],
            r#"aria-describedby="bundleId-hint bundleId-wrong" aria-invalid="true" autofocus"#,
        ),
        (
            "/api-keys",
            &[("name", "CI")],
            r#"<span class="wrong" id="scopes-wrong" role="alert" tabindex="-1" autofocus>"#,
        ),
        (
            "/webhooks",
            &[("name", "x"), ("url", "https://a.example/"), ("type", "fax")],
            r#"aria-describedby="type-wrong" aria-invalid="true" autofocus"#,
        ),
        ("/name", &[("name", "")], r#"aria-describedby="name-wrong" aria-invalid="true" autofocus"#),
        (
            "/invitations",
            &[("email", "new@example.com"), ("role", "king")],
            r#"aria-describedby="role-wrong" aria-invalid="true" autofocus"#,
        ),
    ] {
        let revised = match path {
            "/name" => visit.revised("/members", path, fields).await,
            _ => visit.send(path, fields).await,
        };
        revised.is(400);
        let html = revised.text();
        assert_eq!(html.matches(" autofocus").count(), 1, "{path}: {html}");
        html.says(focused);
    }
    visit.html("/apps").await.lacks(" autofocus");
}

fn is_text(name: &str, html: &str) {
    for part in ["<script>", "<img src", "onerror='x'>"] {
        assert!(!html.contains(part), "{name} has {part}: {html}");
    }
    assert!(html.contains("&#60;script&#62;alert(&#34;1&#34;)"), "{name} shows it as text: {html}");
}

#[tokio::test]
async fn stored_markup_is_text() {
    let (app, org, key) = TestApp::with_org().await;
    let visit: Visit<'_> = visit_of(&app, org, Role::Owner).await;
    let build = app
        .queue(org, |build| {
            build.spec.profile = Some(HOSTILE.to_owned());
            build.spec.git = Some(GitFacts {
                commit: Some("4f0c2d1".to_owned()),
                branch: Some(HOSTILE.to_owned()),
                message: Some(HOSTILE.to_owned()),
                dirty: Some(true),
            });
            build.error = Some(BuildFailure {
                code: BuildErrorCode::StepFailed,
                phase: Some(HOSTILE.to_owned()),
                message: HOSTILE.to_owned(),
            });
            build.warnings = vec![HOSTILE.to_owned()];
            let step = Step { name: HOSTILE.to_owned(), run: HOSTILE.to_owned(), timeout_seconds: None };
            build.plan.as_mut().unwrap().steps = vec![step];
        })
        .await;
    is_text("build", &visit.html(&format!("/builds/{build}")).await);
    is_text("builds", &visit.html("/builds").await);
    let submission = app.submitted(&key).await.id().parse().unwrap();
    let mut tx = app.app.db.write().await.unwrap();
    let mut record = tx.org(org).lock_submission(submission).await.unwrap().unwrap();
    record.state.status = SubmissionStatus::Failed;
    record.error = Some(SubmissionError::new(SubmissionErrorCode::CredentialInvalid, HOSTILE));
    record.external.insert("appId".to_owned(), HOSTILE.to_owned());
    record.add_event(app.clock.now(), HOSTILE);
    tx.org(org).change_submission(&record).await.unwrap();
    tx.commit().await.unwrap();
    is_text("submission", &visit.html(&format!("/submissions/{submission}")).await);
    let fields = [("locale", HOSTILE), ("text", HOSTILE), ("destination", HOSTILE)];
    let refused = visit.send_parts("/submissions/new", &visit.token, &fields, None).await;
    is_text("a refused submission", &refused.text());
    app.post(&key, "/api-keys", json!({"name": HOSTILE, "scopes": ["build"]})).await.created();
    is_text("keys", &visit.html("/api-keys").await);
    is_text("a refused key", &visit.send("/api-keys", &[("name", HOSTILE)]).await.text());
}
