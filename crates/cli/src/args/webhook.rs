//! The arguments of `webhook`.

use clap::{Args, Subcommand};

use crate::args::resource::{DeleteArgs, IdArgs, PageArgs};

/// What follows the help of `webhook`.
pub const EXAMPLES: &str = "\
Examples:
  launchway webhook create Chat --to https://hooks.example.com/launchway --event update.published
  launchway webhook update webhook_… --event '*'
  launchway webhook test webhook_…

The secret that deliveries are signed with is printed when the webhook is made or the secret is rotated, and never again.";

/// The commands on webhooks.
#[derive(Debug, Subcommand)]
pub enum WebhookCommand {
    /// List webhooks, newest first
    List(PageArgs),
    /// Show one webhook and its newest delivery
    Show(IdArgs),
    /// Make a webhook and print its secret, this once
    Create(CreateWebhookArgs),
    /// Change a webhook; what is not named stays
    Update(UpdateWebhookArgs),
    /// Delete a webhook with its deliveries
    Delete(DeleteArgs),
    /// Send the event webhook.test to a webhook
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
    /// Send the event of a delivery once more
    Redeliver {
        /// Id of the delivery, as `webhook deliveries` shows it
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Give a webhook a new secret and print it, this once; the old one works for 24 hours beside it
    RotateSecret(IdArgs),
}

/// The arguments of `webhook create`.
#[derive(Args, Debug)]
pub struct CreateWebhookArgs {
    /// What people call the webhook
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Where it is told: an https address of a public host
    #[arg(long, value_name = "URL")]
    pub to: String,
    /// What it is told of, such as update.published; can be repeated. * is everything, also unless told
    #[arg(long = "event", value_name = "EVENT", default_value = "*")]
    pub events: Vec<String>,
    /// For whom the messages are: any program, or a channel of a chat
    #[arg(long = "type", value_name = "TYPE", value_parser = ["generic", "slack", "teams"])]
    pub kind: Option<String>,
    /// Tell only of this app; can be repeated
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
    /// What people call the webhook
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Where it is told
    #[arg(long, value_name = "URL")]
    pub to: Option<String>,
    /// What it is told of, instead of what it was; can be repeated
    #[arg(long = "event", value_name = "EVENT")]
    pub events: Vec<String>,
    /// For whom the messages are
    #[arg(long = "type", value_name = "TYPE", value_parser = ["generic", "slack", "teams"])]
    pub kind: Option<String>,
    /// Tell only of this app; can be repeated
    #[arg(long = "bundle-id", value_name = "ID", conflicts_with = "all_apps")]
    pub bundle_ids: Vec<String>,
    /// Tell of every app
    #[arg(long)]
    pub all_apps: bool,
    /// Turn a disabled webhook on again
    #[arg(long, conflicts_with = "disable")]
    pub enable: bool,
    /// Turn the webhook off
    #[arg(long)]
    pub disable: bool,
}
