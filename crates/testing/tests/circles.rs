//! No circles inside a crate: its top-level modules import each other in one direction only, as crates do
//! (`floors.rs`). So each module can be read, tested and moved without those that use it.

// Tells clippy that the functions below are tests, in which `unwrap` is allowed.
#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use launchway_testing::workspace::{files_below, root};

/// Which top-level modules a module uses, each with a file that does.
type Uses = BTreeMap<String, BTreeMap<String, PathBuf>>;

#[test]
fn modules_import_each_other_in_one_direction() {
    let mut broken = Vec::new();
    let mut crates = 0;
    for folder in fs::read_dir(root().join("crates")).unwrap() {
        let folder = folder.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap();
        let circles = circles(&uses_of(&sources(&folder.join("src"))));
        crates += 1;
        broken.extend(circles.iter().map(|circle| format!("crates/{name}: {circle}")));
    }
    assert!(crates > 10, "the search finds only {crates} crates");
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn a_circle_is_found_however_it_is_spelled() {
    let root = ("lib.rs", "pub mod a;\nmod b;\npub use b::{Thing, other as Renamed};\n");
    let b = ("b.rs", "use crate::a::Something;\n");
    for use_of_b in [
        "use crate::b;",
        "use crate::b::Thing;",
        "use crate::{c::D, b::{self, E}};",
        "use super::b::Thing;",
        "use crate::Thing;",
        "use super::{\n    c,\n    Renamed,\n};",
        "fn f() { let _ = crate::b::thing(); }",
    ] {
        let found = circles_in(&[root, ("a.rs", use_of_b), b]);
        assert_eq!(found.len(), 1, "{use_of_b}");
        assert!(
            found[0].contains("a uses b (a.rs)") && found[0].contains("b uses a (b.rs)"),
            "{found:?}"
        );
    }
    let deep = circles_in(&[root, ("a.rs", "mod c;"), ("a/c.rs", "use super::super::b::Thing;"), b]);
    assert_eq!(deep.len(), 1);
    let long = [
        ("a.rs", "use crate::c;"),
        ("c.rs", "use crate::d;"),
        ("d.rs", "use crate::a;"),
    ];
    assert_eq!(circles_in(&long).len(), 1);
}

#[test]
fn one_direction_comments_and_tests_are_no_circle() {
    let b = ("b.rs", "use crate::a::Something;\n");
    for text in [
        "/// See [`crate::b`].\n// crate::b\nuse crate::c;",
        "#[cfg(test)]\nmod tests {\n    use crate::b;\n    fn f() {\n    }\n}\n",
        "#[cfg(test)]\n#[expect(lint)]\nuse crate::b::Thing;\n",
        "mod c;\nuse self::b::Own;\nuse crate::a::b;",
        "fn f() {\n    use super::Other;\n}\n",
    ] {
        assert_eq!(circles_in(&[("a.rs", text), b]), Vec::<String>::new(), "{text}");
    }
    let tests = [
        ("a.rs", "#[cfg(test)]\nmod tests;\n"),
        ("a/tests.rs", "use crate::b;"),
        b,
    ];
    assert_eq!(circles_in(&tests), Vec::<String>::new());
}

fn circles_in(files: &[(&str, &str)]) -> Vec<String> {
    circles(&uses_of(
        &files
            .iter()
            .map(|(path, text)| (PathBuf::from(path), (*text).to_owned()))
            .collect(),
    ))
}

/// The sources of a crate by their paths below `src`.
fn sources(src: &Path) -> BTreeMap<PathBuf, String> {
    let files = files_below(src, &["rs"]).into_iter();
    files
        .map(|path| {
            (
                path.strip_prefix(src).unwrap().to_owned(),
                fs::read_to_string(&path).unwrap(),
            )
        })
        .collect()
}

/// What the top-level modules of a crate use of each other. The root of the crate is none of them: it names all.
fn uses_of(files: &BTreeMap<PathBuf, String>) -> Uses {
    let mut program = BTreeMap::new();
    let mut tests = BTreeSet::new();
    for (path, text) in files {
        let (code, modules) = without_tests(text);
        tests.extend(modules.iter().map(|module| children_of(path).join(module)));
        program.insert(path, code);
    }
    program.retain(|path, _| !path.with_extension("").ancestors().any(|part| tests.contains(part)));
    let modules: BTreeSet<&str> = program.keys().filter_map(|path| module_of(path)).collect();
    let mut exported = BTreeMap::new();
    for (_, code) in program.iter().filter(|(path, _)| module_of(path).is_none()) {
        exported.extend(exports(code, &modules));
    }
    let mut uses = Uses::new();
    for (path, code) in &program {
        let Some(module) = module_of(path) else { continue };
        let depth = path.components().count();
        for name in names_of_root(code, depth) {
            let used = exported.get(&name).cloned().unwrap_or(name);
            if used != module && modules.contains(used.as_str()) {
                let files = uses.entry(module.to_owned()).or_default();
                files.entry(used).or_insert_with(|| (*path).clone());
            }
        }
    }
    uses
}

/// The top-level module of a file; `None` for the root of a crate.
fn module_of(path: &Path) -> Option<&str> {
    let first = path.iter().next()?.to_str()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (!matches!(first, "lib.rs" | "main.rs" | "bin")).then_some(name)
}

/// The folder of the modules that a file declares.
fn children_of(path: &Path) -> PathBuf {
    match module_of(path) {
        Some(_) => path.with_extension(""),
        None => PathBuf::new(),
    }
}

/// Code without comments and without items for tests, and the modules for tests that it declares. An item ends as
/// rustfmt writes it: with a line of the same indentation that begins with `}`, or with a semicolon.
fn without_tests(text: &str) -> (String, Vec<&str>) {
    let (mut code, mut modules) = (String::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let bare = line.trim_start();
        if bare.starts_with("//") {
            continue;
        }
        if bare != "#[cfg(test)]" {
            code.push_str(line);
            code.push('\n');
            continue;
        }
        let indentation = &line[..line.len() - bare.len()];
        for line in lines.by_ref() {
            let Some(item) = line.strip_prefix(indentation) else {
                continue;
            };
            let statement = item.strip_suffix(';').filter(|item| !item.starts_with(' '));
            modules.extend(statement.and_then(|item| item.strip_prefix("mod ")));
            if statement.is_some() || item.starts_with('}') {
                break;
            }
        }
    }
    (code, modules)
}

/// The names of the crate's root that a file at this depth uses: those after `crate::`, and after as many `super::` as
/// lead there.
fn names_of_root(code: &str, depth: usize) -> BTreeSet<String> {
    let up = "super::".repeat(depth);
    let mut names = BTreeSet::new();
    for prefix in ["crate::", &up] {
        for (at, _) in code.match_indices(prefix) {
            let is_whole = !code[..at].ends_with(|last: char| last.is_alphanumeric() || "_:$".contains(last));
            if is_whole {
                names.extend(first_names(&code[at + prefix.len()..]));
            }
        }
    }
    names
}

/// The first names of a path or of a group of paths in braces.
fn first_names(path: &str) -> Vec<String> {
    let Some(group) = path.strip_prefix('{') else {
        return vec![name_at(path)];
    };
    let (mut depth, mut names, mut begins) = (0, Vec::new(), true);
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            _ if begins && !letter.is_whitespace() => {
                names.push(name_at(&group[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

fn name_at(text: &str) -> String {
    text.chars()
        .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
        .collect()
}

/// What the root of a crate imports or exports from its modules: each name with its module.
fn exports(code: &str, modules: &BTreeSet<&str>) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for (at, _) in code.match_indices("use ") {
        let Some((path, _)) = code[at + 4..].split_once(';') else {
            continue;
        };
        let path = path
            .strip_prefix("crate::")
            .or(path.strip_prefix("self::"))
            .unwrap_or(path);
        let module = name_at(path);
        if modules.contains(module.as_str()) {
            let leaves = path[module.len()..].split([',', '{', '}']).map(str::trim);
            for leaf in leaves.filter(|leaf| !leaf.ends_with("::")) {
                let own = leaf.rsplit([':', ' ']).next().unwrap_or_default();
                exports.insert(own.to_owned(), module.clone());
            }
        }
    }
    exports
}

/// The groups of modules that reach each other, each as a sentence about its uses.
fn circles(uses: &Uses) -> Vec<String> {
    let reach: BTreeMap<&str, BTreeSet<&str>> = uses.keys().map(|from| (from.as_str(), reached(uses, from))).collect();
    let mut groups = BTreeSet::new();
    for (from, targets) in &reach {
        let back = |to: &&&str| reach.get(**to).is_some_and(|targets| targets.contains(from));
        let group: BTreeSet<&str> = targets.iter().filter(back).copied().collect();
        if group.len() > 1 {
            groups.insert(group);
        }
    }
    let sentence = |group: BTreeSet<&str>| {
        let inside = uses.iter().filter(|(from, _)| group.contains(from.as_str()));
        let arrows = inside.flat_map(|(from, targets)| {
            let targets = targets.iter().filter(|(to, _)| group.contains(to.as_str()));
            targets.map(move |(to, file)| format!("{from} uses {to} ({})", file.display()))
        });
        arrows.collect::<Vec<_>>().join(", ")
    };
    groups.into_iter().map(sentence).collect()
}

/// The modules that are reached from one.
fn reached<'u>(uses: &'u Uses, from: &str) -> BTreeSet<&'u str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        for to in uses.get(next).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(to.as_str()) {
                open.push(to);
            }
        }
    }
    reached
}
