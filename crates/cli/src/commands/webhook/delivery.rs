//! Prints the deliveries of a webhook.

use launchway_api::webhooks::DeliveryView;
use launchway_client::Answer;

use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::{fields, format_minute};
use crate::printer::table::Table;

/// Prints a new delivery. Its result is known only after an attempt.
pub fn print_new(answer: &Answer<DeliveryView>, context: &Context) -> Result<(), Failure> {
    let delivery = &answer.value;
    context.printer.result(&answer.body, || {
        fields(&[
            ("Id", delivery.id.clone()),
            ("Status", delivery.status.to_string()),
            ("Webhook", delivery.webhook_id.clone()),
            ("Event", format!("{} {}", delivery.event_id, delivery.kind)),
        ])
    })?;
    context.printer.note(&format!(
        "To see the result: launchway webhook deliveries {}",
        delivery.webhook_id
    ));
    Ok(())
}

/// Deliveries with the results of their last attempts.
pub fn table(deliveries: &[DeliveryView]) -> Table {
    let mut table = Table::new(&[
        "Id",
        "Status",
        "Event",
        "Made",
        "Tries",
        "Last response",
        "Next attempt",
    ]);
    for delivery in deliveries {
        let next = delivery.next_attempt_at.as_deref().map(format_minute);
        table.row(vec![
            delivery.id.clone(),
            delivery.status.to_string(),
            delivery.kind.to_string(),
            format_minute(&delivery.created_at),
            delivery.attempts.len().to_string(),
            last_answer(delivery),
            next.unwrap_or_default(),
        ]);
    }
    table
}

fn last_answer(delivery: &DeliveryView) -> String {
    let last = delivery.attempts.last();
    let answered = last.and_then(|attempt| attempt.response_status);
    let why = delivery
        .reason
        .clone()
        .or_else(|| last.and_then(|attempt| attempt.error.clone()));
    let parts = [answered.map(|status| status.to_string()), why];
    parts.into_iter().flatten().collect::<Vec<_>>().join(": ")
}
