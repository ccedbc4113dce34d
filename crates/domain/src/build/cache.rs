//! Which builds share caches. A cache may hold whatever the code of a build put there, so it goes only to builds that trust
//! that code: of the same app and configuration, and of the same branch or the same uploader.

use super::{Build, SourceRecord};

/// Where the code of a build comes from, as far as trust goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin<'a> {
    /// A ref of a repository: who may push there decides what is built.
    Git {
        /// The repository.
        url: &'a str,
        /// Branch, tag or commit.
        reference: &'a str,
    },
    /// Uploads of a user or key.
    UploadBy(&'a str),
    /// One build alone: its code is that of somebody who is not known.
    Alone(&'a str),
}

impl<'a> Origin<'a> {
    /// The origin of a build's code.
    pub fn of(build: &'a Build, id: &'a str) -> Origin<'a> {
        match &build.spec.source {
            SourceRecord::Git { url, reference } => Origin::Git { url, reference },
            // A retry has the upload of whoever asked for its parent.
            SourceRecord::Archive { .. } if build.parent_id.is_some() => Origin::Alone(id),
            SourceRecord::Archive { .. } => Origin::UploadBy(&build.created_by),
        }
    }
}

/// The scope of a build's caches: builds of an organization with the same scope share them.
pub fn scope(bundle_id: &str, configuration: Option<&str>, origin: Origin<'_>) -> String {
    let origin = match origin {
        Origin::Git { url, reference } => ["git", url, reference],
        Origin::UploadBy(by) => ["upload", by, ""],
        Origin::Alone(id) => ["alone", id, ""],
    };
    // JSON, so that no text can pretend to be two.
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
        let scopes = [
            scope("com.example.app", Some("production"), main),
            scope("com.example.app", Some("production"), pull),
            scope("com.example.app", Some("production"), fork),
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
