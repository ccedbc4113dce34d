//! Access: every page of the router's own list, with another organization's user and id, and forms from other sites.

use launchway_domain::tenancy::Role;
use launchway_web::dashboard;
use reqwest::{Method, StatusCode};

use super::{Visit, visit, visit_of};
use crate::pages::{encoded, page, submit};
use crate::support::{Answer, Fields, Says, TestApp};

/// A path of the list with ids that nobody has.
fn filled(path: &str, org: &str) -> String {
    let id = format!("{:0>26}", "7");
    path.replace("{org}", org).replace("{id}", &id).replace("{artifact}", &id).replace("{delivery}", &id)
}

async fn get(app: &TestApp, path: &str, cookie: &str) -> Answer {
    page(app, path, cookie).await
}

/// The response to a non-member does not depend on whether the organization exists.
#[tokio::test]
async fn no_page_shows_another_organization() {
    let app = TestApp::start().await;
    let (ours, theirs) = (visit(&app, Role::Owner).await, visit(&app, Role::Owner).await);
    let nobody = format!("org_{:0>26}", "7");
    let list = dashboard::pages();
    assert!(list.len() > 10);
    for row in &list {
        assert!(row.path.starts_with("/o/{org}"), "{}", row.path);
        let of = |org: &str| filled(row.path, org);
        let foreign = get(&app, &of(&theirs.org.to_string()), &ours.cookie).await;
        let missing = get(&app, &of(&nobody), &ours.cookie).await;
        // A path that only accepts forms cannot be read, whoever asks.
        let statuses = [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED];
        assert!(statuses.contains(&foreign.status), "{}: {}", row.path, foreign.status);
        assert_eq!((foreign.status, foreign.text()), (missing.status, missing.text()), "{}", row.path);
        let sent = submit(&app, &of(&theirs.org.to_string()), &ours.cookie, &[("token", &ours.token)]).await;
        assert!(statuses.contains(&sent.status), "{}: {}", row.path, sent.status);
    }
}

/// Another organization's resource under the own organization's path does not exist.
#[tokio::test]
async fn no_page_shows_a_thing_of_another_organization() {
    let app = TestApp::start().await;
    let (ours, theirs) = (visit(&app, Role::Owner).await, visit(&app, Role::Owner).await);
    let build = app.queue(theirs.org, |_| {}).await.to_string();
    theirs.html(&format!("/builds/{build}")).await;
    for path in [
        format!("/builds/{build}"),
        format!("/builds/{build}/live"),
        format!("/builds/{build}/log/lines"),
        format!("/builds/{build}/log/search?text=x"),
        format!("/log?id={build}"),
        format!("/log/stream?id={build}"),
    ] {
        let answer = ours.page(&path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}: {}", answer.text());
    }
    for path in ["cancel", "retry", "delete"] {
        let answer = ours.send(&format!("/builds/{build}/{path}"), &[]).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
    }
    theirs.html(&format!("/builds/{build}")).await;
}

/// The same for every page that names a submission, by the router's own list.
#[tokio::test]
async fn no_page_shows_a_submission_of_another_organization() {
    let app = TestApp::start().await;
    let ours = visit(&app, Role::Owner).await;
    let (org, key) = app.org_with_key().await;
    let theirs = visit_of(&app, org, Role::Owner).await;
    let submission = app.submitted(&key).await.id().to_owned();
    let rows: Vec<_> = dashboard::pages()
        .into_iter()
        .filter_map(|row| Some(row.path.strip_prefix("/o/{org}")?.replace("{id}", &submission)))
        .filter(|path| path.contains(&submission) && path.starts_with("/submissions/"))
        .collect();
    let missing = [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED];
    assert_eq!(rows.len(), 6);
    for path in rows {
        let read = ours.page(&path).await;
        assert!(missing.contains(&read.status), "{path}: {}", read.text());
        let sent = ours.send(&path, &[("status", "halted")]).await;
        assert!(missing.contains(&sent.status), "{path}: {}", sent.text());
    }
    let list = ours.html("/submissions").await;
    list.says("No submission yet");
    list.lacks(&submission);
    let build = app.queue(org, |_| {}).await;
    theirs.html(&format!("/submissions/new?buildId={build}")).await;
    ours.page(&format!("/submissions/new?buildId={build}")).await.is(404);
    assert!(theirs.html(&format!("/submissions/{submission}")).await.contains("Queued"));
}

