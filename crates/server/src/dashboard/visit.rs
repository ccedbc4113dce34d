//! A page of one thing: who looks at it, the id that its path names, and a change of it.

use std::str::FromStr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use axum::response::Response;
use launchway_domain::id::OrgId;

use super::frame::{Frame, Notice, done};
use super::page_error::PageError;
use super::visitor::Visitor;
use crate::api_error::ApiError;
use crate::app::App;
use crate::ops::write::Write;

/// A visitor at the page of one thing.
pub struct Visit<I> {
    pub app: Arc<App>,
    pub visitor: Visitor,
    /// The `{id}` of the path.
    pub id: I,
}

impl<I: Copy> Visit<I> {
    /// The organization that it is in.
    pub fn org(&self) -> OrgId {
        self.visitor.org.id
    }

    /// The frame of its page.
    pub fn frame(&self, section: &'static str, title: impl Into<String>) -> Frame {
        Frame::new(&self.app, &self.visitor, section, title)
    }

    /// Makes one change of it. When this returns, the change is durable.
    pub async fn change<T>(
        &self,
        change: impl AsyncFnOnce(&mut Write<'_>, I) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        Write::run(&self.app, &self.visitor.caller, self.id, change).await
    }

    /// The answer to a change: to a page of the organization, with a message there.
    pub fn done(&self, path: &str, notice: Notice) -> Response {
        done(&self.visitor, path, notice)
    }
}

impl<I: FromStr> FromRequestParts<Arc<App>> for Visit<I> {
    type Rejection = PageError;

    /// An id that has no id's shape names nothing.
    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, PageError> {
        let visitor = Visitor::from_request_parts(parts, app).await?;
        let named = RawPathParams::from_request_parts(parts, app).await;
        let named = named.map_err(|_| ApiError::NoSuchPath)?;
        let id = named.iter().find(|(name, _)| *name == "id");
        let id = id.and_then(|(_, id)| id.parse().ok()).ok_or(ApiError::NoSuchPath)?;
        Ok(Visit {
            app: app.clone(),
            visitor,
            id,
        })
    }
}
