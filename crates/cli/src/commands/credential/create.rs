//! `credential create`: makes an Android keystore on this machine, and adds it to the server if told to.

use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine};
use launchway_api::credentials::CreateCredential;
use launchway_api::secret::SecretText;
use launchway_credentials::{CredentialInput, Details, Facts, Kind, NewKeystore, new_android_keystore, read};
use launchway_domain::credential::CredentialKind;
use launchway_domain::time::{DAY, EpochMs, date, iso};
use ring::rand::SystemRandom;
use zeroize::Zeroizing;

use crate::args::credential::CreateCredentialArgs;
use crate::commands::credential::password;
use crate::commands::run_blocking;
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::fields;
use crate::private_file;

/// In days; a certificate that lasts decades need not end on the day.
const YEAR: i64 = 365;

pub async fn run(arguments: CreateCredentialArgs, context: &Context) -> Result<(), Failure> {
    let path = &arguments.file;
    if path.exists() {
        return Err(Failure::usage(format!("{} exists already", path.display()))
            .hint("give another FILE; apps cannot be updated without their key, so nothing is overwritten"));
    }
    // Before the key is made, because only a signed-in caller can add it.
    let client = match arguments.add {
        true => Some(context.client()?),
        false => None,
    };
    let password = password::new(context).await?;
    let (file, facts) = make(&arguments, &password, context.now()).await?;
    private_file::create(path, &file)?;
    print(path, &facts, context)?;
    let Some(client) = client else {
        context.printer.note(&format!(
            "Keep the file and its password safe. To add it to the server: launchway credential add {}",
            path.display()
        ));
        return Ok(());
    };
    let wanted = CreateCredential {
        kind: CredentialKind::AndroidKeystore.into(),
        name: None,
        content: SecretText::new(BASE64_STANDARD.encode(&*file)),
        password: Some(password),
        alias: None,
        key_password: None,
        key_id: None,
        issuer_id: None,
        bundle_id: arguments.bundle_id.as_ref().map(ToString::to_string),
    };
    let added = client.create_credential(&wanted).await.map_err(|error| {
        let failure = Failure::from(error);
        let note = format!("{} was made, but not added", path.display());
        Failure {
            message: format!("{note}: {}", failure.message),
            ..failure
        }
    })?;
    context.printer.note(&format!(
        "Added to the server as {}. Keep the file and its password safe.",
        added.value.record.id
    ));
    Ok(())
}

/// The bytes of a new keystore, and what is in it. Finding the primes takes seconds.
async fn make(
    arguments: &CreateCredentialArgs,
    password: &SecretText,
    now: EpochMs,
) -> Result<(Zeroizing<Vec<u8>>, Facts), Failure> {
    let (alias, common_name) = (arguments.alias.clone(), arguments.common_name.clone());
    let (password, years) = (password.clone(), i64::from(arguments.years));
    let work = move || {
        let wanted = NewKeystore {
            alias: &alias,
            common_name: &common_name,
            password: password.reveal(),
            // The clock of the server may be a little behind.
            not_before: now - DAY,
            not_after: now + years * YEAR * DAY,
        };
        let file =
            new_android_keystore(&wanted, &SystemRandom::new()).map_err(|error| Failure::usage(error.to_string()))?;
        let given = CredentialInput {
            content: &file,
            password: Some(password.reveal()),
            ..CredentialInput::default()
        };
        let facts = read(Kind::AndroidKeystore, &given, now).map_err(|error| Failure::failed(error.to_string()))?;
        Ok((file, facts))
    };
    run_blocking(work).await?
}

fn print(path: &Path, facts: &Facts, context: &Context) -> Result<(), Failure> {
    let Details::AndroidKeystore(keystore) = &facts.details else {
        return Ok(());
    };
    let expires = facts.expires_at.unwrap_or_default();
    let told = serde_json::json!({
        "file": path.display().to_string(),
        "alias": keystore.alias,
        "subject": keystore.subject,
        "sha256": facts.fingerprint,
        "sha1": keystore.sha1_fingerprint,
        "expiresAt": iso(expires),
    });
    context.printer.result(&told.to_string(), || {
        fields(&[
            ("File", path.display().to_string()),
            ("Alias", keystore.alias.clone()),
            ("Name", keystore.subject.clone()),
            ("Key", format!("RSA, {} bits", keystore.key_size)),
            ("SHA-256", facts.fingerprint.clone()),
            ("SHA-1", keystore.sha1_fingerprint.clone()),
            ("Valid until", date(expires)),
        ])
    })
}
