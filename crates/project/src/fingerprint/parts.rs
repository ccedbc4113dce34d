//! What a framework says is native in a project.

use super::plugins::Plugins;

/// What is native in a project.
pub struct Parts {
    /// The plugins and the runtime.
    pub plugins: Plugins,
    /// Folders and files of the native project and of the app resources.
    pub places: Vec<String>,
    /// Patterns of more native files, as in `.gitignore`.
    pub patterns: Vec<String>,
    /// Texts that count as native files though they are parts of larger ones: a name and the text.
    pub made: Vec<(String, Vec<u8>)>,
    /// Which of the files are app resources; the others are native source.
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

/// Whether a file of a native project is an app resource: in a `res` of Android, an asset catalog, a storyboard or the
/// texts of a language.
pub fn is_resource(path: &str) -> bool {
    const FOLDERS: [&str; 3] = [".xcassets", ".lproj", ".icon"];
    const FILES: [&str; 5] = [".storyboard", ".xib", ".strings", ".stringsdict", ".xcstrings"];
    let parts: Vec<&str> = path.split('/').collect();
    let in_res = parts.windows(3).any(|parts| parts[0] == "src" && parts[2] == "res");
    let in_folder = parts.iter().any(|part| FOLDERS.iter().any(|end| part.ends_with(end)));
    in_res || in_folder || FILES.iter().any(|end| path.ends_with(end))
}
