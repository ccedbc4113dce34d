//! Validates every request and response of every flow against the published schemas with an independent validator.
//! Fields that the documents do not name are errors too.

use std::collections::BTreeSet;

use launchway_app_store_simulator::Outcome;
use launchway_app_stores::app_store::{AppStoreConnect, Change, Progress, Stage};
use launchway_app_stores::google_play::{GooglePlay, Target, TargetStatus};
use launchway_app_stores::release::EarlierSubmissions;
use launchway_app_stores::{Release, Step};
use launchway_domain::platform::Platform;
use launchway_domain::submission::SubmissionStatus::{Queued, Rejected, Success};
use serde_json::{Value, json};

use crate::app_store::{is_approved, phased, testflight};
use crate::cancels::cancel;
use crate::changes::is_rolling;
use crate::driver::{drive, to_end};
use crate::google_play::{is_staged, staged, to_stage};
use crate::stand::{Exchange, Stand, release};
use crate::used_numbers::kept;

const APP_STORE: &str = include_str!("../../schemas/app-store-connect.json");
const GOOGLE_PLAY: &str = include_str!("../../schemas/google-play.json");

/// The schemas as JSON Schema: nullable fields are marked, and unknown fields forbidden.
fn strict(schema: &Value) -> Value {
    match schema {
        Value::Object(object) => {
            let mut strict: serde_json::Map<String, Value> = object
                .iter()
                .filter(|(name, _)| *name != "nullable")
                .map(|(name, inner)| {
                    (
                        name.clone(),
                        if name == "enum" {
                            inner.clone()
                        } else {
                            self::strict(inner)
                        },
                    )
                })
                .collect();
            if object.get("properties").is_some_and(Value::is_object) && object.contains_key("type") {
                strict.insert("additionalProperties".to_owned(), json!(false));
            }
            if object.get("nullable") == Some(&json!(true)) {
                return json!({"anyOf": [strict, {"type": "null"}]});
            }
            Value::Object(strict)
        }
        Value::Array(items) => items.iter().map(self::strict).collect(),
        other => other.clone(),
    }
}

fn problems(document: &Value, name: &str, value: &Value) -> Vec<String> {
    assert!(document["schemas"].get(name).is_some(), "there is no schema {name}");
    let schema = json!({"$ref": format!("#/schemas/{name}"), "schemas": document["schemas"]});
    let validator = jsonschema::validator_for(&schema).unwrap();
    let problems = validator.iter_errors(value);
    problems.map(|problem| format!("{name}: {problem}")).collect()
}

