//! A client that uploads packages and publishes them, with a key of an organization of its own.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::SendRequest;
use hyper::http::request::Builder;
use hyper::{Request, header};
use launchway_domain::tenancy::Tier;
use launchway_trust::Sha256;
use serde_json::{Value, json};

use crate::http_client::{body_of, connect};

/// The timeout of a request.
const LIMIT: Duration = Duration::from_secs(120);

/// Calls a minute that an organization may make with the tier that [`create_key`] gives it.
pub const CALLS_A_MINUTE: u32 = Tier::Enterprise.requests_per_minute();

/// An organization and a key of it.
#[derive(Clone, Debug)]
pub struct Account {
    /// The id of the organization.
    pub org: String,
    pub key: String,
}

/// The key of [`create_account`].
///
/// # Errors
/// When a command fails.
pub fn create_key(program: &Path, data: &Path) -> anyhow::Result<String> {
    Ok(create_account(program, data)?.key)
}

/// An organization, made by the operator's commands while the server does not run, and a key of it.
///
/// # Errors
/// When a command fails.
pub fn create_account(program: &Path, data: &Path) -> anyhow::Result<Account> {
    let org = admin(program, data, &["create-org", "--name", "Bench"])?;
    let org = org["id"].as_str().context("no id of the organization")?;
    admin(
        program,
        data,
        &["set-tier", "--org", org, "--tier", Tier::Enterprise.as_str()],
    )?;
    Ok(Account {
        org: org.to_owned(),
        key: create_key_of(program, data, org)?,
    })
}

/// A key of an organization that is in the database.
///
/// # Errors
/// When the command fails.
pub fn create_key_of(program: &Path, data: &Path, org: &str) -> anyhow::Result<String> {
    let scopes = ["--admin", "--scopes", "build,submit,update"];
    let words = [&["create-key", "--org", org, "--name", "bench"][..], &scopes].concat();
    let key = admin(program, data, &words)?;
    Ok(key["key"].as_str().context("no key")?.to_owned())
}

fn admin(program: &Path, data: &Path, arguments: &[&str]) -> anyhow::Result<Value> {
    let mut command = Command::new(program);
    command.env_clear().current_dir(data).arg("admin").args(arguments);
    let output = command.arg("--json").arg("--data-dir").arg(data).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// A connection that publishes.
pub struct Publisher {
    sender: SendRequest<Full<Bytes>>,
    host: String,
    key: String,
}

impl Publisher {
    /// Connects to a server.
    ///
    /// # Errors
    /// When it does not listen.
    pub async fn connect(address: SocketAddr, key: &str) -> anyhow::Result<Publisher> {
        Ok(Publisher {
            sender: connect(address).await?,
            host: address.to_string(),
            key: key.to_owned(),
        })
    }

    /// Uploads a package and publishes it as this version of an app; returns the id of the update.
    ///
    /// # Errors
    /// When the server refuses it.
    pub async fn publish(&mut self, package: &Bytes, bundle_id: &str, version: u32) -> anyhow::Result<String> {
        let sha256 = Sha256::of(package).to_string();
        let announced = json!({"fileName": "package.zip", "size": package.len(), "sha256": sha256});
        let upload = self.post("/api/uploads", &announced).await?;
        let url = upload["url"].as_str().context("no URL of the upload")?;
        let path = url.splitn(4, '/').nth(3).context("no path in the URL of the upload")?;
        let mut put = Request::put(format!("/{path}"));
        for (name, value) in upload["headers"].as_object().into_iter().flatten() {
            put = put.header(name, value.as_str().unwrap_or_default());
        }
        self.send(put, package.clone()).await?;
        let update = json!({
            "bundleId": bundle_id, "platform": "android", "version": format!("1.0.{version}"), "buildNumber": "1",
            "uploadId": upload["id"],
        });
        self.post_update(&update).await
    }

    /// Publishes the package of an update again, as this version of an app.
    ///
    /// # Errors
    /// When the server refuses it.
    pub async fn publish_again(&mut self, update: &str, bundle_id: &str, version: u32) -> anyhow::Result<String> {
        let update = json!({
            "bundleId": bundle_id, "platform": "android", "version": format!("1.0.{version}"), "buildNumber": "1",
            "sourceUpdateId": update,
        });
        self.post_update(&update).await
    }

    async fn post_update(&mut self, update: &Value) -> anyhow::Result<String> {
        let update = self.post("/api/update", update).await?;
        Ok(update["id"].as_str().context("no id of the update")?.to_owned())
    }

    /// Sends JSON to a path; returns the answer.
    ///
    /// # Errors
    /// When the server refuses it.
    pub async fn post(&mut self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let request = Request::post(path)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.key))
            .header(header::CONTENT_TYPE, "application/json");
        let answer = self.send(request, Bytes::from(body.to_string())).await?;
        Ok(serde_json::from_slice(&answer)?)
    }

    /// Reads a path; returns the answer.
    ///
    /// # Errors
    /// When the server refuses it.
    pub async fn get(&mut self, path: &str) -> anyhow::Result<Bytes> {
        let request = Request::get(path).header(header::AUTHORIZATION, format!("Bearer {}", self.key));
        self.send(request, Bytes::new()).await
    }

    async fn send(&mut self, request: Builder, body: Bytes) -> anyhow::Result<Bytes> {
        let request = request.header(header::HOST, &self.host).body(Full::new(body))?;
        let path = request.uri().path().to_owned();
        self.sender.ready().await?;
        let answer = tokio::time::timeout(LIMIT, self.sender.send_request(request)).await??;
        body_of(&path, answer).await
    }
}
