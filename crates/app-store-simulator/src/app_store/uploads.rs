//! Uploads of builds: announced, sent in parts, committed.

use std::collections::BTreeMap;

use launchway_app_stores::transport::Response;
use launchway_domain::time::{HOUR, iso};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::routes::{Answer, Answered};
use super::{AppStore, Around, Event};
use crate::answer::{Refused, apple, status};
use crate::call::Received;
use crate::settings::Said;

/// The parts of a file.
#[derive(Default)]
pub(super) struct Parts {
    size: u64,
    part: u64,
    /// Of a file that is too large to be kept, no bytes.
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
    pub(super) fn create_upload(&mut self, around: &mut Around<'_>, data: &Value) -> Answered {
        let app = id_of(data, "app");
        self.thing("apps", &app)?;
        let given = &data["attributes"];
        let (version, number) = (&given["cfBundleShortVersionString"], &given["cfBundleVersion"]);
        let taken = self.all("builds").any(|(_, build)| {
            build.related("app") == app
                && build.attributes["#version"] == *version
                && build.attributes["version"] == *number
                && build.attributes["#platform"] == given["platform"]
        });
        if taken {
            return Err(Refused(
                409,
                "ENTITY_ERROR.ATTRIBUTE.INVALID.DUPLICATE",
                "The bundle version must be higher than the previously uploaded version.".to_owned(),
            ));
        }
        let attributes = json!({
            "cfBundleShortVersionString": version,
            "cfBundleVersion": number,
            "platform": given["platform"],
            "createdDate": iso(around.now),
            "state": {"state": "AWAITING_UPLOAD", "errors": [], "warnings": [], "infos": []},
        });
        let id = self.make("buildUploads", attributes, &[]);
        self.belongs(&id, &app);
        around.ledger.note("upload_announced", id.clone());
        Ok(Answer::Made(id))
    }

    pub(super) fn delete_upload(&mut self, id: &str) -> Answered {
        let upload = self.thing("buildUploads", id)?;
        if upload.attributes["state"]["state"] != "AWAITING_UPLOAD" {
            return Err(Refused(
                409,
                "STATE_ERROR",
                "The upload is not waiting any more.".to_owned(),
            ));
        }
        self.things.remove(id);
        Ok(Answer::Nothing)
    }

    pub(super) fn create_file(&mut self, around: &mut Around<'_>, data: &Value) -> Answered {
        let upload = id_of(data, "buildUpload");
        let state = &self.thing("buildUploads", &upload)?.attributes["state"]["state"];
        let has_file = self.all("buildUploadFiles").any(|(_, file)| file.parent == upload);
        if state != "AWAITING_UPLOAD" || has_file {
            return Err(Refused(
                409,
                "STATE_ERROR",
                "The upload takes no further file.".to_owned(),
            ));
        }
        let given = &data["attributes"];
        let size = given["fileSize"].as_u64().filter(|size| *size > 0);
        let size = size.ok_or_else(|| {
            let detail = "fileSize must be above 0".to_owned();
            Refused(409, "ENTITY_ERROR.ATTRIBUTE.INVALID", detail)
        })?;
        let mut attributes = given.clone();
        attributes["assetDeliveryState"] = json!({"state": "AWAITING_UPLOAD", "errors": [], "warnings": []});
        let id = self.make("buildUploadFiles", attributes, &[]);
        self.belongs(&id, &upload);
        let parts = Parts {
            size,
            part: around.settings.part.max(1),
            arrived: BTreeMap::new(),
            is_kept: usize::try_from(size).is_ok_and(|size| size <= around.settings.kept),
        };
        self.parts.insert(id.clone(), parts);
        self.refresh_parts(&id, around);
        Ok(Answer::Made(id))
    }

    /// The addresses of the parts that the next answer tells.
    pub(super) fn refresh_parts(&mut self, id: &str, around: &Around<'_>) {
        let generation = self.generation;
        let Some(parts) = self.parts.get(id) else { return };
        let operations: Vec<Value> = (0..parts.count())
            .map(|number| {
                json!({
                    "method": "PUT",
                    "url": format!("{}/simulator/parts/{id}/{generation}-{number}?signature=simulated", around.address),
                    "offset": number * parts.part,
                    "length": parts.length(number),
                    "partNumber": number + 1,
                    "requestHeaders": [{"name": "Content-Type", "value": "application/octet-stream"}],
                    "expiration": iso(around.now + HOUR),
                })
            })
            .collect();
        self.set(id, "uploadOperations", operations);
    }

    pub(crate) fn expire_parts(&mut self) {
        self.generation += 1;
    }

    /// Takes a part at an address that was given out.
    pub(crate) fn receive(&mut self, file: &str, number: &str, body: &Received) -> Response {
        let refuse = |status, detail: &str| apple(Refused(status, "UPLOAD", detail.to_owned()));
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

    pub(super) fn commit_file(&mut self, around: &mut Around<'_>, id: &str, data: &Value) -> Answered {
        let upload = self.thing("buildUploadFiles", id)?.parent.clone();
        if self.things[id].attributes["assetDeliveryState"]["state"] != "AWAITING_UPLOAD" {
            return Err(Refused(409, "STATE_ERROR", "The file is committed already.".to_owned()));
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
            return Err(Refused(409, "STATE_ERROR", "Parts of the file are missing.".to_owned()));
        };
        let told = &given["sourceFileChecksums"]["file"];
        if parts.is_kept && told["algorithm"] == "SHA_256" {
            let mut hash = Sha256::new();
            parts.arrived.values().for_each(|part| hash.update(part));
            if told["hash"] != hex::encode(hash.finalize()) {
                return Err(Refused(
                    409,
                    "ENTITY_ERROR.ATTRIBUTE.INVALID",
                    "The checksum is another than that of the parts.".to_owned(),
                ));
            }
        }
        let whole: Vec<u8> = parts.arrived.values().flatten().copied().collect();
        let reader = around.settings.read_binary.as_ref().filter(|_| parts.is_kept);
        let fault = reader.and_then(|reader| self.contradiction(&upload, reader(&whole)));
        if let Some(parts) = self.parts.get_mut(id) {
            parts.arrived.clear();
        }
        let checksums = if around.settings.checksums {
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
        self.set(&upload, "uploadedDate", iso(around.now));
        let half = around.settings.processing / 2;
        match fault {
            None => self.later(around.now + half, Event::BuildAppears, &upload),
            Some((code, description)) => {
                let errors = json!([{"code": code, "description": description}]);
                self.set(&upload, "#errors", errors);
                self.later(around.now + half, Event::UploadFails, &upload);
            }
        }
        around.ledger.note("upload", self.numbers(&upload));
        Ok(Answer::One(id.to_owned()))
    }

    /// What a binary says that was not announced so: the store's code and sentence.
    fn contradiction(&self, upload: &str, said: Option<Said>) -> Option<(&'static str, String)> {
        let Some(said) = said else {
            return Some(("90000", "The file is no app.".to_owned()));
        };
        let app = self.things.get(upload).map(|upload| upload.parent.clone())?;
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

    /// The store has found faults in a binary.
    pub(super) fn upload_fails(&mut self, upload: &str) {
        let errors = self
            .things
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
        if let Some(thing) = self.things.get_mut(id) {
            parent.clone_into(&mut thing.parent);
        }
    }
}

/// The id that a body relates to by a name.
pub(super) fn id_of(data: &Value, name: &str) -> String {
    let id = data["relationships"][name]["data"]["id"].as_str();
    id.unwrap_or_default().to_owned()
}
