//! Refuses to store more on a disk that is nearly full (`--min-free-space`).

use launchway_config::Storage;
use launchway_os::free_space::Floor;

use crate::api_error::ApiError;
use crate::app::App;

const NEARLY_FULL: &str =
    "The server's disk is nearly full. The operator has to free up space, or lower --min-free-space.";

/// Refuses to store `bytes` more if a disk with objects or the database would fall below the floor.
///
/// # Errors
/// [`ApiError::Unavailable`].
pub fn room_for(app: &App, bytes: u64) -> Result<(), ApiError> {
    let config = &app.config;
    let floor = Floor::new(config.min_free_space);
    let objects = match &config.storage {
        Storage::Directory(root) => Some(root),
        Storage::S3 { .. } => None,
    };
    let database = config.is_embedded().then_some(&config.data_dir);
    if objects
        .into_iter()
        .chain(database)
        .all(|folder| floor.leaves_room(folder, bytes))
    {
        return Ok(());
    }
    tracing::error!("the disk has less than --min-free-space left: uploads, artifacts and logs are refused");
    Err(ApiError::Unavailable(NEARLY_FULL.to_owned()))
}
