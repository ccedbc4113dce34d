//! Every crate that is compiled has a license that the list in `deny.toml` allows. cargo-deny checks the same, for more
//! platforms, but is not installed everywhere.

// Tells clippy that the functions below are tests, in which `unwrap` is allowed.
#![cfg(test)]

use std::collections::BTreeSet;

use launchway_testing::workspace::{metadata_of_host, root};

/// The list `allow` in the section `[licenses]`.
fn allowed() -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let section = text.split("\n[licenses]\n").nth(1).expect("the section of licenses");
    let list = section
        .split("allow = [")
        .nth(1)
        .expect("the list")
        .split(']')
        .next()
        .unwrap();
    let lines = list.lines().filter(|line| !line.trim_start().starts_with('#'));
    let names = lines.flat_map(|line| line.split('"').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

/// Whether an expression such as `(MIT OR Apache-2.0) AND Unicode-3.0` can be met with allowed licenses only.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    // Older crates write `MIT/Apache-2.0`.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let met = any_of(&mut rest, allowed);
    met == Some(true) && rest.is_empty()
}

/// Terms that `OR` joins. `None`: the expression is malformed.
fn any_of(words: &mut &[&str], allowed: &BTreeSet<String>) -> Option<bool> {
    let mut met = all_of(words, allowed)?;
    while let Some(("OR", rest)) = words.split_first().map(|(word, rest)| (*word, rest)) {
        *words = rest;
        met |= all_of(words, allowed)?;
    }
    Some(met)
}

/// Terms that `AND` joins, which binds more tightly.
fn all_of(words: &mut &[&str], allowed: &BTreeSet<String>) -> Option<bool> {
    let mut met = term(words, allowed)?;
    while let Some(("AND", rest)) = words.split_first().map(|(word, rest)| (*word, rest)) {
        *words = rest;
        met &= term(words, allowed)?;
    }
    Some(met)
}

/// A license, with its exception if it has one, or an expression in parentheses.
fn term(words: &mut &[&str], allowed: &BTreeSet<String>) -> Option<bool> {
    let (first, rest) = words.split_first()?;
    *words = rest;
    match *first {
        "(" => {
            let met = any_of(words, allowed)?;
            let (last, rest) = words.split_first()?;
            *words = rest;
            (*last == ")").then_some(met)
        }
        ")" | "AND" | "OR" | "WITH" => None,
        license => match rest {
            ["WITH", exception, rest @ ..] => {
                *words = rest;
                Some(allowed.contains(&format!("{license} WITH {exception}")))
            }
            _ => Some(allowed.contains(license)),
        },
    }
}

#[test]
fn every_crate_has_an_allowed_license() {
    let (allowed, metadata) = (allowed(), metadata_of_host());
    assert!(allowed.contains("MIT") && allowed.len() > 3, "{allowed:?}");
    let members = metadata["workspace_members"].as_array().unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let foreign = packages.iter().filter(|package| !members.contains(&package["id"]));
    let mut checked = 0;
    let mut refused = Vec::new();
    for package in foreign {
        checked += 1;
        let license = package["license"].as_str().unwrap_or_default();
        if !is_allowed(license, &allowed) {
            refused.push(format!("{} {}: `{license}`", package["name"], package["version"]));
        }
    }
    assert!(checked > 100, "{checked} crates");
    assert!(refused.is_empty(), "not allowed by deny.toml: {}", refused.join(", "));
}

#[test]
fn expressions_are_read_as_spdx_defines_them() {
    let allowed: BTreeSet<String> = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"]
        .map(str::to_owned)
        .into();
    for (expression, is_met) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("MIT AND ISC", true),
        // `AND` binds more tightly than `OR`.
        ("MIT OR ISC AND GPL-3.0", true),
        ("(MIT OR ISC) AND GPL-3.0", false),
        ("(GPL-3.0 OR ISC) AND MIT", true),
        ("Apache-2.0", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0 WITH LLVM-exception AND MIT", true),
        ("MIT WITH LLVM-exception", false),
        ("(MIT", false),
        ("MIT)", false),
        ("MIT ISC", false),
        ("MIT OR", false),
        ("LicenseRef-file", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), is_met, "{expression}");
    }
}
