//! One side of a comparison: the project, a file, or a build or update of the server.

use std::path::Path;

use launchway_api::fingerprints::FingerprintView;
use launchway_domain::fingerprint::{Change, Fingerprint, FingerprintDocument, diff, reason};
use launchway_domain::platform::Platform;
use launchway_project::fingerprint::Documents;
use serde_json::Value;

use crate::args::fingerprint::AppArgs;
use crate::commands::fingerprint::{collect, platforms};
use crate::context::Context;
use crate::failure::{Exit, Failure};

/// The argument that names the project.
pub const HERE: &str = "here";

/// The known fingerprint of a native app.
pub struct Side {
    /// Its hash.
    pub hash: Fingerprint,
    /// The `lwfp-2` hash, if known.
    pub lwfp2: Option<Fingerprint>,
    /// The document, if known.
    pub document: Option<FingerprintDocument>,
    pub platform: Platform,
}

impl Side {
    /// The side of a known document.
    pub fn of(document: FingerprintDocument) -> Self {
        Self {
            hash: document.hash(),
            lwfp2: None,
            platform: document.platform(),
            document: Some(document),
        }
    }

    /// The side of a project.
    pub fn of_project(documents: Documents) -> Self {
        Self {
            lwfp2: Some(documents.second.hash()),
            ..Self::of(documents.first)
        }
    }

    /// The project on this platform; on its only one when none is named.
    pub async fn local(platform: Option<Platform>, app: &AppArgs, context: &Context) -> Result<Self, Failure> {
        let platform = match platform {
            Some(platform) => platform,
            None => only(&platforms(app, context)?)?,
        };
        Ok(Self::of_project(collect(platform, app, context).await?.documents))
    }

    /// The side that an argument names, other than the project: a file or an id.
    pub async fn read(name: &str, context: &Context) -> Result<Self, Failure> {
        let is_id = name.starts_with("update_") || name.starts_with("build_");
        if is_id && !Path::new(name).exists() {
            return fetch_side(name, context).await;
        }
        let text = std::fs::read_to_string(name).map_err(|error| {
            Failure::usage(format!("cannot read {name}: {error}"))
                .hint("a side is `here`, a file with a document, or the id of an update or build")
        })?;
        let wrong = |problem: String| Failure::usage(format!("{name} is not a fingerprint document: {problem}"));
        let mut value: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        // The output of `fingerprint PLATFORM --json` is accepted too.
        let lwfp2 = value["lwfp2"].as_str().and_then(|hash| Fingerprint::parse(hash).ok());
        if let Some(document) = value.get_mut("document") {
            value = document.take();
        }
        let document = FingerprintDocument::from_value(value).map_err(|error| wrong(error.to_string()))?;
        Ok(Self {
            lwfp2,
            ..Self::of(document)
        })
    }
}

/// The only platform of a project.
fn only(platforms: &[Platform]) -> Result<Platform, Failure> {
    if let [platform] = platforms {
        return Ok(*platform);
    }
    let names: Vec<_> = platforms.iter().map(|platform| platform.as_str()).collect();
    Err(
        Failure::usage("the project has several platforms, and none is specified")
            .hint(format!("choose one of them: {}", names.join(", "))),
    )
}

/// The side of a build or an update.
pub async fn fetch_side(id: &str, context: &Context) -> Result<Side, Failure> {
    side_from_view(&context.client()?.fingerprint(id).await?.value)
}

/// A side from the server's data.
pub fn side_from_view(view: &FingerprintView) -> Result<Side, Failure> {
    let id = &view.id;
    let hash = view
        .fingerprint
        .as_deref()
        .ok_or_else(|| Failure::failed(format!("{id} has no fingerprint")).hint("choose another build or update"))?;
    let hash = Fingerprint::parse(hash)
        .map_err(|error| Failure::new(Exit::Server, format!("the fingerprint from the server {error}")))?;
    let platform = view.platform.known().ok_or_else(|| {
        let message = format!("{id} is for {}, which this version does not know", view.platform);
        Failure::failed(message).hint("update launchway")
    })?;
    Ok(Side {
        hash,
        lwfp2: view.lwfp2.as_deref().and_then(|hash| Fingerprint::parse(hash).ok()),
        document: view.read(),
        platform,
    })
}

/// The differences as text; `None` when there are none.
pub fn difference(there: &Side, here: &Side) -> Option<String> {
    (!are_same(there, here)).then(|| reason(there.document.as_ref(), here.document.as_ref()))
}

/// Whether both sides have the same native code: equal hashes of either algorithm.
pub fn are_same(there: &Side, here: &Side) -> bool {
    let second = |side: &Side| side.lwfp2.clone().unwrap_or_else(|| side.hash.clone());
    there.hash == here.hash || second(there) == second(here)
}

/// Each difference; `None` when a document is unknown, or the documents have different algorithms.
pub fn changes<'s>(there: &'s Side, here: &'s Side) -> Option<Vec<Change<'s>>> {
    if are_same(there, here) {
        return Some(Vec::new());
    }
    let both = there.document.as_ref().zip(here.document.as_ref());
    let (from, to) = both.filter(|(from, to)| from.algorithm() == to.algorithm())?;
    Some(diff(from, to))
}
