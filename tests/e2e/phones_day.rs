//! A phone's day: the CLI publishes a real bundle to a real server, the check offers it, the phone downloads and
//! compares it, and then everything that can happen to it.

use std::path::Path;

use launchway_testing::says::Fields;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::api::Api;
use crate::cli::Cli;
use crate::deployment::{Deployment, Ground};
use crate::packages::{files_below, sha256, unpack};
use crate::projects;

const BUNDLE: &str = "com.example.day";

#[tokio::test(flavor = "multi_thread")]
async fn capacitor_on_sqlite_and_directory() {
    a_phones_day(Ground::SqliteDirectory, "capacitor-vite").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn capacitor_on_postgres_and_s3() {
    a_phones_day(Ground::PostgresS3, "capacitor-vite").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn react_native_on_both() {
    a_phones_day(Ground::SqliteDirectory, "react-native-metro").await;
    a_phones_day(Ground::PostgresS3, "react-native-metro").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn nativescript_on_both() {
    a_phones_day(Ground::SqliteDirectory, "nativescript-webpack").await;
    a_phones_day(Ground::PostgresS3, "nativescript-webpack").await;
}

async fn a_phones_day(ground: Ground, project: &str) {
    let bundle = projects::bundle(project);
    let deployment = Deployment::start(ground).await;
    let key = deployment.team().key;
    let day = Day {
        cli: Cli::logged_in(&deployment.node().origin(), &key),
        phone: Api::new(deployment.node(), ""),
    };
    let native = fingerprint("8.0.0");
    assert_eq!(
        day.phone.check(BUNDLE, "currentVersion=1.0.0").await,
        json!({"updateAvailable": false, "message": "No updates found for this bundle"})
    );
    let first = day.first_version(&bundle, &native).await;
    let second = day.second_version(&bundle, &first, &native).await;
    day.pause(&first, &second).await;
    let third = day.other_native_code(&bundle, &native).await;
    day.withdraw(&third, &second).await;
    day.roll_back(&bundle, &second).await;
    println!("summary: a phone's day with {project} on {ground} passed");
}

/// A user with the CLI, and phones.
struct Day {
    cli: Cli,
    phone: Api,
}

/// The state of a phone that sends a check: version, build, and the hash of its native code.
struct Installed<'a> {
    version: &'a str,
    build: &'a str,
    fingerprint: &'a str,
}

impl Day {
    /// Publishes the directory; returns the record.
    fn publish(&self, folder: &Path, version: &str, native: &Native, more: &[&str]) -> Value {
        let document = format!("@{}", native.document.path().display());
        let mut arguments = vec!["update", "android", "--json", "--dir", folder.to_str().unwrap()];
        arguments.extend([
            "--bundle-id",
            BUNDLE,
            "--version",
            version,
            "--configuration",
            "production",
        ]);
        arguments.extend(["--fingerprint", &document]);
        arguments.extend(more);
        self.cli.run(arguments).json()
    }

    /// Runs `launchway update COMMAND`; returns the printed record.
    fn update(&self, arguments: &[&str]) -> Value {
        self.cli.run([&["update", "--json"], arguments].concat()).json()
    }

    async fn ask(&self, installed: &Installed<'_>, device: Option<&str>) -> Value {
        let Installed {
            version,
            build,
            fingerprint,
        } = installed;
        let device = device.map(|device| format!("&deviceId={device}")).unwrap_or_default();
        let query = format!(
            "currentVersion={version}&currentBuild={build}&platform=android&configuration=production&fingerprint={fingerprint}{device}"
        );
        self.phone.check(BUNDLE, &query).await
    }

    /// Publishes the first version: a phone downloads it, complete and in ranges, byte for byte.
    async fn first_version(&self, bundle: &Path, native: &Native) -> Value {
        let first = self.publish(bundle, "1.0.1", native, &["--release-notes", "First"]);
        assert_eq!(
            (&first["status"], &first["buildNumber"]),
            (&json!("published"), &json!("1")),
            "{first}"
        );
        assert_eq!(first["fingerprint"], native.hash, "{first}");
        let shown = self.update(&["show", first.id()]);
        assert_eq!(shown["sha256"], first["sha256"]);

        let offer = self.ask(&native.installed("1.0.0", "1"), None).await;
        let (url, end) = (&offer["url"], &offer["expiresAt"]);
        assert_eq!(
            offer,
            json!({
                "updateAvailable": true, "requiresStoreUpdate": false, "platform": "android", "version": "1.0.1",
                "buildNumber": "1", "releaseNotes": "First", "url": url, "expiresAt": end, "compatibilityReason": null
            })
        );
        let package = self.phone.download(&offer).await;
        assert_eq!(sha256(&package), first["sha256"]);
        assert_eq!(package.len() as u64, first["size"].as_u64().unwrap());
        let files = files_below(bundle);
        assert_eq!(first["fileCount"].as_u64().unwrap(), files.len() as u64);
        assert!(
            unpack(&package) == files,
            "the downloaded files are not the published ones"
        );
        self.download_in_parts(&offer, &package).await;
        first
    }

    async fn download_in_parts(&self, offer: &Value, package: &[u8]) {
        let (url, size) = (offer.text("url"), package.len());
        let cut = size / 3;
        let ranges = [
            (format!("bytes=0-{}", cut - 1), 0, cut),
            (format!("bytes={cut}-{}", size - 11), cut, size - 10),
            ("bytes=-10".to_owned(), size - 10, size),
        ];
        for (range, from, to) in ranges {
            let part = self.phone.request(reqwest::Method::GET, url).header("range", &range);
            let part = part.send().await.unwrap();
            assert_eq!(part.status(), 206, "{range}");
            let named = part.headers()["content-range"].to_str().unwrap().to_owned();
            assert_eq!(named, format!("bytes {from}-{}/{size}", to - 1));
            assert!(
                part.bytes().await.unwrap() == package[from..to],
                "{range} has other bytes"
            );
        }
    }

    /// Publishes the second version to nobody, then to half of the devices, then to all.
    async fn second_version(&self, bundle: &Path, first: &Value, native: &Native) -> Value {
        let changed = projects::copy(bundle);
        std::fs::write(changed.path().join("new-in-1.0.2.txt"), "new").unwrap();
        let second = self.publish(changed.path(), "1.0.2", native, &["--rollout", "0"]);
        assert_eq!(second["buildNumber"], "2");
        assert_ne!(second["sha256"], first["sha256"]);
        let id = second.id();

        let old = native.installed("1.0.0", "1");
        let devices: Vec<String> = (0..40).map(|number| format!("device-{number}")).collect();
        for percent in [0, 50, 100] {
            let changed = self.update(&["rollout", id, &percent.to_string()]);
            assert_eq!(changed["rollout"], percent);
            let mut reached = 0;
            for device in &devices {
                let inside = bucket(id, device) < percent;
                let offer = self.ask(&old, Some(device)).await;
                assert_eq!(
                    offer["version"],
                    if inside { "1.0.2" } else { "1.0.1" },
                    "{device} at {percent} %"
                );
                let wanted = if inside { &second } else { first };
                assert_eq!(offer["id"], wanted["id"]);
                reached += u64::from(inside);
            }
            assert!(
                percent != 50 || (1..40).contains(&reached),
                "{reached} of 40 devices at 50 %"
            );
            let nameless = self.ask(&old, None).await;
            assert_eq!(
                nameless["version"],
                if percent == 100 { "1.0.2" } else { "1.0.1" },
                "at {percent} %"
            );
        }
        let offer = self.ask(&native.installed("1.0.1", "1"), None).await;
        let files = unpack(&self.phone.download(&offer).await);
        assert!(
            files == files_below(changed.path()),
            "the second version has other files"
        );
        second
    }

    /// A paused update is not offered; after it resumes, it is.
    async fn pause(&self, first: &Value, second: &Value) {
        let (old, id) = (Native::any("1.0.0", "1"), second.id());
        for (command, status, version) in [("pause", "paused", "1.0.1"), ("resume", "published", "1.0.2")] {
            assert_eq!(self.update(&[command, id])["status"], status);
            assert_eq!(self.ask(&old, None).await["version"], version, "after {command}");
        }
        let listed = self.update(&["list", "--bundle-id", BUNDLE]);
        let ids: Vec<_> = listed["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|update| &update["id"])
            .collect();
        assert_eq!(ids, [&second["id"], &first["id"]]);
    }

    /// An update that needs other native code sends the phone to the store and gives the reason.
    async fn other_native_code(&self, bundle: &Path, old: &Native) -> Value {
        let new = fingerprint("8.0.1");
        // No build of the app is known, so that the update before it counts.
        let third = self.publish(bundle, "1.1.0", &new, &["--allow-incompatible"]);
        let offer = self.ask(&old.installed("1.0.2", "2"), None).await;
        let seen = (
            &offer["updateAvailable"],
            &offer["requiresStoreUpdate"],
            &offer["version"],
        );
        assert_eq!(seen, (&json!(true), &json!(true), &json!("1.1.0")), "{offer}");
        assert_eq!(
            offer["compatibilityReason"],
            "Native plugin version changed: @capacitor/preferences 8.0.0 -> 8.0.1"
        );
        let fitting = self.ask(&new.installed("1.0.2", "2"), None).await;
        let seen = (&fitting["requiresStoreUpdate"], &fitting["compatibilityReason"]);
        assert_eq!(seen, (&json!(false), &Value::Null), "{fitting}");
        // If an older update is compatible, the phone gets that one instead.
        assert_eq!(self.ask(&old.installed("1.0.0", "1"), None).await["version"], "1.0.2");
        third
    }

    /// A withdrawn update is never offered again, and remains withdrawn.
    async fn withdraw(&self, third: &Value, second: &Value) {
        let id = third.id();
        assert_eq!(self.update(&["withdraw", id, "--yes"])["status"], "withdrawn");
        let nothing = json!({"updateAvailable": false, "message": "No update available"});
        assert_eq!(self.ask(&Native::any("1.0.2", "2"), None).await, nothing);
        assert_eq!(
            self.ask(&Native::any("1.0.0", "1"), None).await["version"],
            second["version"]
        );
        let resumed = self.cli.run(["update", "resume", id]);
        assert!(resumed.code == 1 && resumed.stderr.contains("withdrawn"), "{resumed:?}");
        assert_eq!(self.ask(&Native::any("1.0.2", "2"), None).await, nothing);
    }

    /// After a rollback, phones with the bad version also get the bytes from before it.
    async fn roll_back(&self, bundle: &Path, bad: &Value) {
        let again = self.update(&["rollback", bad.id(), "--yes"]);
        assert_eq!(
            (&again["version"], &again["sourceUpdateId"].is_string()),
            (&bad["version"], &true),
            "{again}"
        );
        let offer = self.ask(&Native::any("1.0.2", "2"), None).await;
        assert_eq!(
            (&offer["version"], &offer["buildNumber"]),
            (&bad["version"], &again["buildNumber"])
        );
        // A phone that sends the current update instead of its build gets it too.
        let named = format!(
            "currentVersion={}&currentUpdateId={}&platform=android&configuration=production",
            bad.text("version"),
            bad.id()
        );
        assert_eq!(self.phone.check(BUNDLE, &named).await["id"], again["id"]);
        let files = unpack(&self.phone.download(&offer).await);
        assert!(
            files == files_below(bundle),
            "the roll back has other files than the first version"
        );
    }
}

/// Native code of the app, described by a fingerprint document.
struct Native {
    document: tempfile::NamedTempFile,
    hash: String,
}

impl Native {
    fn installed<'a>(&'a self, version: &'a str, build: &'a str) -> Installed<'a> {
        Installed {
            version,
            build,
            fingerprint: &self.hash,
        }
    }

    /// A phone that does not send its native code.
    fn any<'a>(version: &'a str, build: &'a str) -> Installed<'a> {
        Installed {
            version,
            build,
            fingerprint: "",
        }
    }
}

/// A document with a plugin of this version, and its hash (`docs/reference/fingerprints.md#hash-of-the-document`).
fn fingerprint(plugin: &str) -> Native {
    let document = json!({
        "alg": "lwfp-1", "framework": "capacitor", "platform": "android", "native": "0".repeat(64),
        "resources": "1".repeat(64), "plugins": {"@capacitor/core": "8.5.2", "@capacitor/preferences": plugin}
    });
    // Keys are sorted and everything is ASCII without escapes: this text is its own RFC 8785 form.
    let text = document.to_string();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &text).unwrap();
    Native {
        document: file,
        hash: sha256(text.as_bytes()),
    }
}

/// The bucket of a device (`docs/reference/updates.md#rollout`).
fn bucket(update: &str, device: &str) -> u64 {
    let digest: [u8; 32] = Sha256::digest(format!("{update}:{device}")).into();
    u64::from_be_bytes(digest[..8].try_into().unwrap()) % 100
}