#[tokio::test]
async fn who_is_not_signed_in_comes_back_to_the_page_afterwards() {
    let app = TestApp::start().await;
    let ours = visit(&app, Role::Member).await;
    for row in dashboard::pages() {
        let path = filled(row.path, &ours.org.to_string());
        for cookie in ["", "launchway=dead"] {
            let answer = get(&app, &path, cookie).await;
            if answer.status != StatusCode::METHOD_NOT_ALLOWED {
                assert_eq!(answer.status, StatusCode::SEE_OTHER, "{path}");
                assert!(answer.header("location").starts_with("/?next=%2Fo%2F"), "{path}");
            }
            let sent = submit(&app, &path, cookie, &[("token", "x")]).await;
            if sent.status != StatusCode::METHOD_NOT_ALLOWED {
                assert_eq!((sent.status, sent.header("location")), (StatusCode::SEE_OTHER, "/"), "{path}");
            }
        }
    }
    let wanted = format!("/o/{}/builds?status=failed", ours.org);
    let asked = get(&app, &wanted, "").await;
    let form = get(&app, asked.header("location"), "").await.text();
    form.says(&format!(r#"name="next" value="{wanted}""#));
}

/// A sign-in redirects only to pages of the dashboard.
#[tokio::test]
async fn a_sign_in_leads_nowhere_else() {
    let app = TestApp::start().await;
    let ours = visit(&app, Role::Member).await;
    let email = format!("member@{}.example", ours.org);
    for (next, expected) in [
        ("/o/x/builds", "/o/x/builds"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("/o/\\evil", "/"),
        ("/o/\r\nset-cookie: a=b", "/"),
        ("", "/"),
    ] {
        let fields = [("email", email.as_str()), ("password", crate::support::PASSWORD), ("next", next)];
        let answer = submit(&app, "/", "", &fields).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, expected), "{next}");
    }
}

/// A member sees the pages for members, and learns which role the others need.
#[tokio::test]
async fn roles_open_pages() {
    let app = TestApp::start().await;
    let member = visit(&app, Role::Member).await;
    // A live part of a page continues until the viewer leaves.
    for row in dashboard::pages()
        .iter()
        .filter(|row| !["/o/{org}/builds/live", "/o/{org}/submissions/live"].contains(&row.path))
    {
        let path = filled(row.path, &member.org.to_string());
        let answer = get(&app, &path, &member.cookie).await;
        let refused = answer.status == StatusCode::FORBIDDEN;
        if answer.status != StatusCode::METHOD_NOT_ALLOWED {
            assert_eq!(refused, row.least > Role::Member, "{}: {}", row.path, answer.status);
        }
        if refused {
            answer.says("This page requires the role admin in Test, but your role is member.");
        }
    }
}

/// The path of every form, for the attack.
async fn forms(visit: &Visit<'_>) -> Vec<String> {
    let list = dashboard::pages().into_iter();
    list.map(|row| filled(row.path, &visit.org.to_string())).collect()
}

#[tokio::test]
async fn a_form_from_elsewhere_or_without_its_token_does_nothing() {
    let app = TestApp::start().await;
    let (ours, theirs) = (visit(&app, Role::Owner).await, visit(&app, Role::Owner).await);
    let (token, other) = (&ours.token, &theirs.token);
    assert_ne!(token, other);
    for path in forms(&ours).await {
        let send = async |headers: &[(&str, &str)], body: &str, kind: &str| {
            let mut request = app
                .request(Method::POST, &format!("{}{path}", app.origin))
                .header("cookie", &ours.cookie)
                .header("content-type", kind);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            Answer::to(request.body(body.to_owned())).await
        };
        let form = "application/x-www-form-urlencoded";
        let own = [("origin", app.origin.as_str())];
        let good = encoded(&[("token", token)]);
        for (headers, body, kind) in [
            (&[][..], good.as_str(), form),
            (&[("origin", "https://evil.example")], &good, form),
            (&[("origin", "null")], &good, form),
            (&[("sec-fetch-site", "cross-site")], &good, form),
            (&[("sec-fetch-site", "same-site")], &good, form),
            (&own, "", form),
            (&own, "token=", form),
            (&own, &encoded(&[("token", other)]), form),
            (&own, &good, "text/plain"),
            (&own, "{}", "application/json"),
            (&own, "--x--\r\n", "multipart/form-data; boundary=x"),
        ] {
            let answer = send(headers, body, kind).await;
            if answer.status != StatusCode::METHOD_NOT_ALLOWED {
                let allowed = [StatusCode::FORBIDDEN, StatusCode::BAD_REQUEST];
                assert!(allowed.contains(&answer.status), "{path} {headers:?} {body} {kind}: {}", answer.status);
            }
        }
    }
    // Nothing came of any of it.
    assert!(!app.audit(ours.org).await.iter().any(|row| row.action.starts_with("key.")));
}
