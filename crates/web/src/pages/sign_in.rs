//! The two steps of a sign-in by forms: address and password, then a code if the account requires one.

use std::sync::Arc;

use super::{Form, Input, Page, field, input};

use launchway_domain::percent::encode;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Browser;
use launchway_ops::proof::{FirstStep, TOO_LATE};
use launchway_ops::sessions::SignedIn;
use launchway_ops::sign_in::{SignInOutcome, finish_sign_in, start_sign_in};

use crate::query::Query;

/// The field that holds the code.
const CODE: &str = "one-time-code";

/// A page that was requested before the sign-in: one of the dashboard, or that of a command line with its code.
/// Redirects go nowhere else.
pub(super) fn wanted_page(next: &str) -> Option<&str> {
    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    let of_dashboard = (next.starts_with("/o/") || next.starts_with("/go/")) && next.bytes().all(plain);
    let code = next.strip_prefix("/device?code=");
    let of_device = code.is_some_and(|code| code.bytes().all(|byte| byte.is_ascii_alphabetic()));
    (of_dashboard || of_device).then_some(next)
}

/// The link that starts a sign-in through the provider and then leads to `next`; `None` without a provider.
pub(super) fn way_to_provider(app: &App, next: &str) -> Option<String> {
    app.provider.as_ref()?;
    let next = wanted_page(next).map(|next| format!("?next={}", encode(next)));
    Some(format!("/sign-in/provider{}", next.unwrap_or_default()))
}

/// The result of a sign-in form.
pub(super) enum Step {
    /// The browser is signed in.
    In(SignedIn),
    /// The code is required; after a wrong one, with the error.
    Code(FirstStep, Option<ApiError>),
    /// Address and password are required again.
    Again(ApiError),
}

/// Processes a form of a sign-in: `proof` shows that the password was right.
pub(super) async fn step(app: &Arc<App>, form: &Query, browser: &Browser) -> Result<Step, ApiError> {
    let (email, proof) = (field(form, "email")?, field(form, "proof")?);
    if proof.is_empty() {
        let entered = start_sign_in(app, email, field(form, "password")?, browser).await;
        return Ok(match entered {
            Ok(SignInOutcome::In(signed_in) | SignInOutcome::Claimed(signed_in, _)) => Step::In(signed_in),
            Ok(SignInOutcome::NeedsCode(first)) => Step::Code(first, None),
            Err(failure) => Step::Again(failure),
        });
    }
    let first = FirstStep {
        email: email.to_owned(),
        proof: proof.to_owned(),
    };
    let entered = finish_sign_in(app, &first, field(form, CODE)?, browser).await;
    Ok(match entered {
        Ok(signed_in) => Step::In(signed_in),
        Err(ApiError::NotProven(words)) if words == TOO_LATE => Step::Again(ApiError::NotProven(words)),
        Err(failure) => Step::Code(first, Some(failure)),
    })
}

/// The page that asks for the code. `more` adds hidden fields.
pub(super) fn code_page(action: &'static str, token: &str, first: &FirstStep, more: Vec<Input>) -> Page {
    let mut inputs = vec![
        input("email", "", "hidden", "off", &first.email),
        input("proof", "", "hidden", "off", &first.proof),
        input(CODE, "Code", "text", "one-time-code", ""),
    ];
    inputs.extend(more);
    Page {
        title: "Enter your code",
        words: vec!["Enter the six digits that your authenticator app shows, or one of your recovery codes".to_owned()],
        form: Some(Form {
            action,
            token: token.to_owned(),
            inputs,
            button: "Sign in",
            ..Form::default()
        }),
        ..Page::default()
    }
}
