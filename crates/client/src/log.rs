//! Reads the current log of a build in constant memory. A broken connection resumes where it stopped.

use bytes::Bytes;
use reqwest::Response;

use crate::client::{Client, OpenError};
use crate::error::Error;
use crate::retry::{Reason, Tries};

/// A log that is being read.
#[derive(Debug)]
pub struct BuildLog {
    client: Client,
    id: String,
    offset: u64,
    response: Option<Response>,
    tries: Tries,
}

impl Client {
    /// `GET /build/log?id=&offset=`: the log of a build from `offset` on, in bytes.
    pub fn build_log(&self, id: &str, offset: u64) -> BuildLog {
        BuildLog {
            client: self.clone(),
            id: id.to_owned(),
            offset,
            response: None,
            tries: Tries::default(),
        }
    }
}

impl BuildLog {
    /// The next bytes; `None` after the last.
    ///
    /// # Errors
    /// The server refuses, or is unavailable for too long.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let failed = match &mut self.response {
                None => match self.open().await {
                    Ok(response) => {
                        self.response = Some(response);
                        continue;
                    }
                    // There is nothing after the end.
                    Err(OpenError {
                        error: Error::Api { status: 416, .. },
                        ..
                    }) => return Ok(None),
                    Err(failed) => failed,
                },
                Some(response) => match response.chunk().await {
                    Ok(Some(bytes)) => {
                        self.offset += bytes.len() as u64;
                        self.tries = Tries::default();
                        return Ok(Some(bytes));
                    }
                    Ok(None) => return Ok(None),
                    Err(error) => OpenError {
                        reason: Some(Reason::Broken),
                        asked: None,
                        error: Error::network(self.client.base().origin(), &error),
                    },
                },
            };
            self.response = None;
            let reason = failed.reason;
            let delay = reason.and_then(|reason| Some((self.tries.next_delay(reason, failed.asked, true)?, reason)));
            let Some((delay, reason)) = delay else {
                return Err(failed.error);
            };
            self.client.environment.pause(delay, reason).await;
        }
    }

    async fn open(&self) -> Result<Response, OpenError> {
        let offset = self.offset.to_string();
        let query = [("id", self.id.as_str()), ("offset", &offset)];
        self.client.open("/build/log", &query, &[]).await
    }
}
