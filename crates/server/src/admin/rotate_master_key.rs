//! Makes a new master key.

use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::master_key_rotation::rotate;
use serde_json::{Value, json};

pub async fn run(app: &App) -> Result<(Value, String), ApiError> {
    let keys = rotate(app).await?;
    let file = app.config.master_key_file.display();
    let words = format!(
        "{file} has a new master key, which now seals {keys} keys.\nCopy it to every other server of this database, \
         and keep it with your backups. Earlier backups need the old key."
    );
    Ok((json!({"keys": keys, "masterKeyFile": file.to_string()}), words))
}
