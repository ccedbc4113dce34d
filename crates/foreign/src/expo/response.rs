//! Writes answers (`docs/reference/expo.md#answers`).
//!
//! An update's answer is the same for every client that receives it, so its body is rendered once: as a multipart body, of which
//! the JSON form is a slice.

use std::ops::Range;

use bytes::Bytes;
use serde_json::json;

use super::accept::Form;
use super::request::{AlgorithmWish, Protocol, Request};
use super::signature::Signature;
use super::structured;

/// Separates parts. It cannot occur in them: no line of JSON begins with two hyphens, and no line of a certificate with these.
const BOUNDARY: &str = "launchway-part";
/// The metadata by which a client that changes its channel stops running updates of the previous one.
const CONFIGURATION_FILTER: &str = "configuration";
/// The key id of clients that name none.
const DEFAULT_KEY_ID: &str = "root";

/// What is signed and sent: the exact bytes of a manifest or directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The bytes.
    pub body: Vec<u8>,
    /// Their signature.
    pub signature: Option<Signature>,
}

/// An answer that was prepared for any number of clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    multipart: Bytes,
    single: Range<usize>,
    is_directive: bool,
    key_id: Option<Box<str>>,
    signature: Option<Box<str>>,
    has_chain: bool,
}

/// What a client is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// It keeps what it has.
    Nothing,
    /// A manifest or directive.
    Served(&'a Served),
    /// The request has no answer.
    Refused(Refusal),
}

/// Why a request has no answer, in the words of HTTP. Clients log the message and keep what they have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// 400.
    BadRequest(String),
    /// 404.
    NotFound(String),
    /// 406.
    NotAcceptable(String),
    /// 429, with the seconds to wait.
    TooManyRequests {
        /// The message.
        message: String,
        /// When to ask again, in seconds.
        retry_after: u64,
    },
}

/// A response as HTTP has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The headers, with names in lower case: clients compare those of parts exactly.
    pub headers: Vec<(&'static str, String)>,
    /// The body. That of a prepared answer is shared by its clients.
    pub body: Bytes,
}

impl Served {
    /// Prepares a manifest, with the certificates between its key and the one in the app, in PEM.
    pub fn manifest(part: &Part, chain: Option<&str>) -> Served {
        Served::new("manifest", part, chain)
    }

    /// Prepares a directive.
    pub fn directive(part: &Part, chain: Option<&str>) -> Served {
        Served {
            is_directive: true,
            ..Served::new("directive", part, chain)
        }
    }

    fn new(name: &str, part: &Part, chain: Option<&str>) -> Served {
        let signature = part.signature.as_ref().map(Signature::header);
        let mut multipart = Vec::with_capacity(part.body.len() + 1024);
        add_part(&mut multipart, name, "application/json", signature.as_deref());
        let start = multipart.len();
        multipart.extend(&part.body);
        let single = start..multipart.len();
        multipart.extend(b"\r\n");
        add_part(&mut multipart, "extensions", "application/json", None);
        multipart.extend(br#"{"assetRequestHeaders":{}}"#);
        multipart.extend(b"\r\n");
        if let Some(chain) = chain {
            add_part(&mut multipart, "certificate_chain", "application/x-pem-file", None);
            multipart.extend(chain.as_bytes());
            multipart.extend(b"\r\n");
        }
        // iOS searches for the line break after the last boundary.
        multipart.extend(format!("--{BOUNDARY}--\r\n").as_bytes());
        Served {
            multipart: multipart.into(),
            single,
            is_directive: false,
            key_id: part
                .signature
                .as_ref()
                .map(|signature| signature.key_id.as_str().into()),
            signature: signature.map(Into::into),
            has_chain: chain.is_some(),
        }
    }

    /// Whether the client would take it: in a form that it accepts, and signed in the way it expects.
    pub fn suits(&self, request: &Request<'_>) -> bool {
        if self.is_directive && (request.protocol == Protocol::V0 || request.form != Form::Multipart) {
            return false;
        }
        let Some(wish) = &request.signature else {
            return true;
        };
        let expected = wish.key_id.as_deref().unwrap_or(DEFAULT_KEY_ID);
        // A client that reads certificates goes by them, whatever key its settings name.
        let is_by_key = self.has_chain || self.key_id.as_deref() == Some(expected);
        let reads_chain = !self.has_chain || request.form == Form::Multipart;
        wish.algorithm == AlgorithmWish::RsaSha256 && self.signature.is_some() && is_by_key && reads_chain
    }

    /// The bytes of the manifest or directive.
    pub fn part(&self) -> &[u8] {
        &self.multipart[self.single.clone()]
    }

    /// About how many bytes of memory it takes.
    pub fn size(&self) -> usize {
        self.multipart.len() + self.signature.as_ref().map_or(0, |signature| signature.len())
    }
}

/// The headers of a part, up to its body. Names are in lower case: iOS compares them exactly.
fn add_part(body: &mut Vec<u8>, name: &str, content_type: &str, signature: Option<&str>) {
    let head = format!(
        "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"{name}\"\r\ncontent-type: {content_type}; charset=utf-8\r\n"
    );
    body.extend(head.as_bytes());
    if let Some(signature) = signature {
        body.extend(format!("expo-signature: {signature}\r\n").as_bytes());
    }
    body.extend(b"\r\n");
}

impl Answer<'_> {
    /// Writes the answer to a request. What does not suit the client is not sent: it would refuse it at every start.
    pub fn respond(self, request: &Request<'_>) -> Response {
        let protocol = request.protocol;
        let mut headers = answer_headers(protocol);
        let filter = request.channel.and_then(structured::quoted);
        headers.extend(filter.map(|channel| ("expo-manifest-filters", format!("{CONFIGURATION_FILTER}={channel}"))));
        match self {
            Answer::Served(served) if served.suits(request) => served.respond(request.form, headers),
            Answer::Served(served)
                if served.is_directive && protocol == Protocol::V1 && request.form != Form::Multipart =>
            {
                Refusal::NotAcceptable("the answer is a directive, which needs accept: multipart/mixed".into())
                    .respond(protocol)
            }
            Answer::Nothing | Answer::Served(_) if protocol == Protocol::V0 => {
                Refusal::NotFound("no update is available".into()).respond(protocol)
            }
            Answer::Nothing | Answer::Served(_) => Response {
                status: 204,
                headers,
                body: Bytes::new(),
            },
            Answer::Refused(refusal) => refusal.respond(protocol),
        }
    }
}

