//! Asks the server as the app would, and judges the answer. Nothing is sent that identifies a device.

use launchway_client::{BaseUrl, Timeouts, http_client};
use launchway_domain::platform::Platform;
use launchway_project::update_client::UpdateClient;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::printer::clean;

/// What no bundle of hot-updater is: the id of an app that runs its built-in content.
const NIL: &str = "00000000-0000-0000-0000-000000000000";
/// The forms of answers that Expo's client accepts.
const EXPO_FORMS: &str = "multipart/mixed,application/expo+json,application/json";
/// Bytes of an answer that are looked at.
const MAX_ANSWER_BYTES: usize = 64 << 10;
/// Letters of a refusal that are shown.
const MAX_SHOWN: usize = 200;

/// What an app says of itself.
pub struct Question<'a> {
    /// Its platform.
    pub platform: Platform,
    /// Its bundle identifier.
    pub bundle_id: &'a str,
    /// Its version.
    pub version: Option<&'a str>,
    /// The deployment key of CodePush.
    pub deployment_key: Option<&'a str>,
    /// The runtime version of Expo.
    pub runtime_version: Option<&'a str>,
    /// Its channel.
    pub channel: Option<&'a str>,
}

/// Why an answer is not one that the app can use.
pub struct AnswerProblem {
    /// Follows "asks {address}, but".
    pub message: String,
    pub fix: String,
}

/// A client for the requests of apps.
pub struct Asking {
    pub client: reqwest::Client,
}

impl Asking {
    pub fn new(base: &BaseUrl) -> Result<Self, Failure> {
        Ok(Self {
            client: http_client(base, &Timeouts::default())?,
        })
    }

    /// Asks at the address of a client.
    pub async fn ask(&self, client: UpdateClient, address: &str, question: &Question<'_>) -> Result<(), AnswerProblem> {
        let request = match client {
            UpdateClient::Codepush => self.codepush(address, question),
            UpdateClient::Expo => self.expo(address, EXPO_FORMS, question),
            UpdateClient::Capgo => self.capgo(address, question),
            UpdateClient::HotUpdater => self.hot_updater(address, question),
        };
        let failed = |error: reqwest::Error| AnswerProblem {
            message: format!("it does not respond: {}", error.without_url()),
            fix: "check the address, and that the server is running".to_owned(),
        };
        let mut response = request.send().await.map_err(failed)?;
        let status = response.status().as_u16();
        let kind = response.headers().get("content-type");
        let is_json = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            body.extend_from_slice(&chunk[..chunk.len().min(MAX_ANSWER_BYTES - body.len())]);
            if body.len() == MAX_ANSWER_BYTES {
                break;
            }
        }
        judge(client, status, is_json, &String::from_utf8_lossy(&body))
    }

    fn codepush(&self, address: &str, question: &Question<'_>) -> reqwest::RequestBuilder {
        let url = format!("{address}v0.1/public/codepush/update_check");
        let query = [
            ("deployment_key", question.deployment_key.unwrap_or_default()),
            ("app_version", question.version.unwrap_or_default()),
        ];
        self.client.get(url).query(&query)
    }

    /// The request of Expo's client for an answer in one of these forms.
    pub fn expo(&self, address: &str, forms: &str, question: &Question<'_>) -> reqwest::RequestBuilder {
        let request = self
            .client
            .get(address)
            .header("accept", forms)
            .header("expo-protocol-version", "1")
            .header("expo-platform", question.platform.as_str())
            .header("expo-runtime-version", question.runtime_version.unwrap_or_default());
        match question.channel {
            Some(channel) => request.header("expo-channel-name", channel),
            None => request,
        }
    }

    fn capgo(&self, address: &str, question: &Question<'_>) -> reqwest::RequestBuilder {
        let mut body = json!({
            "platform": question.platform.as_str(),
            "app_id": question.bundle_id,
            "version_build": question.version,
            "version_name": "builtin",
            "plugin_version": "8.0.0",
        });
        if let Some(channel) = question.channel {
            body["defaultChannel"] = json!(channel);
        }
        let request = self.client.post(address).header("content-type", "application/json");
        request.body(body.to_string())
    }

    fn hot_updater(&self, address: &str, question: &Question<'_>) -> reqwest::RequestBuilder {
        let (platform, version) = (question.platform, question.version.unwrap_or_default());
        let channel = question.channel.unwrap_or("production");
        self.client.get(format!(
            "{address}/app-version/{platform}/{version}/{channel}/{NIL}/{NIL}"
        ))
    }
}

