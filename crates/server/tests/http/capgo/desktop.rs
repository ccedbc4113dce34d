//! Desktop apps that use the client of Capgo from npm as an app does.

use serde_json::{Value, json};

use crate::npm_client::NpmClient;
use crate::stage::BUNDLE;
use crate::support::Fields;

/// A desktop app on a device.
pub struct Desktop {
    device: String,
    config: Value,
}

impl Desktop {
    /// An app that was just installed, of version 1.0.0.
    pub fn install(client: &mut NpmClient, origin: &str, device: &str) -> Desktop {
        let address = |path: &str| format!("{origin}/capgo/{path}");
        let config = json!({
            "appId": BUNDLE, "version": "1.0.0", "defaultChannel": "production",
            "updateUrl": address("updates"), "statsUrl": address("stats"), "channelUrl": address("channel_self"),
        });
        let desktop = Desktop { device: device.to_owned(), config };
        desktop.act(client, "install", json!({"config": desktop.config}));
        desktop
    }

    pub fn act(&self, client: &mut NpmClient, act: &str, mut request: Value) -> Value {
        request["act"] = act.into();
        request["device"] = self.device.as_str().into();
        client.result(&request)
    }

    /// What the server answers.
    pub fn check(&self, client: &mut NpmClient) -> Value {
        self.act(client, "check", json!({}))
    }

    /// The word for why there is no update.
    pub fn refusal(&self, client: &mut NpmClient) -> String {
        self.check(client).text("error").to_owned()
    }

    /// Installs what is offered, which works: the name of what it runs.
    pub fn sync(&self, client: &mut NpmClient) -> String {
        self.act(client, "sync", json!({})).text("version").to_owned()
    }

    /// Installs what is offered, which does not say that it started.
    pub fn sync_and_crash(&self, client: &mut NpmClient) -> String {
        self.act(client, "start", json!({"config": self.config, "crashes": true}));
        let version = self.act(client, "crash", json!({})).text("version").to_owned();
        self.act(client, "start", json!({"config": self.config}));
        version
    }
}
