//! What ends when a member leaves or gets a lesser role: the access that this user granted to others, or for later.

use launchway_api::keys::KeyView;
use launchway_api::orgs::{Departure, EndedAccess, InvitationView, KeyToReview, RunnerToReview};
use launchway_domain::id::UserId;
use launchway_domain::time::EpochMs;
use launchway_store::{Org, Paging};
use serde_json::json;

use crate::api_error::ApiError;
use crate::api_keys;
use crate::write::{NOTHING, Write};

/// The maximum number of keys and runners that are listed for review.
const LISTED: i64 = 100;
/// Invitations and sign-ins with an audit line of their own; the summary line has the total number.
const OWN_LINES: usize = 100;

/// Ends the access that a user granted in the organization: invitations, runner tokens, approved browser sign-ins and
/// the keys of completed ones. With `email`, also ends the invitations for that address, which would let the user
/// return. Lists what remains for review. The member must be locked.
pub async fn end_access(write: &mut Write<'_>, user: UserId, email: Option<&str>) -> Result<Departure, ApiError> {
    let now = write.now();
    // A sign-in becomes a key, and a key creates the rest: in this order nothing escapes.
    let mut ended = EndedAccess {
        sign_ins: end_sign_ins(write, user).await?,
        ..EndedAccess::default()
    };
    for key in write.org().browser_keys(user, now).await? {
        api_keys::revoke(write, key.id).await?;
        ended.keys += 1;
    }
    ended.invitations = end_invitations(write, user, email).await?;
    ended.runner_tokens = write.org().end_runner_tokens(user).await?;
    let keys = write.org().keys_made_by(user, now, LISTED).await?;
    let runners = write.org().runners_made_by(user, LISTED).await?;
    Ok(Departure {
        ended,
        keys_to_review: keys.iter().map(KeyToReview::of).collect(),
        runners_to_review: runners.iter().map(RunnerToReview::of).collect(),
    })
}

/// Ends the access that a user granted in every organization, as [`end_access`] does in one, because somebody else may
/// have used the account. The sessions of the user must have ended before.
pub async fn end_access_everywhere(write: &mut Write<'_>, user: UserId) -> Result<Vec<Departure>, ApiError> {
    let mut system = write.system("an account may be in several tenants");
    let memberships = system.memberships(user).await?;
    let mut orgs: Vec<_> = memberships.into_iter().map(|(org, _)| org.id).collect();
    // A fixed order, so that transactions never deadlock.
    orgs.sort_unstable();
    let mut departures = Vec::new();
    for org in orgs {
        write.enter(org);
        let departure = end_access(write, user, None).await?;
        audit(write, user, &departure).await?;
        departures.push(departure);
    }
    Ok(departures)
}

/// Adds the number of the user's sessions, which no longer reach the organization.
pub async fn count_sessions(write: &mut Write<'_>, user: UserId, departure: &mut Departure) -> Result<(), ApiError> {
    const NONE: Paging = Paging { limit: 0, offset: 0 };
    let now = write.now();
    let mut system = write.system("a session belongs to a user, not to a tenant");
    departure.ended.sessions = system.sessions(user, now, NONE).await?.total;
    Ok(())
}

/// Adds the summary line about all that ended.
pub async fn audit(write: &mut Write<'_>, user: UserId, departure: &Departure) -> Result<(), ApiError> {
    let keys: Vec<_> = departure.keys_to_review.iter().map(|key| &key.id).collect();
    let runners: Vec<_> = departure.runners_to_review.iter().map(|runner| &runner.id).collect();
    let details = json!({"ended": departure.ended, "keysToReview": keys, "runnersToReview": runners});
    write.audit("member.end_access", user, NOTHING, Some(&details)).await
}

async fn end_invitations(write: &mut Write<'_>, user: UserId, email: Option<&str>) -> Result<u64, ApiError> {
    let now = write.now();
    let ended = write.org().end_invitations(user, email).await?;
    for invitation in ended.iter().take(OWN_LINES) {
        let view = InvitationView::of(invitation, now);
        write
            .audit("invitation.delete", invitation.id, Some(&view), NOTHING)
            .await?;
    }
    Ok(ended.len() as u64)
}

async fn end_sign_ins(write: &mut Write<'_>, user: UserId) -> Result<u64, ApiError> {
    let ended = write.org().end_device_logins(user).await?;
    for login in ended.iter().take(OWN_LINES) {
        write.audit("device_login.end", login, NOTHING, NOTHING).await?;
    }
    Ok(ended.len() as u64)
}

/// The newest keys whose creators may no longer create keys, for the members page.
pub async fn keys_to_review(org: &mut Org<'_>, now: EpochMs) -> Result<Vec<KeyView>, ApiError> {
    let keys = org.keys_of_former_admins(now, LISTED).await?;
    Ok(keys.iter().map(|key| KeyView::of(key, now)).collect())
}
