//! An endpoint: its handler, its allowed callers, and how to describe it. The responses that every endpoint of a kind
//! can give (401, 403, 429 …) are added to its description here, so that no handler can forget them.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::MethodRouter;
use launchway_ops::app::App;
use utoipa::openapi::path::{HttpMethod, Operation, Parameter, ParameterBuilder, ParameterIn, Paths};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{
    ContentBuilder, HeaderBuilder, ObjectBuilder, Ref, RefOr, Required, Response, ResponseBuilder, Type,
};
use utoipa_axum::PathItemExt;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::admit::{Access, admit, admit_one_time, admit_runner};
use crate::erased_handler::ErasedHandler;

/// What `utoipa_axum::routes!` makes of a handler.
pub type Described = UtoipaMethodRouter<Arc<App>>;

/// A handler at its path.
pub struct Endpoint {
    /// Such as `/update/check/{bundleId}`, under `/api`.
    pub path: String,
    access: Access,
    methods: Vec<HttpMethod>,
    handler: MethodRouter<Arc<App>>,
    describe: fn() -> Described,
}

/// An [`Endpoint`] from its allowed callers and the path of its handler, which has a `#[utoipa::path]`.
macro_rules! endpoint {
    ($access:expr, $module:ident :: $handler:ident) => {
        utoipa_axum::paste! {{
            use utoipa::Path;
            $crate::http::endpoint::Endpoint::new(
                $access,
                $module::[<__path_ $handler>]::path(),
                $module::[<__path_ $handler>]::methods(),
                $crate::erased_handler::erase($module::$handler),
                || utoipa_axum::routes!($module::$handler),
            )
        }}
    };
}
pub(crate) use endpoint;

/// An entry of the router's list, for the tests that iterate over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Such as `GET`.
    pub method: String,
    /// Such as `/update/check/{bundleId}`, under `/api`.
    pub path: String,
    /// Who may call it.
    pub access: Access,
}

impl Endpoint {
    /// A handler at its path, for these methods only. All descriptions together take ten megabytes while they are made, and few
    /// processes are asked for them, so `describe` is called when somebody asks.
    pub fn new(
        access: Access,
        path: String,
        methods: Vec<HttpMethod>,
        handler: ErasedHandler,
        describe: fn() -> Described,
    ) -> Endpoint {
        let handler = methods.iter().fold(MethodRouter::new(), |router, method| {
            router.on(method.to_method_filter(), handler.clone())
        });
        Endpoint {
            path,
            access,
            methods,
            handler,
            describe,
        }
    }

    /// The entries that this endpoint adds to the router's list.
    pub fn lines(&self) -> impl Iterator<Item = Line> {
        self.methods.iter().map(|method| Line {
            method: method_name(method).to_owned(),
            path: self.path.clone(),
            access: self.access,
        })
    }

    /// Adds the endpoint to a router, behind admission unless it is public.
    pub fn add_to(self, router: Router<Arc<App>>, app: &Arc<App>) -> Router<Arc<App>> {
        router.route(&self.path, guarded(self.handler, self.access, app))
    }

    /// Adds its description to a document.
    pub fn describe_in(self, document: OpenApiRouter<Arc<App>>) -> OpenApiRouter<Arc<App>> {
        let (schemas, mut paths, handler) = (self.describe)();
        describe(&mut paths, self.access);
        document.routes((schemas, paths, handler))
    }
}

fn method_name(method: &HttpMethod) -> &'static str {
    match method {
        HttpMethod::Get => "GET",
        HttpMethod::Put => "PUT",
        HttpMethod::Post => "POST",
        HttpMethod::Delete => "DELETE",
        HttpMethod::Options => "OPTIONS",
        HttpMethod::Head => "HEAD",
        HttpMethod::Patch => "PATCH",
        HttpMethod::Trace => "TRACE",
    }
}

fn guarded(handler: MethodRouter<Arc<App>>, access: Access, app: &Arc<App>) -> MethodRouter<Arc<App>> {
    match access {
        Access::Public | Access::ReportToken => handler,
        Access::OneTimeToken => handler.route_layer(from_fn_with_state(app.clone(), admit_one_time)),
        Access::Runner => handler.route_layer(from_fn_with_state(app.clone(), admit_runner)),
        _ => handler.route_layer(from_fn_with_state((app.clone(), access), admit)),
    }
}

