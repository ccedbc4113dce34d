//! The arguments of `webhook`.

use clap::{Args, Subcommand};

use crate::args::resource::{DeleteArgs, IdArgs, PageArgs};

/// What follows the help of `webhook`.
pub const EXAMPLES: &str = "\
Examples:
  launchway webhook create Chat --to https://hooks.example.com/launchway --event update.published
  launchway webhook update webhook_… --event '*'
  launchway webhook test webhook_…

The signing secret is printed only when the webhook is created or the secret is rotated.";

/// The commands on webhooks.
#[derive(Debug, Subcommand)]
pub enum WebhookCommand {
    /// List webhooks, newest first
    List(PageArgs),
    /// Show one webhook and its newest delivery
    Show(IdArgs),
    /// Create a webhook and print its secret once
    Create(CreateWebhookArgs),
    /// Change a webhook; options that are not given keep their values
    Update(UpdateWebhookArgs),
    /// Delete a webhook with its deliveries
    Delete(DeleteArgs),
    /// Send a webhook.test event to a webhook
    Test(IdArgs),
    /// List the deliveries to a webhook, newest first
    Deliveries {
        /// Id of the webhook
        #[arg(value_name = "ID")]
        id: String,
        /// Which page
        #[command(flatten)]
        page: PageArgs,
    },
    /// Send the event of a delivery again
    Redeliver {
        /// Id of the delivery, as shown by `webhook deliveries`
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Rotate a webhook's secret and print the new one once; both are valid for 24 hours
    RotateSecret(IdArgs),
}

/// The arguments of `webhook create`.
#[derive(Args, Debug)]
pub struct CreateWebhookArgs {
    /// Display name of the webhook
    #[arg(value_name = "NAME")]
    pub name: String,
    /// URL that receives the events: https, on a public host
    #[arg(long, value_name = "URL")]
    pub to: String,
    /// Event to send, such as update.published, or * for all; can be repeated
    #[arg(long = "event", value_name = "EVENT", default_value = "*")]
    pub events: Vec<String>,
    /// Format of the messages: for a program, or for a chat channel
    #[arg(long = "type", value_name = "TYPE", value_parser = ["generic", "slack", "teams"])]
    pub kind: Option<String>,
    /// Only events of this app; can be repeated
    #[arg(long = "bundle-id", value_name = "ID")]
    pub bundle_ids: Vec<String>,
}

/// The arguments of `webhook update`.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("change").required(true).multiple(true)
    .args(["name", "to", "events", "kind", "bundle_ids", "all_apps", "enable", "disable"]))]
pub struct UpdateWebhookArgs {
    /// Id of the webhook
    #[arg(value_name = "ID")]
    pub id: String,
    /// Display name of the webhook
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// URL that receives the events
    #[arg(long, value_name = "URL")]
    pub to: Option<String>,
    /// Event to send, replacing the current ones; can be repeated
    #[arg(long = "event", value_name = "EVENT")]
    pub events: Vec<String>,
    /// Format of the messages
    #[arg(long = "type", value_name = "TYPE", value_parser = ["generic", "slack", "teams"])]
    pub kind: Option<String>,
    /// Only events of this app; can be repeated
    #[arg(long = "bundle-id", value_name = "ID", conflicts_with = "all_apps")]
    pub bundle_ids: Vec<String>,
    /// Events of every app
    #[arg(long)]
    pub all_apps: bool,
    /// Enable a disabled webhook
    #[arg(long, conflicts_with = "disable")]
    pub enable: bool,
    /// Disable the webhook
    #[arg(long)]
    pub disable: bool,
}
