//! Drafts of the server on their way to a signature: nothing in them is believed before it was compared.

use launchway_api::trust::TrustSignature;
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{Body, Metadata};

use crate::developer_role::DeveloperRole;
use crate::failure::Failure;
use crate::trust::repository::VerifiedRepository;

/// Reads the draft of a role, which must be valid and above the `present` version of this app's role.
pub fn read<T: Body>(
    text: &str,
    role: &DeveloperRole,
    repository: &VerifiedRepository,
    present: u64,
) -> Result<Metadata<T>, Failure> {
    let refuse = |problem: &str| refuse(role, problem);
    let file: Metadata<T> = Metadata::parse(text.as_bytes()).map_err(|error| refuse(&error.to_string()))?;
    if file.header().identity.as_ref() != Some(repository.identity()) {
        return Err(refuse("is for another repository or app"));
    }
    if Draft::new(file.header(), file.body()).message() != file.message() {
        return Err(refuse("contains fields that this version of the program does not know"));
    }
    let found = file.version();
    if found <= present {
        return Err(refuse(&format!(
            "has version {found}, and version {present} is in force"
        )));
    }
    if file.is_expired(repository.now()) {
        return Err(Failure::failed(format!("the draft of {role} has expired"))
            .hint(format!(
                "delete it with launchway api DELETE '/trust/drafts?bundleId={}&role={role}', and make the change again",
                repository.identity().bundle_id
            )));
    }
    Ok(file)
}

/// The failure of a draft that an honest server would not make.
pub fn refuse(role: &DeveloperRole, problem: &str) -> Failure {
    Failure::failed(format!("the draft of {role} {problem}")).hint("do not sign it: somebody may control the server")
}

/// The signatures of `after` that `before` does not have.
pub fn added<T: Body>(before: &Metadata<T>, after: &Metadata<T>) -> Result<Vec<TrustSignature>, Failure> {
    let known: Vec<_> = before.signatures().collect();
    let new = after.signatures().filter(|signature| !known.contains(signature));
    let new: Vec<_> = new
        .map(|(id, der)| TrustSignature {
            keyid: id.to_owned(),
            sig: hex::encode(der),
        })
        .collect();
    match new.is_empty() {
        true => Err(Failure::failed("the draft has all of its signatures")),
        false => Ok(new),
    }
}
