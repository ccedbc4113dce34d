//! Publishes the bytes of an update again: promoted to another configuration, or rolled back to earlier ones.

use axum::response::Response;
use launchway_api::updates::{CreateUpdate, FingerprintInput, TextOrNumber, UpdateView};
use launchway_domain::configuration::Configuration;
use launchway_domain::id::UpdateId;
use launchway_domain::rollout::Rollout;
use launchway_domain::update::{Update, UpdateStatus};
use launchway_ops::api_error::ApiError;
use launchway_ops::updates::publish;
use launchway_ops::write::Write;
use launchway_ops::{apps, updates};
use launchway_store::{Org, Paging, UpdateFilter};

use crate::dashboard::confirm::{Action, Done, Facts, Requester};
use crate::dashboard::form_data::{Form, FormData};
use crate::dashboard::frame::Notice;
use crate::dashboard::page_error::PageError;
use crate::dashboard::revision::Revision;
use crate::dashboard::updates::actions::{about, name, notice_of, path, read, yes_no};
use crate::dashboard::updates::detail::{self, percent};
use crate::dashboard::updates::health::{configuration, health, reach};
use crate::dashboard::visit::Visit;

/// The maximum default rollout of a promotion.
const MAX_DEFAULT_ROLLOUT: u8 = 10;
const NEWEST: Paging = Paging { limit: 1, offset: 0 };

/// The default rollout of a promotion.
pub fn default_rollout(source: &u8) -> u8 {
    MAX_DEFAULT_ROLLOUT.min(*source)
}

/// Publishes the same bytes for another configuration.
pub struct Promote {
    to: Configuration,
    /// `None` takes that of the source, up to the maximum default.
    rollout: Option<Rollout>,
    mandatory: bool,
}

/// Publishes the bytes of an earlier update again, with a higher build number than this one, for every device that has
/// it.
pub struct RollBack {
    to: Option<UpdateId>,
}

/// An update in one line: version, rollout, urgency.
fn line(update: &Update, rollout: Rollout, mandatory: bool) -> String {
    let urgency = if mandatory { ", mandatory" } else { "" };
    format!("{}, {rollout}{urgency}", name(update))
}

/// The newest published update that devices of a configuration are offered.
async fn newest(org: &mut Org<'_>, like: &Update, configuration: &Configuration) -> Result<Option<Update>, ApiError> {
    let filter = UpdateFilter {
        bundle: Some(apps::bundle_id(&like.bundle_id)?),
        platform: Some(like.platform),
        configuration: Some(configuration.clone()),
        status: Some(UpdateStatus::Published),
        ..UpdateFilter::default()
    };
    Ok(org.updates(&filter, NEWEST).await?.items.into_iter().next())
}

impl Action for Promote {
    type Id = UpdateId;

    fn read(form_data: &FormData) -> Result<Self, ApiError> {
        Ok(Promote {
            to: publish::configuration(&form_data.choice("configuration")?.unwrap_or_default())?,
            rollout: percent(form_data)?.map(publish::rollout).transpose()?,
            mandatory: form_data.text("mandatory")? == "yes",
        })
    }

    async fn lock(&self, write: &mut Write<'_>, id: UpdateId) -> Result<(), ApiError> {
        updates::lock(write, id).await.map(drop)
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: UpdateId) -> Result<Facts, ApiError> {
        let source = read(org, id).await?;
        let rollout = self.rollout(&source);
        let top = newest(org, &source, &self.to).await?;
        let (from, to) = (configuration(source.configuration.as_ref()), self.to.as_str());
        let seen = (UpdateView::of(&source), top.as_ref().map(UpdateView::of));
        let there = top.map_or_else(|| "none".to_owned(), |top| line(&top, top.rollout, top.mandatory));
        let facts = Facts::new(
            format!("Promote {} to {to}?", name(&source)),
            format!("Publish to {to}"),
            Revision::of(&seen)?,
        )
        .on("updates", path(id), "The update")
        .says(format!(
            "Publishes the same bytes for {to}. Its devices are offered them from their next check on."
        ))
        .change("Configuration", &from, to)
        .change(
            "Newest in the configuration",
            there,
            line(&source, rollout, self.mandatory),
        )
        .change(
            "Rollout",
            format!("{} in {from}", source.rollout),
            format!("{rollout} in {to}"),
        )
        .change(
            "Mandatory",
            format!("{} in {from}", yes_no(source.mandatory)),
            format!("{} in {to}", yes_no(self.mandatory)),
        )
        .field("configuration", to)
        .field("rollout", rollout.percent())
        .field("mandatory", yes_no(self.mandatory));
        let facts = signing(about(facts, &source), org, &source).await?;
        let facts = reach(facts, org, &source, Some(&self.to), rollout).await?;
        health(facts, org, &source).await
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: UpdateId) -> Result<Done, ApiError> {
        let source = read(&mut write.org(), id).await?;
        let request = CreateUpdate {
            version: source.version_text.clone(),
            build_number: Some(TextOrNumber::Text(source.build_number.as_str().to_owned())),
            configuration: Some(self.to.as_str().to_owned()),
            rollout: Some(i64::from(self.rollout(&source).percent())),
            mandatory: Some(self.mandatory),
            ..same_bytes(&source)
        };
        let made = publish::publish(write, publish::plan(&request)?, None).await?;
        Ok(Done::new(
            path(made.id),
            notice_of(made.status, Notice::UPDATE_PROMOTED),
        ))
    }

