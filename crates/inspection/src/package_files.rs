//! Where the files of a package are in it, for clients of Capgo that install them one by one (`docs/reference/capgo.md#files`).

use std::fs::File;

use launchway_delta::FileList;
use launchway_foreign::Place;
use launchway_foreign::capgo::{MAX_FILES, PackedFile, PackedFiles};
use launchway_package::{Archive, Limits, PackageError};

/// The files of an inspected package; `None` if some client could not install them one by one. `list` is its list of files, if it
/// is not too large for one.
pub(super) fn read(file: &File, limits: &Limits, list: Option<&FileList>) -> Result<Option<PackedFiles>, PackageError> {
    let Some(list) = list.filter(|list| list.files().len() <= MAX_FILES) else {
        return Ok(None);
    };
    let mut archive = Archive::open(file, limits)?;
    let mut files = Vec::with_capacity(list.files().len());
    for index in 0..archive.entries().len() {
        let entry = &archive.entries()[index];
        // A folder is not in the list.
        let Some(listed) = list.find(entry.path()) else {
            continue;
        };
        files.push(PackedFile {
            path: listed.path.clone(),
            sha256: listed.sha256.0,
            place: place(&mut archive, index)?,
        });
    }
    Ok(PackedFiles::new(files))
}

/// Where the data of the file at `index` are.
pub(super) fn place(archive: &mut Archive<&File>, index: usize) -> Result<Place, PackageError> {
    let data = archive.packed_data(index)?;
    Ok(Place {
        size: archive.entries()[index].size(),
        start: data.start,
        length: data.length,
        is_deflated: data.is_deflated,
        checksum: data.checksum,
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read, Seek, Write};

    use flate2::read::DeflateDecoder;
    use sha2::{Digest, Sha256};
    use zip::CompressionMethod::{Deflated, Stored};

    use super::*;
    use crate::work::answer;
    use crate::{Answer, FilesFacts, Task};

    /// A package with these files, every other one compressed, and a folder.
    fn package(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default();
        zip.add_directory("folder/", options).unwrap();
        for (number, (path, bytes)) in files.iter().enumerate() {
            let method = if number % 2 == 0 { Deflated } else { Stored };
            zip.start_file(*path, options.compression_method(method)).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn look(bytes: &[u8], limits: Limits) -> Answer<FilesFacts> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).and_then(|()| file.rewind()).unwrap();
        serde_json::from_slice(&answer(&Task::Files(limits), file)).unwrap()
    }

    fn facts(files: &[(&str, &[u8])]) -> FilesFacts {
        match look(&package(files), Limits::default()) {
            Answer::Read(facts) => facts,
            Answer::Refused(sentence) | Answer::Unreadable(sentence) => panic!("{sentence}"),
        }
    }

    #[test]
    fn files_are_in_the_package_as_the_list_says() {
        let script = b"the script ".repeat(200);
        let content: [(&str, &[u8]); 3] = [("index.html", b"a page"), ("folder/a.js", &script), ("b.js", &script)];
        let bytes = package(&content);
        let facts = facts(&content);
        assert_eq!(facts.package.file_count, 3);
        let files = facts.files.unwrap();
        assert_eq!(files.files().len(), 3);
        for file in files.files() {
            let mut data = &bytes[file.place.start as usize..][..file.place.length as usize];
            let mut unpacked = Vec::new();
            match file.place.is_deflated {
                true => DeflateDecoder::new(data).read_to_end(&mut unpacked).unwrap(),
                false => data.read_to_end(&mut unpacked).unwrap(),
            };
            let expected = content.iter().find(|(path, _)| *path == file.path).unwrap().1;
            assert_eq!(unpacked, expected, "{}", file.path);
            assert_eq!(file.place.size, expected.len() as u64);
            assert_eq!(Sha256::digest(expected)[..], file.sha256);
            assert_eq!(file.place.checksum, crc32fast::hash(expected));
        }
    }

    #[test]
    fn a_package_without_a_list_is_accepted() {
        for (path, content) in [("www/index.html", "a"), ("index.html", ""), ("index.html.br", "a")] {
            let facts = facts(&[(path, content.as_bytes())]);
            assert_eq!((facts.package.file_count, facts.files), (1, None), "{path}");
        }
        let paths: Vec<_> = (0..MAX_FILES).map(|number| format!("{number}.js")).collect();
        let mut many: Vec<(&str, &[u8])> = paths.iter().map(|path| (path.as_str(), b"a".as_slice())).collect();
        many.push(("index.html", b"a page"));
        assert_eq!(facts(&many).files, None);
    }

    #[test]
    fn what_is_no_package_is_refused() {
        let mut damaged = package(&[("index.html", b"a page")]);
        damaged[60] ^= 1;
        for bytes in [damaged, Vec::new(), b"PK".to_vec()] {
            assert!(matches!(look(&bytes, Limits::default()), Answer::Refused(_)));
        }
        let one = Limits {
            max_files: 1,
            ..Limits::default()
        };
        let two = package(&[("index.html", b"a page"), ("a.js", b"a")]);
        assert!(matches!(look(&two, one), Answer::Refused(_)));
    }
}
