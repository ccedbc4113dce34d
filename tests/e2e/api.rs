//! The HTTP API of one server as seen by one caller.

use std::sync::LazyLock;

use launchway_testing::answer::Answer;
use launchway_testing::says::Fields;
use launchway_testing::server_process::ServerProcess;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::packages::sha256;

/// A caller of one server.
#[derive(Clone)]
pub struct Api {
    base: String,
    key: String,
}

impl Api {
    /// The API of `server` for the holder of `key`; an empty key means no authentication.
    pub fn new(server: &ServerProcess, key: &str) -> Api {
        Api {
            base: server.base_url(),
            key: key.to_owned(),
        }
    }

    /// A request to a path below `/api`, or to a full URL, which does not receive the key.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        if path.starts_with("http") {
            return http().request(method, path);
        }
        let request = http().request(method, format!("{}{path}", self.base));
        if self.key.is_empty() {
            request
        } else {
            request.bearer_auth(&self.key)
        }
    }

    pub async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let answer = self.try_call(method, path, body, None).await;
        answer.unwrap_or_else(|error| panic!("{path}: {error:?}"))
    }

    /// Calls a server that may die during the call.
    pub async fn try_call(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
        idempotency_key: Option<&str>,
    ) -> reqwest::Result<Answer> {
        let mut request = self.request(method, path);
        if let Some(body) = body {
            request = request.json(&body);
        }
        if let Some(key) = idempotency_key {
            request = request.header("idempotency-key", key);
        }
        Answer::read(request.send().await?).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.call(Method::POST, path, Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.call(Method::PATCH, path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.call(Method::DELETE, path, None).await
    }

    /// Announces an upload; returns the record.
    pub async fn announce(&self, bytes: &[u8]) -> Value {
        let body = json!({"fileName": "update.zip", "size": bytes.len(), "sha256": sha256(bytes)});
        self.post("/uploads", body).await.created()
    }

    /// Sends the bytes of an announced upload.
    pub async fn send(&self, upload: &Value, bytes: Vec<u8>) -> Answer {
        Answer::to(http().put(upload.text("url")).body(bytes)).await
    }

    /// Announces and sends an upload; returns its id.
    pub async fn upload(&self, bytes: &[u8]) -> String {
        let upload = self.announce(bytes).await;
        let sent = self.send(&upload, bytes.to_vec()).await;
        sent.is(200);
        upload.id().to_owned()
    }

    /// Uploads and publishes a package with these fields; returns the record.
    pub async fn publish(&self, package: &[u8], fields: Value) -> Value {
        let mut body = fields;
        body["uploadId"] = self.upload(package).await.into();
        self.post("/update", body).await.created()
    }

    /// The public check, as sent by a phone without a key.
    pub async fn check(&self, bundle: &str, query: &str) -> Value {
        let url = format!("{}/update/check/{bundle}?{query}", self.base);
        let answer = Answer::to(http().get(url)).await;
        let result = answer.ok();
        assert_eq!(answer.header("cache-control"), "no-cache, no-store, must-revalidate");
        result
    }

    /// Downloads from the `url` of a check.
    pub async fn download(&self, offer: &Value) -> Vec<u8> {
        let answer = self.get(offer.text("url")).await;
        answer.is(200);
        answer.bytes
    }
}

/// Uses no proxy, follows no redirect, and reuses no connection: a connection may belong to a killed server, or to
/// another test's runtime.
fn http() -> &'static reqwest::Client {
    static CLIENT: LazyLock<reqwest::Client> = LazyLock::new(|| {
        // Another test may have installed it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .pool_max_idle_per_host(0);
        client.build().unwrap()
    });
    &CLIENT
}