/// Judges an answer by its status and its beginning.
fn judge(client: UpdateClient, status: u16, is_json: bool, body: &str) -> Result<(), AnswerProblem> {
    let problem = |message: String, fix: &str| {
        Err(AnswerProblem {
            message,
            fix: fix.to_owned(),
        })
    };
    let shown: String = clean(body).chars().take(MAX_SHOWN).collect();
    match (client, status) {
        (UpdateClient::Codepush, 404) if !is_json => problem(
            "the server does not know the deployment key".to_owned(),
            "give the key to the server, or correct it in the app",
        ),
        (_, 404 | 405) => problem(
            format!("the server does not know that address or app: {shown}"),
            "create the app, or upgrade the server if it is older than this program",
        ),
        (UpdateClient::Capgo, 200) => capgo_answer(body),
        (UpdateClient::Expo, 200 | 204) | (_, 200) => Ok(()),
        (_, 429) => problem(
            "too many requests were made from here".to_owned(),
            "try again in a minute",
        ),
        _ => problem(
            format!("the server answers {status}: {shown}"),
            "correct what the answer names",
        ),
    }
}

/// Capgo is always answered with 200; what went wrong is in `error` and `kind`.
fn capgo_answer(body: &str) -> Result<(), AnswerProblem> {
    let fix = "correct what the answer names".to_owned();
    let Ok(answer) = serde_json::from_str::<Value>(body) else {
        let message = "the answer is not JSON".to_owned();
        return Err(AnswerProblem { message, fix });
    };
    let text = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or_default();
    if text("kind") != "failed" {
        return Ok(());
    }
    let message = format!(
        "the server answers {}: {}",
        clean(text("error")),
        clean(text("message"))
    );
    Err(AnswerProblem { message, fix })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_judged_in_each_clients_words() {
        let (codepush, expo, capgo, hot_updater) = (
            UpdateClient::Codepush,
            UpdateClient::Expo,
            UpdateClient::Capgo,
            UpdateClient::HotUpdater,
        );
        let rows = [
            (codepush, 200, true, "{\"update_info\":{}}", None),
            (
                codepush,
                404,
                false,
                "Not found",
                Some("the server does not know the deployment key"),
            ),
            (
                codepush,
                404,
                true,
                "{}",
                Some("the server does not know that address or app: {}"),
            ),
            (
                codepush,
                400,
                false,
                "bad version",
                Some("the server answers 400: bad version"),
            ),
            (expo, 204, false, "", None),
            (expo, 200, false, "--boundary", None),
            (expo, 406, true, "no", Some("the server answers 406: no")),
            (
                capgo,
                200,
                true,
                "{\"kind\":\"up_to_date\",\"error\":\"no_new_version_available\"}",
                None,
            ),
            (capgo, 200, true, "{\"version\":\"1.0.1\"}", None),
            (
                capgo,
                200,
                true,
                "{\"kind\":\"failed\",\"error\":\"app_not_found\",\"message\":\"No such app\"}",
                Some("the server answers app_not_found: No such app"),
            ),
            (capgo, 200, false, "<html>", Some("the answer is not JSON")),
            (hot_updater, 200, true, "null", None),
            (
                hot_updater,
                429,
                true,
                "",
                Some("too many requests were made from here"),
            ),
            (
                hot_updater,
                404,
                true,
                "",
                Some("the server does not know that address or app: "),
            ),
        ];
        for (client, status, is_json, body, expected) in rows {
            let found = judge(client, status, is_json, body)
                .err()
                .map(|problem| problem.message);
            assert_eq!(found.as_deref(), expected, "{} {status} {body}", client.title());
        }
    }
}
