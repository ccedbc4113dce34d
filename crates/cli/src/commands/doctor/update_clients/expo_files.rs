//! Looks where the files of the update are that Expo's client is offered: the manifest names their addresses, and one that was signed does
//! so for good, whatever the server's `--asset-base` is by now (`docs/reference/expo.md#assets`).

use launchway_foreign::expo::{MAX_MANIFEST_BYTES, Manifest};

use super::CHECK;
use super::asking::{Asking, Question};
use crate::commands::doctor::Finding;

/// The form of an answer that is nothing but the manifest.
const MANIFEST: &str = "application/expo+json";

/// Asks for the script of the update that an app of `server` is offered. Nothing is found if it is offered none, or if the files are on
/// that server.
pub async fn look(asking: &Asking, server: &str, address: &str, question: &Question<'_>) -> Option<Finding> {
    let manifest = offered(asking, address, question).await?;
    let url = &manifest.launch_asset.url;
    let (base, _) = url.split_once("/expo/")?;
    let client = format!("Expo Updates on {}", question.platform);
    let reason = match asking.client.get(url).send().await {
        Ok(response) if response.status() == reqwest::StatusCode::OK => {
            let message =
                format!("{client} downloads files from {base}; keep it reachable, because signed updates name it");
            return (base != server).then(|| Finding::ok(CHECK, message));
        }
        Ok(response) => format!("the answer there is {}", response.status().as_u16()),
        Err(error) => format!("it does not respond: {}", error.without_url()),
    };
    let message = format!("{client} is offered an update whose files are at {base}, but {reason}");
    let fix = "serve the files at that address again, or publish another update; a changed --asset-base does not change what was signed";
    Some(Finding::problem(CHECK, message, fix))
}

/// The manifest that the app would receive.
async fn offered(asking: &Asking, address: &str, question: &Question<'_>) -> Option<Manifest> {
    let mut response = asking.expo(address, MANIFEST, question).send().await.ok()?;
    if response.status() != reqwest::StatusCode::OK {
        return None;
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        if body.len() + chunk.len() > MAX_MANIFEST_BYTES {
            return None;
        }
        body.extend_from_slice(&chunk);
    }
    Manifest::parse(&body).ok()
}
