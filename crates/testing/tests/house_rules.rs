//! The house rules of source files: their names, first lines and lengths (see ARCHITECTURE.md).

// Tells clippy that the functions below are tests, in which `unwrap` is allowed.
#![cfg(test)]

use std::fs;
use std::path::Path;

use launchway_testing::workspace::{CODE, files_below, root, rust_files};

/// Names that say nothing about the content.
const EMPTY_NAMES: [&str; 6] = ["common", "helper", "helpers", "manager", "util", "utils"];

/// The maximum number of lines in a source file.
const MAX_LINES: usize = 600;

#[test]
fn files_keep_to_the_house_rules() {
    let files = rust_files();
    assert!(
        files.iter().any(|file| file.ends_with("testing/tests/house_rules.rs")),
        "the search finds not even this file"
    );
    let broken: Vec<String> = files
        .iter()
        .flat_map(|file| {
            let shown = file.strip_prefix(root()).unwrap();
            broken_file_rules(shown, &fs::read_to_string(file).unwrap())
        })
        .collect();
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn files_of_other_languages_are_not_longer() {
    let extensions = ["css", "html", "js", "mjs", "py", "sh", "sql"];
    let folders = ["action"].into_iter().chain(CODE);
    let mut files: Vec<_> = folders
        .flat_map(|folder| files_below(&root().join(folder), &extensions))
        .collect();
    // Scripts have no extension.
    files.extend(files_below(&root().join("scripts"), &["", "py"]));
    assert!(
        files.iter().any(|file| file.ends_with("scripts/test")),
        "the search finds not even the test command"
    );
    let broken: Vec<String> = files
        .iter()
        .filter_map(|file| too_long(file.strip_prefix(root()).unwrap(), &fs::read_to_string(file).unwrap()))
        .collect();
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn each_broken_file_rule_is_told() {
    let long = "//! Long.\n".repeat(MAX_LINES + 1);
    for (path, text, expected) in [
        ("crates/a/src/b/mod.rs", "//! B.\n", "is named mod.rs"),
        ("crates/a/src/b.rs", long.as_str(), "has 601 lines"),
        ("crates/a/src/b.rs", "use std::fs;\n", "does not open with `//!`"),
        ("crates/a/src/b.rs", "", "does not open with `//!`"),
        ("crates/a/src/utils.rs", "//! B.\n", "`utils`"),
        ("crates/a/tests/common/b.rs", "//! B.\n", "`common`"),
        ("crates/a/src/b.rs", "//! B.\npub(crate) mod helpers {\n", "`helpers`"),
        ("crates/a/src/b.rs", "//! B.\nmod manager;\n", "`manager`"),
    ] {
        let broken = broken_file_rules(Path::new(path), text).join("\n");
        assert!(
            broken.contains(expected),
            "{path}: {broken:?} does not contain {expected:?}"
        );
    }
    let good = "//! B.\nmod commonality;\n// mod utils\n";
    assert_eq!(
        broken_file_rules(Path::new("crates/a/src/b.rs"), good),
        Vec::<String>::new()
    );
    assert_eq!(
        broken_file_rules(Path::new("crates/a/src/b.rs"), &long[..long.len() - 10]),
        Vec::<String>::new()
    );
}

/// Messages about what is wrong with one source file, named by its path below the root.
fn broken_file_rules(path: &Path, text: &str) -> Vec<String> {
    let shown = path.display();
    let mut broken = Vec::new();
    if path.ends_with("mod.rs") {
        broken.push(format!(
            "{shown} is named mod.rs: name it after its module, beside the directory."
        ));
    }
    broken.extend(too_long(path, text));
    if !text.starts_with("//!") {
        broken.push(format!(
            "{shown} does not open with `//!` and a sentence about its job."
        ));
    }
    let in_path = path
        .iter()
        .filter_map(|part| part.to_str())
        .map(|part| part.trim_end_matches(".rs"));
    let in_text = text.lines().filter_map(declared_module);
    for name in in_path.chain(in_text).filter(|name| EMPTY_NAMES.contains(name)) {
        broken.push(format!(
            "{shown}: the module name `{name}` does not say what is inside."
        ));
    }
    broken
}

/// The message about a file with too many lines.
fn too_long(path: &Path, text: &str) -> Option<String> {
    let lines = text.lines().count();
    (lines > MAX_LINES).then(|| {
        let shown = path.display();
        format!("{shown} has {lines} lines, more than {MAX_LINES}: divide it by its jobs.")
    })
}

/// The name of the module that a line declares, if any.
fn declared_module(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let declaration = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1.trim_start(),
        Some(rest) => rest.trim_start(),
        None => line,
    };
    declaration.strip_prefix("mod ")?.split([' ', ';', '{']).next()
}
