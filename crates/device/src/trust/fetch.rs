//! Fetches metadata: in one trip, or file by file where the server does not answer that.

use std::io;

use launchway_domain::configuration::Configuration;
use launchway_domain::percent;
use launchway_trust::client::{Client, Refresh};
use launchway_trust::metadata::Metadata;
use launchway_trust::one_trip::{ANSWER_LIMIT, Progress, TrustAnswer};
use launchway_trust::workflow::FileRequest;

use crate::check::read_body;
use crate::ports::{Caches, Network, Request};
use crate::settings::Settings;
use crate::trust::TrustError;

/// Stores what is trusted by now. Its error ends the run.
pub(super) type Keep<'k> = &'k mut dyn FnMut(&Client) -> io::Result<()>;

/// The server's metadata of one app.
pub(super) struct Source<'a> {
    network: &'a dyn Network,
    configuration: Option<&'a Configuration>,
    caches: Caches,
    /// The address of the metadata, with a slash at the end.
    base: String,
}

impl<'a> Source<'a> {
    pub(super) fn new(network: &'a dyn Network, settings: &'a Settings, caches: Caches) -> Self {
        let api = settings.server_url.trim_end_matches('/');
        let mut base = format!("{}/tuf/", api.strip_suffix("/api").unwrap_or(api));
        base.extend(percent::encode(settings.bundle_id.as_str()));
        base.push('/');
        Self {
            network,
            configuration: settings.configuration.as_ref(),
            caches,
            base,
        }
    }

    /// Everything that is newer than what is trusted. `None`: the server does not answer that.
    fn answer(&self, client: &Client) -> Result<Option<TrustAnswer>, TrustError> {
        let trusted = client.metadata();
        let snapshot = trusted.snapshot().map_or(0, Metadata::version);
        let mut query = format!("trust?root={}&snapshot={snapshot}", trusted.root().version());
        if let Some(configuration) = self.configuration {
            query.push_str("&configuration=");
            query.extend(percent::encode(configuration.as_str()));
        }
        let bytes = self.get(&query, ANSWER_LIMIT)?;
        Ok(bytes.and_then(|bytes| TrustAnswer::parse(&bytes).ok()))
    }

    fn get(&self, file: &str, limit: usize) -> Result<Option<Vec<u8>>, TrustError> {
        let request = Request::get(format!("{}{file}", self.base), self.caches);
        let response = self.network.send(&request).map_err(TrustError::Network)?;
        match response.status {
            200 => read_body(response, limit).map(Some).map_err(TrustError::Network),
            404 => Ok(None),
            status => Err(TrustError::Status {
                file: file.to_owned(),
                status,
            }),
        }
    }
}

/// Renews the metadata of a client.
pub(super) fn run(refresh: &mut Refresh<'_>, source: &Source<'_>, keep: Keep<'_>) -> Result<(), TrustError> {
    while let Some(answer) = source.answer(refresh.client())? {
        loop {
            let progress = refresh.take_answer(&answer);
            keep(refresh.client())?;
            match progress? {
                Progress::Done => return Ok(()),
                Progress::AskAgain => break,
                Progress::Lacks(request) => fetch_file(refresh, source, &request, keep)?,
            }
        }
    }
    while let Some(request) = refresh.next_request()? {
        fetch_file(refresh, source, &request, keep)?;
    }
    Ok(())
}

fn fetch_file(
    refresh: &mut Refresh<'_>,
    source: &Source<'_>,
    request: &FileRequest,
    keep: Keep<'_>,
) -> Result<(), TrustError> {
    let name: String = percent::encode(&request.to_string()).collect();
    match source.get(&name, request.limit())? {
        Some(bytes) => {
            if refresh.take(&bytes)? {
                keep(refresh.client())?;
            }
        }
        None => refresh.report_missing()?,
    }
    Ok(())
}
