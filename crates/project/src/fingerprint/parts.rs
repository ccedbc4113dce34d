//! The native parts of a project, as its framework defines them.

use super::plugins::Plugins;

/// The native parts of a project.
pub struct Parts {
    /// The plugins and the runtime.
    pub plugins: Plugins,
    /// Directories and files of the native project and of the app resources.
    pub places: Vec<String>,
    /// Patterns of additional native files, as in `.gitignore`.
    pub patterns: Vec<String>,
    /// Texts that count as native files although they are parts of larger files: a name and the text.
    pub made: Vec<(String, Vec<u8>)>,
    /// Selects app resources among the files; the others are native source.
    pub is_resource: Box<dyn Fn(&str) -> bool>,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            plugins: Plugins::new(),
            places: Vec::new(),
            patterns: Vec::new(),
            made: Vec::new(),
            is_resource: Box::new(|_| false),
        }
    }
}

/// Whether a file of a native project is an app resource: in an Android `res` directory, an asset catalog, a storyboard
/// or a localization.
pub fn is_resource(path: &str) -> bool {
    const FOLDERS: [&str; 3] = [".xcassets", ".lproj", ".icon"];
    const FILES: [&str; 5] = [".storyboard", ".xib", ".strings", ".stringsdict", ".xcstrings"];
    let parts: Vec<&str> = path.split('/').collect();
    let in_res = parts.windows(3).any(|parts| parts[0] == "src" && parts[2] == "res");
    let in_folder = parts.iter().any(|part| FOLDERS.iter().any(|end| part.ends_with(end)));
    in_res || in_folder || FILES.iter().any(|end| path.ends_with(end))
}