    async fn refused(visit: &Visit<UpdateId>, form_data: FormData, failure: ApiError) -> Result<Response, PageError> {
        detail::render_page(visit, Some(Form::refused_if_bad(form_data, failure)?)).await
    }
}

impl Promote {
    fn rollout(&self, source: &Update) -> Rollout {
        let careful = Rollout::new(default_rollout(&source.rollout.percent()));
        self.rollout.or(careful).unwrap_or(source.rollout)
    }
}

/// Adds that the new update has to be signed, if the app signs its updates.
async fn signing(facts: Facts, org: &mut Org<'_>, update: &Update) -> Result<Facts, ApiError> {
    match org.trust_repository(&apps::bundle_id(&update.bundle_id)?).await? {
        Some(_) => {
            Ok(facts.says("This app signs its updates: no device is offered the new update before it is signed"))
        }
        None => Ok(facts),
    }
}

/// A request for the same bytes under the update's own version.
fn same_bytes(source: &Update) -> CreateUpdate {
    CreateUpdate {
        source_update_id: Some(source.id.to_string()),
        bundle_id: source.bundle_id.clone(),
        platform: source.platform.into(),
        fingerprint: source
            .fingerprint
            .as_ref()
            .map(|hash| FingerprintInput::Hash(hash.as_str().to_owned())),
        release_notes: Some(source.release_notes.clone()),
        ..CreateUpdate::default()
    }
}

impl Action for RollBack {
    type Id = UpdateId;

    fn read(form_data: &FormData) -> Result<Self, ApiError> {
        Ok(RollBack {
            to: form_data.text("to")?.parse().ok(),
        })
    }

    async fn lock(&self, write: &mut Write<'_>, id: UpdateId) -> Result<(), ApiError> {
        updates::lock(write, id).await.map(drop)
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: UpdateId) -> Result<Facts, ApiError> {
        let bad = read(org, id).await?;
        let good = read(org, self.to.ok_or(ApiError::NoSuch("update"))?).await?;
        let seen = (UpdateView::of(&bad), UpdateView::of(&good));
        let mut facts = Facts::new(
            format!("Roll {} back to {}?", name(&bad), name(&good)),
            "Roll back",
            Revision::of(&seen)?,
        )
        .on("updates", path(id), "The update")
        .says(format!(
            "Publishes the bytes of {} again as {} with a higher build number. Devices are offered them at their \
             next check.",
            name(&good),
            bad.version_text
        ))
        .change("Bytes", name(&bad), name(&good))
        .change("Rollout", bad.rollout, Rollout::FULL)
        .change("Mandatory", yes_no(bad.mandatory), yes_no(good.mandatory))
        .field("to", good.id);
        if good.fingerprint != bad.fingerprint {
            facts = facts
                .says("The earlier bytes are for different native code: only apps with that native code accept them");
        }
        let facts = signing(about(facts, &bad), org, &bad).await?;
        let facts = reach(facts, org, &bad, bad.configuration.as_ref(), Rollout::FULL).await?;
        health(facts, org, &bad).await
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: UpdateId) -> Result<Done, ApiError> {
        let bad = read(&mut write.org(), id).await?;
        let good = read(&mut write.org(), self.to.ok_or(ApiError::NoSuch("update"))?).await?;
        let request = CreateUpdate {
            bundle_id: bad.bundle_id,
            platform: bad.platform.into(),
            version: bad.version_text,
            build_number: Some(TextOrNumber::Text("auto".to_owned())),
            configuration: bad.configuration.map(|label| label.as_str().to_owned()),
            mandatory: Some(good.mandatory),
            ..same_bytes(&good)
        };
        let made = publish::publish(write, publish::plan(&request)?, None).await?;
        Ok(Done::new(
            path(made.id),
            notice_of(made.status, Notice::UPDATE_ROLLED_BACK),
        ))
    }
}
