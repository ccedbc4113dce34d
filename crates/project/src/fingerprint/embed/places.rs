//! Where apps of each framework have the files that their native binary contains, and how these are written.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use launchway_domain::platform::Platform;

use super::EmbedError;
use crate::fingerprint::{nativescript, or_current_dir};
use crate::framework::{Framework, gradle_root};
use crate::source::Source;

/// The native project of an app.
pub(super) struct Native<'r> {
    root: &'r Path,
    platform: Platform,
    pub(super) source: Source,
    /// Where NativeScript keeps native files, from which it generates the native project.
    resources: Option<String>,
}

impl<'r> Native<'r> {
    pub(super) fn new(root: &'r Path, framework: Framework, platform: Platform) -> Result<Self, EmbedError> {
        let root = or_current_dir(root);
        let source = Source::new(root);
        let config = ["nativescript.config.ts", "nativescript.config.js"];
        let config = config.iter().find_map(|name| source.text(name)).unwrap_or_default();
        let resources = match framework {
            Framework::NativeScript => Some(nativescript::resources(root, &config, platform)?),
            _ => None,
        };
        Ok(Self {
            root,
            platform,
            source,
            resources,
        })
    }

    /// `src/main` of the Android app.
    pub(super) fn android_main(&self) -> Result<String, EmbedError> {
        let module = match &self.resources {
            Some(resources) => resources.clone(),
            None => match gradle_root(&self.source, "") {
                Some(folder) if !folder.is_empty() => format!("{folder}/app"),
                _ => "app".to_owned(),
            },
        };
        let main = format!("{module}/src/main");
        if self.source.has_directory(&main) {
            Ok(main)
        } else {
            Err(EmbedError::NoProject(main))
        }
    }

    /// The property lists of the Apple app, with their texts.
    pub(super) fn property_lists(&self) -> Result<Vec<(String, String)>, EmbedError> {
        let (places, first) = match &self.resources {
            Some(resources) => {
                let place = format!("{resources}/Info.plist");
                (vec![place.clone()], place)
            }
            None => (
                info_plists(&self.source, self.platform),
                format!("{}/<App>/Info.plist", self.platform),
            ),
        };
        let mut lists = Vec::new();
        for path in places {
            if let Some(text) = self.source.read(&path)? {
                lists.push((path, text));
            }
        }
        if lists.is_empty() {
            return Err(EmbedError::NoProject(first));
        }
        Ok(lists)
    }

    /// Writes a temporary file and renames it, so that readers never see a partial file. Existing paths may be links to
    /// outside the project.
    pub(super) fn write(&self, path: &str, text: &str) -> Result<(), EmbedError> {
        let root = self.root;
        let unwritable = |error| EmbedError::Unwritable(path.to_owned(), error);
        let inside = |folder: &Path| {
            let (root, folder) = (fs::canonicalize(root)?, fs::canonicalize(folder)?);
            match folder.starts_with(&root) {
                true => Ok(folder),
                false => Err(std::io::Error::new(
                    ErrorKind::PermissionDenied,
                    "it is outside the project",
                )),
            }
        };
        let place = root.join(path);
        let (Some(folder), Some(name)) = (place.parent(), place.file_name()) else {
            return Err(EmbedError::NoProject(path.to_owned()));
        };
        // Directories are created only below one that is known to be inside the project.
        let there = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(root);
        inside(there).map_err(unwritable)?;
        fs::create_dir_all(folder).map_err(unwritable)?;
        // The file itself may be a link inside the project; its target is written.
        let target = match fs::canonicalize(&place) {
            Ok(target) => target,
            Err(_) => inside(folder).map_err(unwritable)?.join(name),
        };
        let folder = target.parent().unwrap_or(folder);
        let beside = inside(folder).map_err(unwritable)?.join(".launchway_embed.new");
        fs::write(&beside, text).map_err(unwritable)?;
        fs::rename(&beside, &target).map_err(unwritable)
    }
}

/// The `Info.plist` of each Xcode project, in the directory of the project's name beside it.
fn info_plists(source: &Source, platform: Platform) -> Vec<String> {
    let folder = platform.as_str();
    let below = [format!("{folder}/App"), folder.to_owned(), String::new()];
    let in_folder = |folder: &String| {
        let prefix = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let names = source.names(folder).into_iter();
        names
            .filter_map(|name| name.strip_suffix(".xcodeproj").map(str::to_owned))
            .filter(|name| name != "Pods")
            .map(|name| format!("{prefix}{name}/Info.plist"))
            .filter(|path| source.has_file(path))
            .collect::<Vec<_>>()
    };
    below
        .iter()
        .map(in_folder)
        .find(|places| !places.is_empty())
        .unwrap_or_default()
}
