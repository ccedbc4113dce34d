//! Phones that use the client of hot-updater from npm as an app does.

use serde_json::{Value, json};

use crate::npm_client::NpmClient;
use crate::stage::BUNDLE;

/// A phone with an app that uses the client.
pub struct Phone(Value);

impl Phone {
    /// A phone whose app 1.2.0 was just installed. It was built when the bundle `built_in` was made.
    pub fn new(origin: &str, built_in: &str, cohort: u16) -> Phone {
        Phone(json!({
            "baseURL": format!("{origin}/hot-updater/{BUNDLE}"), "platform": "android", "channel": "production",
            "appVersion": "1.2.0", "minBundleId": built_in, "cohort": cohort.to_string(),
        }))
    }

    /// The app is replaced by one with another setting, or runs something else.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0[name] = value.into();
    }

    /// The id of what it runs; null for the built-in content.
    pub fn running(&self) -> &Value {
        &self.0["running"]
    }

    /// What the client says is offered; null for nothing.
    pub fn check(&self, client: &mut NpmClient) -> Value {
        self.check_channel(client, None)
    }

    /// What is offered to a phone that asks for another channel.
    pub fn check_channel(&self, client: &mut NpmClient, channel: Option<&str>) -> Value {
        client.result(&json!({"act": "check", "phone": self.0, "channel": channel}))["update"].clone()
    }

    /// The error of a check.
    pub fn error(&self, client: &mut NpmClient) -> String {
        client.ask(&json!({"act": "check", "phone": self.0}))["error"].as_str().unwrap().to_owned()
    }

    /// Installs what is offered: the status and the id.
    pub fn sync(&mut self, client: &mut NpmClient) -> (String, String) {
        let result = client.result(&json!({"act": "sync", "phone": self.0}));
        assert_eq!(result["installed"], true, "{result}");
        self.0 = result["phone"].clone();
        let text = |name: &str| result["update"][name].as_str().unwrap().to_owned();
        (text("status"), text("id"))
    }
}
