//! Unpacking of well-formed and of hostile archives.

mod hostile;
mod mutated;

use std::io::{Cursor, Write};
use std::os::unix::fs::{MetadataExt, symlink};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{EntryType, Header};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::*;

const BOUNDS: Bounds = Bounds {
    bytes: 1 << 30,
    entries: 1000,
};

/// An entry of a tar archive, with any name.
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

/// Writes the header fields directly: the library refuses the names that matter here.
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

/// A directory to unpack into, with neighbors that must not change.
struct Stage {
    directory: tempfile::TempDir,
    stopper: Stopper,
}

impl Stage {
    fn new() -> Stage {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("to")).unwrap();
        fs::write(directory.path().join("secret"), "hunter2").unwrap();
        Stage {
            directory,
            stopper: Stopper::default(),
        }
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
        let done = unpack((&archive, name), (&beside, &self.to()), bounds, &self.stopper);
        let _ = crate::workspace::remove(&beside);
        done
    }

    /// Nothing outside was changed, and no link leads there.
    fn check(&self) {
        let mut names: Vec<_> = fs::read_dir(self.directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["archive", "secret", "to"]);
        assert_eq!(fs::read(self.directory.path().join("secret")).unwrap(), b"hunter2");
        check_links(&self.to(), &mut Effort::new(&self.stopper, u64::MAX)).unwrap();
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
    // The length includes its own digits.
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
fn only_a_single_top_directory_is_taken_off() {
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
    // A link that stays inside the archive but not inside its only directory, which becomes the source.
    let stage = Stage::new();
    let outside = stage.unpack("a.tar.gz", &tar_gz(&[link("app/up", ".."), file("app/x")]), BOUNDS);
    assert!(
        outside
            .unwrap_err()
            .to_string()
            .contains("is a link to outside the source")
    );
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
fn bombs_are_refused_before_they_go_off() {
    let zeros = vec![0; 80 << 20];
    let tar = tar_gz(&[made(EntryType::Regular, "bomb", "", &zeros)]);
    let zip = zip_of(&[("bomb", None, &zeros)]);
    let zst = zstd::encode_all(tar_of(&[made(EntryType::Regular, "bomb", "", &zeros)]).as_slice(), 1).unwrap();
    for (name, bytes) in [("a.tar.gz", tar), ("a.zip", zip), ("a.tar.zst", zst)] {
        let stage = Stage::new();
        let problem = stage.unpack(name, &bytes, BOUNDS).unwrap_err().to_string();
        assert!(
            problem.contains("exceeds the size limit of sources"),
            "{name}: {problem}"
        );
        stage.check();
    }
    let many: Vec<Made> = (0..=1000)
        .map(|number| made(EntryType::Regular, &format!("f{number}"), "", b""))
        .collect();
    let problem = Stage::new()
        .unpack("a.tar.gz", &tar_gz(&many), BOUNDS)
        .unwrap_err()
        .to_string();
    assert!(problem.contains("exceeds the limit of entries"), "{problem}");
    let small = Bounds { bytes: 10, ..BOUNDS };
    let problem = Stage::new()
        .unpack("a.tar.gz", &tar_gz(&[file("a"), file("b")]), small)
        .unwrap_err()
        .to_string();
    assert!(problem.contains("exceeds the size limit of sources"), "{problem}");
}

#[test]
fn the_check_of_this_test_finds_a_link_out() {
    let stage = Stage::new();
    symlink("../secret", stage.to().join("out")).unwrap();
    assert!(check_links(&stage.to(), &mut Effort::new(&stage.stopper, u64::MAX)).is_err());
}

#[test]
fn unpacking_ends_with_the_build() {
    let zeros = made(EntryType::Regular, "zeros", "", &vec![0; 1 << 20]);
    for name in ["a.tar.gz", "a.zip"] {
        let stage = Stage::new();
        stage.stopper.stop(crate::stop::StopReason::Canceled);
        let bytes = match name {
            "a.zip" => {
                let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
                writer.start_file("zeros", SimpleFileOptions::default()).unwrap();
                writer.write_all(&zeros.content).unwrap();
                writer.finish().unwrap().into_inner()
            }
            _ => tar_gz(std::slice::from_ref(&zeros)),
        };
        let problem = stage.unpack(name, &bytes, BOUNDS).unwrap_err().to_string();
        assert!(problem.contains("the build was stopped"), "{name}: {problem}");
    }
}
