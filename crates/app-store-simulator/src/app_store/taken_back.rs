//! What a client takes back: groups of a build, items of a review, prepared versions, approvals.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::routes::{Answer, Answered};
use super::{AppStore, RequestContext};
use crate::answer::state_error;

impl AppStore {
    /// Whether a group has a build.
    pub(super) fn is_tested_by(&self, group: &str, build: &str) -> bool {
        self.tested.contains(&(group.to_owned(), build.to_owned()))
    }

    pub(super) fn take_from_groups(
        &mut self,
        context: &mut RequestContext<'_>,
        build: &str,
        groups: &Value,
    ) -> Answered {
        self.resource("builds", build)?;
        let ids = groups.as_array().into_iter().flatten();
        let ids: BTreeSet<&str> = ids.filter_map(|group| group["id"].as_str()).collect();
        for id in ids {
            let name = self.resource("betaGroups", id)?.text("name").to_owned();
            if self.tested.remove(&(id.to_owned(), build.to_owned())) {
                context.ledger.note("group_removed", name);
            }
        }
        Ok(Answer::Nothing)
    }

    pub(super) fn delete_item(&mut self, id: &str) -> Answered {
        let item = self.resource("reviewSubmissionItems", id)?;
        let (review, version) = (item.parent.clone(), item.related("appStoreVersion").to_owned());
        if self.text(&review, "state") != "READY_FOR_REVIEW" {
            return Err(state_error("The review submission is submitted."));
        }
        self.resources.remove(id);
        self.set(&version, "appVersionState", "PREPARE_FOR_SUBMISSION");
        Ok(Answer::Nothing)
    }

    pub(super) fn delete_version(&mut self, context: &mut RequestContext<'_>, id: &str) -> Answered {
        self.open_version(id)?;
        let app = self.related(id, "app");
        let others = self
            .all("appStoreVersions")
            .filter(|(other, version)| *other != id && version.related("app") == app);
        if others.count() == 0 {
            return Err(state_error("The only version of an app cannot be deleted."));
        }
        if self.text(id, "appVersionState") == "READY_FOR_REVIEW" {
            return Err(state_error("The version is in a review submission."));
        }
        let named = self.text(id, "versionString").to_owned();
        context.ledger.note("version_deleted", named);
        self.resources.remove(id);
        Ok(Answer::Nothing)
    }

    pub(super) fn delete_phased_release(&mut self, id: &str) -> Answered {
        let phased = self.resource("appStoreVersionPhasedReleases", id)?;
        if phased.text("phasedReleaseState") != "INACTIVE" {
            return Err(state_error("The phased release has begun."));
        }
        self.resources.remove(id);
        Ok(Answer::Nothing)
    }

    pub(super) fn detach_build(&mut self, id: &str) -> Answered {
        self.open_version(id)?;
        if let Some(version) = self.resources.get_mut(id) {
            version.relationships.remove("build");
        }
        Ok(Answer::Nothing)
    }

    /// The resource that takes back an approval has the id of its version.
    pub(super) fn approval(&self, context: &RequestContext<'_>, version: &str) -> Answered {
        let state = self.resource("appStoreVersions", version)?.text("appVersionState");
        let is_there = context.settings.takes_back_approvals && state == "PENDING_DEVELOPER_RELEASE";
        let link = ("appStoreVersionSubmissions", version.to_owned());
        Ok(Answer::Linked(is_there.then_some(link)))
    }

    pub(super) fn take_back_approval(&mut self, context: &mut RequestContext<'_>, version: &str) -> Answered {
        let state = self.resource("appStoreVersions", version)?.text("appVersionState");
        if !context.settings.takes_back_approvals || state != "PENDING_DEVELOPER_RELEASE" {
            return Err(state_error("The version is not waiting to be released."));
        }
        let named = self.text(version, "versionString").to_owned();
        context.ledger.note("approval_taken_back", named);
        self.set(version, "appVersionState", json!("DEVELOPER_REJECTED"));
        Ok(Answer::Nothing)
    }
}
