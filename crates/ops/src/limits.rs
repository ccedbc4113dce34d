//! Rate limits: of organizations and their tiers, of client addresses and their networks, and of pages.

pub mod calls;
pub mod clients;
pub mod networks;
pub mod pages;
