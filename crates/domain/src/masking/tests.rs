//! Masking: examples, random secrets in random spellings and chunks, and text that must stay unchanged.

use super::*;
use proptest::prelude::*;

fn masked(secrets: &[&str], text: &str) -> String {
    let masker = Masker::new(secrets.iter().map(|secret| secret.as_bytes()));
    String::from_utf8(masker.mask(text.as_bytes())).expect("UTF-8")
}

#[test]
fn a_secret_is_masked_in_each_spelling() {
    let secret = ["p4ss/w+rd ü\"<x>"];
    for shown in [
        "p4ss/w+rd ü\"<x>",
        "p4ss%2Fw%2Brd%20%C3%BC%22%3Cx%3E",
        "p4ss%2fw%2brd%20%c3%bc%22%3cx%3e",
        "p4ss%2Fw%2Brd+%C3%BC%22%3Cx%3E",
        "p4ss/w%2Brd%20%C3%BC%22%3Cx%3E",
        "p4ss/w+rd ü\\\"<x>",
        "p4ss\\/w+rd ü\\\"<x>",
        "p4ss/w+rd \\u00fc\\\"<x>",
        "p4ss/w+rd ü\\\"\\u003cx\\u003e",
    ] {
        assert_eq!(masked(&secret, &format!("a {shown} b")), "a *** b", "{shown}");
    }
    // base64 of "user:<secret>" and of the secret alone.
    assert_eq!(
        masked(&["hunter2hunter2"], "Basic dXNlcjpodW50ZXIyaHVudGVyMg=="),
        "Basic dXNlcjp***g=="
    );
    assert_eq!(masked(&["hunter2hunter2"], "aHVudGVyMmh1bnRlcjI="), "***I=");
}

#[test]
fn what_is_no_secret_stays() {
    let text = "a line\r\nand another\n\n  \t end";
    assert_eq!(masked(&["something else", "an"], text), text);
    assert_eq!(masked(&[], text), text);
    // Shorter than four bytes: masking them would remove half the log.
    assert_eq!(masked(&["abc", ""], "abcabc"), "abcabc");
    assert_eq!(
        masked(&["hunter2"], "hunter hunter2hunter3 hunte"),
        "hunter ***hunter3 hunte"
    );
}

#[test]
fn secrets_that_overlap_are_both_gone() {
    assert_eq!(masked(&["abcdef", "defghi"], "xabcdefghix"), "x***x");
    assert_eq!(masked(&["abcdef", "cdef"], "abcdeabcdef"), "abcde***");
    assert_eq!(masked(&["aaaa"], "aaaaaaab"), "***b");
}

#[test]
fn line_breaks_do_not_save_a_secret() {
    let key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----\n";
    assert_eq!(masked(&[key], key), "***\n".repeat(4));
    assert_eq!(masked(&[key], &key.replace('\n', "\r\n")), "***\r\n".repeat(4));
    assert_eq!(
        masked(&[key], "> MIIEvQIBADANBgkq\n> hkiG9w0BAQEFAASC\n"),
        "> ***\n> ***\n"
    );
    assert_eq!(masked(&["hunter2-hunter2"], "hunter2-\nhunter2 x\n"), "***\n*** x\n");
}

#[test]
fn nothing_is_held_back_without_need() {
    let masker = Masker::new([b"hunter2".as_slice()]);
    let (mut masking, mut out) = (masker.begin(), Vec::new());
    masking.push(b"Building...\n", &mut out);
    assert_eq!(out, b"Building...\n");
    masking.push(b"hun", &mut out);
    assert_eq!(out, b"Building...\n");
    masking.push(b"dred\n", &mut out);
    assert_eq!(out, b"Building...\nhundred\n");
}

/// A secret in some spelling, between other text.
fn spelled(secret: &[u8], way: u8, before: usize) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    match way {
        0 => secret.to_vec(),
        // Directly from RFC 4648: three bytes to four digits.
        1 => {
            let bytes: Vec<u8> = std::iter::repeat_n(b'.', before)
                .chain(secret.iter().copied())
                .collect();
            bytes
                .chunks(3)
                .flat_map(|group| {
                    let get = |at: usize| group.get(at).copied().unwrap_or(0);
                    let all = u32::from(get(0)) << 16 | u32::from(get(1)) << 8 | u32::from(get(2));
                    (0..=group.len()).map(move |digit| DIGITS[(all >> (18 - 6 * digit) & 63) as usize])
                })
                .collect()
        }
        2 => secret
            .iter()
            .flat_map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => vec![*byte],
                other => format!("%{other:02X}").into_bytes(),
            })
            .collect(),
        _ => {
            let json = serde_json::to_string(&String::from_utf8_lossy(secret)).expect("JSON");
            json.as_bytes()[1..json.len() - 1].to_vec()
        }
    }
}

/// The longest run of a secret's own digits that a log may still show: at the ends of a base64 text.
fn leaks(masked: &[u8], secret: &[u8]) -> bool {
    let shown: Vec<u8> = masked.iter().copied().filter(|byte| !is_break(*byte)).collect();
    shown.windows(secret.len()).any(|window| window == secret)
}

