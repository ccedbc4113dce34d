//! `org` and `audit`: the organization and its audit log.

use launchway_api::audit::AuditView;
use launchway_api::orgs::{MemberView, OrgView};
use launchway_client::AuditFilter;
use serde_json::json;

use crate::args::org::{AuditCommand, OrgCommand};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::names::{Names, label};
use crate::printer::fields::{fields, format_minute};
use crate::printer::table::Table;
use crate::settings::{Key, Origin};

pub async fn run(command: OrgCommand, context: &Context) -> Result<(), Failure> {
    let printer = &context.printer;
    match command {
        OrgCommand::List(page) => {
            let answer = context.client()?.orgs(page.paging()).await?;
            printer.page("organization", &answer, organizations)
        }
        OrgCommand::Use { id } => choose(&id, context).await,
        OrgCommand::Show { id } => show(id, context).await,
        OrgCommand::Members(page) => {
            let answer = context.client()?.members(page.paging()).await?;
            printer.page("member", &answer, members)
        }
    }
}

/// Saves an organization with the login, after the server has confirmed that the login may act in it.
async fn choose(id: &str, context: &Context) -> Result<(), Failure> {
    let service = context.settings.service;
    let saved = matches!(
        context.settings.key,
        Key::Known {
            source: Origin::Login,
            ..
        }
    );
    if !saved {
        return Err(
            Failure::usage("the organization is saved with a login, and there is no saved login here").hint(
                "run `launchway login`; with LAUNCHWAY_API_KEY, choose the organization with LAUNCHWAY_ORG or --org",
            ),
        );
    }
    // The previously chosen organization must not affect this check.
    let client = context.client_in(None)?;
    let answer = client.org(id).await.map_err(|error| {
        let failure = Failure::from(error);
        match failure.exit {
            Exit::NotFound | Exit::Auth => {
                failure.hint("an API key acts in one organization: run `launchway login` with a key of the other one")
            }
            _ => failure,
        }
    })?;
    context.login_file.choose_org(service, &answer.value.id)?;
    let json = json!({ "environment": service.as_str(), "org": answer.value.id });
    print_choice(&answer.value, &json.to_string(), context)
}

fn print_choice(org: &OrgView, json: &str, context: &Context) -> Result<(), Failure> {
    context
        .printer
        .result(json, || format!("Later commands act in {} ({})\n", org.name, org.id))?;
    let setting = context.settings.org.as_ref();
    if let Some(setting) = setting.filter(|setting| setting.source != Origin::Login && setting.value != org.id) {
        let warning = format!("{} is set to another organization, and overrides this", setting.source);
        context.printer.warn(&warning);
    }
    Ok(())
}

async fn show(id: Option<String>, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let id = match id {
        Some(id) => id,
        None => {
            let caller = client.session().await?.value;
            let org = caller.organization.map(|org| org.id);
            org.ok_or_else(|| Failure::new(Exit::NotFound, "you are not a member of an organization"))?
        }
    };
    let answer = client.org(&id).await?;
    let org = &answer.value;
    context.printer.result(&answer.body, || {
        fields(&[
            ("Id", org.id.clone()),
            ("Status", org.status.to_string()),
            ("Name", org.name.clone()),
            ("Tier", org.tier.as_str().to_owned()),
            ("Your role", role(org)),
            ("Since", org.created_at.clone()),
        ])
    })
}

fn role(org: &OrgView) -> String {
    org.role.as_ref().map(ToString::to_string).unwrap_or_default()
}

fn organizations(orgs: &[OrgView]) -> Table {
    let mut table = Table::new(&["Id", "Name", "Tier", "Role"]);
    for org in orgs {
        table.row(vec![
            org.id.clone(),
            org.name.clone(),
            org.tier.as_str().to_owned(),
            role(org),
        ]);
    }
    table
}

fn members(members: &[MemberView]) -> Table {
    let mut table = Table::new(&["Id", "E-mail", "Role", "Since"]);
    for member in members {
        table.row(vec![
            member.id.clone(),
            member.email.clone(),
            member.role.as_str().to_owned(),
            format_minute(&member.created_at),
        ]);
    }
    table
}

/// `audit list`: who did what.
pub async fn audit(command: AuditCommand, context: &Context) -> Result<(), Failure> {
    let AuditCommand::List(arguments) = command;
    let filter = AuditFilter {
        actor: arguments.actor,
        action: arguments.action,
        resource: arguments.resource,
        since: arguments.since,
        until: arguments.until,
    };
    let client = context.client()?;
    let answer = client.audit(&filter, arguments.page.paging()).await?;
    let lines_read = answer.value.items.iter();
    let ids = lines_read.flat_map(|line| [line.actor.as_str(), line.resource.as_str()]);
    let names = Names::read(ids, &client, context).await;
    context.printer.page("line", &answer, |page| lines(page, &names))
}

/// The resource of a line with its name, which the line itself has of what was created, changed or deleted.
fn resource(line: &AuditView, names: &Names) -> String {
    let states = [&line.after, &line.before].into_iter().flatten();
    let name = states.flat_map(|state| ["name", "email", "bundleId"].map(|field| state[field].as_str()));
    match name.flatten().find(|name| *name != line.resource) {
        Some(name) => label(name, &line.resource),
        None => names.label(&line.resource),
    }
}

fn lines(lines: &[AuditView], names: &Names) -> Table {
    let mut table = Table::new(&["Number", "At", "Who", "Action", "Resource", "From"]);
    for line in lines {
        table.row(vec![
            line.seq.to_string(),
            line.at.clone(),
            names.label(&line.actor),
            line.action.clone(),
            resource(line, names),
            line.address.clone().unwrap_or_default(),
        ]);
    }
    table
}
