//! Temporary credentials of a role: from the metadata of an EC2 instance (IMDSv2), from a container's endpoint, or from
//! STS for the token of a web identity.

use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use launchway_domain::percent;
use launchway_domain::time::{EpochMs, from_rfc3339};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;
use zeroize::Zeroizing;

use super::credentials::Credentials;

/// The usual address of the metadata of an instance.
pub const INSTANCE_METADATA: &str = "http://169.254.169.254";
/// How long a session token of the metadata is valid, in seconds.
const METADATA_TOKEN_SECONDS: &str = "21600";
/// How long an exchange may take. The sources are beside the server, or are asked in the background.
const TIMEOUT: Duration = Duration::from_secs(10);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The maximum size of a response in bytes.
const MAX_RESPONSE: usize = 64 << 10;
/// The maximum length of a credential in bytes.
const MAX_CREDENTIAL: usize = 16 << 10;

/// Where the credentials of a role come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleSource {
    /// The metadata service of an EC2 instance.
    Instance {
        /// Its address, without a trailing slash.
        endpoint: String,
    },
    /// The endpoint that ECS and EKS give a container.
    Container {
        /// The URL of the credentials.
        url: String,
        /// What the endpoint asks for in `Authorization`.
        authorization: Option<Authorization>,
    },
    /// STS, which gives credentials for the token of an identity provider, such as that of a Kubernetes service account.
    WebIdentity {
        /// The ARN of the role.
        role_arn: String,
        /// The name of the session, for the logs of the cloud.
        session_name: String,
        /// The file with the token. It is read for each exchange, because it is replaced before it expires.
        token_file: PathBuf,
        /// The address of STS, without a trailing slash.
        endpoint: String,
    },
}

/// The value of `Authorization` for a container's endpoint. `Debug` shows no secret.
#[derive(Clone, PartialEq, Eq)]
pub enum Authorization {
    /// The value itself.
    Value(String),
    /// A file with the value, which is read for each exchange.
    File(PathBuf),
}

impl std::fmt::Debug for Authorization {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Authorization::Value(_) => f.write_str("Value"),
            Authorization::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}

