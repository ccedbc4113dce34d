//! Creates a resource whose bytes are prepared first: the steps that builds, updates and submissions share.

use launchway_store::{KeptAnswer, RequestKey};
use serde::Serialize;

use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::Caller;
use crate::write::{Creation, Write, kept_answer};

/// A validated order for a resource.
pub trait Order: Send + Sync {
    /// Verified copies of bytes that no row names yet.
    type Prepared: Send + Sync;
    /// The resource as the API shows it.
    type View: Serialize + Send + Sync;

    /// Copies and verifies the bytes. What fails leaves nothing behind.
    fn prepare(&self, app: &App, caller: &Caller) -> impl Future<Output = Result<Self::Prepared, ApiError>> + Send;

    /// Adds the rows of the resource, which name the copies.
    fn insert(
        self,
        write: &mut Write<'_>,
        prepared: &Self::Prepared,
    ) -> impl Future<Output = Result<Self::View, ApiError>> + Send;

    /// Removes the originals of copies that rows name now.
    fn drop_originals(app: &App, prepared: &Self::Prepared) -> impl Future<Output = ()> + Send;

    /// Removes copies that no row names.
    fn discard(app: &App, prepared: &Self::Prepared) -> impl Future<Output = ()> + Send;
}

/// The result of an order.
#[derive(Debug)]
pub enum Created<V> {
    /// The stored answer to the same request.
    Kept(KeptAnswer),
    /// The new resource.
    Fresh(V),
}

/// Creates what is ordered, once for each `request`. If the process dies or the caller leaves before the commit, nothing
/// is created, and clean-up removes the copies.
///
/// # Errors
/// Errors of the order's bytes, and conflicts with existing resources.
pub async fn create<O: Order>(
    app: &App,
    caller: &Caller,
    order: O,
    request: Option<RequestKey>,
) -> Result<Created<O::View>, ApiError> {
    if let Some(kept) = kept_answer(app, caller, &request).await? {
        return Ok(Created::Kept(kept));
    }
    let prepared = match order.prepare(app, caller).await {
        Ok(prepared) => prepared,
        // A concurrent identical request may have used the upload: then its answer also answers this one.
        Err(failure) => {
            let kept = kept_answer(app, caller, &request).await?;
            return kept.map(Created::Kept).ok_or(failure);
        }
    };
    let result = insert(app, caller, order, request, &prepared).await;
    match &result {
        Ok(Created::Fresh(_)) => O::drop_originals(app, &prepared).await,
        // After a failed commit it is unknown whether the resource exists: the bytes stay, and clean-up decides.
        Err(failure) if failure.status().0.is_server_error() => {}
        _ => O::discard(app, &prepared).await,
    }
    result
}

/// The one transaction, with the answer to repetitions of the request.
async fn insert<O: Order>(
    app: &App,
    caller: &Caller,
    order: O,
    request: Option<RequestKey>,
    prepared: &O::Prepared,
) -> Result<Created<O::View>, ApiError> {
    let mut write = match Write::begin_create(app, caller, request).await? {
        Creation::Replay(kept) => return Ok(Created::Kept(kept)),
        Creation::New(write) => write,
    };
    let view = order.insert(&mut write, prepared).await?;
    write.commit_created(&view).await?;
    Ok(Created::Fresh(view))
}
