//! Named traces. The end of a name is the last outcome.

use super::world::Step::{self, *};

/// The first update is signed, installed and confirmed.
fn installed() -> Vec<Step> {
    vec![Sign(1), Offer(Some(1)), Sync, Start]
}

fn then(steps: &[Step]) -> Vec<Step> {
    [&installed()[..], steps].concat()
}

pub fn all() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        ("a signed update: runs update_1", installed()),
        (
            "nothing is signed: refused not-signed after a pause",
            vec![Offer(Some(1)), Sync],
        ),
        (
            "an update that nobody signed: runs update_1",
            then(&[Offer(Some(2)), Sync, Start]),
        ),
        (
            "a revocation without an offer: runs embedded",
            then(&[Revoke(1), Offer(None), Sync, Start]),
        ),
        (
            "a revocation reaches the last good update: runs embedded",
            then(&[Sign(2), Offer(Some(2)), Sync, Start, Revoke(1), Revoke(2), Sync, Start]),
        ),
        (
            "a revocation goes back to the last good update: runs update_1",
            then(&[Sign(2), Offer(Some(2)), Sync, Start, Revoke(2), Sync, Start]),
        ),
        (
            "a staged update is revoked: runs update_1",
            then(&[Sign(2), Offer(Some(2)), Sync, Revoke(2), Offer(None), Sync, Start]),
        ),
        (
            "a revoked update is offered again: refused not-signed after a pause",
            then(&[Revoke(1), Sync, Start, Sync]),
        ),
        (
            "a node is behind: refused timestamp rollback after a pause",
            then(&[Sign(2), Sync, Lag(1), Offer(Some(3)), Sync]),
        ),
        (
            "a frozen server is noticed: refused timestamp expired",
            then(&[Pass(8 * 24), Sync]),
        ),
        (
            "a frozen server does not stop the app: runs update_1",
            then(&[Pass(8 * 24), Sync, Start]),
        ),
        (
            "a server is renewed: nothing",
            then(&[Pass(5 * 24), Renew, Pass(5 * 24), Sync]),
        ),
        (
            "a new key of the server: runs update_2",
            then(&[ReplaceKey, Sign(2), Offer(Some(2)), Sync, Start]),
        ),
        (
            "the key that was replaced: refused timestamp too-few-signatures",
            then(&[ReplaceKey, Sync, Lag(1), Pass(24), Sync]),
        ),
    ]
}
