//! The in-memory index that answers the public check, and how it follows the database.

mod bundle;
mod index;
mod long_texts;
mod updates;

pub mod follow;
pub mod report_token;

pub use bundle::Entry;
pub use index::{Callers, Index};
pub use long_texts::LongTexts;
pub use updates::Updates;
