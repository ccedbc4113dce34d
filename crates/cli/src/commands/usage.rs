//! `usage`: the organization's usage by month, and its quotas.

use indicatif::HumanBytes;
use launchway_api::usage::UsageView;

use crate::args::org::UsageArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::fields;
use crate::printer::table::Table;

pub async fn run(arguments: UsageArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    match arguments.month {
        None => {
            let answer = client.usage(arguments.page.paging()).await?;
            context.printer.page("month", &answer, table)
        }
        Some(month) => {
            let answer = client.usage_of(&month).await?;
            context.printer.result(&answer.body, || prose(&answer.value))
        }
    }
}

fn table(months: &[UsageView]) -> Table {
    let mut table = Table::new(&[
        "Month",
        "Builds",
        "Minutes",
        "Submissions",
        "Updates",
        "Checks",
        "Stored",
    ]);
    for month in months {
        table.row(vec![
            month.id.clone(),
            month.builds.to_string(),
            month.build_minutes.to_string(),
            month.submissions.to_string(),
            month.updates.to_string(),
            month.checks.to_string(),
            bytes(month.bytes),
        ]);
    }
    table
}

fn prose(month: &UsageView) -> String {
    let of = |used: i64, most: Option<u64>| match most {
        Some(most) => format!("{used} of {most}"),
        None => used.to_string(),
    };
    let quotas = &month.quotas;
    let stored = match quotas.bytes {
        Some(most) => format!("{} of {}", bytes(month.bytes), HumanBytes(most)),
        None => bytes(month.bytes),
    };
    fields(&[
        ("Month", format!("{}, {}", month.id, month.status)),
        ("Tier", month.tier.as_str().to_owned()),
        ("Builds", of(month.builds, quotas.builds)),
        ("Build minutes", of(month.build_minutes, quotas.build_minutes)),
        ("Submissions", of(month.submissions, quotas.submissions)),
        ("Updates", of(month.updates, quotas.updates)),
        ("Checks", month.checks.to_string()),
        ("Stored", stored),
    ])
}

fn bytes(count: i64) -> String {
    HumanBytes(count.try_into().unwrap_or(0)).to_string()
}
