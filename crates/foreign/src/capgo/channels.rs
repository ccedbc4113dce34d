//! Channels that devices choose by themselves (`docs/reference/capgo.md#channels`). The device keeps its choice; the server says
//! which channels let devices in.

use std::borrow::Cow;

use launchway_domain::percent::decode_query;
use serde_json::json;

use super::device::{Device, DevicePlatform};
use super::fields::{Field, Fields};
use super::request::MAX_BODY_BYTES;
use super::response::{ErrorCode, Response};

/// What a device asks about channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelRequest<'b> {
    /// To enter this channel.
    Enter(Device<'b>, Cow<'b, str>),
    /// To leave its channel.
    Leave(Device<'b>),
    /// Which channel it is in.
    Current(Device<'b>),
    /// Which channels it may enter.
    List(Device<'b>),
}

/// A channel that devices may enter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Its name, which is that of our configuration.
    pub name: String,
}

/// What a device is answered about channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelAnswer<'a> {
    /// The device is in the channel that it named.
    Entered,
    /// The device is in no channel of its own.
    Left,
    /// The device is in this channel, as it says itself.
    Current(Option<&'a str>),
    /// The channels that it may enter.
    List(&'a [Channel]),
    /// The request has no answer.
    Error(ErrorCode),
}

impl<'b> ChannelRequest<'b> {
    /// Reads a request: its method, the text after `?`, and its body.
    ///
    /// # Errors
    /// The answer to a request that names no app, or to another method.
    pub fn read(method: &str, query: &'b str, body: &'b [u8]) -> Result<ChannelRequest<'b>, ChannelAnswer<'static>> {
        let is_query = matches!(method, "GET" | "DELETE");
        let (device, action, channel) = if is_query {
            let query = if query.len() <= MAX_BODY_BYTES { query } else { "" };
            let parameter = |field: Field| parameter(query, field.name());
            let device = Device::of(parameter);
            (device, parameter(Field::Action), parameter(Field::Channel))
        } else if body.len() <= MAX_BODY_BYTES {
            let mut fields = Fields::read(body).unwrap_or_default();
            let device = Device::read(&mut fields);
            (
                device,
                fields.take_text(Field::Action),
                fields.take_text(Field::Channel),
            )
        } else {
            return Err(ChannelAnswer::Error(ErrorCode::BodyTooLarge));
        };
        if device.app_id.is_none() {
            return Err(ChannelAnswer::Error(ErrorCode::MissingAppId));
        }
        let asks_for_list = || match device.platform {
            // The desktop client asks for its channel by the method by which phones ask for the list.
            Some(DevicePlatform::Electron) => action.as_deref() == Some("list"),
            _ => true,
        };
        match (method, channel) {
            ("POST", _) if action.as_deref() == Some("unset") => Ok(ChannelRequest::Leave(device)),
            ("POST", Some(channel)) => Ok(ChannelRequest::Enter(device, channel)),
            ("DELETE", _) => Ok(ChannelRequest::Leave(device)),
            ("PUT", _) => Ok(ChannelRequest::Current(device)),
            ("GET", _) if asks_for_list() => Ok(ChannelRequest::List(device)),
            ("GET", _) => Ok(ChannelRequest::Current(device)),
            _ => Err(ChannelAnswer::Error(ErrorCode::ChannelNotFound)),
        }
    }

    /// The device that asks.
    pub fn device(&self) -> &Device<'b> {
        match self {
            ChannelRequest::Enter(device, _)
            | ChannelRequest::Leave(device)
            | ChannelRequest::Current(device)
            | ChannelRequest::List(device) => device,
        }
    }
}

/// The first parameter of a query with this name.
fn parameter<'q>(query: &'q str, name: &str) -> Option<Cow<'q, str>> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(key, _)| *key == name)?;
    match decode_query(value.as_bytes()) {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
    }
}

