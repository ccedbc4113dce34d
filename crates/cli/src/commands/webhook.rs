//! `webhook`: receivers of events, and their deliveries.

mod delivery;

use launchway_api::open::{self, join_words};
use launchway_api::webhooks::{CreateWebhook, ReplaceWebhook, WebhookView, WebhookWithSecret};
use launchway_client::Answer;
use launchway_domain::webhook::WebhookStatus;

use crate::args::webhook::{CreateWebhookArgs, UpdateWebhookArgs, WebhookCommand};
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::fields;
use crate::printer::table::Table;

pub async fn run(command: WebhookCommand, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let printer = &context.printer;
    match command {
        WebhookCommand::List(page) => printer.page("webhook", &client.webhooks(page.paging()).await?, table),
        WebhookCommand::Show(webhook) => {
            let answer = client.webhook(&webhook.id).await?;
            printer.result(&answer.body, || prose(&answer.value))
        }
        WebhookCommand::Create(arguments) => {
            let answer = client.create_webhook(&wanted(arguments)).await?;
            with_secret(&answer, context)
        }
        WebhookCommand::Update(arguments) => {
            let present = client.webhook(&arguments.id).await?.value;
            let answer = client.replace_webhook(&changed(present, arguments)).await?;
            printer.result(&answer.body, || prose(&answer.value))
        }
        WebhookCommand::Delete(webhook) => {
            let question = async || {
                let record = client.webhook(&webhook.id).await?.value;
                Ok(format!("Delete {} ({}) with its deliveries?", record.name, record.id))
            };
            context.terminal.require_confirmation_of(webhook.yes, question).await?;
            let answer = client.delete_webhook(&webhook.id).await?;
            printer.deletion(&answer, &answer.value.id)
        }
        WebhookCommand::Test(webhook) => {
            let answer = client.test_webhook(&webhook.id).await?;
            delivery::print_new(&answer, context)
        }
        WebhookCommand::Deliveries { id, page } => {
            let answer = client.deliveries(&id, page.paging()).await?;
            printer.page("delivery", &answer, delivery::table)
        }
        WebhookCommand::Redeliver { id } => {
            let answer = client.redeliver(&id).await?;
            delivery::print_new(&answer, context)
        }
        WebhookCommand::RotateSecret(webhook) => {
            let answer = client.rotate_webhook_secret(&webhook.id).await?;
            with_secret(&answer, context)
        }
    }
}

fn wanted(arguments: CreateWebhookArgs) -> CreateWebhook {
    CreateWebhook {
        name: arguments.name,
        url: arguments.to,
        events: events(arguments.events),
        kind: arguments.kind.map(open::WebhookType::of),
        bundle_ids: Some(arguments.bundle_ids).filter(|ids| !ids.is_empty()),
    }
}

fn events(names: Vec<String>) -> Vec<open::EventName> {
    names.into_iter().map(open::EventName::of).collect()
}

fn instead<T>(requested: Vec<T>, kept: Vec<T>) -> Vec<T> {
    if requested.is_empty() { kept } else { requested }
}

/// The complete record, with the changes of the arguments.
fn changed(present: WebhookView, arguments: UpdateWebhookArgs) -> ReplaceWebhook {
    let status = match (arguments.enable, arguments.disable) {
        (true, _) => Some(WebhookStatus::Active.into()),
        (_, true) => Some(WebhookStatus::Disabled.into()),
        (false, false) => None,
    };
    let bundle_ids = if arguments.all_apps {
        Vec::new()
    } else {
        instead(arguments.bundle_ids, present.bundle_ids)
    };
    ReplaceWebhook {
        id: Some(present.id),
        status,
        name: arguments.name.unwrap_or(present.name),
        url: arguments.to.unwrap_or(present.url),
        events: instead(events(arguments.events), present.events),
        kind: Some(arguments.kind.map_or(present.kind, open::WebhookType::of)),
        bundle_ids: Some(bundle_ids),
        disabled_reason: None,
        created_at: None,
        last_delivery: None,
    }
}

/// Prints the secret alone to standard output, and the webhook to standard error.
fn with_secret(answer: &Answer<WebhookWithSecret>, context: &Context) -> Result<(), Failure> {
    let record = &answer.value.record;
    // A previous attempt of this request created the secret, and the only response with it was lost.
    let Some(secret) = &answer.value.secret else {
        let message = format!(
            "{} was created, but the response that shows its secret was lost",
            record.id
        );
        return Err(Failure::failed(message).hint(format!(
            "create a new secret: launchway webhook rotate-secret {}",
            record.id
        )));
    };
    context.printer.note(prose(record).trim_end());
    context.printer.result(&answer.body, || format!("{secret}\n"))?;
    context
        .printer
        .note("Copy the secret now: it is not shown again. Deliveries are signed with it.");
    Ok(())
}

fn table(webhooks: &[WebhookView]) -> Table {
    let mut table = Table::new(&["Id", "Status", "Name", "Url", "Type", "Events", "Last delivery"]);
    for webhook in webhooks {
        let last = webhook.last_delivery.as_ref();
        table.row(vec![
            webhook.id.clone(),
            webhook.status.to_string(),
            webhook.name.clone(),
            webhook.url.clone(),
            webhook.kind.to_string(),
            join_words(&webhook.events, " "),
            last.map_or("none".to_owned(), |delivery| delivery.status.to_string()),
        ]);
    }
    table
}

fn prose(webhook: &WebhookView) -> String {
    let mut rows = vec![
        ("Id", webhook.id.clone()),
        ("Status", webhook.status.to_string()),
        ("Because", webhook.disabled_reason.clone().unwrap_or_default()),
        ("Name", webhook.name.clone()),
        ("Url", webhook.url.clone()),
        ("Type", webhook.kind.to_string()),
        ("Events", join_words(&webhook.events, "\n")),
        (
            "Apps",
            if webhook.bundle_ids.is_empty() {
                "all".to_owned()
            } else {
                webhook.bundle_ids.join("\n")
            },
        ),
        ("Since", webhook.created_at.clone()),
    ];
    if let Some(last) = &webhook.last_delivery {
        rows.push(("Last delivery", format!("{} {}", last.id, last.status)));
    }
    fields(&rows)
}
