//! Nothing is unused: every dependency is named by a source of its crate, and every snapshot belongs to an assertion.

// Tells clippy that the functions below are tests, in which `unwrap` is allowed.
#![cfg(test)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use launchway_testing::workspace::{CODE, files_below, metadata, root};

#[test]
fn dependencies_are_used() {
    let metadata = metadata();
    let mut unused = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
        let program = code_below(&folder.join("src"));
        let all = code_below(folder);
        for dependency in package["dependencies"].as_array().unwrap() {
            let dependency_name = dependency["rename"].as_str().or(dependency["name"].as_str()).unwrap();
            let code = if dependency["kind"].is_null() { &program } else { &all };
            if !names_crate(code, &dependency_name.replace('-', "_")) {
                unused.push(format!("{name} does not name {dependency_name}"));
            }
        }
    }
    assert!(unused.is_empty(), "remove these dependencies:\n{}\n", unused.join("\n"));
}

#[test]
fn dependencies_of_the_workspace_are_used() {
    let metadata = metadata();
    let used: BTreeSet<&str> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|package| package["dependencies"].as_array().unwrap())
        .map(|dependency| dependency["name"].as_str().unwrap())
        .collect();
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let declared = declared_dependencies(&manifest);
    assert!(declared.len() > 20, "the search finds only {declared:?}");
    let unused: Vec<&str> = declared.into_iter().filter(|name| !used.contains(name)).collect();
    assert!(unused.is_empty(), "no crate uses {unused:?} of the root Cargo.toml");
}

#[test]
fn snapshots_belong_to_assertions() {
    let snapshots: Vec<_> = CODE
        .iter()
        .flat_map(|folder| files_below(&root().join(folder), &["snap"]))
        .collect();
    assert!(!snapshots.is_empty(), "the search finds no snapshot");
    let unused: Vec<String> = snapshots
        .iter()
        .filter_map(|path| {
            let text = fs::read_to_string(path).unwrap();
            let source = text.lines().find_map(|line| line.strip_prefix("source: "))?;
            let code = fs::read_to_string(root().join(source)).unwrap_or_default();
            let stem = path.file_stem().unwrap().to_str().unwrap();
            (!is_taken(stem, Path::new(source), &code)).then(|| path.display().to_string())
        })
        .collect();
    assert!(
        unused.is_empty(),
        "remove these, no test takes them:\n{}\n",
        unused.join("\n")
    );
}

#[test]
fn a_crate_is_named_where_a_path_begins() {
    for code in [
        "use http::Uri;",
        "http::Uri",
        "let a = [http::Uri];",
        "use http as h;",
        "use http;",
        "pub use {http::A}",
    ] {
        assert!(names_crate(code, "http"), "{code}");
    }
    for code in [
        "use crate::http::Uri;",
        "use hyper_http::Uri;",
        "use http_body::Body;",
        "// http::Uri",
        "mod http;",
        "",
    ] {
        assert!(!names_crate(code, "http"), "{code}");
    }
}

#[test]
fn a_snapshot_is_known_by_its_source_and_name() {
    let source = Path::new("crates/a/tests/all/plans.rs");
    let code = "async fn of_expo() {\n assert_snapshot!(\"calls\", text);\n}";
    for stem in ["all__plans__of_expo", "all__plans__of_expo-2", "all__plans__calls"] {
        assert!(is_taken(stem, source, code), "{stem}");
    }
    for stem in [
        "all__plans__of_flutter",
        "all__plans__of_exp",
        "all__scripts__of_expo",
        "of_expo",
    ] {
        assert!(!is_taken(stem, source, code), "{stem}");
    }
}

/// Whether code names a crate at the start of a path, so not as a module of its own.
fn names_crate(code: &str, name: &str) -> bool {
    code.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .any(|line| {
            line.match_indices(name).any(|(index, _)| {
                let (before, after) = (&line[..index], &line[index + name.len()..]);
                let begins = !before.ends_with(|last: char| last.is_alphanumeric() || last == '_' || last == ':');
                let imported = before.ends_with("use ") && (after.starts_with(';') || after.starts_with(" as "));
                begins && (after.starts_with("::") || imported)
            })
        })
}

/// Whether a source takes the snapshot with this file stem: it is named after the module, and after the test or by the
/// assertion. Further ones of a test are numbered.
fn is_taken(stem: &str, source: &Path, code: &str) -> bool {
    let Some((modules, name)) = stem.rsplit_once("__") else {
        return false;
    };
    let module = modules.rsplit("__").next();
    let name = match name.rsplit_once('-') {
        Some((name, number)) if number.parse::<u32>().is_ok() => name,
        _ => name,
    };
    source.file_stem().and_then(|stem| stem.to_str()) == module
        && (code.contains(&format!("fn {name}(")) || code.contains(&format!("\"{name}\"")))
}

/// The names in the workspace's dependency section of a root manifest.
fn declared_dependencies(manifest: &str) -> Vec<&str> {
    manifest
        .lines()
        .skip_while(|line| *line != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name)
        .collect()
}

/// All Rust code below a directory, including files elsewhere that it declares as modules.
fn code_below(directory: &Path) -> String {
    let mut code = String::new();
    for file in files_below(directory, &["rs"]) {
        let text = fs::read_to_string(&file).unwrap();
        for path in text.lines().filter_map(named_path) {
            let elsewhere = file.parent().unwrap().join(path);
            code += &fs::read_to_string(elsewhere).unwrap_or_default();
        }
        code += &text;
    }
    code
}

/// The path in a line's `path` attribute.
fn named_path(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("#[path = \"")?.strip_suffix("\"]")
}
