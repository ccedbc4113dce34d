//! `fingerprint embed`: writes the fingerprint where the app reads it from its native binary.

use launchway_domain::platform::Platform;
use launchway_project::fingerprint::embed::embed;
use serde_json::json;

use crate::commands::fingerprint::{collect, platforms};
use crate::context::Context;
use crate::failure::Failure;

pub async fn run(platform: Option<Platform>, context: &Context) -> Result<(), Failure> {
    let platforms = match platform {
        Some(platform) => vec![platform],
        None => platforms(context)?,
    };
    let (mut items, mut prose) = (Vec::new(), String::new());
    for platform in platforms {
        let found = collect(platform, context).await?;
        let hash = found.document.hash();
        let files = embed(&context.settings.root, found.framework, platform, &hash)
            .map_err(|error| Failure::failed(error.to_string()))?;
        for file in &files {
            let outcome = if file.changed { "has it now" } else { "had it already" };
            prose.push_str(&format!("{platform}  {hash}  {} {outcome}\n", file.path));
        }
        let files = files
            .iter()
            .map(|file| json!({ "path": file.path, "changed": file.changed }));
        items.push(json!({
            "platform": platform,
            "fingerprint": hash.as_str(),
            "files": files.collect::<Vec<_>>(),
        }));
    }
    context.printer.result(&json!({ "items": items }).to_string(), || prose)
}
