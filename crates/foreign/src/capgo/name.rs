//! The names of updates (`docs/reference/capgo.md#names`). A client compares names only for equality, and never again tries one
//! that failed, so each update has a name that no other one had.

/// The word for the content that the app was installed with.
pub const BUILT_IN: &str = "builtin";

/// The name of a new update: its version, or, if that was given before, its version and build number. `is_taken` says whether
/// the app ever had an update of this name.
pub fn version_name(version: &str, build: u64, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(version) {
        return version.to_owned();
    }
    // Metadata that is already there is extended; a version has one plus at most.
    let mark = if version.contains('+') { '.' } else { '+' };
    let name = format!("{version}{mark}{build}");
    if !is_taken(&name) {
        return name;
    }
    // Build numbers of different platforms or configurations may be equal.
    let mut numbers = 2_u64..;
    let numbered = numbers.find_map(|number| Some(format!("{name}.{number}")).filter(|name| !is_taken(name)));
    numbered.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use launchway_domain::version::Version;

    use super::*;

    #[test]
    fn a_name_is_the_version_until_it_is_taken() {
        let mut names = BTreeSet::new();
        for (version, build, expected) in [
            ("1.2.3", 7, "1.2.3"),
            ("1.2.3", 8, "1.2.3+8"),
            ("1.2.3", 8, "1.2.3+8.2"),
            ("1.2.3", 8, "1.2.3+8.3"),
            ("1.2.3+abc", 9, "1.2.3+abc"),
            ("1.2.3+abc", 10, "1.2.3+abc.10"),
        ] {
            let name = version_name(version, build, |name| names.contains(name));
            assert_eq!(name, expected);
            assert!(Version::parse(&name).is_ok());
            assert!(names.insert(name));
        }
    }
}
