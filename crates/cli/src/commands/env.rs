//! `env`: the environment variables of builds. Values are never displayed.

mod dotenv;
mod value;

use launchway_api::env_vars::{EnvVarView, SetEnvVar};
use launchway_api::open;
use launchway_api::secret::SecretText;
use launchway_client::{Client, Paging};
use launchway_domain::env_var::{EnvVarKind, Visibility};

use crate::args::env::{EnvCommand, ImportArgs, ScopeArgs, SetArgs};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::names::Names;
use crate::printer::fields::{fields, format_minute};
use crate::printer::table::Table;

/// The largest page that the server returns (`docs/reference/conventions.md#lists`).
const PAGE: u32 = 100;

pub async fn run(command: EnvCommand, context: &Context) -> Result<(), Failure> {
    match command {
        EnvCommand::List(page) => {
            let answer = context.client()?.env_vars(page.paging()).await?;
            context.printer.page("environment variable", &answer, table)
        }
        EnvCommand::Set(arguments) => set(arguments, context).await,
        EnvCommand::Import(arguments) => import(arguments, context).await,
        EnvCommand::Delete { name, yes } => delete(&name, yes, context).await,
    }
}

async fn set(arguments: SetArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let (value, path) = value::of(&arguments, context).await?;
    let wanted = scoped(arguments.name, value, path, &arguments.scope);
    let answer = client.set_env_var(&wanted).await?;
    context.printer.result(&answer.body, || prose(&answer.value))
}

/// Sets the variables one by one and reports each: those before a failure remain set.
async fn import(arguments: ImportArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let text = value::file_or_input(&arguments.file).await?;
    let shown = arguments.file.display();
    let variables = dotenv::read(text.reveal())
        .map_err(|problem| Failure::usage(format!("{shown}, line {}: {}", problem.line, problem.what)))?;
    let count = variables.len();
    for (name, value) in variables {
        let answer = client.set_env_var(&scoped(name, value, None, &arguments.scope)).await?;
        context
            .printer
            .result(&answer.body, || format!("{} is set\n", answer.value.name))?;
    }
    let set = if count == 1 {
        "1 variable".to_owned()
    } else {
        format!("{count} variables")
    };
    context.printer.note(&format!("{set} set from {shown}"));
    Ok(())
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    Some(list).filter(|list| !list.is_empty())
}

fn scoped(name: String, value: SecretText, path: Option<String>, scope: &ScopeArgs) -> SetEnvVar {
    SetEnvVar {
        name,
        value,
        kind: path.is_some().then(|| EnvVarKind::File.into()),
        path,
        visibility: scope.plain.then(|| Visibility::Plain.into()),
        bundle_id: scope.bundle_id.as_ref().map(ToString::to_string),
        configurations: some(scope.configurations.iter().map(ToString::to_string).collect()),
        platforms: some(scope.platforms.iter().copied().map(open::Platform::from).collect()),
    }
}

async fn delete(name: &str, yes: bool, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let (id, names) = if name.starts_with("env_") {
        (name.to_owned(), Names::default())
    } else {
        let id = id_of(&client, name).await?;
        (id.clone(), Names::one(id, name.to_owned()))
    };
    let question = format!("Delete {name}? Builds will no longer get it.");
    context.terminal.require_confirmation(&question, yes).await?;
    let answer = client.delete_env_var(&id).await?;
    context.printer.deletion(&answer, &names.label(&answer.value.id))
}

/// The id of the only variable with this name.
async fn id_of(client: &Client, name: &str) -> Result<String, Failure> {
    let mut found: Vec<EnvVarView> = Vec::new();
    let mut paging = Paging { limit: PAGE, offset: 0 };
    loop {
        let page = client.env_vars(paging).await?.value;
        let is_last = page.items.len() < PAGE as usize;
        found.extend(page.items.into_iter().filter(|variable| variable.name == name));
        if is_last {
            break;
        }
        paging.offset += u64::from(PAGE);
    }
    match found.as_slice() {
        [one] => Ok(one.id.clone()),
        [] => {
            let message = format!("no environment variable is named {name}");
            Err(Failure::new(Exit::NotFound, message).hint("`launchway env list` lists the variables"))
        }
        several => {
            let each = several
                .iter()
                .map(|variable| format!("\n  {}  {}", variable.id, builds(variable)));
            let message = format!("{} variables are named {name}", several.len());
            Err(Failure::usage(message).hint(format!("give the id of one:{}", each.collect::<String>())))
        }
    }
}

fn table(variables: &[EnvVarView]) -> Table {
    let mut table = Table::new(&["Id", "Name", "Value", "For", "Set"]);
    for variable in variables {
        table.row(vec![
            variable.id.clone(),
            variable.name.clone(),
            shown_value(variable),
            builds(variable),
            format_minute(&variable.updated_at),
        ]);
    }
    table
}

fn prose(variable: &EnvVarView) -> String {
    fields(&[
        ("Id", variable.id.clone()),
        ("Name", variable.name.clone()),
        ("Value", shown_value(variable)),
        ("For", builds(variable)),
        ("Set", variable.updated_at.clone()),
    ])
}

fn shown_value(variable: &EnvVarView) -> String {
    match (&variable.path, &variable.value) {
        (Some(path), _) => format!("file {path} ({})", variable.visibility),
        (None, Some(value)) => value.clone(),
        (None, None) => variable.visibility.to_string(),
    }
}

/// Which builds receive a variable.
fn builds(variable: &EnvVarView) -> String {
    let parts: Vec<String> = variable
        .bundle_id
        .iter()
        .cloned()
        .chain(variable.configurations.iter().cloned())
        .chain(variable.platforms.iter().map(ToString::to_string))
        .collect();
    if parts.is_empty() {
        "every build".to_owned()
    } else {
        parts.join(", ")
    }
}