/// The schemas of a request and its response.
fn of_app_store(method: &str, path: &str) -> (&'static str, &'static str) {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').skip(1).collect();
    match (method, &parts[..]) {
        ("GET", ["apps"]) => ("", "AppsResponse"),
        ("GET", ["apps", _, "buildUploads"]) => ("", "BuildUploadsResponse"),
        ("GET", ["apps", _, "appStoreVersions"]) => ("", "AppStoreVersionsResponse"),
        ("POST", ["buildUploads"]) => ("BuildUploadCreateRequest", "BuildUploadResponse"),
        ("GET", ["buildUploads", _]) => ("", "BuildUploadResponse"),
        ("GET", ["buildUploads", _, "buildUploadFiles"]) => ("", "BuildUploadFilesResponse"),
        ("POST", ["buildUploadFiles"]) => ("BuildUploadFileCreateRequest", "BuildUploadFileResponse"),
        ("GET", ["buildUploadFiles", _]) => ("", "BuildUploadFileResponse"),
        ("PATCH", ["buildUploadFiles", _]) => ("BuildUploadFileUpdateRequest", "BuildUploadFileResponse"),
        ("GET", ["builds"]) => ("", "BuildsResponse"),
        ("GET", ["builds", _]) => ("", "BuildResponse"),
        ("PATCH", ["builds", _]) => ("BuildUpdateRequest", "BuildResponse"),
        ("GET", ["builds", _, "betaBuildLocalizations"]) => ("", "BetaBuildLocalizationsResponse"),
        ("POST", ["betaBuildLocalizations"]) => ("BetaBuildLocalizationCreateRequest", "BetaBuildLocalizationResponse"),
        ("GET", ["betaGroups"]) => ("", "BetaGroupsResponse"),
        ("POST", ["builds", _, "relationships", "betaGroups"]) => ("BuildBetaGroupsLinkagesRequest", ""),
        ("GET", ["builds", _, "buildBetaDetail"]) => ("", "BuildBetaDetailResponse"),
        ("POST", ["betaAppReviewSubmissions"]) => (
            "BetaAppReviewSubmissionCreateRequest",
            "BetaAppReviewSubmissionResponse",
        ),
        ("POST", ["appStoreVersions"]) => ("AppStoreVersionCreateRequest", "AppStoreVersionResponse"),
        ("GET", ["appStoreVersions", _]) => ("", "AppStoreVersionResponse"),
        // A missing relationship is null, which the document does not allow.
        ("GET", ["appStoreVersions", _, "relationships", "build"]) => ("", ""),
        ("PATCH", ["appStoreVersions", _, "relationships", "build"]) => ("AppStoreVersionBuildLinkageRequest", ""),
        ("GET", ["appStoreVersions", _, "appStoreVersionLocalizations"]) => {
            ("", "AppStoreVersionLocalizationsResponse")
        }
        ("POST", ["appStoreVersionLocalizations"]) => (
            "AppStoreVersionLocalizationCreateRequest",
            "AppStoreVersionLocalizationResponse",
        ),
        ("GET", ["appStoreVersions", _, "appStoreVersionPhasedRelease"]) => ("", ""),
        ("POST", ["appStoreVersionPhasedReleases"]) => (
            "AppStoreVersionPhasedReleaseCreateRequest",
            "AppStoreVersionPhasedReleaseResponse",
        ),
        ("GET", ["reviewSubmissions"]) => ("", "ReviewSubmissionsResponse"),
        ("POST", ["reviewSubmissions"]) => ("ReviewSubmissionCreateRequest", "ReviewSubmissionResponse"),
        ("GET", ["reviewSubmissions", _]) => ("", "ReviewSubmissionResponse"),
        ("PATCH", ["reviewSubmissions", _]) => ("ReviewSubmissionUpdateRequest", "ReviewSubmissionResponse"),
        ("GET", ["reviewSubmissions", _, "items"]) => ("", "ReviewSubmissionItemsResponse"),
        ("PATCH", ["betaBuildLocalizations", _]) => {
            ("BetaBuildLocalizationUpdateRequest", "BetaBuildLocalizationResponse")
        }
        ("PATCH", ["appStoreVersions", _]) => ("AppStoreVersionUpdateRequest", "AppStoreVersionResponse"),
        ("PATCH", ["appStoreVersionLocalizations", _]) => (
            "AppStoreVersionLocalizationUpdateRequest",
            "AppStoreVersionLocalizationResponse",
        ),
        ("PATCH", ["appStoreVersionPhasedReleases", _]) => (
            "AppStoreVersionPhasedReleaseUpdateRequest",
            "AppStoreVersionPhasedReleaseResponse",
        ),
        ("POST", ["appStoreVersionReleaseRequests"]) => (
            "AppStoreVersionReleaseRequestCreateRequest",
            "AppStoreVersionReleaseRequestResponse",
        ),
        ("DELETE", ["builds", _, "relationships", "betaGroups"]) => ("BuildBetaGroupsLinkagesRequest", ""),
        ("DELETE", ["appStoreVersions" | "reviewSubmissionItems", _]) => ("", ""),
        ("POST", ["reviewSubmissionItems"]) => ("ReviewSubmissionItemCreateRequest", "ReviewSubmissionItemResponse"),
        other => panic!("no schema is known for {other:?}"),
    }
}

fn path_of(exchange: &Exchange) -> &str {
    let rest = exchange.url.split_once("://").unwrap().1;
    let path = &rest[rest.find('/').unwrap()..];
    path.split('?').next().unwrap()
}

