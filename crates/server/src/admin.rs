//! The operator's commands (`docs/reference/operation.md#operator-commands`). They use the same settings as the server, and
//! work while it runs.

mod backup;

use std::io::{IsTerminal, Read, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Subcommand;
use launchway_api::keys::KeyView;
use launchway_domain::actor::Actor;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::OrgId;
use launchway_domain::org::Org;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::iso;
use serde_json::{Value, json};

use crate::app::{App, StartError, World};
use crate::clock::SystemClock;
use crate::config::Config;
use crate::failure::Failure;
use crate::inspection::Inspector;
use crate::ops::keys::{self, KeyPlan};
use crate::ops::write::{NOTHING, Write};
use crate::ops::{accounts, audit, members, orgs, runners, two_factor};
use crate::outside::resolver::SystemResolver;
use crate::program::CommandError;
use crate::random::SystemRandom;
use crate::vault;

/// What the operator can do.
#[derive(Debug, Subcommand)]
pub enum AdminCommand {
    /// Make an organization
    CreateOrg {
        /// The name people see
        #[arg(long)]
        name: String,
        /// free, pro or enterprise [default: --default-tier]
        #[arg(long)]
        tier: Option<String>,
    },
    /// Make a user in an organization; the password comes from standard input. A user who has an account joins with it
    CreateUser {
        /// The address to sign in with
        #[arg(long)]
        email: String,
        /// The organization's id
        #[arg(long)]
        org: String,
        /// owner, admin or member
        #[arg(long, default_value = "member")]
        role: String,
    },
    /// Make an API key and print it, this once
    CreateKey {
        /// The organization's id
        #[arg(long)]
        org: String,
        /// What people call the key
        #[arg(long)]
        name: String,
        /// What the key may do, of build,submit,update [default: all three, or none with --admin]
        #[arg(long, value_delimiter = ',')]
        scopes: Option<Vec<String>>,
        /// Give it the admin scope, for environment variables, keys, webhooks, members
        #[arg(long)]
        admin: bool,
    },
    /// Make a token that enrols one runner within an hour, and print it, this once
    CreateRunnerToken {
        /// The id of the organization whose builds it takes
        #[arg(long, required_unless_present = "shared")]
        org: Option<String>,
        /// Have it take the builds of every organization
        #[arg(long, conflicts_with = "org")]
        shared: bool,
    },
    /// Change the tier of an organization
    SetTier {
        /// The organization's id
        #[arg(long)]
        org: String,
        /// free, pro or enterprise
        #[arg(long)]
        tier: String,
    },
    /// Print a link by which a user sets a new password within a day
    ResetPassword {
        /// The user's address
        #[arg(long)]
        email: String,
    },
    /// Turn two-factor codes off for a user who lost the app and the recovery codes
    RemoveTwoFactor {
        /// The user's address
        #[arg(long)]
        email: String,
    },
    /// Remove a user from an organization, with the access that the user made there
    RemoveMember {
        /// The user's address
        #[arg(long)]
        email: String,
        /// The organization's id
        #[arg(long)]
        org: String,
    },
    /// Move an app with its updates to another organization
    TransferApp {
        /// The app's bundle identifier
        #[arg(long)]
        bundle_id: String,
        /// The id of the organization that gets it
        #[arg(long)]
        org: String,
    },
    /// Make a new master key and seal every secret's key with it, while the server runs; the key file is replaced
    RotateMasterKey,
    /// Check that no line of the audit logs was changed, removed or added behind the service's back
    VerifyAudit,
    /// Save the database and the packages into a new directory, while the server runs; the master key is not in it
    Backup {
        /// The directory
        dir: PathBuf,
    },
    /// Read a backup into an empty database and its object storage, of the same kind or another
    Restore {
        /// The directory
        dir: PathBuf,
    },
}

/// Opens the service's parts for a command.
pub async fn open(config: Config) -> Result<Arc<App>, StartError> {
    let url = format!("http://{}", config.listen);
    let world = World {
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
        resolver: Arc::new(SystemResolver),
        stores: None,
        inspector: Inspector::this_program().map_err(StartError::io("this program"))?,
    };
    App::open(config, url, world).await
}

/// Runs a command and prints what came of it: sentences, or with `--json` one object.
pub async fn run(config: Config, command: AdminCommand, json: bool) -> Result<(), CommandError> {
    let (object, words) = match command {
        // A restore must find the database empty: opening the app would write to it.
        AdminCommand::Restore { dir } => backup::restore(config, &dir).await?,
        command => {
            let app = open(config).await?;
            let done = execute(&app, command).await;
            app.db.close().await;
            done?
        }
    };
    let mut out = std::io::stdout();
    if json {
        writeln!(out, "{object}")?;
    } else {
        writeln!(out, "{words}")?;
    }
    Ok(())
}

async fn execute(app: &App, command: AdminCommand) -> Result<(Value, String), CommandError> {
    match command {
        AdminCommand::CreateOrg { name, tier } => Ok(create_org(app, &name, tier.as_deref()).await?),
        AdminCommand::CreateUser { email, org, role } => {
            let password = read_password()?;
            Ok(create_user(app, &email, &org, &role, &password).await?)
        }
        AdminCommand::CreateKey {
            org,
            name,
            scopes,
            admin,
        } => Ok(create_key(app, &org, name, scopes, admin).await?),
        AdminCommand::CreateRunnerToken { org, .. } => Ok(create_runner_token(app, org.as_deref()).await?),
        AdminCommand::SetTier { org, tier } => Ok(set_tier(app, &org, &tier).await?),
        AdminCommand::ResetPassword { email } => {
            let token = accounts::offer_reset(app, &email).await?;
            let link = format!("{}/reset?token={token}", app.public_url);
            Ok((
                json!({"link": link}),
                format!("Hand this link to {email}; it works once, for a day:\n\n  {link}"),
            ))
        }
        AdminCommand::RemoveTwoFactor { email } => {
            let user = two_factor::remove_for(app, &email).await?;
            Ok((
                json!({"id": user, "email": email}),
                format!("{email} signs in with the password alone now"),
            ))
        }
        AdminCommand::RemoveMember { email, org } => Ok(remove_member(app, &email, &org).await?),
        AdminCommand::TransferApp { bundle_id, org } => Ok(transfer_app(app, &bundle_id, &org).await?),
        AdminCommand::RotateMasterKey => Ok(rotate_master_key(app).await?),
        AdminCommand::VerifyAudit => verify_audit(app).await,
        AdminCommand::Backup { dir } => backup::backup(app, &dir).await,
        AdminCommand::Restore { .. } => Err(Failure::Internal("a restore opens its database itself".to_owned()).into()),
    }
}

async fn create_org(app: &App, name: &str, tier: Option<&str>) -> Result<(Value, String), Failure> {
    let mut org = orgs::plan(app, orgs::name(name)?);
    if let Some(tier) = tier {
        org.tier = read_tier(tier)?;
    }
    let mut write = Write::open(app, org.id, Actor::Operator, None).await?;
    orgs::insert(&mut write, &org).await?;
    write.commit().await?;
    Ok((
        json!({"id": org.id, "name": org.name, "tier": org.tier}),
        format!("Made the organization {} with the id {}", org.name, org.id),
    ))
}

async fn create_user(
    app: &App,
    email: &str,
    org: &str,
    role: &str,
    password: &str,
) -> Result<(Value, String), Failure> {
    let email = accounts::valid_email(email)?;
    let role: Role = role
        .parse()
        .map_err(|_| Failure::bad("--role must be owner, admin or member"))?;
    let org = find_org(app, org).await?;
    let known = app
        .db
        .read()
        .await?
        .system("an account stands beside the tenants")
        .user_by_email(&email)
        .await?;
    let hash = if known.is_none() {
        app.passwords.hash(password).await?
    } else {
        String::new()
    };
    let mut write = Write::open(app, org.id, Actor::Operator, None).await?;
    let (user, made) = match known {
        Some((user, _)) => (user, false),
        None => (accounts::create_user(&mut write, &email, &hash).await?, true),
    };
    accounts::join(&mut write, org.id, &user, role).await?;
    write.commit().await?;
    let how = if made {
        "Made the user"
    } else {
        "The user has an account already, with its own password; added"
    };
    Ok((
        json!({"id": user.id, "email": email, "role": role}),
        format!("{how} {email} ({}) as {role} of {}", user.id, org.name),
    ))
}

async fn remove_member(app: &App, email: &str, org: &str) -> Result<(Value, String), Failure> {
    let org = find_org(app, org).await?;
    let removed = members::remove_by_operator(app, email, &org).await?;
    let mut words = format!("{email} is no member of {} any more", org.name);
    for key in &removed.departure.keys_to_review {
        words.push_str(&format!(
            "\nReview the key {} ({}), which still works",
            key.name, key.id
        ));
    }
    for runner in &removed.departure.runners_to_review {
        words.push_str(&format!(
            "\nReview the runner {} ({}), which still takes builds",
            runner.name, runner.id
        ));
    }
    let object = serde_json::to_value(&removed).map_err(|error| Failure::Internal(error.to_string()))?;
    Ok((object, words))
}

async fn create_key(
    app: &App,
    org: &str,
    name: String,
    scopes: Option<Vec<String>>,
    admin: bool,
) -> Result<(Value, String), Failure> {
    let org = find_org(app, org).await?;
    let name = launchway_domain::org::normal_name(&name)
        .ok_or_else(|| Failure::bad("--name must have 1 to 100 visible characters"))?;
    let mut granted = match scopes {
        Some(names) => read_scopes(&names)?,
        None if admin => Vec::new(),
        None => Scope::GRANTABLE.to_vec(),
    };
    if admin {
        granted.push(Scope::Admin);
    }
    let mut write = Write::open(app, org.id, Actor::Operator, None).await?;
    let (key, record) = keys::create(
        &mut write,
        KeyPlan {
            name,
            scopes: granted,
            days: None,
        },
    )
    .await?;
    let view = KeyView::of(&record, write.now());
    write.commit().await?;
    let object = json!({"id": view.id, "key": key.reveal(), "scopes": view.scopes});
    Ok((
        object,
        format!(
            "Made the key {} ({}). Copy it now, it is not shown again:\n\n  {}",
            record.name,
            record.id,
            key.reveal()
        ),
    ))
}

/// A token for a runner of an organization, or of all without one.
async fn create_runner_token(app: &App, org: Option<&str>) -> Result<(Value, String), Failure> {
    let (made, whose) = match org {
        Some(org) => {
            let org = find_org(app, org).await?;
            let mut write = Write::open(app, org.id, Actor::Operator, None).await?;
            let made = runners::create_token(&mut write).await?;
            write.commit().await?;
            (made, format!("builds of {}", org.name))
        }
        None => (
            runners::create_shared_token(app).await?,
            "builds of every organization".to_owned(),
        ),
    };
    let object = json!({"token": made.token, "expiresAt": iso(made.expires_at)});
    let words = format!(
        "This token enrols one runner for {whose}, within an hour. It is not shown again:\n\n  {}",
        made.token
    );
    Ok((object, words))
}

fn read_scopes(names: &[String]) -> Result<Vec<Scope>, Failure> {
    let read = |name: &String| {
        name.trim()
            .parse()
            .ok()
            .filter(|scope| Scope::GRANTABLE.contains(scope))
    };
    let scopes: Option<Vec<Scope>> = names.iter().map(read).collect();
    scopes.filter(|scopes| !scopes.is_empty()).ok_or_else(|| {
        Failure::bad("--scopes must hold one or more of build,submit,update; --admin gives the admin scope")
    })
}

async fn set_tier(app: &App, org: &str, tier: &str) -> Result<(Value, String), Failure> {
    let tier = read_tier(tier)?;
    let org = find_org(app, org).await?;
    let mut write = Write::open(app, org.id, Actor::Operator, None).await?;
    let org = orgs::set_tier(&mut write, tier).await?;
    write.commit().await?;
    let words = format!(
        "{} is in the tier {tier} now: {} calls a minute",
        org.name,
        tier.requests_per_minute()
    );
    Ok((json!({"id": org.id, "tier": tier}), words))
}

async fn transfer_app(app: &App, bundle_id: &str, org: &str) -> Result<(Value, String), Failure> {
    let bundle: BundleId = bundle_id
        .parse()
        .map_err(|error| Failure::bad(format!("--bundle-id {error}")))?;
    let org = find_org(app, org).await?;
    let mut write = Write::open(app, org.id, Actor::Operator, None).await?;
    write.touch_updates(&bundle).await?;
    let now = write.now();
    let from = write
        .system("the operator moves an app between tenants")
        .transfer_app(&bundle, org.id, now)
        .await?;
    let from = from.ok_or_else(|| Failure::bad(format!("No organization has the bundle id {bundle}")))?;
    let moved = json!({"bundleId": bundle.as_str(), "from": from, "to": org.id});
    write
        .audit("app.transfer", bundle.as_str(), NOTHING, Some(&moved))
        .await?;
    if from != org.id {
        write.audit_elsewhere(from, "app.transfer", bundle.as_str(), &moved)?;
    }
    write.commit().await?;
    Ok((moved, format!("{bundle} belongs to {} now", org.name)))
}

async fn rotate_master_key(app: &App) -> Result<(Value, String), Failure> {
    let keys = vault::rotate(app).await?;
    let file = app.config.master_key_file.display();
    let words = format!(
        "{file} holds a new master key now, and {keys} keys are sealed with it.\nCopy it to every other server of this \
         database, and keep it with your backups; backups made before need the old one."
    );
    Ok((json!({"keys": keys, "masterKeyFile": file.to_string()}), words))
}

async fn verify_audit(app: &App) -> Result<(Value, String), CommandError> {
    let check = audit::verify(app).await?;
    if !check.problems.is_empty() {
        let problems = check.problems.join("\n  ");
        return Err(Failure::bad(format!("The audit log does not hold:\n  {problems}")).into());
    }
    Ok((
        json!({"ok": true, "logs": check.chains, "lines": check.lines}),
        format!(
            "All {} lines of {} audit logs are as they were written",
            check.lines, check.chains
        ),
    ))
}

fn read_tier(text: &str) -> Result<Tier, Failure> {
    text.parse()
        .map_err(|_| Failure::bad("--tier must be free, pro or enterprise"))
}

async fn find_org(app: &App, id: &str) -> Result<Org, Failure> {
    let none = || Failure::bad(format!("--org: there is no organization {id}"));
    let id: OrgId = id.parse().map_err(|_| none())?;
    app.db.read().await?.org(id).record().await?.ok_or_else(none)
}

/// The password from standard input; its line ending does not count.
fn read_password() -> Result<String, std::io::Error> {
    let input = std::io::stdin();
    if input.is_terminal() {
        write!(
            std::io::stderr(),
            "Password (it will show as you type; pipe it in to avoid that): "
        )?;
        let mut line = String::new();
        input.read_line(&mut line)?;
        return Ok(line.trim_end_matches(['\r', '\n']).to_owned());
    }
    let mut text = String::new();
    input.lock().take(4096).read_to_string(&mut text)?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
