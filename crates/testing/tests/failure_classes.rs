//! The names of tests are short, and the page of failure classes (`docs/failure-classes.md`) names only tests that exist.

#![cfg(test)]

use std::collections::BTreeSet;
use std::fs;

use launchway_testing::workspace::{CODE, files_below, root};

#[test]
fn every_test_that_the_page_names_exists() {
    let page = fs::read_to_string(root().join("docs/failure-classes.md")).unwrap();
    let known = known_names();
    let missing: Vec<_> = named_tests(&page)
        .into_iter()
        .filter(|name| !known.contains(name))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/failure-classes.md names tests that do not exist: {missing:?}"
    );
}

#[test]
fn names_of_tests_have_less_than_60_characters() {
    let known = known_names();
    assert!(known.len() > 2000, "the search finds only {} names", known.len());
    let long: Vec<_> = known.iter().filter(|name| name.len() >= 60).collect();
    assert!(long.is_empty(), "shorten these names: {long:#?}");
}

#[test]
fn a_cell_names_tests_and_prose_does_not() {
    let page = "Prose about `nothing`.\n\n| | two at once |\n|---|---|\n| keys | `one_wins`, `a::other_wins`; `POST /keys` |\n";
    let expected: Vec<_> = ["one_wins", "other_wins"].map(str::to_owned).into();
    assert_eq!(named_tests(page), expected);
}

/// The names in backticks in the cells of the page's tables: only lower-case letters, digits and `_`, after an optional
/// module path.
fn named_tests(page: &str) -> Vec<String> {
    page.lines()
        .filter(|line| line.starts_with('|'))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .filter_map(|name| name.rsplit("::").next())
        .filter(|name| name.contains('_') && name.bytes().all(is_word))
        .map(str::to_owned)
        .collect()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'
}

/// The functions of the repository, among them all tests.
fn known_names() -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    for file in CODE
        .iter()
        .flat_map(|folder| files_below(&root().join(folder), &["rs", "mjs"]))
    {
        let text = fs::read_to_string(file).unwrap();
        known.extend(text.lines().filter_map(declared_function).map(str::to_owned));
    }
    known
}

/// The name of the function that a line declares, if any.
fn declared_function(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("fn ").or_else(|| line.split_once("function "))?;
    rest.split(['(', '<', ' ']).next()
}
