//! The bodies of the requests to App Store Connect, named by their published schemas.

use serde_json::{Value, json};

fn linked(kind: &str, id: &str) -> Value {
    json!({"data": {"type": kind, "id": id}})
}

/// `BuildUploadCreateRequest`.
pub fn build_upload(app_id: &str, version: &str, build_number: &str, platform: &str) -> Value {
    json!({"data": {
        "type": "buildUploads",
        "attributes": {"cfBundleShortVersionString": version, "cfBundleVersion": build_number, "platform": platform},
        "relationships": {"app": linked("apps", app_id)},
    }})
}

/// `BuildUploadFileCreateRequest`.
pub fn build_upload_file(build_upload_id: &str, file_name: &str, size: u64) -> Value {
    json!({"data": {
        "type": "buildUploadFiles",
        "attributes": {"assetType": "ASSET", "fileName": file_name, "fileSize": size, "uti": "com.apple.ipa"},
        "relationships": {"buildUpload": linked("buildUploads", build_upload_id)},
    }})
}

/// `BuildUploadFileUpdateRequest`: all parts are uploaded.
pub fn uploaded(file_id: &str, sha256: &str) -> Value {
    json!({"data": {
        "type": "buildUploadFiles",
        "id": file_id,
        "attributes": {
            "uploaded": true,
            "sourceFileChecksums": {"file": {"hash": sha256, "algorithm": "SHA_256"}},
        },
    }})
}

/// `BuildUpdateRequest`: the answer to the encryption question.
pub fn encryption(build_id: &str, uses_non_exempt: bool) -> Value {
    json!({"data": {
        "type": "builds",
        "id": build_id,
        "attributes": {"usesNonExemptEncryption": uses_non_exempt},
    }})
}

/// `BetaBuildLocalizationCreateRequest`: the test notes.
pub fn test_note(build_id: &str, locale: &str, text: &str) -> Value {
    json!({"data": {
        "type": "betaBuildLocalizations",
        "attributes": {"locale": locale, "whatsNew": text},
        "relationships": {"build": linked("builds", build_id)},
    }})
}

/// `BetaBuildLocalizationUpdateRequest`.
pub fn changed_test_note(id: &str, text: &str) -> Value {
    json!({"data": {"type": "betaBuildLocalizations", "id": id, "attributes": {"whatsNew": text}}})
}

/// `BuildBetaGroupsLinkagesRequest`.
pub fn groups(ids: &[String]) -> Value {
    let linked: Vec<Value> = ids.iter().map(|id| json!({"type": "betaGroups", "id": id})).collect();
    json!({"data": linked})
}

/// `BetaAppReviewSubmissionCreateRequest`.
pub fn beta_review(build_id: &str) -> Value {
    json!({"data": {
        "type": "betaAppReviewSubmissions",
        "relationships": {"build": linked("builds", build_id)},
    }})
}

/// `AppStoreVersionCreateRequest`.
pub fn version(app_id: &str, platform: &str, version: &str, release_type: &str) -> Value {
    json!({"data": {
        "type": "appStoreVersions",
        "attributes": {"platform": platform, "versionString": version, "releaseType": release_type},
        "relationships": {"app": linked("apps", app_id)},
    }})
}

/// `AppStoreVersionUpdateRequest`.
pub fn changed_version(id: &str, version: &str, release_type: &str) -> Value {
    json!({"data": {
        "type": "appStoreVersions",
        "id": id,
        "attributes": {"versionString": version, "releaseType": release_type},
    }})
}

/// `AppStoreVersionBuildLinkageRequest`.
pub fn build(build_id: &str) -> Value {
    linked("builds", build_id)
}

/// `AppStoreVersionLocalizationCreateRequest`.
pub fn whats_new(version_id: &str, locale: &str, text: &str) -> Value {
    json!({"data": {
        "type": "appStoreVersionLocalizations",
        "attributes": {"locale": locale, "whatsNew": text},
        "relationships": {"appStoreVersion": linked("appStoreVersions", version_id)},
    }})
}

/// `AppStoreVersionLocalizationUpdateRequest`.
pub fn changed_whats_new(id: &str, text: &str) -> Value {
    json!({"data": {"type": "appStoreVersionLocalizations", "id": id, "attributes": {"whatsNew": text}}})
}

/// The same without a build: detaches it.
pub fn no_build() -> Value {
    json!({"data": null})
}

/// `AppStoreVersionPhasedReleaseCreateRequest`: starts when the version is released.
pub fn phased_release(version_id: &str) -> Value {
    json!({"data": {
        "type": "appStoreVersionPhasedReleases",
        "attributes": {"phasedReleaseState": "INACTIVE"},
        "relationships": {"appStoreVersion": linked("appStoreVersions", version_id)},
    }})
}

/// `AppStoreVersionPhasedReleaseUpdateRequest`.
pub fn changed_phased_release(id: &str, state: &str) -> Value {
    json!({"data": {"type": "appStoreVersionPhasedReleases", "id": id, "attributes": {"phasedReleaseState": state}}})
}

/// `ReviewSubmissionCreateRequest`.
pub fn review_submission(app_id: &str, platform: &str) -> Value {
    json!({"data": {
        "type": "reviewSubmissions",
        "attributes": {"platform": platform},
        "relationships": {"app": linked("apps", app_id)},
    }})
}

/// `ReviewSubmissionItemCreateRequest`.
pub fn review_item(review_submission_id: &str, version_id: &str) -> Value {
    json!({"data": {
        "type": "reviewSubmissionItems",
        "relationships": {
            "reviewSubmission": linked("reviewSubmissions", review_submission_id),
            "appStoreVersion": linked("appStoreVersions", version_id),
        },
    }})
}

/// `ReviewSubmissionUpdateRequest`: submits for review.
pub fn submitted(id: &str) -> Value {
    json!({"data": {"type": "reviewSubmissions", "id": id, "attributes": {"submitted": true}}})
}

/// `ReviewSubmissionUpdateRequest`: cancels the review.
pub fn canceled(id: &str) -> Value {
    json!({"data": {"type": "reviewSubmissions", "id": id, "attributes": {"canceled": true}}})
}

/// `AppStoreVersionReleaseRequestCreateRequest`: releases an approved version.
pub fn release(version_id: &str) -> Value {
    json!({"data": {
        "type": "appStoreVersionReleaseRequests",
        "relationships": {"appStoreVersion": linked("appStoreVersions", version_id)},
    }})
}
