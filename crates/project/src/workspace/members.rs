//! The members that the root of a workspace lists.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde_json::Value;

use crate::lockfile::PNPM_WORKSPACE;
use crate::source::{Source, join};

/// Patterns that are read of one root.
const MOST_PATTERNS: usize = 1000;

/// The directories that belong to a workspace, as patterns.
pub struct Members(Gitignore);

impl Members {
    /// Reads the root of a workspace in the directory `place`; `None` when it is none, or lists nothing that can be read.
    pub fn read(source: &Source, place: &str) -> Option<Self> {
        let of_pnpm = source.text(&join(place, PNPM_WORKSPACE));
        let listed = match of_pnpm.map(|text| of_pnpm_workspace(&text)) {
            // Since version 10 the file may contain settings alone.
            Some(listed) if !listed.is_empty() => listed,
            _ => of_manifest(&source.text(&join(place, "package.json"))?)?,
        };
        let mut builder = GitignoreBuilder::new("");
        for pattern in listed.iter().take(MOST_PATTERNS) {
            for pattern in alternatives(pattern) {
                builder.add_line(None, &anchored(&pattern)).ok()?;
            }
        }
        builder.build().ok().map(Self)
    }

    /// Whether the directory, relative to the root, is a member.
    pub fn contain(&self, directory: &str) -> bool {
        !directory.is_empty() && self.0.matched(directory, true).is_ignore()
    }
}

/// A pattern as `.gitignore` writes it: from the root, and `!` excludes.
fn anchored(pattern: &str) -> String {
    let (not, pattern) = match pattern.strip_prefix('!') {
        Some(pattern) => ("!", pattern),
        None => ("", pattern),
    };
    let pattern = pattern.trim_start_matches("./").trim_matches('/');
    match pattern {
        // Every directory below, but not the root itself.
        "**" => format!("{not}/**/*"),
        pattern => match pattern.strip_suffix("/**") {
            Some(above) => format!("{not}/{above}/**/*"),
            None => format!("{not}/{pattern}"),
        },
    }
}

/// The patterns that `a/{b,c}` stands for; only the first braces count.
fn alternatives(pattern: &str) -> Vec<String> {
    let parts = || {
        let (before, rest) = pattern.split_once('{')?;
        let (inner, after) = rest.split_once('}')?;
        let of = |one: &str| format!("{before}{one}{after}");
        Some(inner.split(',').take(MOST_PATTERNS).map(of).collect())
    };
    parts().unwrap_or_else(|| vec![pattern.to_owned()])
}

/// `workspaces` of a `package.json`: a list, or a table with one.
fn of_manifest(text: &str) -> Option<Vec<String>> {
    let manifest: Value = serde_json::from_str(text).ok()?;
    let workspaces = manifest.get("workspaces")?;
    let listed = workspaces.as_array().or_else(|| workspaces["packages"].as_array())?;
    Some(listed.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

/// The entries of `packages:`, one in each line or all in brackets.
fn of_pnpm_workspace(text: &str) -> Vec<String> {
    let plain = |entry: &str| entry.trim().trim_matches(['"', '\'']).to_owned();
    let mut lines = text
        .lines()
        .map(without_comment)
        .skip_while(|line| !line.starts_with("packages:"));
    let first = lines.next().unwrap_or_default();
    let inline = first.trim_start_matches("packages:").trim();
    if let Some(inner) = inline.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        return inner.split(',').map(plain).filter(|entry| !entry.is_empty()).collect();
    }
    let below = lines.take_while(|line| line.is_empty() || line.starts_with([' ', '\t', '-']));
    let entries = below.filter_map(|line| line.trim_start().strip_prefix('-').map(plain));
    entries.filter(|entry| !entry.is_empty()).collect()
}

fn without_comment(line: &str) -> &str {
    let end = match line.trim_start().starts_with('#') {
        true => Some(0),
        false => line.find(" #"),
    };
    line[..end.unwrap_or(line.len())].trim_end()
}
