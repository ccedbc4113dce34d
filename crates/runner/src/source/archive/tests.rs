//! Archives as they should be, and as somebody hostile makes them.

use std::io::{Cursor, Write};
use std::os::unix::fs::{MetadataExt, symlink};

use flate2::Compression;
use flate2::write::GzEncoder;
use launchway_testing::settings::setting;
use tar::{EntryType, Header};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::*;

const BOUNDS: Bounds = Bounds {
    bytes: 1 << 30,
    entries: 1000,
};

/// An entry of a tar archive, whatever its name.
struct Made {
    kind: EntryType,
    name: Vec<u8>,
    target: Vec<u8>,
    mode: u32,
    content: Vec<u8>,
}

fn made(kind: EntryType, name: &str, target: &str, content: &[u8]) -> Made {
    Made {
        kind,
        name: name.as_bytes().to_vec(),
        target: target.as_bytes().to_vec(),
        mode: 0o644,
        content: content.to_vec(),
    }
}

fn file(name: &str) -> Made {
    made(EntryType::Regular, name, "", b"content")
}

fn link(name: &str, target: &str) -> Made {
    made(EntryType::Symlink, name, target, b"")
}

/// Writes the fields by hand: the library refuses the names that matter here.
fn tar_of(entries: &[Made]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in entries {
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..entry.name.len()].copy_from_slice(&entry.name);
        header.as_old_mut().linkname[..entry.target.len()].copy_from_slice(&entry.target);
        header.set_entry_type(entry.kind);
        header.set_mode(entry.mode);
        header.set_size(entry.content.len() as u64);
        header.set_cksum();
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(&entry.content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn tar_gz(entries: &[Made]) -> Vec<u8> {
    gz(&tar_of(entries))
}

fn zip_of(entries: &[(&str, Option<u32>, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, mode, content) in entries {
        let mut options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        if let Some(mode) = mode {
            options = options.unix_permissions(*mode);
        }
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A directory in which an archive is unpacked, with something beside that must stay as it is.
struct Stage {
    directory: tempfile::TempDir,
}

impl Stage {
    fn new() -> Stage {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("to")).unwrap();
        fs::write(directory.path().join("secret"), "hunter2").unwrap();
        Stage { directory }
    }

    fn to(&self) -> PathBuf {
        self.directory.path().join("to")
    }

    fn unpack(&self, name: &str, bytes: &[u8], bounds: Bounds) -> Result<(), SourceError> {
        let (archive, beside) = (
            self.directory.path().join("archive"),
            self.directory.path().join("beside"),
        );
        fs::write(&archive, bytes).unwrap();
        let done = unpack(&archive, name, &beside, &self.to(), bounds);
        let _ = crate::workspace::remove(&beside);
        done
    }

    /// Nothing outside was touched, and no link leads there.
    fn check(&self) {
        let mut names: Vec<_> = fs::read_dir(self.directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["archive", "secret", "to"]);
        assert_eq!(fs::read(self.directory.path().join("secret")).unwrap(), b"hunter2");
        check_links(&self.to()).unwrap();
    }
}

#[test]
fn good_archives_are_unpacked() {
    let mut script = file("run.sh");
    script.mode = 0o4755;
    let mut closed = file("closed");
    closed.mode = 0;
    let entries = [
        made(
            EntryType::XGlobalHeader,
            "pax_global_header",
            "",
            b"52 comment=0123456789012345678901234567890123456789\n",
        ),
        made(EntryType::Directory, "./", "", b""),
        made(EntryType::Directory, "src/", "", b""),
        file("./src/a.txt"),
        link("src/b", "../run.sh"),
        script,
        closed,
        made(EntryType::Link, "src/second", "src/a.txt", b""),
        made(EntryType::Regular, "old/", "", b""),
    ];
    let tar = tar_of(&entries);
    let zst = zstd::encode_all(tar.as_slice(), 1).unwrap();
    for (name, bytes) in [("a.tar.gz", gz(&tar)), ("A.TGZ", gz(&tar)), ("a.tar.zst", zst)] {
        let stage = Stage::new();
        stage.unpack(name, &bytes, BOUNDS).unwrap();
        stage.check();
        let to = stage.to();
        assert_eq!(fs::read(to.join("src/a.txt")).unwrap(), b"content");
        assert_eq!(fs::read(to.join("src/second")).unwrap(), b"content");
        assert_eq!(fs::metadata(to.join("src/second")).unwrap().nlink(), 1);
        assert_eq!(fs::read_link(to.join("src/b")).unwrap(), Path::new("../run.sh"));
        let mode = |name: &str| fs::metadata(to.join(name)).unwrap().mode() & 0o7777;
        assert_eq!((mode("run.sh"), mode("closed"), mode("old")), (0o755, 0o600, 0o744));
    }
}

#[test]
fn long_names_are_read_whole() {
    let long = format!("{}/{}", "a".repeat(150), "b".repeat(150));
    let pax = format!("path={long}-pax\n");
    // The length counts itself.
    let pax = format!("{} {pax}", pax.len() + 4);
    let entries = [
        made(
            EntryType::GNULongName,
            "././@LongLink",
            "",
            format!("{long}\0").as_bytes(),
        ),
        file("cut-off"),
        made(EntryType::XHeader, "PaxHeaders", "", pax.as_bytes()),
        file("cut-off-too"),
        made(EntryType::GNULongLink, "././@LongLink", "", b"other\0"),
        link("link", "cut"),
        file("other"),
    ];
    let stage = Stage::new();
    stage.unpack("a.tar.gz", &tar_gz(&entries), BOUNDS).unwrap();
    assert!(stage.to().join(&long).is_file());
    assert!(stage.to().join(format!("{long}-pax")).is_file());
    assert_eq!(fs::read_link(stage.to().join("link")).unwrap(), Path::new("other"));
}

#[test]
fn a_single_directory_is_taken_off_and_anything_beside_it_keeps_it() {
    let stage = Stage::new();
    stage
        .unpack(
            "a.tar.gz",
            &tar_gz(&[file("app-1.0/README"), link("app-1.0/src", "README")]),
            BOUNDS,
        )
        .unwrap();
    assert!(stage.to().join("README").is_file());
    stage.check();
    let stage = Stage::new();
    stage
        .unpack(
            "a.tar.gz",
            &tar_gz(&[file("app/README"), file("launchway.toml")]),
            BOUNDS,
        )
        .unwrap();
    assert!(stage.to().join("app/README").is_file());
    // A link that stays inside the archive but not inside what is left of it.
    let stage = Stage::new();
    let outside = stage.unpack("a.tar.gz", &tar_gz(&[link("app/up", ".."), file("app/x")]), BOUNDS);
    assert!(outside.unwrap_err().to_string().contains("leads out of the source"));
}

#[test]
fn zip_archives_are_unpacked() {
    let stage = Stage::new();
    let entries: [(&str, Option<u32>, &[u8]); 4] = [
        ("src/", None, b""),
        ("src/a.txt", None, b"content"),
        ("run.sh", Some(0o755), b"run"),
        ("src/link", Some(0o120_777), b"../run.sh"),
    ];
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer
        .add_symlink("by-library", "src/a.txt", SimpleFileOptions::default())
        .unwrap();
    for (name, mode, content) in &entries[..3] {
        let mut options = SimpleFileOptions::default();
        if let Some(mode) = mode {
            options = options.unix_permissions(*mode);
        }
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    stage
        .unpack("a.zip", &writer.finish().unwrap().into_inner(), BOUNDS)
        .unwrap();
    stage.check();
    assert_eq!(fs::read(stage.to().join("src/a.txt")).unwrap(), b"content");
    assert_eq!(fs::metadata(stage.to().join("run.sh")).unwrap().mode() & 0o777, 0o755);
    assert_eq!(
        fs::read_link(stage.to().join("by-library")).unwrap(),
        Path::new("src/a.txt")
    );
}

#[test]
fn hostile_tar_archives_are_refused_and_touch_nothing_outside() {
    let sparse = made(EntryType::GNUSparse, "sparse", "", b"");
    let pax = |record: &str| {
        let length = record.len() + 4;
        let text = format!("{length} {record}\n");
        made(EntryType::XHeader, "PaxHeaders", "", text.as_bytes())
    };
    let deep = "d/".repeat(45);
    let rows: Vec<(&str, Vec<Made>, &str)> = vec![
        ("absolute", vec![file("/etc/x")], "has an absolute path"),
        ("climbing", vec![file("../secret")], "climbs out of the source"),
        (
            "climbing later",
            vec![file("a/../../secret")],
            "climbs out of the source",
        ),
        ("climbing at the end", vec![file("a/..")], "climbs out of the source"),
        (
            "climbing directory",
            vec![made(EntryType::Directory, "../x", "", b"")],
            "climbs out of the source",
        ),
        ("backslashes", vec![file("..\\secret")], "has a backslash in its name"),
        ("no name", vec![file("")], "has no name"),
        ("dot as a file", vec![file(".")], "has no name"),
        (
            "link to an absolute path",
            vec![link("a", "/etc/passwd")],
            "is a link to an absolute path",
        ),
        ("link out", vec![link("a", "../secret")], "is a link that leads out"),
        (
            "link out later",
            vec![link("d/a", "b/../../../secret")],
            "is a link that leads out",
        ),
        ("link to nowhere", vec![link("a", "")], "is a link to nowhere"),
        (
            "write through a link",
            vec![link("a", "b"), file("a/x")],
            "lies below what is no directory",
        ),
        (
            "write through a link to a directory",
            vec![made(EntryType::Directory, "d", "", b""), link("a", "d"), file("a/x")],
            "lies below what is no directory",
        ),
        (
            "write over a link",
            vec![link("a", "b"), file("a")],
            "is in the archive twice",
        ),
        (
            "link over a file",
            vec![file("a"), link("a", "b")],
            "is in the archive twice",
        ),
        (
            "directory through a link",
            vec![link("a", "d"), made(EntryType::Directory, "a/b", "", b"")],
            "lies below what is no directory",
        ),
        (
            "directory over a link",
            vec![link("a", "d"), made(EntryType::Directory, "a", "", b"")],
            "lies below what is no directory",
        ),
        (
            "link out through another",
            vec![
                made(EntryType::Directory, "d/e/f", "", b""),
                link("d/e/f/s", "../../.."),
                link("t", "d/e/f/s/../x"),
            ],
            "leads out of the source",
        ),
        ("link to itself", vec![link("a", "a")], "leads to itself"),
        (
            "links in a circle",
            vec![link("a", "b"), link("b", "a")],
            "leads to itself",
        ),
        ("file twice", vec![file("a"), file("a")], "is in the archive twice"),
        (
            "file twice by another name",
            vec![file("a"), file("./a")],
            "is in the archive twice",
        ),
        (
            "file as a directory",
            vec![file("a"), file("a/b")],
            "lies below what is no directory",
        ),
        (
            "second name of nothing",
            vec![made(EntryType::Link, "a", "gone", b"")],
            "is a second name of what is no file",
        ),
        (
            "second name of a link",
            vec![link("l", "x"), made(EntryType::Link, "a", "l", b"")],
            "is a second name of what is no file",
        ),
        (
            "second name outside",
            vec![made(EntryType::Link, "a", "../secret", b"")],
            "climbs out of the source",
        ),
        (
            "absolute second name",
            vec![made(EntryType::Link, "a", "/etc/passwd", b"")],
            "has an absolute path",
        ),
        (
            "second name through a link",
            vec![
                made(EntryType::Directory, "d", "", b""),
                file("d/x"),
                link("l", "d"),
                made(EntryType::Link, "a", "l/x", b""),
            ],
            "is a second name of what is no file",
        ),
        (
            "character device",
            vec![made(EntryType::Char, "a", "", b"")],
            "is a device or pipe",
        ),
        (
            "block device",
            vec![made(EntryType::Block, "a", "", b"")],
            "is a device or pipe",
        ),
        ("pipe", vec![made(EntryType::Fifo, "a", "", b"")], "is a device or pipe"),
        (
            "unknown kind",
            vec![made(EntryType::new(b'V'), "a", "", b"")],
            "is of an unknown kind",
        ),
        ("sparse", vec![sparse], "is a sparse file"),
        (
            "sparse by a header",
            vec![pax("GNU.sparse.realsize=9"), file("a")],
            "is a sparse file",
        ),
        (
            "size by a header",
            vec![pax("size=999999999999"), file("a")],
            "with a size of its own",
        ),
        (
            "climbing by a header",
            vec![pax("path=../../secr"), file("a")],
            "climbs out of the source",
        ),
        (
            "link out by a header",
            vec![pax("linkpath=../sec"), link("a", "b")],
            "is a link that leads out",
        ),
        (
            "climbing by a long name",
            vec![made(EntryType::GNULongName, "L", "", b"../secret\0"), file("a")],
            "climbs out of the source",
        ),
        (
            "link out by a long name",
            vec![made(EntryType::GNULongLink, "L", "", b"/etc/passwd\0"), link("a", "b")],
            "absolute path",
        ),
        (
            "NUL in a header's name",
            vec![pax("path=a\0b56789"), file("a")],
            "has a NUL in its name",
        ),
        (
            "too long a header",
            vec![made(EntryType::XHeader, "x", "", &vec![b'x'; (1 << 20) + 1]), file("a")],
            "a header in it is too long",
        ),
        (
            "too deep",
            vec![
                made(EntryType::GNULongName, "L", "", deep.repeat(5).as_bytes()),
                file("a"),
            ],
            "is nested too deeply",
        ),
        ("nothing", vec![], "there is nothing in it"),
    ];
    for (what, entries, expected) in rows {
        let stage = Stage::new();
        let problem = stage
            .unpack("a.tar.gz", &tar_gz(&entries), BOUNDS)
            .expect_err(what)
            .to_string();
        assert!(problem.contains(expected), "{what}: {problem}");
        stage.check();
    }
}

#[test]
fn hostile_zip_archives_are_refused_and_touch_nothing_outside() {
    let symlinked = |name: &str, target: &str| {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        writer.add_symlink(name, target, SimpleFileOptions::default()).unwrap();
        writer.start_file("a/x", SimpleFileOptions::default()).unwrap();
        writer.finish().unwrap().into_inner()
    };
    // The kind of the entry in its Unix mode, in the central directory.
    let mut device = zip_of(&[("device", Some(0o644), b"x"), ("b", None, b"")]);
    let at = device.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap() + 38;
    device[at + 2..at + 4].copy_from_slice(&0o060_644_u16.to_le_bytes());
    let mut renamed = zip_of(&[("aaaa", None, b"x"), ("b", None, b"")]);
    for at in 0..renamed.len() - 4 {
        if &renamed[at..at + 4] == b"aaaa" {
            renamed[at..at + 4].copy_from_slice(b"../x");
        }
    }
    let rows = [
        ("absolute", zip_of(&[("/etc/x", None, b"x")]), "has an absolute path"),
        ("climbing", renamed, "climbs out of the source"),
        ("backslashes", zip_of(&[("..\\x", None, b"x")]), "has a backslash"),
        ("link out", symlinked("a", "../secret"), "is a link that leads out"),
        ("absolute link", symlinked("a", "/etc/passwd"), "absolute path"),
        ("through a link", symlinked("a", "b"), "lies below what is no directory"),
        ("device", device, "is a device or pipe"),
        (
            "file below a file",
            zip_of(&[("a", None, b"x"), ("a/b", None, b"y")]),
            "lies below what is no directory",
        ),
        ("no archive", b"PK nothing".to_vec(), "it is no readable archive"),
    ];
    for (what, bytes, expected) in rows {
        let stage = Stage::new();
        let problem = stage.unpack("a.zip", &bytes, BOUNDS).expect_err(what).to_string();
        assert!(problem.contains(expected), "{what}: {problem}");
        stage.check();
    }
}

#[test]
fn bombs_are_refused_before_they_go_off() {
    let zeros = vec![0; 80 << 20];
    let tar = tar_gz(&[made(EntryType::Regular, "bomb", "", &zeros)]);
    let zip = zip_of(&[("bomb", None, &zeros)]);
    let zst = zstd::encode_all(tar_of(&[made(EntryType::Regular, "bomb", "", &zeros)]).as_slice(), 1).unwrap();
    for (name, bytes) in [("a.tar.gz", tar), ("a.zip", zip), ("a.tar.zst", zst)] {
        let stage = Stage::new();
        let problem = stage.unpack(name, &bytes, BOUNDS).unwrap_err().to_string();
        assert!(problem.contains("larger than it may be"), "{name}: {problem}");
        stage.check();
    }
    let many: Vec<Made> = (0..=1000)
        .map(|number| made(EntryType::Regular, &format!("f{number}"), "", b""))
        .collect();
    let problem = Stage::new()
        .unpack("a.tar.gz", &tar_gz(&many), BOUNDS)
        .unwrap_err()
        .to_string();
    assert!(problem.contains("is one entry too many"), "{problem}");
    let small = Bounds { bytes: 10, ..BOUNDS };
    let problem = Stage::new()
        .unpack("a.tar.gz", &tar_gz(&[file("a"), file("b")]), small)
        .unwrap_err()
        .to_string();
    assert!(problem.contains("larger than it may be"), "{problem}");
}

#[test]
fn no_mutation_gets_out_or_ends_the_runner() {
    mutate(500);
}

/// `FUZZ_RUNS` sets how many. A run depends on its number alone.
#[test]
#[ignore = "long run"]
fn no_mutation_of_very_many_gets_out_or_ends_the_runner() {
    let runs = setting("FUZZ_RUNS").map_or(50_000, |runs| runs.parse().expect("FUZZ_RUNS is a number"));
    mutate(runs);
    println!("summary: {runs} mutated source archives, none got out");
}

fn mutate(runs: u64) {
    let entries = [
        made(EntryType::Directory, "src/", "", b""),
        file("src/a.txt"),
        link("src/b", "../run.sh"),
        made(EntryType::XHeader, "p", "", b"16 path=src/long\n"),
        file("run.sh"),
        made(EntryType::Link, "src/second", "src/a.txt", b""),
    ];
    let tar = tar_of(&entries);
    let zip = zip_of(&[("src/a.txt", Some(0o644), b"content"), ("run.sh", Some(0o755), b"run")]);
    let zst = zstd::encode_all(tar.as_slice(), 1).unwrap();
    let bounds = Bounds {
        bytes: 1 << 20,
        entries: 100,
    };
    let mut stage = Stage::new();
    for run in 0..runs {
        let mut chance = run.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = |below: usize| {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            (chance % below as u64) as usize
        };
        let (name, base) = match run % 4 {
            0 | 1 => ("a.tar.gz", &tar),
            2 => ("a.zip", &zip),
            _ => ("a.tar.zst", &zst),
        };
        let mut bytes = base.clone();
        for _ in 0..=next(6) {
            let at = next(bytes.len());
            match next(4) {
                0 => bytes[at] ^= 1 << next(8),
                1 => bytes[at] = b"/.\0\\25"[next(6)],
                2 => bytes.truncate(at.max(1)),
                _ => {
                    let from = next(bytes.len());
                    bytes[at] = bytes[from];
                }
            }
        }
        if name == "a.tar.gz" {
            fix_checksums(&mut bytes);
            bytes = gz(&bytes);
        }
        if stage.unpack(name, &bytes, bounds).is_ok() {
            stage.check();
            stage = Stage::new();
        }
    }
}

/// Most mutations would end at the first header.
fn fix_checksums(tar: &mut [u8]) {
    for block in tar.chunks_exact_mut(512) {
        if &block[257..262] == b"ustar" {
            let sum: u64 = block
                .iter()
                .enumerate()
                .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u64::from(*byte) })
                .sum();
            block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
    }
}

#[test]
fn the_check_of_this_test_finds_a_link_out() {
    let stage = Stage::new();
    symlink("../secret", stage.to().join("out")).unwrap();
    assert!(check_links(&stage.to()).is_err());
}