impl Served {
    fn respond(&self, form: Form, mut headers: Vec<(&'static str, String)>) -> Response {
        let (content_type, body) = match form {
            Form::Multipart => (format!("multipart/mixed; boundary={BOUNDARY}"), self.multipart.clone()),
            Form::ExpoJson | Form::Json => {
                headers.extend(
                    self.signature
                        .as_ref()
                        .map(|signature| ("expo-signature", signature.to_string())),
                );
                (
                    format!("{}; charset=utf-8", form.media_type()),
                    self.multipart.slice(self.single.clone()),
                )
            }
        };
        headers.push(("content-type", content_type));
        Response {
            status: 200,
            headers,
            body,
        }
    }
}

impl Refusal {
    /// Writes the answer to a request of this protocol; of protocol 1 if the request could not be read.
    pub fn respond(self, protocol: Protocol) -> Response {
        let mut headers = answer_headers(protocol);
        headers.push(("content-type", "application/json; charset=utf-8".to_owned()));
        let (status, message) = match self {
            Refusal::BadRequest(message) => (400, message),
            Refusal::NotFound(message) => (404, message),
            Refusal::NotAcceptable(message) => (406, message),
            Refusal::TooManyRequests { message, retry_after } => {
                headers.push(("retry-after", retry_after.to_string()));
                (429, message)
            }
        };
        let body = json!({ "error": message }).to_string().into();
        Response { status, headers, body }
    }
}

/// The headers of every answer. Without the protocol's version a client takes 204 for an error.
fn answer_headers(protocol: Protocol) -> Vec<(&'static str, String)> {
    vec![
        ("expo-protocol-version", protocol.number().to_owned()),
        ("expo-sfv-version", "0".to_owned()),
        ("cache-control", "private, max-age=0".to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use launchway_domain::platform::Platform;

    use super::super::request::SignatureWish;
    use super::*;

    const MANIFEST: &[u8] = br#"{"id":"7"}"#;
    const CHAIN: &str = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";

    fn request(form: Form) -> Request<'static> {
        Request {
            protocol: Protocol::V1,
            form,
            platform: Platform::Ios,
            runtime_version: "1",
            current: None,
            embedded: None,
            device_id: None,
            channel: None,
            failed: Vec::new(),
            fatal_error: None,
            signature: None,
        }
    }

    fn part(key_id: Option<&str>) -> Part {
        let signature = key_id.map(|key_id| Signature::new(key_id, vec![1; 256]).unwrap());
        Part {
            body: MANIFEST.to_vec(),
            signature,
        }
    }

    fn header<'r>(response: &'r Response, name: &str) -> Option<&'r str> {
        response
            .headers
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value.as_str())
    }

    #[test]
    fn nothing_is_204_with_the_version_of_the_protocol() {
        let response = Answer::Nothing.respond(&request(Form::Json));
        assert_eq!((response.status, &response.body[..]), (204, &b""[..]));
        assert_eq!(header(&response, "expo-protocol-version"), Some("1"));
        assert_eq!(header(&response, "content-type"), None);
        let old = Request {
            protocol: Protocol::V0,
            ..request(Form::Json)
        };
        let response = Answer::Nothing.respond(&old);
        assert_eq!(
            (response.status, header(&response, "expo-protocol-version")),
            (404, Some("0"))
        );
        assert_eq!(&response.body[..], br#"{"error":"no update is available"}"#);
    }

    #[test]
    fn a_manifest_is_a_part_or_the_whole_body() {
        let signed = part(Some("main"));
        let served = Served::manifest(&signed, None);
        let response = Answer::Served(&served).respond(&request(Form::Multipart));
        let signature = signed.signature.as_ref().unwrap().header();
        let expected = format!(
            "--launchway-part\r\ncontent-disposition: form-data; name=\"manifest\"\r\n\
             content-type: application/json; charset=utf-8\r\nexpo-signature: {signature}\r\n\r\n{{\"id\":\"7\"}}\r\n\
             --launchway-part\r\ncontent-disposition: form-data; name=\"extensions\"\r\n\
             content-type: application/json; charset=utf-8\r\n\r\n{{\"assetRequestHeaders\":{{}}}}\r\n--launchway-part--\r\n"
        );
        assert_eq!(str::from_utf8(&response.body).unwrap(), expected);
        assert_eq!(
            header(&response, "content-type"),
            Some("multipart/mixed; boundary=launchway-part")
        );
        assert_eq!(header(&response, "expo-signature"), None);

        let response = Answer::Served(&served).respond(&request(Form::ExpoJson));
        assert_eq!(&response.body[..], MANIFEST);
        assert_eq!(
            header(&response, "content-type"),
            Some("application/expo+json; charset=utf-8")
        );
        assert_eq!(header(&response, "expo-signature"), Some(signature.as_str()));
    }

    #[test]
    fn a_directive_needs_protocol_1_and_parts() {
        let served = Served::directive(&part(None), None);
        let response = Answer::Served(&served).respond(&request(Form::Multipart));
        assert_eq!(response.status, 200);
        assert!(str::from_utf8(&response.body).unwrap().contains("name=\"directive\""));
        assert_eq!(Answer::Served(&served).respond(&request(Form::Json)).status, 406);
        let old = Request {
            protocol: Protocol::V0,
            ..request(Form::Multipart)
        };
        assert_eq!(Answer::Served(&served).respond(&old).status, 404);
    }

    #[test]
    fn a_client_is_not_sent_what_it_would_refuse_for_its_signature() {
        let wish = |key_id: Option<&'static str>, algorithm, form| {
            let signature = Some(SignatureWish {
                key_id: key_id.map(Into::into),
                algorithm,
            });
            Request {
                signature,
                ..request(form)
            }
        };
        let (known, unknown) = (AlgorithmWish::RsaSha256, AlgorithmWish::Unknown);
        for (key_id, chain, request, suits) in [
            (None, None, request(Form::Json), true),
            (Some("main"), None, request(Form::Json), true),
            (None, None, wish(Some("main"), known, Form::Multipart), false),
            (Some("main"), None, wish(Some("main"), known, Form::Multipart), true),
            (Some("main"), None, wish(Some("main"), unknown, Form::Multipart), false),
            (Some("other"), None, wish(Some("main"), known, Form::Multipart), false),
            (Some("root"), None, wish(None, known, Form::Json), true),
            (
                Some("leaf"),
                Some(CHAIN),
                wish(Some("main"), known, Form::Multipart),
                true,
            ),
            (Some("leaf"), Some(CHAIN), wish(Some("main"), known, Form::Json), false),
        ] {
            let served = Served::manifest(&part(key_id), chain);
            assert_eq!(served.suits(&request), suits, "{key_id:?} {:?}", request.signature);
            let status = Answer::Served(&served).respond(&request).status;
            assert_eq!(status, if suits { 200 } else { 204 });
        }
    }

    #[test]
    fn certificates_follow_in_a_part_of_their_own() {
        let served = Served::manifest(&part(Some("leaf")), Some(CHAIN));
        let response = Answer::Served(&served).respond(&request(Form::Multipart));
        let text = str::from_utf8(&response.body).unwrap();
        assert!(text.contains(&format!(
            "name=\"certificate_chain\"\r\ncontent-type: application/x-pem-file; charset=utf-8\r\n\r\n{CHAIN}\r\n--"
        )));
        assert_eq!(served.part(), MANIFEST);
        assert!(served.size() > response.body.len());
    }

    #[test]
    fn the_channel_filters_what_the_client_stored() {
        let production = Request {
            channel: Some("production"),
            ..request(Form::Json)
        };
        let response = Answer::Nothing.respond(&production);
        assert_eq!(
            header(&response, "expo-manifest-filters"),
            Some("configuration=\"production\"")
        );
        let strange = Request {
            channel: Some("größe"),
            ..request(Form::Json)
        };
        assert_eq!(
            header(&Answer::Nothing.respond(&strange), "expo-manifest-filters"),
            None
        );
    }

    #[test]
    fn a_refusal_says_why_in_json() {
        let refusal = Refusal::TooManyRequests {
            message: "too \"many\"".into(),
            retry_after: 7,
        };
        let response = refusal.respond(Protocol::V1);
        assert_eq!((response.status, header(&response, "retry-after")), (429, Some("7")));
        assert_eq!(&response.body[..], br#"{"error":"too \"many\""}"#);
        let refused = Answer::Refused(Refusal::BadRequest("no".into())).respond(&request(Form::Json));
        assert_eq!(refused.status, 400);
    }
}