fn describe(paths: &mut Paths, access: Access) {
    for (path, item) in &mut paths.paths {
        let operations = [
            ("get", &mut item.get),
            ("post", &mut item.post),
            ("put", &mut item.put),
            ("patch", &mut item.patch),
            ("delete", &mut item.delete),
        ];
        for (method, operation) in operations {
            if let Some(operation) = operation {
                operation.operation_id = Some(operation_id(method, path));
                describe_operation(operation, access, method == "post");
            }
        }
    }
}

/// Such as `getUpdateCheckBundleId`: handlers of different files share names, operation ids must be unique.
fn operation_id(method: &str, path: &str) -> String {
    let words = path
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    method.to_owned() + &words.map(capital).collect::<String>()
}

fn describe_operation(operation: &mut Operation, access: Access, is_post: bool) {
    let mut add = |status: &str, description: &str| {
        let response = error_response(description, status == "429");
        operation
            .responses
            .responses
            .entry(status.to_owned())
            .or_insert(RefOr::T(response));
    };
    let is_runner = matches!(access, Access::Runner | Access::OneTimeToken);
    let authenticated = !is_runner && !matches!(access, Access::Public | Access::ReportToken);
    if is_runner {
        add("401", "No authentication, or a token that is unknown, revoked or used");
    }
    if authenticated {
        add("400", "The request is malformed, or conflicts with the current state");
        add("401", "No authentication, or an invalid or expired API key");
        add(
            "403",
            "The caller lacks the scope or role, or names an organization it does not act in",
        );
        add("429", "The rate limit of the tier is exceeded");
        add("500", "An internal error");
        add("503", "The database or the object storage is unavailable");
    }
    if operation.request_body.is_some() {
        add("400", "The request is malformed, or conflicts with the current state");
        add("408", "The body arrived too slowly");
        add("413", "The body is too large");
        add("500", "An internal error");
        add("503", "The database or the object storage is unavailable");
    }
    let creates = operation.responses.responses.contains_key("201");
    let parameters = operation.parameters.get_or_insert_with(Vec::new);
    if authenticated {
        parameters.push(RefOr::T(text_parameter("orgId", ParameterIn::Query, ORG_ID)));
        operation.security = Some(security_of(access));
    }
    if is_runner {
        operation.security = Some(vec![SecurityRequirement::new("runnerToken", Vec::<String>::new())]);
    }
    if authenticated && is_post && creates {
        parameters.push(RefOr::T(text_parameter(
            "Idempotency-Key",
            ParameterIn::Header,
            IDEMPOTENCY,
        )));
    }
    if parameters.is_empty() {
        operation.parameters = None;
    }
}

/// The security requirement of an authenticated caller.
fn security_of(access: Access) -> Vec<SecurityRequirement> {
    let needs = |scheme: &str, scopes: Vec<String>| SecurityRequirement::new(scheme, scopes);
    match access {
        Access::Session => vec![needs("session", vec![])],
        Access::Scope(scope) => vec![needs("apiKey", vec![scope.to_string()]), needs("session", vec![])],
        Access::Admin(_) => vec![needs("apiKey", vec!["admin".to_owned()]), needs("session", vec![])],
        _ => vec![needs("apiKey", vec![]), needs("session", vec![])],
    }
}

const ORG_ID: &str = "The organization to act in: for a session any organization of the user, for a key only its own";
const IDEMPOTENCY: &str = "1 to 255 visible ASCII characters. For 24 hours, a request with the same key and body gets the first \
                           response again, without values that are shown only once; with another body it is refused with 400.";

fn text_parameter(name: &str, place: ParameterIn, description: &str) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .build()
}

fn error_response(description: &str, limited: bool) -> Response {
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name("Error")))
        .build();
    let response = ResponseBuilder::new()
        .description(description)
        .content("application/json", content);
    if limited {
        response.header("Retry-After", HeaderBuilder::new().build()).build()
    } else {
        response.build()
    }
}