impl ChannelAnswer<'_> {
    /// Writes the answer for a device of this platform.
    pub fn respond(self, platform: Option<DevicePlatform>) -> Response {
        let body = match self {
            ChannelAnswer::Entered | ChannelAnswer::Left => json!({"status": "ok"}),
            // Without a channel the client keeps the one of its settings.
            ChannelAnswer::Current(None) => json!({"status": "default", "allowSet": true, "allow_set": true}),
            ChannelAnswer::Current(Some(channel)) => {
                json!({"channel": channel, "status": "ok", "allowSet": true, "allow_set": true})
            }
            ChannelAnswer::List(channels) => {
                let numbered = channels.iter().zip(1..);
                let list: Vec<_> = numbered
                    .map(|(channel, id)| json!({"id": id, "name": channel.name, "public": false, "allow_self_set": true}))
                    .collect();
                match platform {
                    Some(DevicePlatform::Electron) => json!({ "channels": list }),
                    _ => json!(list),
                }
            }
            // The desktop client takes an answer without a status for success.
            ChannelAnswer::Error(code) => {
                json!({"status": "error", "error": code.as_str(), "message": code.message(), "kind": code.kind()})
            }
        };
        Response::ok(body.to_string())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    const PHONE: &str = r#"{"app_id": "com.example.app", "platform": "ios", "channel": "beta"}"#;
    const DESKTOP: &str = "app_id=com.example.app&platform=electron";

    fn read<'b>(method: &str, query: &'b str, body: &'b str) -> Result<ChannelRequest<'b>, ChannelAnswer<'static>> {
        ChannelRequest::read(method, query, body.as_bytes())
    }

    #[test]
    fn each_method_asks_for_something_else() {
        let unset = PHONE.replace("beta", "beta\", \"action\": \"unset");
        let list = format!("{DESKTOP}&action=list");
        for (method, query, body, expected) in [
            ("POST", "", PHONE, "Enter"),
            ("POST", "", unset.as_str(), "Leave"),
            ("DELETE", "app_id=com.example.app&platform=android", "", "Leave"),
            ("PUT", "", PHONE, "Current"),
            ("GET", "app_id=com%2Eexample.app&platform=android", "", "List"),
            ("GET", DESKTOP, "", "Current"),
            ("GET", &list, "", "List"),
        ] {
            let request = read(method, query, body).unwrap();
            assert!(
                format!("{request:?}").starts_with(expected),
                "{method} {query}: {request:?}"
            );
            assert_eq!(request.device().app_id.as_deref(), Some("com.example.app"));
        }
        let entered = read("POST", "", PHONE).unwrap();
        assert!(matches!(entered, ChannelRequest::Enter(_, channel) if channel == "beta"));
    }

    #[test]
    fn other_requests_are_answered_with_an_error() {
        let large = format!("{{\"app_id\": \"{}\"}}", "a".repeat(MAX_BODY_BYTES));
        let long = format!("app_id=a&x={}", "a".repeat(MAX_BODY_BYTES));
        for (method, query, body, expected) in [
            ("POST", "", "{}", ErrorCode::MissingAppId),
            ("POST", "", "nonsense", ErrorCode::MissingAppId),
            ("POST", "", "{\"app_id\": \"a\"}", ErrorCode::ChannelNotFound),
            ("POST", "", &large, ErrorCode::BodyTooLarge),
            ("GET", "", "", ErrorCode::MissingAppId),
            ("GET", "app_id=%ff", "", ErrorCode::MissingAppId),
            ("GET", &long, "", ErrorCode::MissingAppId),
            ("PATCH", "", PHONE, ErrorCode::ChannelNotFound),
        ] {
            assert_eq!(
                read(method, query, body),
                Err(ChannelAnswer::Error(expected)),
                "{method} {query:.40} {body:.40}"
            );
        }
    }

    #[test]
    fn answers_are_in_the_words_of_the_client() {
        let phone = Some(DevicePlatform::Mobile(launchway_domain::platform::Platform::Ios));
        let channels = [Channel { name: "beta".into() }];
        let list = r#"{"allow_self_set":true,"id":1,"name":"beta","public":false}"#;
        for (answer, platform, expected) in [
            (ChannelAnswer::Entered, phone, r#"{"status":"ok"}"#.to_owned()),
            (ChannelAnswer::Left, phone, r#"{"status":"ok"}"#.to_owned()),
            (
                ChannelAnswer::Current(None),
                phone,
                r#"{"allowSet":true,"allow_set":true,"status":"default"}"#.to_owned(),
            ),
            (ChannelAnswer::List(&channels), phone, format!("[{list}]")),
            (
                ChannelAnswer::List(&channels),
                Some(DevicePlatform::Electron),
                format!("{{\"channels\":[{list}]}}"),
            ),
        ] {
            assert_eq!(answer.respond(platform).body, expected);
        }
        let current: Value = serde_json::from_str(&ChannelAnswer::Current(Some("beta")).respond(phone).body).unwrap();
        assert_eq!(
            (&current["channel"], &current["status"]),
            (&json!("beta"), &json!("ok"))
        );
        let refused: Value =
            serde_json::from_str(&ChannelAnswer::Error(ErrorCode::ChannelNotFound).respond(phone).body).unwrap();
        assert_eq!(
            (&refused["error"], &refused["status"]),
            (&json!("channel_not_found"), &json!("error"))
        );
    }

    proptest! {
        #[test]
        fn every_request_is_read_or_answered(
            method in "GET|POST|PUT|DELETE|[A-Z]{0,8}",
            query in "(app_id=[a-z%]{0,8}|platform=electron|action=list|[&=%a-f]{0,8}){0,4}",
            body in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let _ = ChannelRequest::read(&method, &query, &body);
        }
    }
}
