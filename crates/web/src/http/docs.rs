//! The OpenAPI document, and a viewer for it that needs no script and no other host.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use askama::Template;
use axum::extract::Extension;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use bytes::Bytes;
use launchway_ops::api_error::ApiError;
use serde_json::Value;
use utoipa::openapi::OpenApi;

use crate::page_headers;

/// The document and its page. They are written when they are first asked for: it takes memory and time that most processes need
/// for nothing else.
#[derive(Clone)]
pub struct Document(Arc<LazyLock<Written, Describe>>);

type Describe = Box<dyn FnOnce() -> Written + Send>;

/// Its responses share these bytes: anybody may ask for them, and read them as slowly as they like.
struct Written {
    json: Bytes,
    page: Bytes,
}

impl Document {
    /// The document that `describe` returns.
    pub fn new(describe: impl FnOnce() -> OpenApi + Send + 'static) -> Document {
        Document(Arc::new(LazyLock::new(Box::new(move || Written::of(&describe())))))
    }
}

impl Written {
    fn of(document: &OpenApi) -> Written {
        let value = serde_json::to_value(document).unwrap_or_default();
        Written {
            page: Page::of(&value).render().unwrap_or_default().into(),
            json: value.to_string().into(),
        }
    }
}

/// The OpenAPI document of this API.
#[utoipa::path(get, path = "/openapi.json", tag = "Service", responses((status = 200, description = "The document", body = Object)))]
pub async fn document(Extension(document): Extension<Document>) -> Response {
    let json = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (json, document.0.json.clone()).into_response()
}

/// The documentation of this API as a page.
#[utoipa::path(
    get,
    path = "/docs",
    tag = "Service",
    responses((status = 200, description = "An HTML page", body = String, content_type = "text/html"))
)]
pub async fn viewer(Extension(document): Extension<Document>) -> Result<Response, ApiError> {
    let mut response = Html(document.0.page.clone()).into_response();
    page_headers::protect(&mut response);
    Ok(response)
}

#[derive(Template)]
#[template(path = "docs.html")]
struct Page {
    title: String,
    version: String,
    description: Vec<Prose>,
    groups: Vec<Group>,
    schemas: Vec<Schema>,
}

struct Group {
    name: String,
    operations: Vec<Operation>,
}

struct Operation {
    anchor: String,
    method: String,
    path: String,
    summary: Prose,
    description: Prose,
    caller: String,
    parameters: Vec<Field>,
    body: Option<String>,
    responses: Vec<Answer>,
}

struct Field {
    name: String,
    place: String,
    kind: String,
    required: bool,
    description: Prose,
}

struct Answer {
    status: String,
    description: Prose,
    kind: String,
}

struct Schema {
    name: String,
    description: Prose,
    kind: String,
    fields: Vec<Field>,
}

/// Words and code in turn: text between backticks is code.
#[derive(PartialEq)]
struct Prose(Vec<(bool, String)>);

fn prose(text: &str) -> Prose {
    let parts = text.split('`').enumerate().filter(|(_, part)| !part.is_empty());
    Prose(parts.map(|(at, part)| (at % 2 == 1, part.to_owned())).collect())
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

impl Page {
    fn of(document: &Value) -> Page {
        let mut groups: BTreeMap<String, Vec<Operation>> = BTreeMap::new();
        for (path, item) in document["paths"].as_object().into_iter().flatten() {
            for method in ["get", "post", "patch", "put", "delete"] {
                let operation = &item[method];
                if operation.is_null() {
                    continue;
                }
                let tag = operation["tags"][0].as_str().unwrap_or("Other").to_owned();
                groups
                    .entry(tag)
                    .or_default()
                    .push(Operation::of(path, method, operation));
            }
        }
        let schemas = document["components"]["schemas"].as_object().into_iter().flatten();
        Page {
            title: text(&document["info"], "title"),
            version: text(&document["info"], "version"),
            description: text(&document["info"], "description")
                .split("\n\n")
                .map(prose)
                .collect(),
            groups: groups
                .into_iter()
                .map(|(name, operations)| Group { name, operations })
                .collect(),
            schemas: schemas.map(|(name, schema)| Schema::of(name, schema)).collect(),
        }
    }
}

impl Operation {
    fn of(path: &str, method: &str, operation: &Value) -> Operation {
        let responses = operation["responses"].as_object().into_iter().flatten();
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        Operation {
            anchor: format!("{method}{path}").replace(['/', '{', '}'], "-"),
            method: method.to_uppercase(),
            path: path.to_owned(),
            summary: prose(&text(operation, "summary")),
            // The summary is the first line of the description; it is not repeated.
            description: prose(
                text(operation, "description")
                    .trim_start_matches(&text(operation, "summary"))
                    .trim(),
            ),
            caller: caller(&operation["security"]),
            parameters: parameters.map(Field::of_parameter).collect(),
            body: operation["requestBody"]["content"]["application/json"]["schema"]
                .as_object()
                .map(|schema| kind(&Value::Object(schema.clone()))),
            responses: responses
                .map(|(status, response)| Answer {
                    status: status.clone(),
                    description: prose(&text(response, "description")),
                    kind: kind(&response["content"]["application/json"]["schema"]),
                })
                .collect(),
        }
    }
}

/// A description of the allowed callers.
fn caller(security: &Value) -> String {
    let Some(ways) = security.as_array().filter(|ways| !ways.is_empty()) else {
        return "Anybody".to_owned();
    };
    let words = ways.iter().map(|way| match (&way["apiKey"], &way["session"]) {
        (Value::Array(scopes), _) if scopes.is_empty() => "an API key".to_owned(),
        (Value::Array(scopes), _) => format!("an API key with scope {}", scopes[0].as_str().unwrap_or_default()),
        _ => "a session".to_owned(),
    });
    words.collect::<Vec<_>>().join(" or ")
}

impl Field {
    fn of_parameter(parameter: &Value) -> Field {
        Field {
            name: text(parameter, "name"),
            place: text(parameter, "in"),
            kind: kind(&parameter["schema"]),
            required: parameter["required"] == true,
            description: prose(&text(parameter, "description")),
        }
    }
}

impl Schema {
    fn of(name: &str, schema: &Value) -> Schema {
        let required = |field: &str| {
            schema["required"]
                .as_array()
                .is_some_and(|names| names.iter().any(|name| name == field))
        };
        let fields = schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(field, property)| Field {
                name: field.clone(),
                place: String::new(),
                kind: kind(property),
                required: required(field),
                description: prose(&text(property, "description")),
            });
        Schema {
            name: name.to_owned(),
            description: prose(&text(schema, "description")),
            kind: kind(schema),
            fields: fields.collect(),
        }
    }
}

/// A short description of a schema's type; for an enum, its words.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"]
        .as_str()
        .and_then(|reference| reference.rsplit('/').next())
    {
        return name.to_owned();
    }
    for many in ["oneOf", "anyOf", "allOf"] {
        if let Some(choices) = schema[many].as_array() {
            return choices
                .iter()
                .map(kind)
                .filter(|kind| !kind.is_empty())
                .collect::<Vec<_>>()
                .join(" or ");
        }
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ");
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => format!("{}[]", kind(&schema["items"])),
        Value::String(name) => name.clone(),
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn responses_share_their_bytes() {
        let shared = Document::new(OpenApi::default);
        let mut places = Vec::new();
        for _ in 0..2 {
            let json = document(Extension(shared.clone())).await;
            let page = viewer(Extension(shared.clone())).await.unwrap();
            for response in [json, page] {
                let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
                places.push(body.as_ptr());
            }
        }
        assert_eq!(places[..2], places[2..]);
    }
}
