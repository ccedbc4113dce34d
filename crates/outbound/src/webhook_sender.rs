//! One POST to a webhook's receiver: through the address guard, without proxies and redirects, within 15 seconds.

use std::error::Error;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use launchway_domain::standard_webhooks::{ID_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER};
use launchway_domain::webhook_retry::is_success;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Response};

use super::address_guard::check_url;
use super::resolver::{AddressLookupError, GuardedResolver, Resolver};

/// The timeout of a try, from the name resolution to the response.
pub const TIMEOUT: Duration = Duration::from_secs(15);
/// The number of response bytes that are read: enough to show why it was refused, and to reuse the connection.
const READ: usize = 4096;
/// The number of characters of a refusal that are shown.
const SHOWN: usize = 200;
/// How long an idle connection is kept.
const IDLE: Duration = Duration::from_secs(15);
const USER_AGENT: &str = concat!("Launchway/", env!("CARGO_PKG_VERSION"));

/// Sends messages to receivers.
pub struct WebhookSender {
    resolver: Arc<dyn Resolver>,
    allow_private: bool,
    /// Created at the first use, because that reads the system's certificates.
    client: OnceLock<Result<Client, String>>,
}

/// The message to send.
#[derive(Clone, Debug)]
pub struct Message {
    /// The receiver's URL.
    pub url: String,
    /// The event's id.
    pub id: String,
    /// The time of sending, in epoch seconds.
    pub timestamp: i64,
    /// The signatures of the message.
    pub signatures: String,
    /// The body.
    pub body: String,
}

/// The result of a try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status of the response; `None` if there was none.
    pub response_status: Option<u16>,
    /// Why it failed; `None` if it succeeded. Does not contain the URL.
    pub error: Option<String>,
}

impl Reply {
    fn none(error: impl Into<String>) -> Reply {
        Reply {
            response_status: None,
            error: Some(error.into()),
        }
    }
}

impl WebhookSender {
    /// A sender that uses `resolver` for names. With `allow_private` it also accepts plain http and private addresses.
    pub fn new(resolver: Arc<dyn Resolver>, allow_private: bool) -> WebhookSender {
        WebhookSender {
            resolver,
            allow_private,
            client: OnceLock::new(),
        }
    }

    /// Whether plain http and private addresses are allowed.
    pub fn allows_private(&self) -> bool {
        self.allow_private
    }

    /// Sends the message once and reads the response.
    pub async fn send(&self, message: &Message) -> Reply {
        match tokio::time::timeout(TIMEOUT, self.try_to_send(message)).await {
            Ok(reply) => reply,
            Err(_) => Reply::none(format!(
                "The receiver did not respond within {} seconds",
                TIMEOUT.as_secs()
            )),
        }
    }

    async fn try_to_send(&self, message: &Message) -> Reply {
        // Checked again, because the setting may have changed since the webhook was created.
        let url = match check_url(&message.url, self.allow_private) {
            Ok(url) => url,
            Err(refused) => return Reply::none(format!("The webhook's url {refused}")),
        };
        let client = match self.client.get_or_init(|| self.make_client()) {
            Ok(client) => client,
            Err(error) => return Reply::none(format!("This server cannot send webhooks: {error}")),
        };
        let request = client
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header(ID_HEADER, &message.id)
            .header(TIMESTAMP_HEADER, message.timestamp)
            .header(SIGNATURE_HEADER, &message.signatures)
            .body(message.body.clone());
        match request.send().await {
            Ok(response) => read(response).await,
            Err(error) => Reply::none(failure_text(&error)),
        }
    }

    fn make_client(&self) -> Result<Client, String> {
        let guard = GuardedResolver::new(self.resolver.clone(), self.allow_private);
        Client::builder()
            .dns_resolver(Arc::new(guard))
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .user_agent(USER_AGENT)
            .pool_idle_timeout(IDLE)
            .build()
            .map_err(|error| error.to_string())
    }
}

/// Only the status decides the result; the first words of a refusal are kept.
async fn read(mut response: Response) -> Reply {
    let status = response.status().as_u16();
    let mut start = Vec::new();
    let reading = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            start.extend_from_slice(&chunk);
            if start.len() >= READ {
                break;
            }
        }
    };
    // The receiver has answered with its status, so the wait for the rest is short.
    let _ = tokio::time::timeout(Duration::from_secs(2), reading).await;
    let success = is_success(Some(status));
    Reply {
        response_status: Some(status),
        error: (!success).then(|| refusal(status, &start)),
    }
}

fn refusal(status: u16, body: &[u8]) -> String {
    let shown = one_line(&String::from_utf8_lossy(&body[..body.len().min(READ)]));
    match (status, shown.is_empty()) {
        (300..=399, _) => format!("The receiver responded with status {status}, and redirects are not followed"),
        (_, true) => format!("The receiver responded with status {status}"),
        (_, false) => format!("The receiver responded with status {status}: {shown}"),
    }
}

/// The start of a response in one line.
fn one_line(text: &str) -> String {
    let line = text.split(|letter: char| letter.is_control() || letter.is_whitespace());
    let words: Vec<&str> = line.filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(SHOWN).collect()
}

/// Why there was no response, as a sentence. The client's own texts contain the URL, which may contain a secret.
fn failure_text(error: &reqwest::Error) -> String {
    known_cause(error).unwrap_or_else(|| {
        let other = if error.is_connect() {
            "The connection failed"
        } else {
            "The receiver closed the connection, or its response cannot be read"
        };
        other.to_owned()
    })
}

/// The first cause of an error that is meaningful to people.
fn known_cause(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(none) = error.downcast_ref::<AddressLookupError>() {
        return Some(none.to_string());
    }
    if let Some(tls) = error.downcast_ref::<rustls::Error>() {
        // The message may list every name in the receiver's certificate.
        return Some(format!("The TLS connection failed: {}", one_line(&tls.to_string())));
    }
    let Some(io) = error.downcast_ref::<io::Error>() else {
        return known_cause(error.source()?);
    };
    // The wrapped error is not its source; only the wrapped error's source is.
    let inner = io.get_ref().and_then(|inner| known_cause(inner));
    inner.or_else(|| {
        let told = match io.kind() {
            io::ErrorKind::ConnectionRefused => "The connection was refused",
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => "The receiver closed the connection",
            io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
                "The receiver's network cannot be reached"
            }
            io::ErrorKind::TimedOut => "The connection timed out",
            _ => return None,
        };
        Some(told.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_in_one_short_line() {
        let long = "x".repeat(10_000);
        for (status, body, wanted) in [
            (500, "", "The receiver responded with status 500".to_owned()),
            (
                400,
                " invalid\r\n\0payload\u{7} ",
                "The receiver responded with status 400: invalid payload".to_owned(),
            ),
            (
                302,
                "moved",
                "The receiver responded with status 302, and redirects are not followed".to_owned(),
            ),
            (
                404,
                &long,
                format!("The receiver responded with status 404: {}", "x".repeat(SHOWN)),
            ),
        ] {
            assert_eq!(refusal(status, body.as_bytes()), wanted);
        }
        assert_eq!(
            refusal(400, b"\xff\xfe"),
            "The receiver responded with status 400: \u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn what_a_certificate_says_is_told_in_one_short_line() {
        let said = format!("wrong name\n\0{}", "x".repeat(100_000));
        let told = known_cause(&rustls::Error::General(said)).unwrap();
        assert!(
            told.starts_with("The TLS connection failed: ") && told.contains("wrong name xxx"),
            "{told}"
        );
        assert!(!told.contains(char::is_control) && told.chars().count() <= SHOWN + 30);
    }
}
