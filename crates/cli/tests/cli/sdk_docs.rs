//! The guide of the SDK: its settings can be read, its commands exist, and it names what the API has.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::stage::Stage;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).expect(path)
}

/// The blocks of code in a language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let page = page.lines().map(str::trim_start).collect::<Vec<_>>().join("\n");
    let start = format!("```{language}\n");
    let blocks = page.split(&start).skip(1);
    blocks
        .map(|rest| rest.split_once("```").expect("it ends").0.to_owned())
        .collect()
}

/// The text between two others.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let (_, rest) = text.split_once(start).expect(start);
    rest.split_once(end).expect(end).0
}

/// The names at the start of lines with these indentations and ends, such as `  name:`.
fn names<'t>(code: &'t str, ends: &[char]) -> BTreeSet<&'t str> {
    let lines = code
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = lines.filter_map(|line| line.trim().split_once(ends).map(|(name, _)| name.trim_end_matches('?')));
    names
        .filter(|name| !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric()))
        .collect()
}

/// The words in backticks at the start of a table's rows below a heading, without their arguments.
fn rows<'t>(page: &'t str, heading: &str) -> BTreeSet<&'t str> {
    let section = page.split_once(&format!("\n{heading}\n")).expect(heading).1;
    let section = section.split_once("\n#").map_or(section, |(section, _)| section);
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split(['`', '(']).next()).collect()
}

#[test]
fn the_settings_of_the_guide_can_be_read() {
    let blocks = blocks(&text("docs/sdk.md"), "toml");
    assert_eq!(blocks.len(), 3);
    for block in blocks {
        launchway_project::file::parse(&block).unwrap_or_else(|problem| panic!("{problem}: {block}"));
    }
}

#[tokio::test]
async fn the_commands_of_the_guide_exist() {
    let stage = Stage::new();
    let mut commands = BTreeSet::new();
    for block in blocks(&text("docs/sdk.md"), "sh") {
        let lines = block.lines().filter_map(|line| line.strip_prefix("launchway "));
        commands.extend(lines.map(str::to_owned));
    }
    assert!(commands.len() > 4, "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command
            .split(' ')
            .take_while(|word| !word.starts_with('-') && *word != "android")
            .chain(["--help"])
            .collect();
        let shown = stage.run(&words).await;
        assert!(shown.contains("--- exit 0"), "{command}: {shown}");
    }
}

#[test]
fn the_guide_names_what_the_api_has() {
    let page = text("docs/sdk.md");
    let api = text("sdk/ts/core/src/launchway.ts");
    let methods = names(between(&api, "export interface Launchway {", "\n}"), &['(', '<']);
    assert_eq!(rows(&page, "## API"), methods);
    let events = text("sdk/ts/core/src/events.ts");
    let events = names(between(&events, "export interface Events {", "\n}"), &[':']);
    assert_eq!(rows(&page, "### Events"), events);
    let errors = text("sdk/ts/core/src/errors.ts");
    let codes = between(&errors, "ERROR_CODES = [", "]");
    let codes: BTreeSet<&str> = codes.split('\'').skip(1).step_by(2).collect();
    assert_eq!(rows(&page, "### Error codes"), codes);
    let options = text("sdk/ts/core/src/options.ts");
    let options = names(between(&options, "export interface Options {", "\n}"), &[':', '?']);
    let told = between(&page, "\n### Options\n", ": as in");
    let told: BTreeSet<&str> = told.split('`').skip(1).step_by(2).collect();
    assert_eq!(told, options);
}

#[tokio::test]
async fn init_adds_the_lines_of_the_guide() {
    let stage = Stage::new();
    stage
        .file("package.json", "{\"dependencies\": {\"@capacitor/core\": \"8.0.0\"}}")
        .file("capacitor.config.json", "{}")
        .file("src/main.ts", "");
    stage.run(&["init", "--yes"]).await;
    let written = std::fs::read_to_string(stage.project().join("src/main.ts")).expect("it is there");
    let told = blocks(&text("docs/sdk.md"), "ts");
    assert_eq!(written, told[0]);
}
