//! Publishing as a whole, for the API and the dashboard: from the request to the durable update.

use launchway_api::updates::{CreateUpdate, UpdateView};
use launchway_domain::fingerprint::Fingerprint;
use launchway_store::RequestKey;

use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::Caller;
use crate::create::{Created, Order, create};
use crate::packages::{self, Prepared, Wanted};
use crate::trust::publication;
use crate::updates::publish::{self, Source, UpdatePlan};
use crate::uploads;
use crate::write::Write;

/// Publishes what a request asks for. `lwfp2` is the `lwfp-2` hash of the native code that it describes.
///
/// # Errors
/// Errors of the request, of the package, and conflicts with existing updates.
pub async fn run(
    app: &App,
    caller: &Caller,
    body: &CreateUpdate,
    lwfp2: Option<Fingerprint>,
    request: Option<RequestKey>,
) -> Result<Created<UpdateView>, ApiError> {
    let plan = publish::plan(body)?.with_lwfp2(lwfp2);
    create(app, caller, plan, request).await
}

impl Order for UpdatePlan {
    /// `None` if the bytes of an earlier update are republished.
    type Prepared = Option<Prepared>;
    type View = UpdateView;

    async fn prepare(&self, app: &App, caller: &Caller) -> Result<Option<Prepared>, ApiError> {
        // Checked before the expensive inspection of the package; the binding checks are those of the transaction.
        publish::build(&mut app.db.read().await?.org(caller.org_id()?), self).await?;
        self.check_version(app, caller.org_id()?).await?;
        match self.source {
            Source::Upload(Some(id)) => {
                let wanted = Wanted {
                    format: self.release.format(),
                    platform: self.platform,
                    is_for_capgo: self.release.is_for_capgo(),
                };
                packages::prepare(app, caller.org_id()?, id, wanted).await.map(Some)
            }
            Source::Upload(None) => Err(ApiError::NoSuch("upload")),
            Source::BuiltIn => Ok(None),
            Source::Update(source) => {
                if let Some(id) = source {
                    publication::learn_manifest(app, caller.org_id()?, id).await?;
                }
                Ok(None)
            }
        }
    }

    async fn insert(self, write: &mut Write<'_>, prepared: &Option<Prepared>) -> Result<UpdateView, ApiError> {
        let update = publish::publish(write, self, prepared.as_ref()).await?;
        Ok(UpdateView::of(&update))
    }

    async fn drop_originals(app: &App, prepared: &Option<Prepared>) {
        if let Some(prepared) = prepared {
            uploads::drop_staged(app, prepared.upload.id).await;
        }
    }

    async fn discard(app: &App, prepared: &Option<Prepared>) {
        if let Some(prepared) = prepared {
            packages::discard(app, prepared).await;
        }
    }
}
