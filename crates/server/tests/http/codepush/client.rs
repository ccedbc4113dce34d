//! Phones whose app uses the client of CodePush from npm as an app does.

use serde_json::{Value, json};

use crate::npm_client::NpmClient;
use crate::support::Fields;

/// A phone with an app that uses the client.
pub struct Phone {
    settings: Value,
    current: Value,
}

impl Phone {
    /// A phone whose app was just installed.
    pub fn new(server: &str, key: &str, id: &str, app_version: &str) -> Phone {
        let settings =
            json!({"serverUrl": server, "deploymentKey": key, "clientUniqueId": id, "appVersion": app_version});
        Phone { settings, current: Value::Null }
    }

    /// The app is replaced by one with another deployment key.
    pub fn deployment_key(&mut self, key: &str) {
        self.settings["deploymentKey"] = key.into();
    }

    /// The app is replaced by one of another version.
    pub fn app_version(&mut self, version: &str) {
        self.settings["appVersion"] = version.into();
    }

    /// The app runs an update that another server gave it.
    pub fn runs(&mut self, label: &str, hash: &str) {
        let version = &self.settings["appVersion"];
        self.current = json!({"label": label, "packageHash": hash, "appVersion": version});
    }

    /// The label of what it runs.
    pub fn running(&self) -> &str {
        self.current.text("label")
    }

    fn act(&self, client: &mut NpmClient, act: &str, update: &Value) -> Value {
        client.ask(&json!({
            "act": act, "phone": self.settings, "current": self.current, "update": update,
            "previous": self.current["label"],
        }))
    }

    fn done(&self, client: &mut NpmClient, act: &str, update: &Value) -> Value {
        let outcome = self.act(client, act, update);
        assert_eq!(outcome["error"], Value::Null, "{act}");
        outcome["result"].clone()
    }

    /// What the client says is offered; null for nothing.
    pub fn check(&mut self, client: &mut NpmClient) -> Value {
        self.done(client, "check", &Value::Null)
    }

    /// The error of a check.
    pub fn error(&mut self, client: &mut NpmClient) -> String {
        self.act(client, "check", &Value::Null)["error"].as_str().unwrap().to_owned()
    }

    /// Reports that what it runs works.
    pub fn confirm(&mut self, client: &mut NpmClient) {
        self.done(client, "confirm", &self.current);
    }

    /// Downloads what is offered, with the report about it.
    fn download(&mut self, client: &mut NpmClient) -> Value {
        let update = self.check(client);
        assert!(update.is_object(), "nothing is offered");
        let got = self.done(client, "download", &update);
        assert_eq!((&got["status"], &got["bytes"]), (&json!(200), &update["packageSize"]));
        update
    }

    /// Installs what is offered, which works.
    pub fn sync(&mut self, client: &mut NpmClient) -> Value {
        let update = self.download(client);
        self.done(client, "confirm", &update);
        self.current = update.clone();
        update
    }

    /// Installs what is offered, which crashes: the client reports it and keeps what it ran.
    pub fn sync_and_crash(&mut self, client: &mut NpmClient) {
        let update = self.download(client);
        self.done(client, "fail", &update);
    }
}
