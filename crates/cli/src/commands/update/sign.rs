//! `update sign`: signs updates that wait, after their packages were compared with what the signer vouches for.

use std::collections::BTreeMap;

use launchway_api::updates::UpdateView;
use launchway_client::{Client, Error, Paging, UpdateFilter};
use launchway_domain::update::UpdateStatus;
use launchway_trust::UpdateRole;
use serde_json::{Value, json};

use crate::args::update::UpdateSignArgs;
use crate::commands::update::show;
use crate::commands::update::signing::evidence::Evidence;
use crate::commands::update::signing::{
    MAX_PAGES, Outcome, PAGE, SigningDesk, WaitingUpdate, check_package, ids_of, role_of,
};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::trust::file::ProjectTrust;

pub async fn run(arguments: UpdateSignArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let evidence = Evidence::read(&arguments.package, &arguments.sha256, arguments.all.as_deref()).await?;
    let updates = match arguments.all {
        None => by_id(&arguments.ids, &client).await?,
        Some(_) => covered(&arguments, &evidence, &client, context).await?,
    };
    let bundle_id = one_app(&updates)?;
    let mut desk = SigningDesk::required(&bundle_id, arguments.sign_with.as_deref(), &client, context)?;
    let mut roles: BTreeMap<UpdateRole, Vec<UpdateView>> = BTreeMap::new();
    for update in updates.iter().cloned() {
        let role = role_of(update.configuration.as_deref())?;
        roles.entry(role).or_default().push(update);
    }
    let force = arguments.force.then_some(true);
    for (role, mut updates) in roles {
        if !arguments.force {
            add_those_of_draft(&mut updates, &role, &desk).await?;
        }
        let repository = desk.repository().await?;
        let mut waiting = Vec::new();
        for update in &updates {
            let wanted = desk.examine(update, &role, &repository, &evidence).await?;
            let id = update.id.clone();
            waiting.push(WaitingUpdate { id, wanted });
        }
        if let Outcome::Lacks(missing) = desk.sign_waiting(&role, &waiting, force).await? {
            let more = match missing {
                1 => "1 more signature".to_owned(),
                many => format!("{many} more signatures"),
            };
            context
                .printer
                .note(&format!("{role} needs {more} before the update is published"));
        }
    }
    desk.renew_due_roles().await;
    print(&updates, &client, context).await
}

/// The updates with these ids, which must wait.
async fn by_id(ids: &[String], client: &Client) -> Result<Vec<UpdateView>, Failure> {
    let mut updates: Vec<UpdateView> = Vec::new();
    for id in ids {
        if updates.iter().any(|known| known.id == *id) {
            continue;
        }
        let update = client.update(id).await?.value;
        if update.status != UpdateStatus::AwaitingSignature {
            return Err(Failure::usage(format!(
                "{id} does not wait for a signature: it is {}",
                update.status
            )));
        }
        updates.push(update);
    }
    Ok(updates)
}

/// The waiting updates of the app whose packages are vouched for.
async fn covered(
    arguments: &UpdateSignArgs,
    evidence: &Evidence,
    client: &Client,
    context: &Context,
) -> Result<Vec<UpdateView>, Failure> {
    let bundle_id = match &arguments.bundle_id {
        Some(told) => Some(told.clone()),
        None => ProjectTrust::only_app(&context.settings.root)?,
    };
    let bundle_id = bundle_id.ok_or_else(|| Failure::usage("no app specified").hint("give --bundle-id ID"))?;
    let filter = UpdateFilter {
        bundle_id: Some(bundle_id.to_string()),
        status: Some(UpdateStatus::AwaitingSignature.to_string()),
        ..UpdateFilter::default()
    };
    let mut updates = Vec::new();
    for page in 0..MAX_PAGES {
        let offset = page * u64::from(PAGE);
        let items = client
            .updates(&filter, Paging { limit: PAGE, offset })
            .await?
            .value
            .items;
        let is_last = items.len() < PAGE as usize;
        updates.extend(items.into_iter().filter(|update| evidence.covers(&update.sha256)));
        if is_last {
            break;
        }
    }
    match updates.is_empty() {
        true => Err(Failure::new(
            Exit::NotFound,
            format!("no update of {bundle_id} with one of these packages waits for a signature"),
        )),
        false => Ok(updates),
    }
}

fn one_app(updates: &[UpdateView]) -> Result<String, Failure> {
    let mut apps = updates.iter().map(|update| update.bundle_id.clone());
    let first = apps.next().ok_or_else(|| Failure::usage("no update specified"))?;
    match apps.all(|other| other == first) {
        true => Ok(first),
        false => Err(Failure::usage("these updates are of different apps").hint("sign those of one app at a time")),
    }
}

/// Adds the other updates of a draft that somebody signed: it is signed as a whole or not at all.
async fn add_those_of_draft(
    updates: &mut Vec<UpdateView>,
    role: &UpdateRole,
    desk: &SigningDesk<'_>,
) -> Result<(), Failure> {
    let bundle_id = desk.project.bundle_id.as_str();
    let draft = match desk.service.trust_draft(bundle_id, &role.to_string()).await {
        Ok(draft) => draft.value,
        Err(Error::Api { status: 404, .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let ids = ids_of(&draft);
    let is_signed = draft.keys.iter().any(|key| key.signed);
    if !is_signed || !updates.iter().all(|update| ids.contains(update.id.as_str())) {
        return Ok(());
    }
    let others: Vec<String> = ids
        .into_iter()
        .filter(|id| !updates.iter().any(|update| update.id == *id))
        .map(str::to_owned)
        .collect();
    if !others.is_empty() {
        let list = others.join(", ");
        desk.context
            .printer
            .note(&format!("The draft that others signed also publishes {list}"));
    }
    updates.extend(by_id(&others, desk.service).await?);
    Ok(())
}

/// Prints the updates as they are now.
async fn print(updates: &[UpdateView], client: &Client, context: &Context) -> Result<(), Failure> {
    if let [only] = updates {
        let answer = client.update(&only.id).await?;
        check_package(&answer.value, &only.sha256)?;
        return show::print_published(&answer, client, context).await;
    }
    let (mut items, mut prose) = (Vec::new(), String::new());
    for update in updates {
        let answer = client.update(&update.id).await?;
        let names = show::names(&answer.value, client, context).await;
        prose.push_str(&format!("{}\n", show::prose(&answer.value, &names)));
        items.push(serde_json::from_str::<Value>(&answer.body).unwrap_or_default());
    }
    context.printer.result(&json!({ "items": items }).to_string(), || prose)
}
