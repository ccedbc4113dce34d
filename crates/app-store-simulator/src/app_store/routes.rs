//! Which call is which, and the schema that its body must have.

use launchway_app_stores::transport::Response;
use launchway_domain::time::EpochMs;
use serde_json::{Value, json};

use super::{AppStore, Around, Thing};
use crate::answer::{Refused, apple, ok, status, with_status};
use crate::call::{Call, Received};
use crate::{State, schema};

/// What a call is answered with.
pub(super) enum Answer {
    /// 200 with one resource.
    One(String),
    /// 201 with one resource.
    Made(String),
    /// 200 with a list of them.
    List(Vec<String>),
    /// 200 with what is related, or nothing.
    Linked(Option<(&'static str, String)>),
    /// 204.
    Nothing,
}

pub(super) type Answered = Result<Answer, Refused>;

/// Answers a call under `/v1`.
pub(crate) fn route(state: &mut State, call: &Call, body: &Received, now: EpochMs) -> Response {
    let store = &mut state.app_store;
    let mut around = Around {
        settings: &mut state.settings,
        ledger: &mut state.ledger,
        address: &state.address,
        now,
    };
    let parts = call.parts();
    let answered = read(call, body).and_then(|body| store.answer(&mut around, call, &parts[1..], &body));
    match answered {
        Ok(Answer::One(id)) => ok(&json!({"data": store.shown(&id), "links": {"self": call.path}})),
        Ok(Answer::Made(id)) => with_status(201, &json!({"data": store.shown(&id), "links": {"self": call.path}})),
        Ok(Answer::List(ids)) => {
            let shown: Vec<Value> = ids.iter().map(|id| store.shown(id)).collect();
            let limit = call.query("limit").and_then(|text| text.parse().ok()).unwrap_or(50u32);
            let paging = json!({"paging": {"total": shown.len(), "limit": limit}});
            ok(&json!({"data": shown, "links": {"self": call.path}, "meta": paging}))
        }
        Ok(Answer::Linked(link)) => {
            let link = link.map(|(kind, id)| json!({"type": kind, "id": id}));
            ok(&json!({"data": link, "links": {"self": call.path}}))
        }
        Ok(Answer::Nothing) => status(204),
        Err(refused) => apple(refused),
    }
}

fn read(call: &Call, body: &Received) -> Result<Value, Refused> {
    if matches!(call.method.as_str(), "GET" | "DELETE") {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&body.bytes)
        .map_err(|_| Refused(400, "PARAMETER_ERROR.INVALID", "The body is no JSON.".to_owned()))
}

/// Holds a body against its schema, and gives it back.
fn fits<'b>(name: &str, body: &'b Value) -> Result<&'b Value, Refused> {
    match schema::wrong(schema::app_store(), name, body) {
        None => Ok(&body["data"]),
        Some(wrong) => Err(Refused(409, "ENTITY_ERROR.ATTRIBUTE.UNKNOWN", wrong)),
    }
}

