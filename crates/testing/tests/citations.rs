//! Citations are valid: every cited page of `docs` and every cited rule exists, every relative link among the Markdown
//! pages resolves, and nothing cites a document or a ticket outside the repository.

#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use launchway_testing::workspace::root;

/// The directory of the pages, and of the rules among them.
const DOCS: &str = "docs/";
const REFERENCE: &str = "docs/reference/";

/// External data, which may contain any text.
const FOREIGN: [&str; 4] = [
    "Cargo.lock",
    "LICENSE-APACHE",
    "crates/web/assets/vendor/",
    "crates/app-store-simulator/schemas/",
];

#[test]
fn every_cited_page_and_rule_exists() {
    let files = tracked_texts();
    let pages = anchors(&files);
    let mut cited = 0;
    let broken: Vec<_> = files
        .iter()
        .flat_map(|(path, text)| citations(text).map(move |citation| (path, citation)))
        .inspect(|_| cited += 1)
        .filter_map(|(path, citation)| Some(format!("{path}: {}", broken_target(&pages, citation)?)))
        .collect();
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
    assert!(cited > 100, "the search finds only {cited} citations");
}

#[test]
fn links_between_pages_resolve() {
    let files = tracked_texts();
    let pages = anchors(&files);
    let mut links = 0;
    let mut broken = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| is_page(path)) {
        for link in relative_links(text) {
            links += 1;
            let target = resolved(path, link);
            let (file, anchor) = split_anchor(&target);
            if is_page(file) || anchor.is_some() {
                broken.extend(broken_target(&pages, &target).map(|why| format!("{path}: {why}")));
            } else if !root().join(file).exists() {
                broken.push(format!("{path}: {file} does not exist"));
            }
        }
    }
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
    assert!(links > 50, "the search finds only {links} links");
}

#[test]
fn each_rule_has_a_heading_of_its_own() {
    let files = tracked_texts();
    let twice: Vec<_> = files
        .iter()
        .filter(|(path, _)| path.starts_with(REFERENCE))
        .flat_map(|(path, text)| {
            let mut seen = BTreeSet::new();
            let repeated = headings(text).filter(move |heading| !seen.insert(slug(heading)));
            repeated.map(move |heading| format!("{path} has the heading {heading:?} twice"))
        })
        .collect();
    assert!(twice.is_empty(), "\n{}\n", twice.join("\n"));
}

#[test]
fn nothing_cites_what_is_not_in_the_repository() {
    let broken: Vec<_> = tracked_texts()
        .iter()
        .filter(|(path, _)| !FOREIGN.iter().any(|foreign| path.starts_with(foreign)))
        .flat_map(|(path, text)| foreign_citations(text).map(move |words| format!("{path}: {words:?}")))
        .collect();
    assert!(
        broken.is_empty(),
        "\n{}\nSay the rule, or cite it by its heading in {REFERENCE}.\n",
        broken.join("\n")
    );
}

#[test]
fn a_citation_ends_where_its_name_does() {
    let text =
        "(`docs/reference/updates.md#rollout`), see docs/cli.md. And docs/reference/updates.md#the-public-check.";
    let found: Vec<_> = citations(text).collect();
    let expected = [
        "docs/reference/updates.md#rollout",
        "docs/cli.md",
        "docs/reference/updates.md#the-public-check",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_missing_page_or_anchor_is_named() {
    let page =
        "# A page\n\n```\n# no heading\n```\n\n## `lwfp-2`: without what, only signs\n\n### Twice\n\n### Twice\n"
            .to_owned();
    let files = BTreeMap::from([("pages/a.md".to_owned(), page)]);
    let pages = anchors(&files);
    for good in [
        "pages/a.md",
        "pages/a.md#lwfp-2-without-what-only-signs",
        "pages/a.md#twice-1",
    ] {
        assert_eq!(broken_target(&pages, good), None);
    }
    for bad in [
        "pages/b.md",
        "pages/a.md#no-heading",
        "pages/a.md#twice-2",
        "pages/a.md#Twice",
    ] {
        assert!(broken_target(&pages, bad).is_some_and(|why| why.contains(bad)), "{bad}");
    }
}

#[test]
fn links_outside_of_code_are_found_and_resolved() {
    let text = "See [one](../a.md#x), [two](https://example.com) and `[no](link.md)`.\n```\n[no](code.md)\n```\n[three](#here)\n";
    let found: Vec<_> = relative_links(text)
        .map(|link| resolved("pages/more/b.md", link))
        .collect();
    assert_eq!(found, ["pages/a.md#x", "pages/more/b.md#here"]);
}

#[test]
fn citations_of_foreign_documents_are_found_across_lines() {
    let (agreement, ticket) = ("contract", "issue");
    for text in [
        format!("/// By {agreement} part 4.\n"),
        format!("//! Sealed ({agreement}\n//! parts 4 and 5).\n"),
        format!("# The {agreement}'s part 7\n"),
        format!("-- {ticket} 12\n"),
        format!("Mended ({ticket}\n * #3, \"Show\").\n"),
        format!("See {agreement}.md for it.\n"),
    ] {
        assert_eq!(foreign_citations(&text).count(), 1, "{text}");
    }
    let fine = "the contract suite, part of it; issues of 2 kinds; issue a token; spec.md5";
    assert_eq!(foreign_citations(fine).count(), 0);
}

/// Every tracked UTF-8 file, by its path from the root.
fn tracked_texts() -> BTreeMap<String, String> {
    let output = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root())
        .output()
        .expect("git lists the tracked files");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let paths = String::from_utf8(output.stdout).unwrap();
    let texts: BTreeMap<_, _> = paths
        .split_terminator('\0')
        .filter_map(|path| Some((path.to_owned(), fs::read_to_string(root().join(path)).ok()?)))
        .collect();
    assert!(texts.len() > 500, "git lists only {} texts", texts.len());
    texts
}

/// The citations of documentation pages in `text`, with or without an anchor.
fn citations(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(DOCS).filter_map(|(at, _)| {
        let rest = &text[at..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-_./#".contains(c)));
        let citation = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
        citation.contains(".md").then_some(citation)
    })
}

/// The anchors of each Markdown page, as GitHub derives them from its headings.
fn anchors(files: &BTreeMap<String, String>) -> BTreeMap<&str, BTreeSet<String>> {
    let pages = files.iter().filter(|(path, _)| is_page(path));
    pages.map(|(path, text)| (path.as_str(), page_anchors(text))).collect()
}

fn page_anchors(text: &str) -> BTreeSet<String> {
    let mut counts = BTreeMap::new();
    let anchor = |heading| {
        let slug = slug(heading);
        let before: &mut usize = counts.entry(slug.clone()).or_default();
        *before += 1;
        if *before == 1 {
            slug
        } else {
            format!("{slug}-{}", *before - 1)
        }
    };
    headings(text).map(anchor).collect()
}

/// GitHub's anchor for a heading: lower case, hyphens for spaces, no punctuation but hyphens and underscores.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn headings(text: &str) -> impl Iterator<Item = &str> {
    prose(text).filter_map(|line| {
        let heading = line.trim_start_matches('#');
        let is_heading = heading.len() < line.len() && heading.starts_with(' ');
        is_heading.then(|| heading.trim())
    })
}

/// The lines outside of fenced code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !in_code && !fence
    })
}

