//! CodePush, as its clients speak it (`docs/reference/codepush.md`): the npm packages `code-push` 4 and `react-native-code-push` 9.

mod answer;
mod check;
mod choice;
mod package_hash;
mod refusal;
mod report;
mod rollout;
mod signature;

pub use answer::{Answer, Offer};
pub use check::{CurrentPackage, Form, UpdateCheck, is_deployment_key};
pub use choice::{CodepushRelease, choose, current};
pub use package_hash::{METADATA_FILE, PackageHash};
pub use refusal::Refusal;
pub use report::{MAX_REPORT_BYTES, REPORT_ANSWER, Report};
pub use rollout::reaches;
pub use signature::{SignedHash, signed_file, signed_text};
