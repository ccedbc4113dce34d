//! Submissions in the dashboard: list, page, submitting from a build and from a file, and actions.

use launchway_domain::id::SubmissionId;
use launchway_domain::platform::Platform;
use launchway_domain::submission::error::{SubmissionError, SubmissionErrorCode};
use launchway_domain::submission::{Submission, SubmissionStatus};
use launchway_domain::tenancy::Role;
use launchway_domain::time::DAY;
use launchway_os::clock::Clock;
use reqwest::StatusCode;
use serde_json::json;

use super::builds::comes;
use super::{Visit, visit, visit_of};
use crate::stage::Stage;
use crate::stage::app_stores::APK;
use crate::support::{Answer, Fields, Says, TestApp, noise};

/// A page of a stage whose visitor signed in before: the stage is changed in between.
fn again<'a>(stage: &'a Stage, cookie: &str, token: &str) -> Visit<'a> {
    Visit { app: stage, org: stage.org, cookie: cookie.to_owned(), token: token.to_owned() }
}

/// A stage and a member who is signed in: cookie and token.
async fn stage() -> (Stage, String, String) {
    let stage = Stage::new().app_stores().await;
    let visit = visit_of(&stage, stage.org, Role::Member).await;
    let (cookie, token) = (visit.cookie.clone(), visit.token.clone());
    (stage, cookie, token)
}

/// The id of the submission that a form made.
fn made(visit: &Visit<'_>, answer: &Answer) -> String {
    answer.is(303);
    let path = answer.header("location").strip_prefix(&format!("/o/{}/submissions/", visit.org));
    path.unwrap().strip_suffix("?done=submitted").unwrap().to_owned()
}

#[tokio::test]
async fn the_list_teaches_is_filtered_and_follows() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Member).await;
    let empty = visit.html("/submissions").await;
    empty.says("launchway submit android --latest --destination internal");
    empty.says(&format!("launchway login --url {}", app.origin));
    let submission = app.submitted(&key).await.id().to_owned();
    let path = format!("/submissions/{submission}");
    for query in ["", "?status=queued&platform=android&bundleId=com.example.app"] {
        let list = visit.html(&format!("/submissions{query}")).await;
        list.says(&path);
        list.says("Google Play, internal");
    }
    for query in ["status=in_review", "buildId=none", "bundleId=a..b"] {
        let none = visit.html(&format!("/submissions?{query}")).await;
        none.says("No submission to show.");
        none.lacks(&path);
    }
    let wrong = visit.page("/submissions?status=nonsense").await;
    wrong.is(400);
    wrong.says("status must be queued");

    let open = async |path: &str| {
        let url = format!("{}/o/{}{path}", app.origin, visit.org);
        let request = app.request(reqwest::Method::GET, &url).header("cookie", &visit.cookie);
        request.send().await.unwrap()
    };
    let mut list = open("/submissions/live").await;
    let mut one = open(&format!("{path}/live")).await;
    for stream in [&mut list, &mut one] {
        comes(stream, "Queued").await;
    }
    let next = visit.confirmed(&format!("{path}/cancel"), &[]).await;
    assert_eq!(next, format!("{path}?done=submission-canceled"));
    comes(&mut list, "Canceled").await;
    // A finished submission sends nothing more.
    comes(&mut one, "event: over\n").await.says("The submission is canceled");
    for (action, words) in
        [("cancel", "can no longer be changed"), ("retry", "Only a failed or rejected submission can be retried")]
    {
        let refused = visit.page(&format!("{path}/{action}")).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{action}");
        refused.says(words);
    }
    assert_eq!(visit.confirmed(&format!("{path}/delete"), &[]).await, "/submissions?done=submission-deleted");
    visit.page(&path).await.is(404);
}