/// The targets of links to other files and to anchors of the same page.
fn relative_links(text: &str) -> impl Iterator<Item = &str> {
    prose(text)
        .flat_map(|line| line.split('`').step_by(2))
        .flat_map(|piece| piece.split("](").skip(1))
        .filter_map(|rest| rest.split([')', ' ']).next())
        .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
}

/// The target of a link on `page`, as a path from the root.
fn resolved(page: &str, link: &str) -> String {
    if link.starts_with('#') {
        return format!("{page}{link}");
    }
    let mut path = PathBuf::from(page);
    path.pop();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path.to_string_lossy().into_owned()
}

/// Why a page or anchor does not exist; `None` if it does.
fn broken_target(pages: &BTreeMap<&str, BTreeSet<String>>, target: &str) -> Option<String> {
    let (file, anchor) = split_anchor(target);
    match (pages.get(file), anchor) {
        (None, _) => Some(format!("{target}: there is no such page")),
        (Some(anchors), Some(anchor)) if !anchors.contains(anchor) => {
            Some(format!("{target}: the page has no such heading"))
        }
        _ => None,
    }
}

fn split_anchor(target: &str) -> (&str, Option<&str>) {
    match target.split_once('#') {
        Some((file, anchor)) => (file, Some(anchor)),
        None => (target, None),
    }
}

/// Citations of a document or a ticket that is not in the repository.
fn foreign_citations(text: &str) -> impl Iterator<Item = String> {
    const DOCUMENTS: [&str; 3] = ["contract", "spec", "specification"];
    const COMMENT_MARKS: [&str; 7] = ["//", "///", "//!", "--", "#", "*", "<!--"];
    let words: Vec<_> = text
        .split_whitespace()
        .filter(|word| !COMMENT_MARKS.contains(word))
        .collect();
    let bare = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        word.trim_end_matches("'s").to_owned()
    };
    let pairs: Vec<_> = words.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let ends = words.last().map(|last| (*last, "")).into_iter();
    let found = pairs.into_iter().chain(ends).filter(move |(first, second)| {
        // A fast path for most words: check the bytes before anything is copied.
        let start = first.trim_start_matches(|c: char| !c.is_alphanumeric()).as_bytes();
        if !matches!(start.first(), Some(b'c' | b'C' | b's' | b'S' | b'i' | b'I')) {
            return false;
        }
        let first = bare(first);
        let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let file = first.strip_suffix(".md");
        let part = DOCUMENTS.contains(&first.as_str()) && ["part", "parts"].contains(&bare(second).as_str());
        let ticket = ["issue", "issues"].contains(&first.as_str()) && is_number(&bare(second));
        part || ticket || file.is_some_and(|name| DOCUMENTS.contains(&name))
    });
    found
        .map(|(first, second)| format!("{first} {second}"))
        .collect::<Vec<_>>()
        .into_iter()
}

fn is_page(path: &str) -> bool {
    path.ends_with(".md")
}