impl AppStore {
    #[expect(clippy::too_many_lines, reason = "the list of all paths")]
    fn answer(&mut self, around: &mut Around<'_>, call: &Call, parts: &[&str], body: &Value) -> Answered {
        match (call.method.as_str(), parts) {
            ("GET", ["apps"]) if around.settings.makes_apps => {
                self.see_app(call.query("filter[bundleId]").unwrap_or_default());
                Ok(self.list(call, "apps", |_, _| true))
            }
            ("GET", ["apps"]) => Ok(self.list(call, "apps", |_, _| true)),
            ("GET", ["apps", app, "buildUploads"]) => {
                self.thing("apps", app)?;
                Ok(self.list(call, "buildUploads", |_, upload| upload.parent == *app))
            }
            ("GET", ["apps", app, "appStoreVersions"]) => {
                self.thing("apps", app)?;
                Ok(self.list(call, "appStoreVersions", |_, version| version.related("app") == *app))
            }
            ("POST", ["buildUploads"]) => self.create_upload(around, fits("BuildUploadCreateRequest", body)?),
            ("DELETE", ["buildUploads", id]) => self.delete_upload(id),
            ("GET", ["buildUploads", id, "buildUploadFiles"]) => {
                self.thing("buildUploads", id)?;
                Ok(self.list(call, "buildUploadFiles", |_, file| file.parent == *id))
            }
            ("POST", ["buildUploadFiles"]) => self.create_file(around, fits("BuildUploadFileCreateRequest", body)?),
            ("GET", ["buildUploadFiles", id]) => {
                self.thing("buildUploadFiles", id)?;
                self.refresh_parts(id, around);
                Ok(Answer::One((*id).to_owned()))
            }
            ("PATCH", ["buildUploadFiles", id]) => {
                self.commit_file(around, id, fits("BuildUploadFileUpdateRequest", body)?)
            }
            ("GET", ["builds"]) => Ok(self.list(call, "builds", |_, _| true)),
            ("PATCH", ["builds", id]) => self.change_build(id, fits("BuildUpdateRequest", body)?),
            ("GET", ["builds", id, "betaBuildLocalizations"]) => {
                self.thing("builds", id)?;
                Ok(self.list(call, "betaBuildLocalizations", |_, note| note.related("build") == *id))
            }
            ("GET", ["builds", id, "buildBetaDetail"]) => {
                self.thing("builds", id)?;
                self.beta_detail(id)
            }
            ("POST", ["builds", id, "relationships", "betaGroups"]) => {
                fits("BuildBetaGroupsLinkagesRequest", body)?;
                self.give_to_groups(around, id, &body["data"])
            }
            ("POST", ["betaBuildLocalizations"]) => {
                self.create_test_note(fits("BetaBuildLocalizationCreateRequest", body)?)
            }
            ("PATCH", ["betaBuildLocalizations", id]) => {
                let data = fits("BetaBuildLocalizationUpdateRequest", body)?;
                self.change("betaBuildLocalizations", id, data)
            }
            ("GET", ["betaGroups"]) => Ok(self.list(call, "betaGroups", |_, _| true)),
            ("POST", ["betaAppReviewSubmissions"]) => {
                self.begin_beta_review(around, fits("BetaAppReviewSubmissionCreateRequest", body)?)
            }
            ("POST", ["appStoreVersions"]) => self.create_version(around, fits("AppStoreVersionCreateRequest", body)?),
            ("PATCH", ["appStoreVersions", id]) => self.change_version(id, fits("AppStoreVersionUpdateRequest", body)?),
            ("GET", ["appStoreVersions", id, "relationships", "build"]) => {
                let build = self.thing("appStoreVersions", id)?.related("build").to_owned();
                Ok(Answer::Linked(
                    Some(("builds", build)).filter(|(_, build)| !build.is_empty()),
                ))
            }
            ("PATCH", ["appStoreVersions", id, "relationships", "build"]) => {
                fits("AppStoreVersionBuildLinkageRequest", body)?;
                self.attach_build(id, &body["data"])
            }
            ("GET", ["appStoreVersions", id, "appStoreVersionLocalizations"]) => {
                self.thing("appStoreVersions", id)?;
                Ok(self.list(call, "appStoreVersionLocalizations", |_, note| {
                    note.related("appStoreVersion") == *id
                }))
            }
            ("GET", ["appStoreVersions", id, "appStoreVersionPhasedRelease"]) => self.phased_release(id),
            ("POST", ["appStoreVersionLocalizations"]) => {
                self.create_note(fits("AppStoreVersionLocalizationCreateRequest", body)?)
            }
            ("PATCH", ["appStoreVersionLocalizations", id]) => {
                self.change_note(id, fits("AppStoreVersionLocalizationUpdateRequest", body)?)
            }
            ("POST", ["appStoreVersionPhasedReleases"]) => {
                self.create_phased_release(fits("AppStoreVersionPhasedReleaseCreateRequest", body)?)
            }
            ("PATCH", ["appStoreVersionPhasedReleases", id]) => {
                self.change_phased_release(around, id, fits("AppStoreVersionPhasedReleaseUpdateRequest", body)?)
            }
            ("GET", ["reviewSubmissions"]) => Ok(self.list(call, "reviewSubmissions", |_, _| true)),
            ("POST", ["reviewSubmissions"]) => self.create_review(fits("ReviewSubmissionCreateRequest", body)?),
            ("GET", ["reviewSubmissions", id, "items"]) => {
                self.thing("reviewSubmissions", id)?;
                Ok(self.list(call, "reviewSubmissionItems", |_, item| item.parent == *id))
            }
            ("PATCH", ["reviewSubmissions", id]) => {
                self.change_review(around, id, fits("ReviewSubmissionUpdateRequest", body)?)
            }
            ("POST", ["reviewSubmissionItems"]) => self.create_item(fits("ReviewSubmissionItemCreateRequest", body)?),
            ("POST", ["appStoreVersionReleaseRequests"]) => {
                self.request_release(around, fits("AppStoreVersionReleaseRequestCreateRequest", body)?)
            }
            (
                "GET",
                [
                    kind @ ("apps" | "builds" | "buildUploads" | "appStoreVersions" | "reviewSubmissions"),
                    id,
                ],
            ) => {
                self.thing(kind, id)?;
                Ok(Answer::One((*id).to_owned()))
            }
            _ => Err(Refused(
                404,
                "PATH_ERROR",
                format!("There is no {} {}", call.method, call.path),
            )),
        }
    }

    /// The resources of a kind that a call's filters leave, newest first.
    fn list(&self, call: &Call, kind: &str, own: impl Fn(&String, &Thing) -> bool) -> Answer {
        let filters: Vec<(&str, Vec<&str>)> = call
            .query
            .iter()
            .filter_map(|(name, value)| {
                let name = name.strip_prefix("filter[")?.strip_suffix(']')?;
                Some((name, value.split(',').collect()))
            })
            .collect();
        let passes = |thing: &Thing| {
            filters.iter().all(|(name, values)| {
                let value = match *name {
                    "app" => thing.related("app"),
                    "preReleaseVersion.version" => thing.attributes["#version"].as_str().unwrap_or_default(),
                    "preReleaseVersion.platform" => thing.attributes["#platform"].as_str().unwrap_or_default(),
                    other => thing.text(other),
                };
                values.contains(&value)
            })
        };
        let mut ids: Vec<String> = self
            .all(kind)
            .filter(|(id, thing)| own(id, thing) && passes(thing))
            .map(|(id, _)| id.clone())
            .collect();
        ids.reverse();
        Answer::List(ids)
    }

    /// Changes attributes as a body says.
    pub(super) fn change(&mut self, kind: &str, id: &str, data: &Value) -> Answered {
        self.thing(kind, id)?;
        for (name, value) in data["attributes"].as_object().into_iter().flatten() {
            self.set(id, name, value.clone());
        }
        Ok(Answer::One(id.to_owned()))
    }
}