#[tokio::test]
async fn the_app_of_a_build_is_submitted_from_its_page() {
    let (stage, cookie, token) = stage().await;
    let build = stage.built(Platform::Android, &[("app.apk", APK)]).await;
    let visit = again(&stage, &cookie, &token);
    let path = format!("/submissions/new?buildId={build}");
    assert!(visit.html(&format!("/builds/{build}")).await.contains(&path));
    let form = visit.html(&path).await;
    for part in [
        &format!(r#"name="buildId" value="{build}""#),
        r#"<option value="internal" selected>"#,
        "for Google Play</option>",
    ] {
        assert!(form.contains(part), "{part} in {form}");
    }
    // What is not for Android is not offered.
    for part in ["testflight", "for the App Store</option>", r#"type="file""#] {
        assert!(!form.contains(part), "{part} in {form}");
    }
    let fields = [
        ("buildId", build.as_str()),
        ("destination", "beta"),
        ("locale", "en-US"),
        ("text", "one\r\ntwo <b>"),
        ("locale", "de-DE"),
        ("text", ""),
        ("options.releaseName", "Spring"),
    ];
    let id = made(&visit, &visit.send_parts("/submissions/new", &token, &fields, None).await);
    let view = stage.read(id.parse().unwrap()).await;
    view.has(json!({"buildId": build, "destination": "beta", "rollout": 100}));
    assert_eq!(view["releaseNotes"], json!([{"locale": "en-US", "text": "one\ntwo <b>"}]));
    assert_eq!(view["options"]["releaseName"], "Spring");
    let page = visit.html(&format!("/submissions/{id}?done=submitted")).await;
    for part in
        ["The submission is queued", "two &#60;b&#62;", "Spring", "Google Play, beta", &format!("/builds/{build}")]
    {
        assert!(page.contains(part), "{part} in {page}");
    }
    visit.html(&format!("/submissions?buildId={build}")).await.says(&id);
}

#[tokio::test]
async fn a_file_is_submitted_and_its_rollout_changed() {
    let (mut stage, cookie, token) = stage().await;
    let fields = [("destination", "production"), ("rollout", "20")];
    let file = Some(("app.apk", APK));
    let visit = again(&stage, &cookie, &token);
    let answer = visit.send_parts("/submissions/new", &token, &fields, file).await;
    let id: SubmissionId = made(&visit, &answer).parse().unwrap();
    let path = format!("/submissions/{id}");
    stage.until(id, "rolling_out").await;
    let page = again(&stage, &cookie, &token).html(&path).await;
    for part in ["Rolling out", "Halt…", "Change rollout…", "Uploading", r#"value="20""#] {
        assert!(page.contains(part), "{part} in {page}");
    }
    for (field, status, rollout) in [
        (("rollout", "50"), "rolling_out", 50),
        (("status", "halted"), "halted", 50),
        (("status", "rolling_out"), "rolling_out", 50),
        (("rollout", "100"), "success", 100),
    ] {
        let next = again(&stage, &cookie, &token).confirmed(&format!("{path}/change"), &[field]).await;
        assert_eq!(next, format!("{path}?done=submission-changed"));
        let done = |record: &Submission| {
            let state = record.state.status.as_str();
            state == status && record.rollout == rollout && record.change.is_none()
        };
        let record = stage.until_so(id, done).await;
        assert!(done(&record), "{field:?}: {record:#?}");
    }
    let visit = again(&stage, &cookie, &token);
    for (field, words) in [
        (("rollout", "half"), "rollout must be a whole percent from 1 to 100"),
        (("status", "success"), "status must be halted or rolling_out"),
        (("rollout", "50"), "The submission is success. Only a release"),
    ] {
        let refused = visit.page(&format!("{path}/change?{}={}", field.0, field.1)).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{words}");
        assert!(refused.text().contains(words), "{words}: {}", refused.text());
    }
}

#[tokio::test]
async fn a_file_of_several_mebibytes_comes_whole() {
    let (stage, cookie, token) = stage().await;
    let visit = again(&stage, &cookie, &token);
    let bytes = noise(3 << 20);
    let answer =
        visit.send_parts("/submissions/new", &token, &[("destination", "internal")], Some(("app.apk", &bytes))).await;
    // It is parsed as an app, and is not one.
    let text = answer.text();
    assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{text}");
    text.says("<form");
    text.lacks("The form is");
}

#[tokio::test]
async fn a_refused_form_keeps_what_was_typed() {
    let (stage, cookie, token) = stage().await;
    let visit = again(&stage, &cookie, &token);
    let long = "x".repeat(501);
    let apk = Some(("app.apk", APK));
    let note = |text| vec![("destination", "beta"), ("locale", "en-US"), ("text", text)];
    for (fields, file, words) in [
        (vec![("destination", "beta")], None, "file is missing: choose the app"),
        (vec![("destination", "beta")], Some(("app.apk", &b""[..])), "file is missing: choose the app"),
        (vec![("destination", "a/b")], apk, "destination must be testflight or app_store"),
        (
            vec![("destination", "+other"), ("destinationOther", "a/b")],
            apk,
            "destination must be testflight or app_store",
        ),
        (vec![("destination", "beta"), ("rollout", "half")], apk, "rollout must be a whole percent from 1 to 100"),
        (note(&long), apk, "releaseNotes[0].text must have 1 to 500 characters"),
        (
            vec![("destination", "beta"), ("options.priority", "nine")],
            apk,
            "options.priority must be a whole number from 0 to 5",
        ),
        (vec![("destination", "beta")], Some(("notes.txt", &b"text"[..])), "The app must be an .ipa, .aab or .apk"),
        (vec![("destination", "testflight")], apk, "destination must be internal, alpha, beta, production"),
    ] {
        let answer = visit.send_parts("/submissions/new", &token, &fields, file).await;
        let text = answer.text();
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{words}: {text}");
        assert!(text.contains(words), "{words}: {text}");
        let typed = format!(r#"value="{}""#, fields[0].1);
        assert!(text.contains(&typed), "{words}: {text}");
    }
    let fields = [("destination", "beta")];
    for token in ["", "wrong"] {
        visit.send_parts("/submissions/new", token, &fields, apk).await.is(403);
    }
    assert!(visit.html("/submissions").await.contains("No submission yet"));
}

/// A failed submission says what to do, on its page and on the overview, and can be retried.
#[tokio::test]
async fn what_failed_needs_attention_and_is_retried() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Member).await;
    let submission = app.submitted(&key).await.id().to_owned();
    let path = format!("/submissions/{submission}");
    assert!(!visit.html("").await.contains("Look at it"));
    let mut tx = app.app.db.write().await.unwrap();
    let found = tx.org(org).lock_submission(submission.parse().unwrap()).await;
    let mut record = found.unwrap().unwrap();
    let error = SubmissionError::new(SubmissionErrorCode::CredentialInvalid, "The key is <revoked>.");
    let fix = error.fix.clone();
    record.state.status = SubmissionStatus::Failed;
    record.error = Some(error);
    record.work.due_at = None;
    record.finished_at = Some(app.clock.now());
    tx.org(org).change_submission(&record).await.unwrap();
    tx.commit().await.unwrap();

    let page = visit.html(&path).await;
    let told = fix.replace('\'', "&#39;");
    for part in ["CREDENTIAL_INVALID", "The key is &#60;revoked&#62;.", &told, "/retry"] {
        assert!(page.contains(part), "{part} in {page}");
    }
    let overview = visit.html("").await;
    overview.says("The submission of com.example.app to Google Play, internal failed.");
    overview.says(&told);
    app.advance(8 * DAY);
    assert!(!visit.html("").await.contains("Look at it"), "it is old news");
    let next = visit.confirmed(&format!("{path}/retry"), &[]).await;
    assert_eq!(next, format!("{path}?done=submission-retried"));
    let page = visit.html(&next).await;
    page.says("Queued");
    page.says("The submission continues");
}

#[tokio::test]
async fn who_may_not_manage_credentials_is_told_whom_to_ask() {
    let app = TestApp::start().await;
    let (member, admin) = (visit(&app, Role::Member).await, visit(&app, Role::Admin).await);
    for path in ["/submissions", "/submissions/new"] {
        assert!(member.html(path).await.contains("an admin of the organization"), "{path}");
        assert!(admin.html(path).await.contains(&format!("/o/{}/credentials", admin.org)), "{path}");
    }
}
