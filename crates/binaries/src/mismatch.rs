//! What a binary says against what was asked for: sentences for warnings.

use launchway_domain::platform::Platform;

use crate::facts::BinaryFacts;

/// What was asked for. What is absent is not compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    /// The bundle id; letter case does not matter.
    pub bundle_id: Option<&'a str>,
    /// The version that people see.
    pub version: Option<&'a str>,
    /// The number that stores count by.
    pub build_number: Option<&'a str>,
    /// The platform.
    pub platform: Option<Platform>,
}

/// A sentence for each thing that a binary says otherwise than it was asked for.
pub fn mismatches(facts: &BinaryFacts, asked: &Asked<'_>) -> Vec<String> {
    let format = facts.format.as_str();
    let mut sentences = Vec::new();
    if let Some(bundle_id) = asked.bundle_id
        && !facts.bundle_id.eq_ignore_ascii_case(bundle_id)
    {
        let said = shown(&facts.bundle_id);
        sentences.push(format!(
            "The {format} has the bundle id {said}, but {} was asked for.",
            shown(bundle_id)
        ));
    }
    for (what, said, asked) in [
        ("version", &facts.version, asked.version),
        ("build number", &facts.build_number, asked.build_number),
    ] {
        match (said, asked) {
            (Some(said), Some(asked)) if said != asked => {
                let (said, asked) = (shown(said), shown(asked));
                sentences.push(format!(
                    "The {format} has the {what} {said}, but {asked} was asked for."
                ));
            }
            (None, Some(asked)) => {
                sentences.push(format!(
                    "The {format} has no {what}, but {} was asked for.",
                    shown(asked)
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
            "The {format} is made for {said}, but {platform} was asked for."
        ));
    }
    sentences
}

/// A text without control characters, of at most 100 letters.
fn shown(text: &str) -> String {
    let safe = |letter: char| {
        if letter.is_control() {
            char::REPLACEMENT_CHARACTER
        } else {
            letter
        }
    };
    let mut shown: String = text.chars().take(100).map(safe).collect();
    if text.chars().nth(100).is_some() {
        shown.push('…');
    }
    shown
}