fn never_leaks(secret: &str, other: &str, noise: &str, way: u8, before: usize, cuts: &[usize], wrap: usize) {
    let mut shown = spelled(secret.as_bytes(), way, before);
    if wrap > 0 {
        shown = shown.chunks(wrap).collect::<Vec<_>>().join(b"\n".as_slice());
    }
    let log = [noise.as_bytes(), &shown, noise.as_bytes()].concat();
    let masker = Masker::new([secret.as_bytes(), other.as_bytes()]);
    let (mut masking, mut out, mut from) = (masker.begin(), Vec::new(), 0);
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (log.len() + 1)).collect();
    cuts.sort_unstable();
    // The same with successive maskings that know of the one before only what it withheld.
    let (mut held, mut starred) = (Vec::new(), Vec::new());
    for cut in cuts.into_iter().chain([log.len()]) {
        masking.push(&log[from..cut], &mut out);
        let mut next = masker.resume(&held);
        next.push(&log[from..cut], &mut starred);
        held = next.held();
        assert_eq!(starred.len() + held.len(), cut, "offsets stay true");
        from = cut;
    }
    masking.finish(&mut out);
    masker.resume(&held).finish(&mut starred);
    assert_eq!(out, masker.mask(&log), "chunks make no difference");
    let (mut whole, mut at_once) = (masker.resume(&[]), Vec::new());
    whole.push(&log, &mut at_once);
    whole.finish(&mut at_once);
    assert_eq!(starred, at_once, "nor does it whether each goes on where another stood");
    assert!(
        starred
            .iter()
            .zip(&log)
            .all(|(shown, byte)| shown == byte || *shown == b'*')
    );
    assert!(out.windows(3).any(|window| window == MASK), "{secret:?} way {way}");
    if !noise.contains(secret) {
        let text = spelled(secret.as_bytes(), way, 0);
        let core = if way == 1 { &text[..text.len() - 2] } else { &text[..] };
        assert!(core.len() < MIN_SECRET || !leaks(&out, core), "{secret:?} way {way}");
        assert!(
            core.len() < MIN_SECRET || !leaks(&starred, core),
            "{secret:?} way {way}"
        );
    }
}

fn secret_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9+/=_-]{6,80}",
        "[ -~]{6,40}",
        "\\PC{6,30}",
        "[a-z\n]{20,400}",
        "[a-c]{6,12}"
    ]
    .prop_filter("at least six bytes without line breaks", |text| {
        text.bytes().filter(|byte| !is_break(*byte)).count() >= 6 && text.trim_ascii().len() >= 6
    })
}

proptest! {
    #[test]
    fn no_secret_gets_through(
        secret in secret_text(), other in secret_text(), noise in "[ -~\n]{0,60}", way in 0u8..4, before in 0usize..4,
        cuts in prop::collection::vec(0usize..1000, 0..6), wrap in prop_oneof![Just(0usize), 1usize..80],
    ) {
        never_leaks(&secret, &other, &noise, way, before, &cuts, wrap);
    }
}

/// What a masker releases, by the rule itself: each pattern is searched for at each place of the text without its line
/// breaks.
fn masked_by_search(secrets: &[Vec<u8>], text: &[u8]) -> Vec<u8> {
    let long = secrets.iter().filter(|secret| secret.len() >= MIN_SECRET);
    let patterns: std::collections::BTreeSet<Vec<u8>> = long.flat_map(|secret| spellings::pieces(secret)).collect();
    let places: Vec<usize> = (0..text.len()).filter(|at| !is_break(text[*at])).collect();
    let solid: Vec<u8> = places.iter().map(|at| text[*at]).collect();
    let mut is_secret = vec![false; text.len()];
    for pattern in &patterns {
        for start in (0..solid.len()).filter(|start| solid[*start..].starts_with(pattern)) {
            for at in &places[start..start + pattern.len()] {
                is_secret[*at] = true;
            }
        }
    }
    let mut out = Vec::new();
    for at in 0..text.len() {
        if !is_secret[at] {
            out.push(text[at]);
        } else if at == 0 || !is_secret[at - 1] {
            out.extend_from_slice(MASK);
        }
    }
    out
}

/// Few letters, so that secrets contain and overlap each other.
fn tangled(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![4 => Just(b'a'), 2 => Just(b'b'), 1 => Just(b'\n')], length)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_masker_finds_what_a_search_finds(
        secrets in prop::collection::vec(tangled(0..30), 0..6),
        long in tangled(0..300),
        text in tangled(0..300),
        cuts in prop::collection::vec(0usize..600, 0..8),
    ) {
        // Longer secrets are cut into pieces; a part of the text is one of them.
        let mut secrets = secrets;
        secrets.push(long.clone());
        let log = [&text[..text.len() / 2], &long, &text[text.len() / 2..]].concat();
        let masker = Masker::new(secrets.iter().map(Vec::as_slice));
        let expected = masked_by_search(&secrets, &log);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (log.len() + 1)).collect();
        cuts.sort_unstable();
        let (mut masking, mut out, mut from) = (masker.begin(), Vec::new(), 0);
        for cut in cuts.into_iter().chain([log.len()]) {
            masking.push(&log[from..cut], &mut out);
            prop_assert!(masking.held().iter().filter(|(byte, _)| !is_break(*byte)).count() <= spellings::MAX_PIECE);
            from = cut;
        }
        masking.finish(&mut out);
        prop_assert_eq!(String::from_utf8(out), String::from_utf8(expected));
    }
}

#[test]
#[ignore = "long run"]
fn a_hundred_thousand_secrets_do_not_get_through() {
    let config = ProptestConfig {
        cases: 100_000,
        max_global_rejects: 1_000_000,
        ..ProptestConfig::default()
    };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let inputs = (
        secret_text(),
        secret_text(),
        "[ -~\n]{0,60}",
        0u8..4,
        0usize..4,
        prop::collection::vec(0usize..1000, 0..6),
        prop_oneof![Just(0usize), 1usize..80],
    );
    let run = runner.run(&inputs, |(secret, other, noise, way, before, cuts, wrap)| {
        never_leaks(&secret, &other, &noise, way, before, &cuts, wrap);
        Ok(())
    });
    assert!(run.is_ok(), "{run:?}");
    println!("summary: masking: 100000 secrets, encodings and chunk splits, none leaked");
}
