//! `api`: any API call, for requests that have no command.

use bytes::Bytes;
use launchway_client::RawAnswer;
use serde::de::IgnoredAny;

use crate::args::api::ApiArgs;
use crate::commands::text_or_file;
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::read_input;

/// No body of the API is larger; packages go to object storage.
const LONGEST_INPUT: u64 = 16 * 1024 * 1024;

pub async fn run(arguments: ApiArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let path = path(&arguments.path)?;
    let body = match arguments.data {
        Some(data) => Some(json(data).await?),
        None => None,
    };
    let answer: RawAnswer = client.raw(arguments.method, &path, body).await?;
    context.printer.line(&answer.body)?;
    answer.or_error().map(drop).map_err(Failure::from)
}

/// The path below `/api`. The argument may include `/api` and may omit the first slash.
fn path(text: &str) -> Result<String, Failure> {
    if text.contains("://") {
        return Err(
            Failure::usage("PATH is only the part of the address under /api").hint("give the server with --url")
        );
    }
    let text = text.trim_start_matches('/');
    let below = text.strip_prefix("api/").unwrap_or(text);
    Ok(format!("/{below}"))
}

/// Reads the body and checks that it is JSON, so that a mistake is reported before a request.
async fn json(data: String) -> Result<Bytes, Failure> {
    let text = if data == "-" {
        read_input(LONGEST_INPUT).await?
    } else {
        text_or_file(data)?
    };
    serde_json::from_str::<IgnoredAny>(&text)
        .map_err(|error| Failure::usage(format!("the data is not JSON: {error}")))?;
    Ok(Bytes::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_below_the_api_however_they_are_written() {
        for text in [
            "/update?id=1",
            "update?id=1",
            "/api/update?id=1",
            "api/update?id=1",
            "//update?id=1",
        ] {
            assert_eq!(path(text).expect(text), "/update?id=1");
        }
        assert_eq!(path("/api-keys").expect("a path"), "/api-keys");
        path("https://other.example/api/update").expect_err("an address");
    }
}
