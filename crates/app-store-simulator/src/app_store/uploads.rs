//! Uploads of builds: announced, sent in parts, committed.

use std::collections::BTreeMap;

use launchway_app_stores::transport::Response;
use launchway_domain::time::{HOUR, iso};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::routes::{Answer, Answered};
use super::{AppStore, Event, RequestContext};
use crate::answer::{RefusalError, apple, state_error, status};
use crate::call::Received;
use crate::settings::AppInfo;

/// The parts of a file.
#[derive(Default)]
pub(super) struct Parts {
    size: u64,
    part: u64,
    /// Empty for a file that is too large to keep.
    arrived: BTreeMap<u64, Vec<u8>>,
    is_kept: bool,
}

impl Parts {
    fn count(&self) -> u64 {
        self.size.div_ceil(self.part)
    }

    fn length(&self, number: u64) -> u64 {
        self.part.min(self.size - number * self.part)
    }
}

impl AppStore {
    pub(super) fn create_upload(&mut self, context: &mut RequestContext<'_>, data: &Value) -> Answered {
        let app = id_of(data, "app");
        self.resource("apps", &app)?;
        let given = &data["attributes"];
        let (version, number) = (&given["cfBundleShortVersionString"], &given["cfBundleVersion"]);
        let taken = self.all("builds").any(|(_, build)| {
            build.related("app") == app
                && build.attributes["#version"] == *version
                && build.attributes["version"] == *number
                && build.attributes["#platform"] == given["platform"]
        });
        if taken {
            return Err(RefusalError(
                409,
                "ENTITY_ERROR.ATTRIBUTE.INVALID.DUPLICATE",
                "The bundle version must be higher than the previously uploaded version.".to_owned(),
            ));
        }
        let attributes = json!({
            "cfBundleShortVersionString": version,
            "cfBundleVersion": number,
            "platform": given["platform"],
            "createdDate": iso(context.now),
            "state": {"state": "AWAITING_UPLOAD", "errors": [], "warnings": [], "infos": []},
        });
        let id = self.make("buildUploads", attributes, &[]);
        self.belongs(&id, &app);
        context.ledger.note("upload_announced", id.clone());
        Ok(Answer::Made(id))
    }

    pub(super) fn delete_upload(&mut self, id: &str) -> Answered {
        let upload = self.resource("buildUploads", id)?;
        if upload.attributes["state"]["state"] != "AWAITING_UPLOAD" {
            return Err(state_error("The upload is not waiting any more."));
        }
        self.resources.remove(id);
        Ok(Answer::Nothing)
    }

    pub(super) fn create_file(&mut self, context: &mut RequestContext<'_>, data: &Value) -> Answered {
        let upload = id_of(data, "buildUpload");
        let state = &self.resource("buildUploads", &upload)?.attributes["state"]["state"];
        let has_file = self.all("buildUploadFiles").any(|(_, file)| file.parent == upload);
        if state != "AWAITING_UPLOAD" || has_file {
            return Err(state_error("The upload takes no further file."));
        }
        let given = &data["attributes"];
        let size = given["fileSize"].as_u64().filter(|size| *size > 0);
        let size = size.ok_or_else(|| {
            let detail = "fileSize must be above 0".to_owned();
            RefusalError(409, "ENTITY_ERROR.ATTRIBUTE.INVALID", detail)
        })?;
        let mut attributes = given.clone();
        attributes["assetDeliveryState"] = json!({"state": "AWAITING_UPLOAD", "errors": [], "warnings": []});
        let id = self.make("buildUploadFiles", attributes, &[]);
        self.belongs(&id, &upload);
        let parts = Parts {
            size,
            part: context.settings.part.max(1),
            arrived: BTreeMap::new(),
            is_kept: usize::try_from(size).is_ok_and(|size| size <= context.settings.kept),
        };
        self.parts.insert(id.clone(), parts);
        self.refresh_parts(&id, context);
        Ok(Answer::Made(id))
    }

    /// Issues new URLs for the parts.
    pub(super) fn refresh_parts(&mut self, id: &str, context: &RequestContext<'_>) {
        let generation = self.generation;
        let Some(parts) = self.parts.get(id) else { return };
        let operations: Vec<Value> = (0..parts.count())
            .map(|number| {
                json!({
                    "method": "PUT",
                    "url": format!("{}/simulator/parts/{id}/{generation}-{number}?signature=simulated", context.address),
                    "offset": number * parts.part,
                    "length": parts.length(number),
                    "partNumber": number + 1,
                    "requestHeaders": [{"name": "Content-Type", "value": "application/octet-stream"}],
                    "expiration": iso(context.now + HOUR),
                })
            })
            .collect();
        self.set(id, "uploadOperations", operations);
    }

    pub(crate) fn expire_parts(&mut self) {
        self.generation += 1;
    }

