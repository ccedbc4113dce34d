//! `deployment-key`: the keys by which apps with CodePush's client find their updates.

use launchway_api::deployment_keys::{CreateDeploymentKey, DeploymentKeyView};

use crate::args::deployment_key::{AddDeploymentKeyArgs, DeploymentKeyCommand};
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::{fields, format_minute};
use crate::printer::table::Table;

/// What stands for a key that finds only updates for every configuration.
const EVERY: &str = "every configuration";

pub async fn run(command: DeploymentKeyCommand, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let printer = &context.printer;
    match command {
        DeploymentKeyCommand::List { bundle_id, page } => {
            let bundle_id = bundle_id.map(|id| id.to_string());
            let answer = client.deployment_keys(bundle_id.as_deref(), page.paging()).await?;
            printer.page("deployment key", &answer, table)
        }
        DeploymentKeyCommand::Add(arguments) => {
            let answer = client.create_deployment_key(&wanted(arguments)).await?;
            printer.note(fields(&about(&answer.value)).trim_end());
            printer.result(&answer.body, || format!("{}\n", answer.value.key))
        }
        DeploymentKeyCommand::Remove(key) => {
            let question = async || {
                let record = client.deployment_key(&key.id).await?.value;
                let (of, app) = (configuration(&record), record.bundle_id.as_str());
                Ok(format!(
                    "Remove the key of {app} for {} ({of})? Apps that have it get no more updates.",
                    record.platform
                ))
            };
            context.terminal.require_confirmation_of(key.yes, question).await?;
            let answer = client.delete_deployment_key(&key.id).await?;
            printer.deletion(&answer, &answer.value.id)
        }
    }
}

fn wanted(arguments: AddDeploymentKeyArgs) -> CreateDeploymentKey {
    CreateDeploymentKey {
        bundle_id: arguments.bundle_id.to_string(),
        platform: arguments.platform.into(),
        configuration: arguments.configuration.map(|label| label.as_str().to_owned()),
        key: arguments.key,
    }
}

fn configuration(key: &DeploymentKeyView) -> &str {
    key.configuration.as_deref().unwrap_or(EVERY)
}

fn about(key: &DeploymentKeyView) -> [(&'static str, String); 4] {
    [
        ("Id", key.id.clone()),
        ("App", key.bundle_id.clone()),
        ("Platform", key.platform.to_string()),
        ("Configuration", configuration(key).to_owned()),
    ]
}

fn table(keys: &[DeploymentKeyView]) -> Table {
    let mut table = Table::new(&["Id", "App", "Platform", "Configuration", "Key", "Since"]);
    for key in keys {
        table.row(vec![
            key.id.clone(),
            key.bundle_id.clone(),
            key.platform.to_string(),
            configuration(key).to_owned(),
            key.key.clone(),
            format_minute(&key.created_at),
        ]);
    }
    table
}
