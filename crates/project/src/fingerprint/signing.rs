//! What only signs an app: teams, identities, provisioning profiles, keystores, the account at Expo. It decides who may
//! install and publish the app, never what its native code can run, so `lwfp-2` leaves it out and `lwfp-1` does not.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

/// Build settings of Xcode that only sign. Entitlements do more, and count.
const SETTINGS: &str =
    r"(?:DEVELOPMENT_TEAM|CODE_SIGN_IDENTITY|CODE_SIGN_STYLE|PROVISIONING_PROFILE_SPECIFIER|PROVISIONING_PROFILE)";

/// A pattern and what takes its place.
type Rule = (LazyLock<Option<Regex>>, &'static str);

fn compiled(pattern: &str) -> Option<Regex> {
    // The patterns are constants; a test makes each of them.
    Regex::new(&pattern.replace("SETTINGS", SETTINGS)).ok()
}

/// A value of an Xcode project: in quotes, or up to the semicolon.
macro_rules! setting {
    ($start:literal, $end:literal) => {
        concat!(
            $start,
            r#"(?:"?SETTINGS(?:\[[^\]\n"]*\])*"?|DevelopmentTeam|DevelopmentTeamName|ProvisioningStyle)\s*=\s*"#,
            r#"(?:"(?:[^"\\]|\\.)*"|[^;"\n]*);"#,
            $end
        )
    };
}

static XCODE: [Rule; 2] = [
    (LazyLock::new(|| compiled(setting!(r"(?m)^[ \t]*", r"[ \t]*\n"))), ""),
    (LazyLock::new(|| compiled(setting!(r#"(?:\b|")"#, r"[ \t]*"))), ""),
];
static XCCONFIG: [Rule; 1] = [(
    LazyLock::new(|| compiled(r"(?m)^[ \t]*SETTINGS(?:\[[^\]\n]*\])*[ \t]*=.*\n?")),
    "",
)];
static PODFILE: [Rule; 1] = [(
    LazyLock::new(|| compiled(r#"(\[['"]SETTINGS(?:\[[^'"\n]*\])*['"]\][ \t]*=[ \t]*)(?:"[^"\n]*"|'[^'\n]*')"#)),
    "$1",
)];
static PROPERTIES: [Rule; 1] = [(
    LazyLock::new(|| {
        compiled(
            r"(?mi)^[ \t]*(?:[\w.-]*[._-])?(?:store_?file|store_?password|key_?alias|key_?password)[ \t]*[=:].*\n?",
        )
    }),
    "",
)];
static SCRIPT: [Rule; 2] = [
    (
        LazyLock::new(|| {
            compiled(r#"(\beas["']?\s*:\s*\{\s*["']?projectId["']?\s*:\s*)(?:"[^"\n]*"|'[^'\n]*'|`[^`\n]*`)"#)
        }),
        "$1",
    ),
    (
        LazyLock::new(|| compiled(r#"(\bappleTeamId["']?\s*:\s*)(?:"[^"\n]*"|'[^'\n]*'|`[^`\n]*`)"#)),
        "$1",
    ),
];

/// Whether a whole file only signs.
pub fn is_only_for_signing(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let endings = [
        ".keystore",
        ".jks",
        ".p12",
        ".p8",
        ".mobileprovision",
        ".provisionprofile",
    ];
    let names = ["key.properties", "keystore.properties", "exportoptions.plist"];
    names.contains(&name.as_str()) || endings.iter().any(|ending| name.ends_with(ending))
}

/// The text of a file without what signs; `None` when nothing of such a file could.
pub fn without(path: &str, text: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let rules: &[Rule] = match name {
        "app.json" | "app.config.json" => return Some(without_account(text)),
        "app.config.js" | "app.config.ts" | "app.config.cjs" | "app.config.mjs" => &SCRIPT,
        "project.pbxproj" => &XCODE,
        "Podfile" => &PODFILE,
        _ if name.ends_with(".gradle") || name.ends_with(".gradle.kts") => return Some(without_signing_configs(text)),
        _ if name.ends_with(".properties") => &PROPERTIES,
        _ if name.ends_with(".xcconfig") => &XCCONFIG,
        _ => return None,
    };
    let replace = |text: String, (pattern, with): &Rule| match &**pattern {
        Some(pattern) => pattern.replace_all(&text, *with).into_owned(),
        None => text,
    };
    Some(rules.iter().fold(text.to_owned(), replace))
}

/// An Expo project's configuration without the account and the team. `updates.url` names the project there, too.
fn without_account(text: &str) -> String {
    let Ok(Value::Object(mut all)) = serde_json::from_str(text) else {
        return text.to_owned();
    };
    match all.get_mut("expo") {
        Some(Value::Object(expo)) => clean(expo),
        _ => clean(&mut all),
    }
    Value::Object(all).to_string()
}

fn clean(config: &mut Map<String, Value>) {
    config.remove("owner");
    for (group, key) in [("extra", "eas"), ("updates", "url"), ("ios", "appleTeamId")] {
        if let Some(Value::Object(inner)) = config.get_mut(group)
            && inner.remove(key).is_some()
            && inner.is_empty()
        {
            config.remove(group);
        }
    }
}

/// A Gradle file without blocks `signingConfigs { … }` and without lines that choose one.
fn without_signing_configs(text: &str) -> String {
    static START: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(r"(?m)^[ \t]*signingConfigs[ \t]*\{"));
    static CHOICE: LazyLock<Option<Regex>> =
        LazyLock::new(|| compiled(r"(?m)^[ \t]*signingConfig(?:[ \t]*=|[ \t]*\(|[ \t]+)[^{}\n]*\n?"));
    let mut left = String::with_capacity(text.len());
    let mut at = 0;
    for found in START.iter().flat_map(|start| start.find_iter(text)) {
        if found.start() >= at {
            let block = block(text, found.range());
            left.push_str(&text[at..block.start]);
            at = block.end;
        }
    }
    left.push_str(&text[at..]);
    match &*CHOICE {
        Some(choice) => choice.replace_all(&left, "").into_owned(),
        None => left,
    }
}

/// From the start of a block to behind its closing brace, and the end of that line. A block that is never closed is only
/// its start.
fn block(text: &str, start: Range<usize>) -> Range<usize> {
    let mut depth = 1_usize;
    let mut quote = None;
    let mut letters = text[start.end..].char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (Some(_), '\\') => drop(letters.next()),
            (Some(open), _) if letter == open || letter == '\n' => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '{') => depth += 1,
            (None, '}') => depth -= 1,
            (None, _) => {}
        }
        if depth == 0 {
            let end = start.end + at + 1;
            let rest = &text[end..];
            let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            let line_end = usize::from(rest[blank..].starts_with('\n'));
            return start.start..end + if line_end == 1 { blank + 1 } else { 0 };
        }
    }
    start
}

#[cfg(test)]
mod tests;
