//! The hook of the SDK in the configuration of a NativeScript project: it points the runtime of iOS at updates.

use super::native_edit::after_line;
use crate::framework::Framework;
use crate::packages::{Packages, join};
use crate::source::Source;

/// The hook's script in the package.
const SCRIPT: &str = "@launchway/nativescript/hooks/after-prepare.mjs";
/// The entry of the configuration, where the package is in `node_modules` of the app.
pub const HOOK: &str =
    "hooks: [{ type: 'after-prepare', script: './node_modules/@launchway/nativescript/hooks/after-prepare.mjs' }],";
/// How configurations begin.
const STARTS: [&str; 2] = ["export default {\n", "module.exports = {\n"];

/// The configuration that lacks the hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithoutHook {
    /// Its path.
    pub path: String,
    /// Its text.
    pub before: String,
    /// Its text with the hook; `None` if its form is not known, or if the package is elsewhere.
    pub after: Option<String>,
}

/// The configuration of the app in `directory`, if it does not name the hook.
pub fn without_hook(source: &Source, directory: &str, packages: Option<&Packages>) -> Option<WithoutHook> {
    let configs = Framework::NativeScript.configs(source, directory);
    let name = configs.into_iter().flatten().next().unwrap_or("nativescript.config.ts");
    let path = join(directory, name);
    let before = source.text(&path).unwrap_or_default();
    let mut code = before.lines().filter(|line| !line.trim_start().starts_with("//"));
    if code.any(|line| line.contains(SCRIPT)) {
        return None;
    }
    // A package manager may install the packages of several apps above them.
    let is_here = packages.is_some_and(|packages| packages.place == directory);
    let after = if is_here { with_hook(&before) } else { None };
    Some(WithoutHook { path, before, after })
}

fn with_hook(text: &str) -> Option<String> {
    let plain = text.replace("\r\n", "\n");
    if plain.contains("hooks") {
        return None;
    }
    let with = STARTS.iter().find_map(|start| after_line(&plain, start, &[HOOK]))?;
    Some(match text.contains("\r\n") {
        true => with.replace('\n', "\r\n"),
        false => with,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hook_is_added_where_the_configuration_begins() {
        let text = "import { NativeScriptConfig } from '@nativescript/core';\n\nexport default {\n  id: 'a.b',\n} as NativeScriptConfig;\n";
        let expected = text.replace("default {\n", &format!("default {{\n  {HOOK}\n"));
        assert_eq!(with_hook(text), Some(expected.clone()));
        assert_eq!(
            with_hook(&text.replace('\n', "\r\n")),
            Some(expected.replace('\n', "\r\n"))
        );
        let script = "module.exports = {\n\tid: 'a.b',\n};\n";
        assert_eq!(
            with_hook(script),
            Some(format!("module.exports = {{\n\t{HOOK}\n\tid: 'a.b',\n}};\n"))
        );
        for other in [
            "",
            "export default config;\n",
            "export default { id: 'a.b' };\n",
            "export default {\n  hooks: [],\n};\n",
            "export default {\n};\nexport default {\n};\n",
        ] {
            assert_eq!(with_hook(other), None, "{other}");
        }
    }

    #[test]
    fn a_hook_that_is_named_is_found() {
        let found = |directory: &str, text: &str| {
            let folder = tempfile::tempdir().unwrap();
            let app = folder.path().join(directory);
            std::fs::create_dir_all(&app).unwrap();
            std::fs::write(folder.path().join("package-lock.json"), "{}").unwrap();
            std::fs::write(app.join("package.json"), "{}").unwrap();
            std::fs::write(app.join("nativescript.config.ts"), text).unwrap();
            let source = Source::new(folder.path());
            let packages = Packages::read(&source, directory);
            without_hook(&source, directory, packages.as_ref()).map(|config| (config.path, config.after.is_some()))
        };
        let without = "export default {\n  id: 'a.b',\n};\n";
        let path = |path: &str| path.to_owned();
        assert_eq!(found("", without), Some((path("nativescript.config.ts"), true)));
        assert_eq!(
            found("", &format!("export default {{\n  // {HOOK}\n}};\n")),
            Some((path("nativescript.config.ts"), false))
        );
        assert_eq!(found("", &format!("export default {{\n  {HOOK}\n}};\n")), None);
        let above = found("apps/phone", without);
        assert_eq!(above, Some((path("apps/phone/nativescript.config.ts"), false)));
    }
}
