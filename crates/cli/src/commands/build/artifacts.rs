//! `build download`: downloads the artifacts of a build. `build --download` does the same after the build.

use std::path::{Path, PathBuf};

use indicatif::HumanBytes;
use launchway_api::builds::{ArtifactView, BuildView};
use launchway_client::Client;
use serde_json::json;

use crate::args::build::DownloadArgs;
use crate::context::Context;
use crate::failure::{Exit, Failure};

pub async fn run(arguments: DownloadArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let build = client.build(&arguments.build.id).await?.value;
    let files = download(&build, &arguments.artifacts, &arguments.dir, &client, context).await?;
    let json: Vec<_> = files
        .iter()
        .map(|(artifact, path)| {
            json!({"id": artifact.id, "kind": artifact.kind, "name": artifact.name, "size": artifact.size,
                "sha256": artifact.sha256, "path": path})
        })
        .collect();
    context.printer.result(&json!(json).to_string(), || {
        files.iter().map(|(_, path)| format!("{}\n", path.display())).collect()
    })
}

/// Downloads the artifacts of a build into `directory`: those with one of `wanted` as name, kind or id, or all. Returns
/// their paths.
pub async fn download(
    build: &BuildView,
    wanted: &[String],
    directory: &Path,
    client: &Client,
    context: &Context,
) -> Result<Vec<(ArtifactView, PathBuf)>, Failure> {
    let chosen = choose(build, wanted)?;
    std::fs::create_dir_all(directory)
        .map_err(|error| Failure::failed(format!("cannot create {}: {error}", directory.display())))?;
    let mut files = Vec::new();
    for artifact in chosen {
        let path = directory.join(file_name(artifact));
        let size = u64::try_from(artifact.size).unwrap_or(0);
        let progress = context.printer.progress("Downloading", size);
        let got = client
            .download_artifact(&build.id, &artifact.id, &path, progress.callback())
            .await;
        drop(progress);
        let artifact = got?;
        context
            .printer
            .note(&format!("Downloaded {} ({})", path.display(), HumanBytes(size)));
        files.push((artifact, path));
    }
    Ok(files)
}

fn choose<'b>(build: &'b BuildView, wanted: &[String]) -> Result<Vec<&'b ArtifactView>, Failure> {
    let (id, known) = (&build.id, &build.artifacts);
    if known.is_empty() {
        let message = format!("{id} has no artifacts; its status is {}", build.status);
        return Err(Failure::new(Exit::NotFound, message));
    }
    let is = |artifact: &ArtifactView, name: &String| [&artifact.name, &artifact.kind, &artifact.id].contains(&name);
    if let Some(missing) = wanted
        .iter()
        .find(|name| !known.iter().any(|artifact| is(artifact, name)))
    {
        let names: Vec<_> = known.iter().map(|artifact| artifact.name.as_str()).collect();
        return Err(Failure::new(Exit::NotFound, format!("{id} has no artifact {missing}"))
            .hint(format!("its artifacts: {}", names.join(", "))));
    }
    let fits = |artifact: &&ArtifactView| wanted.is_empty() || wanted.iter().any(|name| is(artifact, name));
    Ok(known.iter().filter(fits).collect())
}

/// The file name. An artifact's name is untrusted: it must not lead out of the directory, nor hide in it.
fn file_name(artifact: &ArtifactView) -> String {
    let plain: String = artifact
        .name
        .chars()
        .map(|letter| {
            if letter.is_control() || "/\\:".contains(letter) {
                '-'
            } else {
                letter
            }
        })
        .collect();
    match plain.trim_start_matches('.') {
        "" => artifact.id.clone(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out_of_the_directory_or_hides_in_it() {
        let rows = [
            ("app-release.apk", "app-release.apk"),
            ("../../.bashrc", "-..-.bashrc"),
            ("/etc/passwd", "-etc-passwd"),
            (".bashrc", "bashrc"),
            ("..", "artifact_1"),
            ("", "artifact_1"),
            ("a\nb\u{1b}", "a-b-"),
            ("C:\\x", "C--x"),
        ];
        for (name, expected) in rows {
            let artifact: ArtifactView =
                serde_json::from_value(json!({"id": "artifact_1", "kind": "apk", "name": name,
                "size": 1, "sha256": "00", "facts": null, "url": "", "expiresAt": ""}))
                .expect("an artifact");
            assert_eq!(file_name(&artifact), expected);
        }
    }
}
