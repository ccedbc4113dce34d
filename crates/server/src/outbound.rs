//! Outbound calls: what the service calls, and how it is kept from calling what it must not.

pub mod address_guard;
pub mod app_stores;
pub mod id_token;
pub mod provider;
pub mod resolver;
pub mod webhook_sender;