/// Why no credentials were given. No text contains a secret.
#[derive(Debug, thiserror::Error)]
pub enum RoleError {
    /// The source did not respond.
    #[error("{0} did not respond")]
    Silent(&'static str),
    /// The source refused.
    #[error("{source_name} responded with status {status}")]
    Refused {
        /// The source.
        source_name: &'static str,
        /// The HTTP status.
        status: u16,
    },
    /// The response has no usable credentials.
    #[error("{0} sent no credentials that can be read")]
    Unreadable(&'static str),
    /// The instance has no role.
    #[error("the instance has no role")]
    NoRole,
    /// A file with a token cannot be read.
    #[error("cannot read the token file {path}: {cause}")]
    Token {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        cause: std::io::Error,
    },
}

const INSTANCE: &str = "the metadata service of the instance";
const CONTAINER: &str = "the credential endpoint of the container";
const STS: &str = "STS";

/// Credentials with their end in epoch milliseconds.
pub(super) struct Session {
    pub credentials: Credentials,
    pub ends_at: EpochMs,
}

impl RoleSource {
    /// Asks for credentials.
    pub(super) async fn fetch(&self) -> Result<Session, RoleError> {
        match self {
            RoleSource::Instance { endpoint } => of_instance(endpoint).await,
            RoleSource::Container { url, authorization } => of_container(url, authorization.as_ref()).await,
            RoleSource::WebIdentity {
                role_arn,
                session_name,
                token_file,
                endpoint,
            } => {
                let token = read_token(token_file)?;
                of_web_identity(endpoint, role_arn, session_name, &token).await
            }
        }
    }
}

/// A client that reaches addresses of this machine and its network, and follows no redirect: a redirect could carry the
/// secrets elsewhere.
fn local_client() -> Result<Client, reqwest::Error> {
    client(Client::builder().no_proxy())
}

fn client(builder: reqwest::ClientBuilder) -> Result<Client, reqwest::Error> {
    builder
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(TIMEOUT)
        .build()
}

/// Sends a request and returns the text of a successful response.
async fn send(source: &'static str, request: RequestBuilder) -> Result<Zeroizing<String>, RoleError> {
    let silent = |_| RoleError::Silent(source);
    let mut response = request.send().await.map_err(silent)?;
    let status = response.status();
    if !status.is_success() {
        return Err(RoleError::Refused {
            source_name: source,
            status: status.as_u16(),
        });
    }
    let mut body = Zeroizing::new(Vec::new());
    while let Some(chunk) = response.chunk().await.map_err(silent)? {
        if body.len() + chunk.len() > MAX_RESPONSE {
            return Err(RoleError::Unreadable(source));
        }
        body.extend_from_slice(&chunk);
    }
    let text = std::str::from_utf8(&body).map_err(|_| RoleError::Unreadable(source))?;
    Ok(Zeroizing::new(text.to_owned()))
}

/// The second version of the metadata service: a token is asked for first, which a request that was forged through the
/// server cannot do.
async fn of_instance(endpoint: &str) -> Result<Session, RoleError> {
    let client = local_client().map_err(|_| RoleError::Silent(INSTANCE))?;
    let token_url = format!("{endpoint}/latest/api/token");
    let asked = client
        .request(Method::PUT, token_url)
        .header("x-aws-ec2-metadata-token-ttl-seconds", METADATA_TOKEN_SECONDS);
    let token = send(INSTANCE, asked).await?;
    let mut headers = HeaderMap::new();
    headers.insert("x-aws-ec2-metadata-token", secret_header(INSTANCE, &token)?);
    let list = format!("{endpoint}/latest/meta-data/iam/security-credentials/");
    let roles = send(INSTANCE, client.get(&list).headers(headers.clone())).await;
    let roles = match roles {
        Err(RoleError::Refused { status: 404, .. }) => return Err(RoleError::NoRole),
        roles => roles?,
    };
    let role = roles.lines().next().unwrap_or_default().trim();
    if role.is_empty() {
        return Err(RoleError::NoRole);
    }
    let url = format!("{list}{}", percent::encode(role));
    let text = send(INSTANCE, client.get(url).headers(headers)).await?;
    of_json(INSTANCE, &text)
}

async fn of_container(url: &str, authorization: Option<&Authorization>) -> Result<Session, RoleError> {
    let client = local_client().map_err(|_| RoleError::Silent(CONTAINER))?;
    let mut request = client.get(url);
    let value = match authorization {
        None => None,
        Some(Authorization::Value(value)) => Some(Zeroizing::new(value.clone())),
        Some(Authorization::File(path)) => Some(read_token(path)?),
    };
    if let Some(value) = value {
        request = request.header("authorization", secret_header(CONTAINER, &value)?);
    }
    of_json(CONTAINER, &send(CONTAINER, request).await?)
}

async fn of_web_identity(endpoint: &str, role: &str, session: &str, token: &str) -> Result<Session, RoleError> {
    // STS may be behind the proxy of the environment, as the bucket is.
    let client = client(Client::builder()).map_err(|_| RoleError::Silent(STS))?;
    let fields = [
        ("Action", "AssumeRoleWithWebIdentity"),
        ("Version", "2011-06-15"),
        ("RoleArn", role),
        ("RoleSessionName", session),
        ("WebIdentityToken", token),
    ];
    let pairs = fields.map(|(name, value)| format!("{name}={}", percent::encode(value)));
    // In the body: URLs end up in logs.
    let request = client
        .post(format!("{endpoint}/"))
        .header("content-type", "application/x-www-form-urlencoded")
        .header("accept", "application/xml")
        .body(pairs.join("&"));
    of_xml(&send(STS, request).await?)
}

fn read_token(path: &std::path::Path) -> Result<Zeroizing<String>, RoleError> {
    let read = std::fs::read_to_string(path).map(Zeroizing::new);
    let text = read.map_err(|cause| RoleError::Token {
        path: path.to_owned(),
        cause,
    })?;
    Ok(Zeroizing::new(text.trim().to_owned()))
}

fn secret_header(source: &'static str, text: &str) -> Result<HeaderValue, RoleError> {
    let mut value = HeaderValue::from_str(text.trim()).map_err(|_| RoleError::Unreadable(source))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Reads what instances and containers are given.
fn of_json(source: &'static str, text: &str) -> Result<Session, RoleError> {
    let value: Value = serde_json::from_str(text).map_err(|_| RoleError::Unreadable(source))?;
    let field = |name: &str| value[name].as_str().map(str::to_owned);
    // Instances say in `Code` whether the role could be assumed.
    let is_given = value.get("Code").is_none_or(|code| code == "Success");
    session(source, |name| {
        // Only STS says `SessionToken`.
        let name = if name == "SessionToken" { "Token" } else { name };
        field(name).filter(|_| is_given)
    })
}

/// Reads the response of STS. Its values contain no character that XML would escape; any other is refused.
fn of_xml(text: &str) -> Result<Session, RoleError> {
    let within = |text: &str, name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        let (value, _) = rest.split_once(&format!("</{name}>"))?;
        Some(value.to_owned())
    };
    let credentials = within(text, "Credentials").map(Zeroizing::new);
    session(STS, |name| within(credentials.as_deref()?, name))
}

/// The credentials of these fields, by the names of STS.
fn session(source: &'static str, field: impl Fn(&str) -> Option<String>) -> Result<Session, RoleError> {
    let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'<' | b'>' | b'&' | b'"');
    let read = |name: &str| {
        let value = field(name)?;
        let is_fit = (1..=MAX_CREDENTIAL).contains(&value.len()) && value.bytes().all(plain);
        is_fit.then_some(value)
    };
    let whole = || {
        let ends_at = from_rfc3339(&read("Expiration")?)?;
        let credentials = Credentials {
            access_key_id: read("AccessKeyId")?,
            secret_access_key: read("SecretAccessKey")?,
            session_token: Some(read("SessionToken")?),
            expiration: None,
            region: None,
        };
        Some(Session { credentials, ends_at })
    };
    whole().ok_or(RoleError::Unreadable(source))
}