fn check(document: &Value, exchange: &Exchange, request: &str, response: &str) {
    let answer = exchange.answer.as_ref().unwrap();
    assert!(answer.is_success(), "{} {} {answer:?}", exchange.method, exchange.url);
    for (name, body) in [(request, &exchange.body), (response, &answer.body)] {
        if name.is_empty() {
            continue;
        }
        let value: Value = serde_json::from_slice(body).unwrap();
        let problems = problems(document, name, &value);
        assert!(
            problems.is_empty(),
            "{} {}: {problems:#?} in {value}",
            exchange.method,
            exchange.url
        );
    }
}

fn other_notes(mut release: Release) -> Release {
    for note in &mut release.notes {
        note.text.push_str(" And better.");
    }
    release
}

/// TestFlight, and again with changed notes.
async fn testflight_twice() -> Stand {
    let stand = Stand::new();
    let mut earlier = EarlierSubmissions::default();
    for mut release in [testflight(), other_notes(testflight())] {
        release.earlier = earlier;
        let ended = to_end::<AppStoreConnect>(&stand, &release).await;
        assert_eq!(ended.status, Success, "{ended:?}");
        earlier = kept(&ended);
    }
    stand
}

/// The App Store: rejected, resubmitted with changes, released manually, halted, resumed, completed.
async fn app_store_with_everything() -> Stand {
    let stand = Stand::new();
    stand.simulator.decide(&[Outcome::Reject]);
    let ended = to_end::<AppStoreConnect>(&stand, &phased()).await;
    assert_eq!(ended.status, Rejected, "{ended:?}");
    let mut release = other_notes(phased());
    release.options.manual_release = true;
    let again = ended.progress.for_retry(&release);
    let mut ended = drive::<AppStoreConnect>(&stand, &release, again, Queued, is_approved).await;
    assert_eq!(stand.app_store().release(&ended.progress).await, Ok(true));
    ended = drive::<AppStoreConnect>(&stand, &release, ended.progress, ended.status, is_rolling).await;
    for change in [Change::Halt, Change::Resume, Change::Complete] {
        stand.app_store().change(&ended.progress, change).await.unwrap();
        ended = drive::<AppStoreConnect>(&stand, &release, ended.progress, ended.status, is_rolling).await;
    }
    assert_eq!(ended.status, Success, "{ended:?}");
    stand
}

/// Canceled: in TestFlight's review, before the App Store's review and in it.
async fn canceled() -> Stand {
    let stand = Stand::new();
    let mut earlier = EarlierSubmissions::default();
    for (mut wanted, stage) in [
        (testflight(), Stage::BetaReview),
        (phased(), Stage::SubmitReview),
        (phased(), Stage::AwaitReview),
    ] {
        let there = |step: &Step<Progress>| step.progress.stage == stage;
        wanted.earlier = earlier;
        let ended = drive::<AppStoreConnect>(&stand, &wanted, Progress::default(), Queued, there).await;
        earlier = kept(&ended);
        cancel(&stand, &wanted, ended.progress).await;
    }
    stand
}

#[tokio::test]
async fn app_store_connect_is_called_and_simulated_as_published() {
    let document = strict(&serde_json::from_str(APP_STORE).unwrap());
    let mut requests = BTreeSet::new();
    for stand in [
        testflight_twice().await,
        app_store_with_everything().await,
        canceled().await,
    ] {
        let exchanges = std::mem::take(&mut *stand.transport.notes.lock().unwrap());
        let mut seen = BTreeSet::new();
        for exchange in exchanges
            .iter()
            .filter(|exchange| path_of(exchange).starts_with("/v1/"))
        {
            let (request, response) = of_app_store(&exchange.method, path_of(exchange));
            requests.insert(request);
            // Polling requests are alike.
            let answer = exchange
                .answer
                .as_ref()
                .map(|answer| answer.body.clone())
                .unwrap_or_default();
            if seen.insert((exchange.method.clone(), exchange.url.clone(), answer)) {
                check(&document, exchange, request, response);
            }
        }
        // A signed URL does not get our token.
        let parts = exchanges
            .iter()
            .filter(|exchange| path_of(exchange).contains("/parts/"));
        assert!(parts.clone().count() == 10);
        assert!(
            parts
                .into_iter()
                .all(|part| part.headers.iter().all(|(name, _)| name != "authorization"))
        );
    }
    // All bodies of the client, and none for requests without one.
    let source = include_str!("../../../app-stores/src/app_store/requests.rs");
    let names = source
        .lines()
        .filter_map(|line| line.strip_prefix("/// `")?.split('`').next());
    let all: BTreeSet<&str> = names.chain([""]).collect();
    assert_eq!(requests, all);
}

