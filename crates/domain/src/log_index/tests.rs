//! An index never excludes what a line contains, excludes most of the rest, and is bounded for any bytes.

use proptest::prelude::*;

use super::*;

fn index(part: &[u8]) -> Option<LogIndex> {
    let mut builder = LogIndexBuilder::default();
    builder.push(part);
    builder.finish()
}

/// A part of a typical log.
fn typical() -> String {
    let line = |number: u32| {
        format!(
            "\u{1b}[32m[{number:>5}]\u{1b}[0m Compiling Module{} of app.example\n",
            number % 97
        )
    };
    (0..20_000).map(line).collect()
}

#[test]
fn a_text_that_no_line_contains_is_excluded() {
    let index = index(typical().as_bytes()).unwrap();
    for there in ["compiling module96 of", "[19998]", "of app.example\n", "e"] {
        assert!(index.may_contain(there), "{there}");
    }
    for missing in ["error: linker failed", "nullpointerexception", "warning"] {
        assert!(!index.may_contain(missing), "{missing}");
    }
    assert!(
        index.encode().len() < 5 << 10,
        "few groups need few bits: {}",
        index.encode().len()
    );
}

#[test]
fn short_texts_exclude_nothing() {
    let index = index(b"a\nb\n").unwrap();
    assert!(index.may_contain("zz") && index.may_contain("") && !index.may_contain("zzz"));
}

#[test]
fn the_lines_at_both_borders_are_repeated() {
    let index = index(b"the end of one\nwhole\nwhole\nthe begin").unwrap();
    assert_eq!(
        (index.head(), index.tail(), index.lines()),
        (&b"the end of one\n"[..], &b"the begin"[..], 3)
    );
    assert!(!index.may_contain("begin"), "a search sees the fragments themselves");
}

#[test]
fn parts_that_a_search_must_read_have_no_index() {
    let long = "x".repeat(MAX_FRAGMENT + 1);
    let mut noise = String::new();
    let mut number = 1u64;
    for place in 0..400_000 {
        number = number.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        noise.push(if place % 10 == 0 {
            '\n'
        } else {
            char::from_u32((number >> 40) as u32 % 0xd800).unwrap_or(' ')
        });
    }
    for part in [
        String::new(),
        long.clone(),
        format!("{long}\na\n"),
        format!("a\n{long}"),
        noise,
    ] {
        assert!(index(part.as_bytes()).is_none(), "{part:.80}");
    }
    assert!(index(format!("a\n{}\nb\n", "x".repeat(MAX_LINE)).as_bytes()).is_none());
    assert!(index(format!("a\n{}\nb\n", "x".repeat(MAX_LINE - 1)).as_bytes()).is_some());
}

/// Otherwise what was sealed once would be read as something else.
#[test]
fn the_form_is_stable() {
    let encoded = index(b"ab\nWorld\nc").unwrap().encode();
    assert_eq!(encoded[..14], [1, 13, 2, 0, 0, 0, 3, 0, 1, 0, b'a', b'b', b'\n', b'c']);
    assert_eq!(encoded.len(), 14 + 1024);
    assert_eq!(Filter::places(b"wor").collect::<Vec<_>>(), [334242, 183970, 311266]);
    for place in Filter::places(b"wor") {
        assert_ne!(encoded[14 + place % 8192 / 8] & (1 << (place % 8)), 0, "{place}");
    }
}

proptest! {
    #[test]
    fn whatever_a_line_contains_is_never_excluded(
        lines in prop::collection::vec("[a-cA-CéΣ\u{1b}\\[m0;\t ]{0,40}", 2..30),
        cut in 0usize..400,
        from in 0usize..40,
        length in 0usize..12,
    ) {
        let part = format!("{}\n", lines.join("\n"));
        let mut builder = LogIndexBuilder::default();
        let (one, other) = part.as_bytes().split_at(cut.min(part.len()));
        builder.push(one);
        builder.push(other);
        let index = LogIndex::decode(&builder.finish().unwrap().encode()).unwrap();
        prop_assert_eq!(index.lines() as usize, lines.len());
        for line in &lines[1..] {
            let mut text = Vec::new();
            searchable_into(format!("{line}\n").as_bytes(), &mut text);
            let text = String::from_utf8(text).unwrap();
            let wanted: String = text.chars().skip(from).take(length).collect();
            prop_assert!(index.may_contain(&wanted), "{:?} in {:?}", wanted, text);
        }
    }

    #[test]
    fn any_bytes_are_indexed_and_read_in_bounds(part in prop::collection::vec(any::<u8>(), 0..4000)) {
        if let Some(index) = index(&part) {
            let encoded = index.encode();
            prop_assert!(encoded.len() <= MAX_INDEX);
            prop_assert_eq!(LogIndex::decode(&encoded), Some(index));
            prop_assert_eq!(LogIndex::decode(&encoded[1..]), None);
            prop_assert_eq!(LogIndex::decode(&encoded[..encoded.len() - 1]), None);
        }
        let _ = LogIndex::decode(&part);
    }
}
