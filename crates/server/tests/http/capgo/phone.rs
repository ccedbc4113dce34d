//! Phones with Capgo's plugin, as its sources of version 8.51 for Android and iOS behave when an update comes with a list of files:
//! each file is taken from the app, else from what was downloaded before, else from its address; one that fails makes the update
//! fail, and its name is never tried again.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::answer;
use crate::support::{Answer, Fields, TestApp, with};

/// The files of an app by their paths.
pub type Content = BTreeMap<String, Vec<u8>>;

/// A package with these files.
pub fn zip_of(files: &[(&str, &str)]) -> Vec<u8> {
    use std::io::Write;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (number, (path, content)) in files.iter().enumerate() {
        let method = [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated][number % 2];
        zip.start_file(*path, zip::write::SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

pub fn content(files: &[(&str, &str)]) -> Content {
    files.iter().map(|(path, content)| ((*path).to_owned(), content.as_bytes().to_vec())).collect()
}

/// A phone with an app of version 1.0.0.
pub struct Phone {
    fields: Value,
    built_in: Content,
    /// What was downloaded, by hash and name without folders, as the plugin names its files.
    cache: BTreeMap<String, Vec<u8>>,
    failed: BTreeSet<String>,
    running: String,
    /// What the app shows.
    pub shows: Content,
    /// The paths of the files that the last update was downloaded as.
    pub downloaded: Vec<String>,
}

impl Phone {
    /// A phone that sends these fields, whose app contains these files.
    pub fn new(fields: Value, built_in: &[(&str, &str)]) -> Phone {
        let built_in = content(built_in);
        Phone {
            fields,
            shows: built_in.clone(),
            built_in,
            cache: BTreeMap::new(),
            failed: BTreeSet::new(),
            running: "builtin".to_owned(),
            downloaded: Vec::new(),
        }
    }

    /// Asks for an update and installs it: the name of what it runs, or the word for why there is none.
    pub async fn sync(&mut self, app: &TestApp) -> String {
        let asked = with(self.fields.clone(), &json!({"version_name": self.running}));
        let answer = answer(app, asked).await;
        self.downloaded.clear();
        if let Some(error) = answer["error"].as_str() {
            return error.to_owned();
        }
        self.install(app, &answer).await
    }

    /// Installs the update of an answer.
    pub async fn install(&mut self, app: &TestApp, answer: &Value) -> String {
        let name = answer.text("version").to_owned();
        if self.failed.contains(&name) {
            return "failed before".to_owned();
        }
        let installed = match answer["manifest"].as_array() {
            Some(files) => self.download_files(app, files).await,
            None => self.download_zip(app, answer).await,
        };
        let Some(content) = installed else {
            self.failed.insert(name);
            return "failed".to_owned();
        };
        (self.shows, self.running) = (content, name.clone());
        name
    }

    async fn download_zip(&mut self, app: &TestApp, answer: &Value) -> Option<Content> {
        let zip = get(app, answer.text("url"), &[]).await;
        assert_eq!(hex::encode(Sha256::digest(&zip.bytes)), answer.text("checksum"));
        self.downloaded.push("the ZIP file".to_owned());
        let mut zip = zip::ZipArchive::new(std::io::Cursor::new(zip.bytes)).unwrap();
        let mut content = Content::new();
        for index in 0..zip.len() {
            let mut file = zip.by_index(index).unwrap();
            let (path, mut bytes) = (file.name().unwrap().into_owned(), Vec::new());
            file.read_to_end(&mut bytes).unwrap();
            content.insert(path, bytes);
        }
        // Each update that was unpacked fills the cache.
        self.cache.extend(content.iter().map(|(path, bytes)| (cached_as(path, &sha256(bytes)), bytes.clone())));
        Some(content)
    }

    async fn download_files(&mut self, app: &TestApp, files: &[Value]) -> Option<Content> {
        let mut content = Content::new();
        for file in files {
            let (path, hash) = (file.text("file_name"), file.text("file_hash"));
            // A name that ends so is unpacked with Brotli, and paths lead nowhere else.
            assert!(!path.ends_with(".br") && !path.contains('\\') && !path.starts_with('/'), "{path}");
            assert!(!path.split('/').any(|part| ["", ".", ".."].contains(&part)), "{path}");
            assert!(!content.contains_key(path), "{path} comes twice");
            let known = self.built_in.get(path).filter(|bytes| sha256(bytes) == hash);
            let known = known.or(self.cache.get(&cached_as(path, hash)));
            let bytes = match known {
                Some(bytes) => bytes.clone(),
                None => self.download(app, file).await?,
            };
            content.insert(path.to_owned(), bytes);
        }
        Some(content)
    }

    async fn download(&mut self, app: &TestApp, file: &Value) -> Option<Vec<u8>> {
        let answer = get(app, file.text("download_url"), &[("accept-encoding", "gzip")]).await;
        if answer.status != 200 {
            return None;
        }
        let bytes = match answer.header("content-encoding") {
            "gzip" => {
                let mut bytes = Vec::new();
                GzDecoder::new(&answer.bytes[..]).read_to_end(&mut bytes).unwrap();
                bytes
            }
            other => {
                assert_eq!(other, "");
                answer.bytes
            }
        };
        let (path, hash) = (file.text("file_name"), file.text("file_hash"));
        self.downloaded.push(path.to_owned());
        if sha256(&bytes) != hash || bytes.is_empty() {
            return None;
        }
        self.cache.insert(cached_as(path, hash), bytes.clone());
        Some(bytes)
    }
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

fn cached_as(path: &str, hash: &str) -> String {
    format!("{hash}_{}", path.rsplit('/').next().unwrap_or(path))
}

pub async fn get(app: &TestApp, url: &str, headers: &[(&str, &str)]) -> Answer {
    let request = app.request(reqwest::Method::GET, url);
    Answer::to(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
}
