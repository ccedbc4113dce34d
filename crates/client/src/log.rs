//! Reads the log of a build as it is now, in constant memory. A connection that breaks is taken up where it was.

use bytes::Bytes;
use reqwest::Response;

use crate::client::{Client, NotOpened};
use crate::error::Error;
use crate::retry::{Reason, Tries};

/// The log of a build on its way here.
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
    /// The server refuses, or is gone for longer than it is worth to wait.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let failed = match &mut self.response {
                None => match self.open().await {
                    Ok(response) => {
                        self.response = Some(response);
                        continue;
                    }
                    // There is nothing behind the end.
                    Err(NotOpened {
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
                    Err(error) => NotOpened {
                        reason: Some(Reason::Broken),
                        asked: None,
                        error: Error::network(self.client.base().origin(), &error),
                    },
                },
            };
            self.response = None;
            let reason = failed.reason;
            let delay = reason.and_then(|reason| Some((self.tries.after(reason, failed.asked, true)?, reason)));
            let Some((delay, reason)) = delay else {
                return Err(failed.error);
            };
            self.client.environment.pause(delay, reason).await;
        }
    }

    async fn open(&self) -> Result<Response, NotOpened> {
        let offset = self.offset.to_string();
        let query = [("id", self.id.as_str()), ("offset", &offset)];
        self.client.open("/build/log", &query, &[]).await
    }
}
