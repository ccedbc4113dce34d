//! Parts of a project that only sign an app: teams, identities, provisioning profiles, keystores, the Expo account.
//! They decide who may install and publish the app, never what its native code can run. `lwfp-2` ignores them, `lwfp-1`
//! does not.

mod gradle;

use std::ops::Range;
use std::sync::LazyLock;

use gradle::{Language, code_of};
use regex::Regex;
use serde_json::{Map, Value};

/// Xcode build settings that only sign. Entitlements do more than that, and count.
const SETTINGS: &str =
    r"(?:DEVELOPMENT_TEAM|CODE_SIGN_IDENTITY|CODE_SIGN_STYLE|PROVISIONING_PROFILE_SPECIFIER|PROVISIONING_PROFILE)";

/// A pattern and its replacement.
type Rule = (LazyLock<Option<Regex>>, &'static str);

fn compile(pattern: &str) -> Option<Regex> {
    // The patterns are constants; a test compiles each of them.
    Regex::new(&pattern.replace("SETTINGS", SETTINGS)).ok()
}

/// A value in an Xcode project: quoted, or up to the semicolon.
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
    (LazyLock::new(|| compile(setting!(r"(?m)^[ \t]*", r"[ \t]*\n"))), ""),
    (LazyLock::new(|| compile(setting!(r#"(?:\b|")"#, r"[ \t]*"))), ""),
];
static XCCONFIG: [Rule; 1] = [(
    LazyLock::new(|| compile(r"(?m)^[ \t]*SETTINGS(?:\[[^\]\n]*\])*[ \t]*=.*\n?")),
    "",
)];
static PODFILE: [Rule; 1] = [(
    LazyLock::new(|| compile(r#"(\[['"]SETTINGS(?:\[[^'"\n]*\])*['"]\][ \t]*=[ \t]*)(?:"[^"\n]*"|'[^'\n]*')"#)),
    "$1",
)];
static PROPERTIES: [Rule; 1] = [(
    LazyLock::new(|| {
        compile(r"(?mi)^[ \t]*(?:[\w.-]*[._-])?(?:store_?file|store_?password|key_?alias|key_?password)[ \t]*[=:].*\n?")
    }),
    "",
)];
static SCRIPT: [Rule; 2] = [
    (
        LazyLock::new(|| {
            compile(r#"(\beas["']?\s*:\s*\{\s*["']?projectId["']?\s*:\s*)(?:"[^"\n]*"|'[^'\n]*'|`[^`\n]*`)"#)
        }),
        "$1",
    ),
    (
        LazyLock::new(|| compile(r#"(\bappleTeamId["']?\s*:\s*)(?:"[^"\n]*"|'[^'\n]*'|`[^`\n]*`)"#)),
        "$1",
    ),
];

/// Whether the file only signs, as a whole.
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

/// The text of a file without its signing parts; `None` when such a file cannot have any.
pub fn strip(path: &str, text: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let rules: &[Rule] = match name {
        "app.json" | "app.config.json" => return Some(without_account(text)),
        "app.config.js" | "app.config.ts" | "app.config.cjs" | "app.config.mjs" => &SCRIPT,
        "project.pbxproj" => &XCODE,
        "Podfile" => &PODFILE,
        _ if name.ends_with(".gradle") => return Some(without_signing_configs(text, Language::Groovy)),
        _ if name.ends_with(".gradle.kts") => return Some(without_signing_configs(text, Language::Kotlin)),
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

/// The configuration of an Expo project without the account and the team. `updates.url` also names the project there.
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

/// A Gradle script without `signingConfigs { … }` blocks and without the lines that select one. It stays unchanged
/// where comments, strings and braces are ambiguous, because a text that is removed by mistake would not count.
fn without_signing_configs(text: &str, language: Language) -> String {
    static START: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"(?m)^[ \t]*signingConfigs[ \t]*\{"));
    static CHOICE: LazyLock<Option<Regex>> =
        LazyLock::new(|| compile(r"(?m)^[ \t]*signingConfig(?:[ \t]*=|[ \t]*\(|[ \t]+)[^{};\n]*(?:;?[ \t\r]*\n)?"));
    let (Some(code), Some(start), Some(choice)) = (code_of(text, language), &*START, &*CHOICE) else {
        return text.to_owned();
    };
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for found in start.find_iter(&code) {
        if blocks.last().is_none_or(|block| block.end <= found.start()) {
            blocks.push(found.start()..end_of_block(&code, found.end()));
        }
    }
    let (text, code) = (cut(text, &blocks), cut(&code, &blocks));
    let choices: Vec<_> = choice.find_iter(&code).map(|found| found.range()).collect();
    cut(&text, &choices)
}

/// The text without these ranges, which are sorted.
fn cut(text: &str, parts: &[Range<usize>]) -> String {
    let mut left = String::with_capacity(text.len());
    let mut at = 0;
    for part in parts {
        left.push_str(&text[at..part.start]);
        at = part.end;
    }
    left + &text[at..]
}

/// The end of a block, from a position inside it: behind its closing brace, and behind the end of the line if the line
/// has no other content. In `code` every block ends.
fn end_of_block(code: &str, inside: usize) -> usize {
    let mut depth = 1_usize;
    for (at, byte) in code.bytes().enumerate().skip(inside) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let rest = code[at + 1..].trim_start_matches([' ', '\t']);
            return rest.strip_prefix('\n').map_or(at + 1, |rest| code.len() - rest.len());
        }
    }
    code.len()
}

#[cfg(test)]
mod tests;