    /// Receives a part at an issued URL.
    pub(crate) fn receive(&mut self, file: &str, number: &str, body: &Received) -> Response {
        let refuse = |status, detail: &str| apple(RefusalError(status, "UPLOAD", detail.to_owned()));
        let Some((generation, number)) = number.split_once('-') else {
            return refuse(404, "There is no such part.");
        };
        if generation.parse() != Ok(self.generation) {
            return refuse(403, "The address has expired.");
        }
        let number = number.parse().unwrap_or(u64::MAX);
        let Some(parts) = self.parts.get_mut(file).filter(|parts| number < parts.count()) else {
            return refuse(404, "There is no such part.");
        };
        if body.length != parts.length(number) {
            return refuse(400, "The part has another length.");
        }
        let kept = if parts.is_kept { body.bytes.clone() } else { Vec::new() };
        parts.arrived.insert(number, kept);
        status(200)
    }

    pub(super) fn commit_file(&mut self, context: &mut RequestContext<'_>, id: &str, data: &Value) -> Answered {
        let upload = self.resource("buildUploadFiles", id)?.parent.clone();
        if self.resources[id].attributes["assetDeliveryState"]["state"] != "AWAITING_UPLOAD" {
            return Err(state_error("The file is committed already."));
        }
        let given = &data["attributes"];
        if given["uploaded"] != true {
            return Ok(Answer::One(id.to_owned()));
        }
        let whole = self
            .parts
            .get(id)
            .filter(|parts| parts.arrived.len() as u64 == parts.count());
        let Some(parts) = whole else {
            return Err(state_error("Parts of the file are missing."));
        };
        let told = &given["sourceFileChecksums"]["file"];
        if parts.is_kept && told["algorithm"] == "SHA_256" {
            let mut hash = Sha256::new();
            parts.arrived.values().for_each(|part| hash.update(part));
            if told["hash"] != hex::encode(hash.finalize()) {
                return Err(RefusalError(
                    409,
                    "ENTITY_ERROR.ATTRIBUTE.INVALID",
                    "The checksum is another than that of the parts.".to_owned(),
                ));
            }
        }
        let whole: Vec<u8> = parts.arrived.values().flatten().copied().collect();
        let reader = context.settings.read_binary.as_ref().filter(|_| parts.is_kept);
        let fault = reader.and_then(|reader| self.contradiction(&upload, reader(&whole)));
        if let Some(parts) = self.parts.get_mut(id) {
            parts.arrived.clear();
        }
        let checksums = if context.settings.checksums {
            given["sourceFileChecksums"].clone()
        } else {
            json!({})
        };
        self.set(id, "sourceFileChecksums", checksums);
        self.set(id, "uploadOperations", json!([]));
        let complete = json!({"state": "UPLOAD_COMPLETE", "errors": [], "warnings": []});
        self.set(id, "assetDeliveryState", complete);
        let processing = json!({"state": "PROCESSING", "errors": [], "warnings": [], "infos": []});
        self.set(&upload, "state", processing);
        self.set(&upload, "uploadedDate", iso(context.now));
        let half = context.settings.processing / 2;
        match fault {
            None => self.later(context.now + half, Event::BuildAppears, &upload),
            Some((code, description)) => {
                let errors = json!([{"code": code, "description": description}]);
                self.set(&upload, "#errors", errors);
                self.later(context.now + half, Event::UploadFails, &upload);
            }
        }
        context.ledger.note("upload", self.numbers(&upload));
        Ok(Answer::One(id.to_owned()))
    }

    /// The code and message for a binary whose facts contradict the announcement.
    fn contradiction(&self, upload: &str, said: Option<AppInfo>) -> Option<(&'static str, String)> {
        let Some(said) = said else {
            return Some(("90000", "The file is no app.".to_owned()));
        };
        let app = self.resources.get(upload).map(|upload| upload.parent.clone())?;
        if said.bundle_id != self.text(&app, "bundleId") {
            let text = format!(
                "CFBundleIdentifier Collision. The bundle identifier is {}.",
                said.bundle_id
            );
            return Some(("90055", text));
        }
        let announced = self.numbers(upload);
        let says = format!("{} {}", said.version, said.build_number);
        (says != announced).then(|| {
            (
                "90062",
                format!("The bundle says it is {says}, announced was {announced}."),
            )
        })
    }

    /// Marks an upload as failed because of an invalid binary.
    pub(super) fn upload_fails(&mut self, upload: &str) {
        let errors = self
            .resources
            .get(upload)
            .map(|upload| upload.attributes["#errors"].clone());
        let failed = json!({"state": "FAILED", "errors": errors, "warnings": [], "infos": []});
        self.set(upload, "state", failed);
    }

    /// Version and build number of an upload, for the ledger.
    pub(super) fn numbers(&self, upload: &str) -> String {
        let (version, number) = ("cfBundleShortVersionString", "cfBundleVersion");
        format!("{} {}", self.text(upload, version), self.text(upload, number))
    }

    pub(super) fn belongs(&mut self, id: &str, parent: &str) {
        if let Some(resource) = self.resources.get_mut(id) {
            parent.clone_into(&mut resource.parent);
        }
    }
}

/// The id of a relationship in a body.
pub(super) fn id_of(data: &Value, name: &str) -> String {
    let id = data["relationships"][name]["data"]["id"].as_str();
    id.unwrap_or_default().to_owned()
}