#[tokio::test]
async fn google_play_is_called_and_simulated_as_published() {
    let document: Value = serde_json::from_str(GOOGLE_PLAY).unwrap();
    let methods = document["methods"].as_object().unwrap().clone();
    let document = strict(&document);
    let stand = Stand::new();
    let mut ended = to_stage(&stand, &staged()).await;
    for (status, percent) in [
        (TargetStatus::Halted, Some(20)),
        (TargetStatus::InProgress, Some(50)),
        (TargetStatus::Completed, None),
    ] {
        let changed = ended.progress.for_change(Target { status, percent });
        ended = drive::<GooglePlay>(&stand, &staged(), changed, ended.status, is_staged).await;
    }
    assert_eq!(ended.status, Success, "{ended:?}");
    let mut draft = staged();
    (draft.options.draft, draft.build_number) = (true, "43".to_owned());
    draft.source = release(Platform::Android, "production", 43, 1_000).source;
    draft.sha256 = release(Platform::Android, "production", 43, 1_000).sha256;
    let ended = to_end::<GooglePlay>(&stand, &draft).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    let exchanges = std::mem::take(&mut *stand.transport.notes.lock().unwrap());
    let mut used = BTreeSet::new();
    for exchange in &exchanges {
        let path = path_of(exchange);
        if path == "/token" || path.starts_with("/simulator/") {
            continue;
        }
        let fits = |template: &str| {
            let template = template.replace("{+parent}", "applications/{p}/tracks/{t}");
            let (own, wanted): (Vec<_>, Vec<_>) = (
                path.trim_start_matches('/').split('/').collect(),
                template.trim_start_matches('/').split('/').collect(),
            );
            own.len() == wanted.len()
                && own
                    .iter()
                    .zip(&wanted)
                    .all(|(own, wanted)| match wanted.split_once('}') {
                        Some((_, verb)) => own.ends_with(verb) && (own.contains(':') == verb.contains(':')),
                        None => own == wanted,
                    })
        };
        let method = methods.iter().find(|(_, method)| {
            let plain = method["httpMethod"] == exchange.method.as_str();
            let resumable = method["resumablePath"].as_str().is_some_and(fits);
            plain && (resumable || (!path.starts_with("/resumable") && fits(method["path"].as_str().unwrap())))
        });
        let (name, method) = method.unwrap_or_else(|| panic!("{} {path} is not published", exchange.method));
        used.insert(name.clone());
        let query = exchange.url.split_once('?').map_or("", |(_, query)| query);
        for pair in query
            .split('&')
            .filter(|pair| !pair.is_empty() && *pair != "uploadType=resumable")
        {
            let (name, value) = pair.split_once('=').unwrap();
            let parameter = &method["parameters"][name];
            assert_eq!(parameter["location"], "query", "{name}");
            assert!(
                parameter["enum"]
                    .as_array()
                    .is_none_or(|words| words.contains(&json!(value))),
                "{pair}"
            );
        }
        let response = if path.starts_with("/resumable") {
            ""
        } else {
            method["response"].as_str().unwrap_or("")
        };
        check(&document, exchange, method["request"].as_str().unwrap_or(""), response);
    }
    assert_eq!(used.len(), 10, "{used:?}");
}
