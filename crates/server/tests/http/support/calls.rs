//! Requests of tests: `app.post(&key, "/apps", json!({"bundleId": "com.example.app"})).await`. The caller is the text that
//! it presents: an API key or a runner's token, a session's cookie, or [`NOBODY`].

use reqwest::{Method, RequestBuilder};
use serde::Serialize;
use serde_json::Value;

use super::{Answer, TestApp};

/// A caller that presents nothing.
pub const NOBODY: &str = "";

impl TestApp {
    pub async fn get(&self, caller: &str, path: &str) -> Answer {
        self.send(caller, Method::GET, path, ()).await
    }

    pub async fn post(&self, caller: &str, path: &str, body: impl Serialize) -> Answer {
        self.send(caller, Method::POST, path, body).await
    }

    pub async fn put(&self, caller: &str, path: &str, body: impl Serialize) -> Answer {
        self.send(caller, Method::PUT, path, body).await
    }

    pub async fn patch(&self, caller: &str, path: &str, body: impl Serialize) -> Answer {
        self.send(caller, Method::PATCH, path, body).await
    }

    pub async fn delete(&self, caller: &str, path: &str) -> Answer {
        self.send(caller, Method::DELETE, path, ()).await
    }

    /// Sends bytes to a signed URL.
    pub async fn put_bytes(&self, url: &str, bytes: &[u8]) -> Answer {
        Answer::to(self.request(Method::PUT, url).body(bytes.to_vec())).await
    }

    /// Any method; `()` is no body.
    pub async fn send(&self, caller: &str, method: Method, path: &str, body: impl Serialize) -> Answer {
        let request = self.request_by(caller, method, path);
        Answer::to(match serde_json::to_value(&body).unwrap() {
            Value::Null => request,
            body => request.json(&body),
        })
        .await
    }

    /// A request of a caller. A browser's has an `Origin`, as on the service's own pages.
    pub fn request_by(&self, caller: &str, method: Method, path: &str) -> RequestBuilder {
        let request = self.request(method, path);
        match caller {
            NOBODY => request,
            cookie if cookie.contains('=') => request.header("cookie", cookie).header("origin", &self.origin),
            key => request.bearer_auth(key),
        }
    }

    /// A request to a path under `/api`, or to a whole URL.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = if path.starts_with("http") { path.to_owned() } else { format!("{}/api{path}", self.origin) };
        self.http.request(method, url)
    }
}
