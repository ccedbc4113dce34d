//! How deliveries to a webhook are shown.

use launchway_api::webhooks::DeliveryView;
use launchway_client::Answer;

use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::{fields, to_the_minute};
use crate::printer::table::Table;

/// Prints a delivery that was just made. What comes of it is known only after a try.
pub fn begun(answer: &Answer<DeliveryView>, context: &Context) -> Result<(), Failure> {
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
        "`launchway webhook deliveries {}` shows what comes of it.",
        delivery.webhook_id
    ));
    Ok(())
}

/// Deliveries with what came of their last tries.
pub fn table(deliveries: &[DeliveryView]) -> Table {
    let mut table = Table::new(&["Id", "Status", "Event", "Made", "Tries", "Last answer", "Next try"]);
    for delivery in deliveries {
        let next = delivery.next_attempt_at.as_deref().map(to_the_minute);
        table.row(vec![
            delivery.id.clone(),
            delivery.status.to_string(),
            delivery.kind.to_string(),
            to_the_minute(&delivery.created_at),
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
