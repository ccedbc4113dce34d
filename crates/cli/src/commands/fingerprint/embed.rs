//! `fingerprint embed`: writes the fingerprint to where the app reads it from its native binary.

use launchway_domain::platform::Platform;
use launchway_project::fingerprint::embed::embed;
use serde_json::json;

use crate::args::fingerprint::AppArgs;
use crate::commands::app;
use crate::commands::fingerprint::{look, platforms};
use crate::context::Context;
use crate::failure::Failure;

pub async fn run(platform: Option<Platform>, app: &AppArgs, generated: bool, context: &Context) -> Result<(), Failure> {
    let platforms = match platform {
        Some(platform) => vec![platform],
        None => platforms(app, context)?,
    };
    let (mut items, mut prose) = (Vec::new(), String::new());
    for platform in platforms {
        let found = look(platform, app.profile.as_deref(), generated, context).await?;
        let found = found.map_err(|error| Failure::failed(error.to_string()))?;
        let hash = found.documents.hash();
        let place = app::place(platform, app.profile.as_deref(), context)?;
        let root = context.settings.root.join(place.directory);
        let files =
            embed(&root, found.framework, platform, &hash).map_err(|error| Failure::failed(error.to_string()))?;
        for file in &files {
            let outcome = if file.changed { "written" } else { "unchanged" };
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
