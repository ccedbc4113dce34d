//! Every public function of the store has a test, and every one of [`Org`](launchway_store::Org) has one in `tenancy.rs` or
//! makes the tenants of `tenants.rs`, on whose rows those tests try.

use std::fs;
use std::path::Path;

/// A public function of the store.
#[derive(Debug, PartialEq)]
struct Function {
    name: String,
    behind_org_door: bool,
}

fn sources(directory: &str) -> Vec<(String, String)> {
    let mut sources: Vec<_> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(directory))
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    sources.sort();
    sources
}

/// The public functions that a source declares.
fn public_functions(source: &str) -> Vec<Function> {
    let mut behind_org_door = false;
    let mut found = Vec::new();
    for line in source.lines() {
        if line.starts_with("impl ") {
            behind_org_door = line.starts_with("impl Org<");
        }
        let line = line.trim_start();
        let declared = ["pub async fn ", "pub fn "]
            .iter()
            .find_map(|start| line.strip_prefix(start));
        if let Some(rest) = declared {
            let end = rest.find(['(', '<']).unwrap_or(rest.len());
            found.push(Function {
                name: rest[..end].to_owned(),
                behind_org_door,
            });
        }
    }
    found
}

/// Whether a test calls the function: its name followed by `(`, not as the end of a longer name or a declaration.
fn calls(test: &str, name: &str) -> bool {
    let call = format!("{name}(");
    test.match_indices(&call).any(|(at, _)| {
        let before = &test[..at];
        let part_of_longer = before.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        !part_of_longer && !before.ends_with("fn ") && !before.ends_with("///")
    })
}

fn missing(functions: &[Function], tests: &[(String, String)]) -> Vec<String> {
    functions
        .iter()
        .filter(|function| !tests.iter().any(|(_, test)| calls(test, &function.name)))
        .map(|function| function.name.clone())
        .collect()
}

fn all_functions() -> Vec<Function> {
    sources("src")
        .iter()
        .flat_map(|(_, source)| public_functions(source))
        .collect()
}

/// The test files, without this one: it names functions that it does not call.
fn tests() -> Vec<(String, String)> {
    sources("tests/contract")
        .into_iter()
        .filter(|(name, _)| name != "coverage.rs")
        .collect()
}

#[test]
fn every_public_function_stands_in_a_test() {
    let missing = missing(&all_functions(), &tests());
    assert!(
        missing.is_empty(),
        "no test in tests/contract/ calls: {}",
        missing.join(", ")
    );
}

#[test]
fn every_function_behind_the_door_is_tried_on_rows_of_others() {
    let behind_door: Vec<_> = all_functions()
        .into_iter()
        .filter(|function| function.behind_org_door)
        .collect();
    let of_isolation = |name: &str| matches!(name, "tenancy.rs" | "tenants.rs");
    let tenancy: Vec<_> = tests().into_iter().filter(|(name, _)| of_isolation(name)).collect();
    let missing = missing(&behind_door, &tenancy);
    assert!(
        missing.is_empty(),
        "tests/contract/tenancy.rs does not call: {}",
        missing.join(", ")
    );
}

#[test]
fn every_test_file_is_compiled() {
    let main = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/contract/main.rs")).unwrap();
    for (name, _) in sources("tests/contract") {
        let module = name.trim_end_matches(".rs");
        assert!(
            module == "main" || main.contains(&format!("\nmod {module};\n")),
            "{name} is in no module"
        );
    }
}

#[test]
fn the_search_finds_functions_and_calls() {
    let source = "impl Db {\n    pub async fn open(url: &str) {}\n    pub fn is_shared(&self) {}\n}\n\
                  impl Org<'_> {\n    /// Says.\n    pub async fn key(&mut self) {}\n    async fn hidden(&self) {}\n\
                  pub(crate) async fn inner() {}\n}\nimpl System<'_> {\n    pub async fn meta(&self) {}\n}\n";
    let found = public_functions(source);
    let shown: Vec<_> = found
        .iter()
        .map(|function| (function.name.as_str(), function.behind_org_door))
        .collect();
    assert_eq!(
        shown,
        [("open", false), ("is_shared", false), ("key", true), ("meta", false)]
    );
    assert!(
        all_functions().len() > 80,
        "the store has more functions: {}",
        all_functions().len()
    );

    let test = "async fn meta(db: &TestDb) { org_reads!(db, org, key(id)); revoke_open(1); db.is_shared (); }";
    let called: Vec<_> = found
        .iter()
        .filter(|function| calls(test, &function.name))
        .map(|found| &found.name)
        .collect();
    assert_eq!(called, ["key"]);
    let tests = [("a.rs".to_owned(), test.to_owned())];
    assert_eq!(missing(&found, &tests), ["open", "is_shared", "meta"]);
}
