//! Phones with Expo's client: Expo's own packages from npm read, verify and download, in a process that answers line by line; the
//! choice between what is stored and what is offered is here, as the client makes it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use launchway_domain::time::{EpochMs, from_iso};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::Fields;

/// The update that every binary contains.
pub const EMBEDDED: &str = "0193c9a1-7c4e-7d7e-8a9b-0123456789ab";

/// A process with Expo's packages.
pub struct Expo {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _folder: TempDir,
}

impl Expo {
    /// Installs the packages from npm and starts the process.
    pub fn install() -> Expo {
        let folder = tempfile::tempdir().unwrap();
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign-clients/expo");
        for name in ["package.json", "package-lock.json", "phone.mjs"] {
            std::fs::copy(scripts.join(name), folder.path().join(name)).unwrap();
        }
        let mut install = Command::new("npm");
        install.args(["ci", "--ignore-scripts", "--loglevel=error"]).current_dir(folder.path());
        assert!(install.output().unwrap().status.success());
        let mut node = Command::new("node");
        node.arg("phone.mjs").current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = node.spawn().unwrap();
        let (input, output) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        Expo { process, input, output, _folder: folder }
    }

    fn ask(&mut self, request: &Value) -> Value {
        tokio::task::block_in_place(|| {
            writeln!(self.input, "{request}").unwrap();
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            serde_json::from_str(&line).unwrap()
        })
    }

    /// A developer's key, and the certificate that their app contains.
    pub fn keys(&mut self) -> (String, String) {
        let keys = self.ask(&json!({"act": "keys"}));
        (keys.text("key").to_owned(), keys.text("certificate").to_owned())
    }

    /// Signs a text with a developer's key.
    pub fn sign(&mut self, key: &str, bytes: &[u8]) -> Vec<u8> {
        let text = str::from_utf8(bytes).unwrap();
        let signed = self.ask(&json!({"act": "sign", "key": key, "text": text}));
        BASE64_STANDARD.decode(signed.text("signature")).unwrap()
    }

    /// Downloads the files of a manifest: how many there are, are whole, and came compressed.
    pub fn download(&mut self, manifest: &Value, encoding: &str) -> [u64; 4] {
        let got = self.ask(&json!({"act": "download", "manifest": manifest, "encoding": encoding}));
        ["files", "good", "gzip", "brotli"].map(|name| got[name].as_u64().unwrap())
    }
}

impl Drop for Expo {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A phone with an app.
#[derive(Clone)]
pub struct Phone {
    url: String,
    headers: Value,
    /// What it runs, and when that was created.
    current: (String, EpochMs),
    /// The certificate in the app.
    certificate: Option<String>,
}

impl Phone {
    /// A phone whose app was just installed.
    pub fn new(url: &str, device: &str) -> Phone {
        let headers = json!({
            "accept": "multipart/mixed,application/expo+json,application/json",
            "expo-platform": "android", "expo-protocol-version": "1", "expo-api-version": "1", "expo-updates-environment": "BARE",
            "expo-json-error": "true", "expo-runtime-version": "1.0.0", "expo-channel-name": "production",
            "eas-client-id": device, "expo-embedded-update-id": EMBEDDED,
        });
        Phone { url: url.to_owned(), headers, current: (EMBEDDED.to_owned(), 0), certificate: None }
    }

    /// The same phone with another value of a header; none for null.
    pub fn with(&self, name: &str, value: &str) -> Phone {
        let mut other = self.clone();
        other.headers[name] = value.into();
        other
    }

    /// The same phone with an app that contains a certificate.
    pub fn verifying(&self, certificate: &str, key_id: &str) -> Phone {
        let wish = format!("sig, keyid=\"{key_id}\", alg=\"rsa-v1_5-sha256\"");
        Phone { certificate: Some(certificate.to_owned()), ..self.with("expo-expect-signature", &wish) }
    }

    /// The id of what it runs.
    pub fn running(&self) -> &str {
        &self.current.0
    }

    /// Runs something that this server does not know.
    pub fn runs(&mut self, id: &str, created_at: EpochMs) {
        self.current = (id.to_owned(), created_at);
    }

    /// What the server answers.
    pub fn check(&self, expo: &mut Expo) -> Value {
        let mut headers = self.headers.clone();
        headers["expo-current-update-id"] = self.current.0.as_str().into();
        expo.ask(&json!({"act": "check", "url": self.url, "headers": headers, "certificate": self.certificate}))
    }

    /// Does what the client does with the answer. The name of the app's content that it runs then, `built-in`, or why nothing
    /// changed.
    pub fn sync(&mut self, expo: &mut Expo) -> String {
        let answer = self.check(expo);
        let headers = &answer["headers"];
        assert_eq!((headers.text("expo-protocol-version"), headers.text("expo-sfv-version")), ("1", "0"));
        assert_eq!(headers.text("cache-control"), "private, max-age=0");
        match answer["status"].as_u64().unwrap() {
            204 => return "nothing".to_owned(),
            200 => {}
            other => return format!("{other}: {}", answer["parts"]["error"]["body"].text("error")),
        }
        let name = if answer["parts"]["manifest"].is_object() { "manifest" } else { "directive" };
        let part = &answer["parts"][name];
        if self.certificate.is_some() && part["isVerified"] != true {
            return format!("a {name} that is not signed");
        }
        let said = &part["body"];
        if name == "directive" {
            assert_eq!(said.text("type"), "rollBackToEmbedded");
            let time = from_iso(said["parameters"].text("commitTime")).unwrap();
            return self.take(EMBEDDED, time, "built-in");
        }
        let [files, good, ..] = expo.download(said, "gzip");
        assert_eq!(good, files, "{said}");
        let name = said["extra"]["expoClient"].text("name").to_owned();
        self.take(said.id(), from_iso(said.text("createdAt")).unwrap(), &name)
    }

    /// The client takes what was created later than what it runs.
    fn take(&mut self, id: &str, time: EpochMs, name: &str) -> String {
        if time <= self.current.1 {
            return format!("{name}, which is not later");
        }
        self.current = (id.to_owned(), time);
        name.to_owned()
    }
}
