//! The path of the spec whose operations come with a later release: `/submit`.
//! It authenticates and checks scopes already; nothing can be made behind them, so lists are empty and no id is known.

use axum::response::Response;
use launchway_api::error::ErrorBody;
use launchway_store::{Paging, Rows};
use serde_json::Value;

use crate::failure::Failure;
use crate::http::answers::page;
use crate::http::extract::Query;

fn empty(query: &Query, what: &'static str) -> Result<Response, Failure> {
    let given = query.given("id")?;
    let paging: Paging = query.paging()?;
    match given {
        Some("") => Err(Failure::bad("id is required")),
        Some(_) => Err(Failure::NoSuch(what)),
        None => Ok(page(
            Rows {
                items: Vec::<Value>::new(),
                total: 0,
            },
            paging,
            Value::clone,
        )),
    }
}

fn none(query: &Query, what: &'static str) -> Failure {
    match query.get("id") {
        Ok(Some(_)) => Failure::NoSuch(what),
        Ok(None) => Failure::bad("id is required"),
        Err(failure) => failure,
    }
}

fn not_yet(what: &str) -> Failure {
    Failure::bad(format!(
        "This version of the server cannot do this yet: {what} come with a later release"
    ))
}

macro_rules! later {
    ($module:ident, $path:literal, $tag:literal, $what:literal, $many:literal) => {
        #[doc = concat!("`", $path, "`.")]
        pub mod $module {
            use super::*;

            #[doc = concat!("Lists ", $many, ". There are none yet: they come with a later release.")]
            #[utoipa::path(
                get,
                path = $path,
                tag = $tag,
                params(
                    ("id" = Option<String>, Query, description = "Read this one instead of listing"),
                    ("limit" = Option<i64>, Query, description = "Items at most, 1 to 100", minimum = 1),
                    ("offset" = Option<i64>, Query, description = "Items to skip", minimum = 0),
                ),
                responses(
                    (status = 200, description = "An empty page", body = launchway_api::lists::Page<Value>),
                    (status = 404, description = "Nothing has this id", body = ErrorBody),
                )
            )]
            pub async fn list(query: Query) -> Result<Response, Failure> {
                empty(&query, $what)
            }

            /// Comes with a later release; until then always 400.
            #[utoipa::path(post, path = $path, tag = $tag, responses((status = 400, description = "Not yet", body = ErrorBody)))]
            pub async fn create() -> Failure {
                not_yet($many)
            }

            #[doc = concat!("Deletes one of the ", $many, ". There are none yet: they come with a later release.")]
            #[utoipa::path(
                delete,
                path = $path,
                tag = $tag,
                params(("id" = String, Query, description = "Which one")),
                responses((status = 404, description = "Nothing has this id", body = ErrorBody))
            )]
            pub async fn delete(query: Query) -> Failure {
                none(&query, $what)
            }
        }
    };
}

later!(submit, "/submit", "Submit", "submission", "submissions");
