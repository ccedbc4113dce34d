//! Compares the facts of a binary with the request, for warnings.

use launchway_domain::platform::Platform;

use crate::facts::BinaryFacts;

/// The requested values. Absent ones are not compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestedFacts<'a> {
    /// The bundle id; letter case does not matter.
    pub bundle_id: Option<&'a str>,
    /// The version for people.
    pub version: Option<&'a str>,
    /// The build number.
    pub build_number: Option<&'a str>,
    /// The platform.
    pub platform: Option<Platform>,
}

/// A message for each difference between the binary and the request.
pub fn mismatches(facts: &BinaryFacts, asked: &RequestedFacts<'_>) -> Vec<String> {
    let format = facts.format.as_str();
    let mut sentences = Vec::new();
    if let Some(bundle_id) = asked.bundle_id
        && !facts.bundle_id.eq_ignore_ascii_case(bundle_id)
    {
        let said = printable(&facts.bundle_id);
        sentences.push(format!(
            "The {format} has the bundle id {said} instead of the requested {}",
            printable(bundle_id)
        ));
    }
    for (what, said, asked) in [
        ("version", &facts.version, asked.version),
        ("build number", &facts.build_number, asked.build_number),
    ] {
        match (said, asked) {
            (Some(said), Some(asked)) if said != asked => {
                let (said, asked) = (printable(said), printable(asked));
                sentences.push(format!(
                    "The {format} has the {what} {said} instead of the requested {asked}"
                ));
            }
            (None, Some(asked)) => {
                sentences.push(format!(
                    "The {format} has no {what} instead of the requested {}",
                    printable(asked)
                ));
            }
            _ => {}
        }
    }
    if let Some(platform) = asked.platform
        && !facts.platforms.contains(&platform)
    {
        let names: Vec<_> = facts.platforms.iter().map(|platform| platform.as_str()).collect();
        let said = if names.is_empty() {
            "another platform".to_owned()
        } else {
            names.join(" and ")
        };
        sentences.push(format!(
            "The {format} is built for {said} instead of the requested {platform}"
        ));
    }
    sentences
}

/// A text without control characters, of at most 100 characters.
fn printable(text: &str) -> String {
    let safe = |letter: char| {
        if letter.is_control() {
            char::REPLACEMENT_CHARACTER
        } else {
            letter
        }
    };
    let mut printable: String = text.chars().take(100).map(safe).collect();
    if text.chars().nth(100).is_some() {
        printable.push('…');
    }
    printable
}
