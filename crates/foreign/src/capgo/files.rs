//! The files of an update, for clients that install it file by file (`docs/reference/capgo.md#files`): where they are in the
//! package, and the list that clients receive.

use serde::{Deserialize, Serialize};

use crate::place::{Place, hash_text};

/// The path of files below the app's address, before the hash.
pub const FILES_PATH: &str = "files/";
/// The most files of a list: a client receives all of it with its check.
pub const MAX_FILES: usize = 2000;
/// The most bytes of all paths in a list.
pub const MAX_PATHS_BYTES: usize = 256 * 1024;
/// The page of an app. Clients on Apple platforms do not look for it in a folder, as they do in a ZIP file.
const PAGE: &str = "index.html";
/// The end of names that clients unpack with Brotli, and leave out.
const BROTLI: &str = ".br";

/// A file in a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedFile {
    /// Its path.
    #[serde(rename = "p")]
    pub path: String,
    /// The SHA-256 of its content.
    #[serde(rename = "h", with = "hash_text")]
    pub sha256: [u8; 32],
    /// Where its data are.
    #[serde(flatten)]
    pub place: Place,
}

/// All files of a package that every client can install one by one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PackedFiles(Vec<PackedFile>);

/// The list that clients receive, rendered once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest(Box<str>);

impl PackedFiles {
    /// The files of a package; `None` if there are too many for a list, or some client could not install them: its page is not at
    /// the root, a name means a compressed file, or a file is empty, which clients of some versions on Apple platforms take for a
    /// failed download.
    pub fn new(files: Vec<PackedFile>) -> Option<PackedFiles> {
        let paths: usize = files.iter().map(|file| file.path.len()).sum();
        let is_short = files.len() <= MAX_FILES && paths <= MAX_PATHS_BYTES;
        let has_page = files.iter().any(|file| file.path == PAGE);
        let can_install = |file: &PackedFile| file.place.size > 0 && !file.path.ends_with(BROTLI);
        (is_short && has_page && files.iter().all(can_install)).then_some(PackedFiles(files))
    }

    /// The files.
    pub fn files(&self) -> &[PackedFile] {
        &self.0
    }

    /// The list for clients of an app: `{asset base}/capgo/{bundle id}/files/{SHA-256 in hexadecimal}` is the address of a file.
    pub fn manifest(&self, asset_base: &str, bundle_id: &str) -> Manifest {
        let files = self.0.iter().map(|file| {
            let sha256 = hex::encode(file.sha256);
            WireFile {
                file_name: &file.path,
                download_url: format!("{asset_base}/capgo/{bundle_id}/{FILES_PATH}{sha256}"),
                file_hash: sha256,
            }
        });
        // Texts always have a JSON form.
        let json = serde_json::to_string(&files.collect::<Vec<_>>());
        Manifest(json.unwrap_or_else(|_| "[]".to_owned()).into())
    }
}

#[derive(Serialize)]
struct WireFile<'f> {
    file_name: &'f str,
    file_hash: String,
    download_url: String,
}

impl Manifest {
    /// Its JSON.
    pub fn json(&self) -> &str {
        &self.0
    }

    /// About how many bytes of memory it takes.
    pub fn size(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn file(path: &str, number: u8) -> PackedFile {
        PackedFile {
            path: path.to_owned(),
            sha256: [number; 32],
            place: Place {
                size: 9,
                start: 40,
                length: 7,
                is_deflated: true,
                checksum: 5,
            },
        }
    }

    #[test]
    fn a_list_names_each_file_with_hash_and_address() {
        let files = PackedFiles::new(vec![file("index.html", 0xab), file("a \"b\"/c.js", 1)]).unwrap();
        let manifest = files.manifest("https://u.example.com", "com.example.App");
        let (first, second) = ("ab".repeat(32), "01".repeat(32));
        let url = |sha256: &str| format!("https://u.example.com/capgo/com.example.App/files/{sha256}");
        let expected = json!([
            {"file_name": "index.html", "file_hash": first, "download_url": url(&first)},
            {"file_name": "a \"b\"/c.js", "file_hash": second, "download_url": url(&second)},
        ]);
        assert_eq!(serde_json::from_str::<Value>(manifest.json()).unwrap(), expected);
        assert_eq!(manifest.size(), manifest.json().len());
        let stored = serde_json::to_string(&files).unwrap();
        assert_eq!(serde_json::from_str::<PackedFiles>(&stored).unwrap(), files);
    }

    #[test]
    fn what_a_client_could_not_install_has_no_list() {
        let page = || file("index.html", 1);
        let many = |count: usize| (0..count).map(|number| file(&format!("{number}.js"), 2));
        let empty = PackedFile {
            place: Place {
                size: 0,
                ..page().place
            },
            ..file("empty.txt", 3)
        };
        let long = (0..600).map(|number| file(&format!("{number}/{}", "x".repeat(500)), 2));
        for (files, has_list) in [
            (vec![page()], true),
            (vec![page(), file("model.br.txt", 2)], true),
            (vec![], false),
            (vec![file("www/index.html", 1)], false),
            (vec![page(), file("model.br", 2)], false),
            (vec![page(), empty], false),
            (many(MAX_FILES - 1).chain([page()]).collect(), true),
            (many(MAX_FILES).chain([page()]).collect(), false),
            (long.chain([page()]).collect(), false),
        ] {
            let last = files.last().map(|file| file.path.clone());
            assert_eq!(PackedFiles::new(files).is_some(), has_list, "{last:?}");
        }
    }

    #[test]
    fn the_longest_list_fits_a_request() {
        let path = |number: usize| format!("{number:04}{}", "\"".repeat(MAX_PATHS_BYTES / MAX_FILES - 5));
        let files = (1..MAX_FILES).map(|number| PackedFile {
            place: Place {
                size: u64::from(u32::MAX),
                start: u64::from(u32::MAX),
                length: u64::from(u32::MAX),
                is_deflated: false,
                checksum: u32::MAX,
            },
            ..file(&path(number), 0xff)
        });
        let files = PackedFiles::new(files.chain([file(PAGE, 1)]).collect()).unwrap();
        assert!(serde_json::to_string(&files).unwrap().len() < 1 << 20);
    }
}
