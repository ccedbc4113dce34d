//! A page of a single resource: its visitor, the id in its path, and a change of the resource.

use std::str::FromStr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use axum::response::Response;
use launchway_domain::id::OrgId;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::write::Write;

use super::frame::{Frame, Notice, redirect_with_notice};
use super::page_error::PageError;
use super::visitor::Visitor;

/// A visitor on the page of a single resource.
pub struct Visit<I> {
    pub app: Arc<App>,
    pub visitor: Visitor,
    /// The `{id}` of the path.
    pub id: I,
}

impl<I: Copy> Visit<I> {
    /// The organization of the resource.
    pub fn org(&self) -> OrgId {
        self.visitor.org.id
    }

    /// The frame of its page.
    pub fn frame(&self, section: &'static str, title: impl Into<String>) -> Frame {
        Frame::new(&self.app, &self.visitor, section, title)
    }

    /// Makes one change of the resource. When this returns, the change is durable.
    pub async fn change<T>(
        &self,
        change: impl AsyncFnOnce(&mut Write<'_>, I) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        Write::run(&self.app, &self.visitor.caller, self.id, change).await
    }

    /// The response to a change: a redirect to a page of the organization, with a message there.
    pub fn redirect_with_notice(&self, path: &str, notice: Notice) -> Response {
        redirect_with_notice(&self.visitor, path, notice)
    }
}

impl<I: FromStr> FromRequestParts<Arc<App>> for Visit<I> {
    type Rejection = PageError;

    /// A malformed id names nothing.
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
