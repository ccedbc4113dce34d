//! Archives whose contents, sizes or parts differ from what they declare.

use launchway_testing::raw_zip::{self, archive, archive_with, deflated, item, stored, wide_end};

use crate::{good, inspected, refused, refused_bytes};

#[test]
fn contents_other_than_declared_are_refused() {
    let text = b"hello hello hello hello";
    let lie = |change: fn(&mut raw_zip::Head)| [deflated("a", text).both(change)];
    refused(
        &lie(|head| head.checksum ^= 1),
        "The entry `a` does not have its declared checksum",
    );
    refused(
        &lie(|head| head.unpacked -= 1),
        "The entry `a` does not have its declared size",
    );
    refused(
        &lie(|head| head.unpacked += 1),
        "The entry `a` does not have its declared size",
    );
    let stored_lie = stored("a", b"hello").both(|head| head.unpacked = 6);
    refused(&[stored_lie], "The entry `a` does not have its declared size");
    let damaged = "The entry `a` cannot be unpacked, because its bytes are damaged";
    refused(&[item(b"a", 8, b"hello", b"\xff\xff\xff\xff".to_vec())], damaged);
    let good = deflated("a", text).data;
    refused(&[item(b"a", 8, text, good[..good.len() - 1].to_vec())], damaged);
    refused(&[item(b"a", 8, text, [&good[..], b"hidden"].concat())], damaged);
    refused(&[item(b"a", 8, b"", Vec::new())], damaged);
}

#[test]
fn packages_that_unpack_to_too_much_are_refused() {
    let zeros = vec![0; 3 << 20];
    refused(
        &[deflated("a", &zeros)],
        "The entry `a` unpacks to more than 200 times its size",
    );
    let small = vec![0; 1 << 20];
    assert_eq!(
        inspected(&archive(&[deflated("a", &small)])).map(|found| found.unpacked_size),
        Ok(1 << 20)
    );
    let three = ["a", "b", "c"].map(|name| deflated(name, &small));
    refused(&three, "The package unpacks to more than 200 times its size");
    let limit = "The package unpacks to more than 4194304 bytes, which is the limit";
    refused(&["a", "b"].map(|name| deflated(name, &zeros)), limit);
    let liar = deflated("a", &zeros).both(|head| head.unpacked = 1000);
    refused(&[liar], "The entry `a` does not have its declared size");
    let many = ["a", "b", "c", "d", "e", "f"].map(|name| stored(name, b"x"));
    refused(&many, "The package has 6 entries, but at most 5 are allowed");
}

#[test]
fn bytes_that_belong_to_no_entry_or_to_two_are_refused() {
    let [html, js, folder] = &good()[..] else {
        panic!("three entries")
    };
    refused_bytes(b"", "The package is not a ZIP archive, or its end is missing");
    refused_bytes(b"hello", "The package is not a ZIP archive, or its end is missing");
    refused(&[], "The package contains no file");
    refused(&[stored("a/", b"")], "The package contains no file");
    let whole = archive(&good());
    refused_bytes(
        &[&whole[..], b"x"].concat(),
        "There are bytes after the end of the ZIP archive",
    );
    refused_bytes(
        &[b"MZ", &whole[..]].concat(),
        "There are bytes before the first entry of the ZIP archive",
    );
    let shifted = archive(&[html.clone().with(|item| item.start = Some(1))]);
    refused_bytes(&shifted, "There are bytes before the first entry of the ZIP archive");
    for cut in 1..whole.len() {
        assert!(inspected(&whole[..cut]).is_err(), "cut to {cut}");
    }
    let overlaps = "overlaps another entry or the directory";
    refused(
        &[
            html.clone(),
            html.clone()
                .both(|head| head.name = b"b".to_vec())
                .with(|item| item.start = Some(0)),
        ],
        &format!("The entry `index.html` {overlaps}"),
    );
    refused(
        &[html.clone().both(|head| head.packed += 1)],
        &format!("The entry `index.html` {overlaps}"),
    );
    refused(
        &[
            js.clone().with(|item| item.start = Some(0)),
            js.clone()
                .both(|head| head.name = b"b".to_vec())
                .with(|item| item.start = Some(10)),
        ],
        &format!("The entry `js/app.js` {overlaps}"),
    );
    let beyond = html
        .clone()
        .both(|head| head.name = b"b".to_vec())
        .with(|item| item.start = Some(u32::MAX - 1));
    refused(&[html.clone(), beyond.clone()], &format!("The entry `b` {overlaps}"));
    // Up to the entry beyond the end there would be room for content that the file does not have.
    let large = html
        .clone()
        .both(|head| (head.packed, head.unpacked) = (1 << 10, 1 << 10));
    let after = beyond.with(|item| item.start = Some(40 + (1 << 10)));
    refused(&[large, after], &format!("The entry `b` {overlaps}"));
    let hidden = html.clone().with(|item| item.after = b"hidden".to_vec());
    let stray = "The entry `index.html` is followed by bytes that belong to no entry";
    refused(&[hidden.clone(), folder.clone()], stray);
    refused(&[hidden], stray);
    let hidden = html
        .clone()
        .streamed(true, false)
        .with(|item| item.after.extend(b"a hidden entry of any size"));
    refused(&[hidden], stray);
    let quine = [html.clone(), folder.clone().with(|item| item.start = Some(3))];
    refused(&quine, &format!("The entry `index.html` {overlaps}"));
}

#[test]
fn directories_that_readers_would_find_elsewhere_are_refused() {
    let directory = |what: &str| format!("The directory of the ZIP archive is damaged: {what}");
    let changed = |change: fn(&mut raw_zip::End)| archive_with(&good(), change);
    refused_bytes(
        &changed(|end| end.disk = 1),
        &directory("it is only one part of several files"),
    );
    refused_bytes(
        &changed(|end| end.count_here = 2),
        &directory("it is only one part of several files"),
    );
    refused_bytes(
        &changed(|end| (end.count, end.count_here) = (4, 4)),
        &directory("it has fewer bytes than its entries"),
    );
    refused_bytes(
        &changed(|end| (end.count, end.count_here) = (2, 2)),
        &directory("it has more bytes than its entries"),
    );
    refused_bytes(&changed(|end| end.start += 1), &directory("it is not at its offset"));
    refused_bytes(
        &changed(|end| (end.start, end.size) = (end.start + 1, end.size - 1)),
        &directory("one of its entries is not valid"),
    );
    refused_bytes(
        &changed(|end| end.comment_length = 1),
        "The package is not a ZIP archive, or its end is missing",
    );
    let fits = directory("its ZIP64 end record is inconsistent");
    let wide = |change: fn(&mut Vec<u8>)| {
        archive_with(&good(), |end| {
            let (size, start) = (u64::from(end.size), u64::from(end.start));
            end.before = wide_end(3, size, start, size + start);
            change(&mut end.before);
        })
    };
    assert!(inspected(&wide(|_| ())).is_ok());
    for place in [0, 4, 16, 20, 24, 32, 40, 48, 60, 64, 73] {
        let bytes = wide(|_| ());
        let at = bytes.len() - 22 - 76 + place;
        let changed = [&bytes[..at], &[bytes[at] ^ 2], &bytes[at + 1..]].concat();
        refused_bytes(&changed, &fits);
    }
    let no_locator = wide(|before| before.truncate(56));
    refused_bytes(&no_locator, "There are bytes before the first entry of the ZIP archive");
}
