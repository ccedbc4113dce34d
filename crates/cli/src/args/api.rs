//! The arguments of `api`.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use launchway_client::Method;

/// The arguments of `api`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  launchway api GET '/update?status=paused'
  launchway api PATCH '/update?id=update_…' -d '{\"rollout\": 50}'
  jq -n '{name: \"CI\", scopes: [\"update\"]}' | launchway api POST /api-keys -d -

The body of the response is printed unchanged, even if it is an error.")]
pub struct ApiArgs {
    /// HTTP method
    #[arg(value_name = "METHOD", ignore_case = true, value_parser = methods())]
    pub method: Method,
    /// Path under /api, with its query
    #[arg(value_name = "PATH")]
    pub path: String,
    /// JSON to send; @FILE reads a file, - reads standard input
    #[arg(short, long, value_name = "JSON")]
    pub data: Option<String>,
}

fn methods() -> impl TypedValueParser<Value = Method> {
    let names = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];
    PossibleValuesParser::new(names).try_map(|name| name.to_ascii_uppercase().parse::<Method>())
}
