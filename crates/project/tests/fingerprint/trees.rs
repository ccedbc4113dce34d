//! The published trees, computed with Python's `hashlib` and `unicodedata`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use launchway_domain::platform::Platform;
use launchway_project::file;
use launchway_project::fingerprint::collect;
use launchway_project::framework::Framework;
use serde_json::Value;

use crate::npm::Project;

#[test]
fn published_trees_hold() {
    let trees: Vec<Value> = serde_json::from_str(include_str!("../../../../docs/fingerprint/trees.json")).unwrap();
    assert_eq!(trees.len(), 8);
    for tree in trees {
        let project = Project::new();
        let files = tree["files"].as_array().unwrap();
        for file in files {
            let content = match (file["text"].as_str(), file["base64"].as_str()) {
                (Some(text), _) => text.as_bytes().to_vec(),
                (None, bytes) => STANDARD.decode(bytes.unwrap()).unwrap(),
            };
            project.write(file["path"].as_str().unwrap(), content);
        }
        // In a plain project, every file of the directory counts.
        let rules = file::Fingerprint::default();
        let document = collect(&project.root(), Framework::Gradle, Platform::Android, &rules).unwrap();
        assert_eq!(document.native(), tree["hash"], "{}", tree["name"]);
    }
}
