//! Routes requests, and assigns a schema to each body.

use launchway_app_stores::transport::Response;
use launchway_domain::time::EpochMs;
use serde_json::{Value, json};

use super::{AppStore, RequestContext, Resource};
use crate::answer::{RefusalError, apple, ok, status, with_status};
use crate::call::{Call, Received};
use crate::{State, schema};

/// The response to a request.
pub(super) enum Answer {
    /// 200 with one resource.
    One(String),
    /// 201 with one resource.
    Made(String),
    /// 200 with a list of them.
    List(Vec<String>),
    /// 200 with the related resource, or null.
    Linked(Option<(&'static str, String)>),
    /// 204.
    Nothing,
}

pub(super) type Answered = Result<Answer, RefusalError>;

/// Handles a request under `/v1`.
pub(crate) fn route(state: &mut State, call: &Call, body: &Received, now: EpochMs) -> Response {
    let store = &mut state.app_store;
    let mut context = RequestContext {
        settings: &mut state.settings,
        ledger: &mut state.ledger,
        address: &state.address,
        now,
    };
    let parts = call.parts();
    let answered = read(call, body).and_then(|body| store.answer(&mut context, call, &parts[1..], &body));
    match answered {
        Ok(Answer::One(id)) => ok(&json!({"data": store.published(&id), "links": {"self": call.path}})),
        Ok(Answer::Made(id)) => with_status(
            201,
            &json!({"data": store.published(&id), "links": {"self": call.path}}),
        ),
        Ok(Answer::List(ids)) => {
            let shown: Vec<Value> = ids.iter().map(|id| store.published(id)).collect();
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

fn read(call: &Call, body: &Received) -> Result<Value, RefusalError> {
    if call.method == "GET" || body.bytes.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&body.bytes)
        .map_err(|_| RefusalError(400, "PARAMETER_ERROR.INVALID", "The body is no JSON.".to_owned()))
}

/// Validates a body against its schema, and returns it.
fn fits<'b>(name: &str, body: &'b Value) -> Result<&'b Value, RefusalError> {
    match schema::validation_error(schema::app_store(), name, body) {
        None => Ok(&body["data"]),
        Some(wrong) => Err(RefusalError(409, "ENTITY_ERROR.ATTRIBUTE.UNKNOWN", wrong)),
    }
}

impl AppStore {
    #[expect(clippy::too_many_lines, reason = "the list of all paths")]
    fn answer(&mut self, context: &mut RequestContext<'_>, call: &Call, parts: &[&str], body: &Value) -> Answered {
        match (call.method.as_str(), parts) {
            ("GET", ["apps"]) if context.settings.makes_apps => {
                self.ensure_app(call.query("filter[bundleId]").unwrap_or_default());
                Ok(self.list(call, "apps", |_, _| true))
            }
            ("GET", ["apps"]) => Ok(self.list(call, "apps", |_, _| true)),
            ("GET", ["apps", app, "buildUploads"]) => {
                self.resource("apps", app)?;
                Ok(self.list(call, "buildUploads", |_, upload| upload.parent == *app))
            }
            ("GET", ["apps", app, "appStoreVersions"]) => {
                self.resource("apps", app)?;
                Ok(self.list(call, "appStoreVersions", |_, version| version.related("app") == *app))
            }
            ("POST", ["buildUploads"]) => self.create_upload(context, fits("BuildUploadCreateRequest", body)?),
            ("DELETE", ["buildUploads", id]) => self.delete_upload(id),
            ("GET", ["buildUploads", id, "buildUploadFiles"]) => {
                self.resource("buildUploads", id)?;
                Ok(self.list(call, "buildUploadFiles", |_, file| file.parent == *id))
            }
            ("POST", ["buildUploadFiles"]) => self.create_file(context, fits("BuildUploadFileCreateRequest", body)?),
            ("GET", ["buildUploadFiles", id]) => {
                self.resource("buildUploadFiles", id)?;
                self.refresh_parts(id, context);
                Ok(Answer::One((*id).to_owned()))
            }
            ("PATCH", ["buildUploadFiles", id]) => {
                self.commit_file(context, id, fits("BuildUploadFileUpdateRequest", body)?)
            }
            ("GET", ["builds"]) => Ok(self.list(call, "builds", |_, _| true)),
            ("PATCH", ["builds", id]) => self.change_build(id, fits("BuildUpdateRequest", body)?),
            ("GET", ["builds", id, "betaBuildLocalizations"]) => {
                self.resource("builds", id)?;
                Ok(self.list(call, "betaBuildLocalizations", |_, note| note.related("build") == *id))
            }
            ("GET", ["builds", id, "buildBetaDetail"]) => {
                self.resource("builds", id)?;
                self.beta_detail(id)
            }
            ("POST", ["builds", id, "relationships", "betaGroups"]) => {
                fits("BuildBetaGroupsLinkagesRequest", body)?;
                self.give_to_groups(context, id, &body["data"])
            }
            ("POST", ["betaBuildLocalizations"]) => {
                self.create_test_note(fits("BetaBuildLocalizationCreateRequest", body)?)
            }
            ("PATCH", ["betaBuildLocalizations", id]) => {
                let data = fits("BetaBuildLocalizationUpdateRequest", body)?;
                self.change("betaBuildLocalizations", id, data)
            }
            ("GET", ["betaGroups"]) => {
                let build = call.query("filter[builds]");
                Ok(self.list(call, "betaGroups", |id, _| {
                    build.is_none_or(|build| self.is_tested_by(id, build))
                }))
            }
            ("DELETE", ["builds", id, "relationships", "betaGroups"]) => {
                let groups = fits("BuildBetaGroupsLinkagesRequest", body)?;
                self.take_from_groups(context, id, groups)
            }
            ("DELETE", ["reviewSubmissionItems", id]) => self.delete_item(id),
            ("DELETE", ["appStoreVersions", id]) => self.delete_version(context, id),
            ("DELETE", ["appStoreVersionPhasedReleases", id]) => self.delete_phased_release(id),
            ("GET", ["appStoreVersions", id, "appStoreVersionSubmission"]) => self.approval(context, id),
            ("DELETE", ["appStoreVersionSubmissions", id]) => self.take_back_approval(context, id),
            // Without a build, which the document does not allow.
            ("PATCH", ["appStoreVersions", id, "relationships", "build"]) if body["data"].is_null() => {
                self.detach_build(id)
            }
            ("POST", ["betaAppReviewSubmissions"]) => {
                self.begin_beta_review(context, fits("BetaAppReviewSubmissionCreateRequest", body)?)
            }
            ("POST", ["appStoreVersions"]) => self.create_version(context, fits("AppStoreVersionCreateRequest", body)?),
            ("PATCH", ["appStoreVersions", id]) => self.change_version(id, fits("AppStoreVersionUpdateRequest", body)?),
            ("GET", ["appStoreVersions", id, "relationships", "build"]) => {
                let build = self.resource("appStoreVersions", id)?.related("build").to_owned();
                Ok(Answer::Linked(
                    Some(("builds", build)).filter(|(_, build)| !build.is_empty()),
                ))
            }
            ("PATCH", ["appStoreVersions", id, "relationships", "build"]) => {
                fits("AppStoreVersionBuildLinkageRequest", body)?;
                self.attach_build(id, &body["data"])
            }
            ("GET", ["appStoreVersions", id, "appStoreVersionLocalizations"]) => {
                self.resource("appStoreVersions", id)?;
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
                self.change_phased_release(context, id, fits("AppStoreVersionPhasedReleaseUpdateRequest", body)?)
            }
            ("GET", ["reviewSubmissions"]) => Ok(self.list(call, "reviewSubmissions", |_, _| true)),
            ("POST", ["reviewSubmissions"]) => self.create_review(fits("ReviewSubmissionCreateRequest", body)?),
            ("GET", ["reviewSubmissions", id, "items"]) => {
                self.resource("reviewSubmissions", id)?;
                Ok(self.list(call, "reviewSubmissionItems", |_, item| item.parent == *id))
            }
            ("PATCH", ["reviewSubmissions", id]) => {
                self.change_review(context, id, fits("ReviewSubmissionUpdateRequest", body)?)
            }
            ("POST", ["reviewSubmissionItems"]) => self.create_item(fits("ReviewSubmissionItemCreateRequest", body)?),
            ("POST", ["appStoreVersionReleaseRequests"]) => {
                self.request_release(context, fits("AppStoreVersionReleaseRequestCreateRequest", body)?)
            }
            (
                "GET",
                [
                    kind @ ("apps" | "builds" | "buildUploads" | "appStoreVersions" | "reviewSubmissions"),
                    id,
                ],
            ) => {
                self.resource(kind, id)?;
                Ok(Answer::One((*id).to_owned()))
            }
            _ => Err(RefusalError(
                404,
                "PATH_ERROR",
                format!("There is no {} {}", call.method, call.path),
            )),
        }
    }

    /// The resources of a kind that match the request's filters, newest first.
    fn list(&self, call: &Call, kind: &str, own: impl Fn(&String, &Resource) -> bool) -> Answer {
        let filters: Vec<(&str, Vec<&str>)> = call
            .query
            .iter()
            .filter_map(|(name, value)| {
                let name = name.strip_prefix("filter[")?.strip_suffix(']')?;
                // A relationship, which `own` compares.
                if name == "builds" {
                    return None;
                }
                Some((name, value.split(',').collect()))
            })
            .collect();
        let passes = |resource: &Resource| {
            filters.iter().all(|(name, values)| {
                let value = match *name {
                    "app" => resource.related("app"),
                    "preReleaseVersion.version" => resource.attributes["#version"].as_str().unwrap_or_default(),
                    "preReleaseVersion.platform" => resource.attributes["#platform"].as_str().unwrap_or_default(),
                    other => resource.text(other),
                };
                values.contains(&value)
            })
        };
        let mut ids: Vec<String> = self
            .all(kind)
            .filter(|(id, resource)| own(id, resource) && passes(resource))
            .map(|(id, _)| id.clone())
            .collect();
        ids.reverse();
        Answer::List(ids)
    }

    /// Updates attributes from a body.
    pub(super) fn change(&mut self, kind: &str, id: &str, data: &Value) -> Answered {
        self.resource(kind, id)?;
        for (name, value) in data["attributes"].as_object().into_iter().flatten() {
            self.set(id, name, value.clone());
        }
        Ok(Answer::One(id.to_owned()))
    }
}
