//! What the server takes at most, asked for before much is packed.

use indicatif::HumanBytes;
use launchway_api::auth::SizeLimits;
use launchway_client::Client;

use crate::context::Context;
use crate::failure::Failure;

/// Less than this is packed without asking: it takes a moment, and the server says when it is too much.
const ASKED_FROM: u64 = 16 << 20;

/// The limits of the server for files of this size; `None` if they are small, or if the server does not tell.
pub async fn limits_for(bytes: u64, client: &Client) -> Result<Option<SizeLimits>, Failure> {
    match bytes < ASKED_FROM {
        true => Ok(None),
        false => Ok(client.session().await?.value.limits),
    }
}

/// Says that what is about to be packed is larger than the packed file may be.
pub fn note_if_tight(bytes: u64, limit: Option<u64>, what: &str, context: &Context) {
    if let Some(limit) = limit.filter(|limit| bytes > *limit) {
        context.printer.note(&format!(
            "There are {} to pack, and the server takes {what} of at most {}",
            HumanBytes(bytes),
            HumanBytes(limit)
        ));
    }
}

/// The failure of something that is larger than the server takes.
pub fn too_large(what: &str, bytes: u64, limit: u64) -> Failure {
    Failure::failed(format!(
        "{what} has {}, and the server takes at most {}",
        HumanBytes(bytes),
        HumanBytes(limit)
    ))
    .hint("leave out what the app does not need, or ask the operator for a higher limit")
}
