//! Decides which builds share caches. A cache may contain anything that a build wrote, so only builds that trust that build
//! read it: those of the same app and configuration, and of the same branch or the same uploader. A plan sent with the request
//! is code of the requester: such a build never shares a cache with one that follows the plan of its repository.

use super::plan::FROM_REQUEST;
use super::{Build, SourceRecord};

/// Who controls the code and the steps of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin<'a> {
    /// A ref of a repository: whoever may push to it decides what is built.
    Git {
        /// The repository.
        url: &'a str,
        /// Branch, tag or commit.
        reference: &'a str,
    },
    /// A ref of a repository, with steps that a user or key sent with the request.
    GitWithPlanBy {
        /// The repository.
        url: &'a str,
        /// Branch, tag or commit.
        reference: &'a str,
        /// The user or key.
        by: &'a str,
    },
    /// Uploads of a user or key.
    UploadBy(&'a str),
    /// A single build, whose code is from an unknown author.
    Alone(&'a str),
}

impl<'a> Origin<'a> {
    /// The origin of a build's code.
    pub fn of(build: &'a Build, id: &'a str) -> Origin<'a> {
        let has_plan = build.plan_origin.as_deref() == Some(FROM_REQUEST);
        let is_retry = build.parent_id.is_some();
        match &build.spec.source {
            SourceRecord::Git { url, reference } if !has_plan => Origin::Git { url, reference },
            // The upload and the plan of a retry belong to whoever requested its parent.
            _ if is_retry => Origin::Alone(id),
            SourceRecord::Git { url, reference } => Origin::GitWithPlanBy {
                url,
                reference,
                by: &build.created_by,
            },
            SourceRecord::Archive { .. } => Origin::UploadBy(&build.created_by),
        }
    }
}

/// The scope of a build's caches: builds of an organization with the same scope share them.
pub fn scope(bundle_id: &str, configuration: Option<&str>, origin: Origin<'_>) -> String {
    let origin = match origin {
        // Not "git": earlier releases used that scope for builds with any plan.
        Origin::Git { url, reference } => vec!["git with its plan", url, reference],
        Origin::GitWithPlanBy { url, reference, by } => vec!["git with plan by", url, reference, by],
        Origin::UploadBy(by) => vec!["upload", by, ""],
        Origin::Alone(id) => vec!["alone", id, ""],
    };
    // JSON, so that one text cannot be mistaken for two.
    serde_json::json!([bundle_id.to_ascii_lowercase(), configuration, origin]).to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn whatever_tells_trust_apart_tells_caches_apart() {
        let main = Origin::Git {
            url: "https://example.com/app.git",
            reference: "main",
        };
        let pull = Origin::Git {
            url: "https://example.com/app.git",
            reference: "pull/7/head",
        };
        let fork = Origin::Git {
            url: "https://example.com/fork.git",
            reference: "main",
        };
        let planned = |by| Origin::GitWithPlanBy {
            url: "https://example.com/app.git",
            reference: "main",
            by,
        };
        let scopes = [
            scope("com.example.app", Some("production"), main),
            scope("com.example.app", Some("production"), pull),
            scope("com.example.app", Some("production"), fork),
            scope("com.example.app", Some("production"), planned("key_1")),
            scope("com.example.app", Some("production"), planned("key_2")),
            scope("com.example.app", Some("production"), planned("")),
            scope("com.example.app", Some("preview"), main),
            scope("com.example.app", None, main),
            scope("com.example.other", Some("production"), main),
            scope("com.example.app", Some("production"), Origin::UploadBy("key_1")),
            scope("com.example.app", Some("production"), Origin::UploadBy("key_2")),
            scope("com.example.app", Some("production"), Origin::Alone("key_1")),
            scope("com.example.app", Some("production\",\"x"), main),
        ];
        assert_eq!(scopes.iter().collect::<HashSet<_>>().len(), scopes.len());
        assert_eq!(scopes[0], scope("COM.example.app", Some("production"), main));
    }
}
