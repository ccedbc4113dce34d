//! Credentials of roles, from fakes of the sources over real HTTP, used against an S3 server that checks signatures.

use std::sync::Mutex;

use axum::Router;
use axum::body::{Bytes as Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use launchway_os::clock::Clock;
use launchway_testing::s3::S3Server;
use serde_json::json;

use super::*;
use crate::Blob;

/// 2100: none of these credentials end during a test.
const END: &str = "2100-01-01T00:00:00Z";

/// A request that a source received.
#[derive(Clone, Debug)]
struct Seen {
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Body,
}

impl Seen {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// Serves `answer` on a port of its own, and keeps the requests.
struct Fake {
    url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Fake {
    async fn start(answer: impl Fn(&Seen, usize) -> Response + Clone + Send + Sync + 'static) -> Fake {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = seen.clone();
        let serve = move |request: Request| {
            let (kept, answer) = (kept.clone(), answer.clone());
            async move {
                let (parts, body) = request.into_parts();
                let one = Seen {
                    method: parts.method,
                    path: parts.uri.path().to_owned(),
                    headers: parts.headers,
                    body: to_bytes(body, 1 << 20).await.unwrap(),
                };
                let mut kept = kept.lock().unwrap();
                kept.push(one.clone());
                answer(&one, kept.len())
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(serve);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Fake { url, seen }
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn given(id: &str, secret: &str, token: &str) -> String {
    let keys =
        json!({"Code": "Success", "AccessKeyId": id, "SecretAccessKey": secret, "Token": token, "Expiration": END});
    keys.to_string()
}

/// A metadata service whose instance has a role. It refuses what is not of its second version.
fn metadata(keys: impl Fn(usize) -> String + Clone) -> impl Fn(&Seen, usize) -> Response + Clone {
    const ROLES: &str = "/latest/meta-data/iam/security-credentials/";
    move |request, number| {
        if request.method == Method::PUT && request.path == "/latest/api/token" {
            assert_eq!(request.header("x-aws-ec2-metadata-token-ttl-seconds"), "21600");
            return "metadata-token".into_response();
        }
        if request.header("x-aws-ec2-metadata-token") != "metadata-token" {
            return StatusCode::UNAUTHORIZED.into_response();
        }
        match request.path.strip_prefix(ROLES) {
            Some("") => "my-role\n".into_response(),
            Some("my-role") => keys(number).into_response(),
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    }
}

/// The time of a test.
struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> i64 {
        0
    }
}

async fn opened(server: &S3Server, role: &RoleSource) -> Blob {
    Blob::s3_with_role(&server.storage_url(), role, None, Arc::new(Fixed))
        .await
        .unwrap()
}

fn bucket(blob: &Blob) -> &Bucket {
    match blob {
        Blob::S3(bucket) => bucket,
        Blob::Local(_) => panic!("a bucket"),
    }
}

fn signed(blob: &Blob) -> String {
    blob.presign_get(&Key::new("a").unwrap(), "a", 0, 3600).url
}

#[tokio::test]
async fn an_instance_uses_the_credentials_of_its_role() {
    let server = S3Server::start();
    let (id, secret) = (server.access_key.clone(), server.secret_key.clone());
    let fake = Fake::start(metadata(move |number| match number {
        ..=3 => given(&id, &secret, "first"),
        4..=6 => given("another", "key", "second"),
        _ => given(&id, &secret, "third"),
    }))
    .await;
    let role = RoleSource::Instance {
        endpoint: fake.url.clone(),
    };
    let blob = opened(&server, &role).await;
    blob.check().await.unwrap();
    assert!(signed(&blob).contains("&X-Amz-Security-Token=first&"));
    // New credentials are used by the library and by our own signatures.
    let present = &bucket(&blob).present;
    present.renew(&role, "us-east-1").await.unwrap();
    assert!(blob.check().await.is_err());
    assert!(signed(&blob).contains("X-Amz-Credential=another%2F") && signed(&blob).contains("=second&"));
    present.renew(&role, "us-east-1").await.unwrap();
    blob.check().await.unwrap();
    assert_eq!(fake.seen().len(), 9);
}

#[tokio::test]
async fn a_container_sends_the_token_of_its_file() {
    let server = S3Server::start();
    let (id, secret) = (server.access_key.clone(), server.secret_key.clone());
    let fake = Fake::start(move |_: &Seen, _| given(&id, &secret, "token").into_response()).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "one\n").unwrap();
    let role = RoleSource::Container {
        url: format!("{}/v1/credentials?a=b", fake.url),
        authorization: Some(Authorization::File(path.clone())),
    };
    let blob = opened(&server, &role).await;
    blob.check().await.unwrap();
    std::fs::write(&path, "two").unwrap();
    bucket(&blob).present.renew(&role, "us-east-1").await.unwrap();
    let tokens: Vec<_> = fake
        .seen()
        .iter()
        .map(|seen| seen.header("authorization").to_owned())
        .collect();
    assert_eq!(tokens, ["one", "two"]);
}

#[tokio::test]
async fn a_web_identity_is_exchanged_for_credentials() {
    let server = S3Server::start();
    let (id, secret) = (server.access_key.clone(), server.secret_key.clone());
    let fake = Fake::start(move |_: &Seen, _| {
        format!(
            "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Audience>a</Audience><Credentials>\
             <SessionToken>t/o+k=</SessionToken><SecretAccessKey>{secret}</SecretAccessKey>\
             <Expiration>{END}</Expiration><AccessKeyId>{id}</AccessKeyId></Credentials>\
             </AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"
        )
        .into_response()
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let token_file = folder.path().join("token");
    std::fs::write(&token_file, "header.claims.sig+=\n").unwrap();
    let role = RoleSource::WebIdentity {
        role_arn: "arn:aws:iam::1:role/a b".to_owned(),
        session_name: "launchway".to_owned(),
        token_file,
        endpoint: fake.url.clone(),
    };
    let blob = opened(&server, &role).await;
    blob.check().await.unwrap();
    assert!(signed(&blob).contains("&X-Amz-Security-Token=t%2Fo%2Bk%3D&"));
    let [seen] = &fake.seen()[..] else {
        panic!("one request")
    };
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/"));
    assert_eq!(
        std::str::from_utf8(&seen.body).unwrap(),
        "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fa%20b\
         &RoleSessionName=launchway&WebIdentityToken=header.claims.sig%2B%3D"
    );
}

/// The present credentials stay when their source fails, and it is asked again.
#[tokio::test]
async fn credentials_are_renewed_in_the_background() {
    let fake = Fake::start(|_: &Seen, number| match number {
        2 | 3 => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        number => given("id", "secret", &format!("token-{number}")).into_response(),
    })
    .await;
    let role = RoleSource::Container {
        url: fake.url.clone(),
        authorization: None,
    };
    let session = role.fetch().await.unwrap();
    let present = Mutex::new(Some(Present::new(Active::of_session(&session, "us-east-1"))));
    let weak = Arc::downgrade(present.lock().unwrap().as_ref().unwrap());
    let waits = Mutex::new(Vec::new());
    let sleep = async |pause: Duration| {
        let mut kept = present.lock().unwrap();
        let token = kept.as_ref().unwrap().load().token().unwrap().to_owned();
        waits.lock().unwrap().push((pause.as_secs() > 20, token));
        // The bucket is closed.
        if waits.lock().unwrap().len() == 5 {
            *kept = None;
        }
    };
    keep_fresh(weak, role, "us-east-1".to_owned(), Arc::new(Fixed), sleep).await;
    let seen = waits.into_inner().unwrap();
    let seen: Vec<_> = seen.iter().map(|(is_long, token)| (*is_long, token.as_str())).collect();
    assert_eq!(
        seen,
        [
            (true, "token-1"),
            (false, "token-1"),
            (false, "token-1"),
            (true, "token-4"),
            (true, "token-5")
        ]
    );
}

#[tokio::test]
async fn a_source_without_credentials_is_an_error() {
    let redirect = || (StatusCode::FOUND, [(header::LOCATION, "http://127.0.0.1:9/")]).into_response();
    let fake = Fake::start(move |seen: &Seen, _| match seen.path.as_str() {
        "/redirect" => redirect(),
        "/refused" => StatusCode::FORBIDDEN.into_response(),
        "/large" => "x".repeat(70 << 10).into_response(),
        "/failed" => given("id", "secret", "t").replace("Success", "Failed").into_response(),
        "/injected" => given("id", "secret", "a\nb").into_response(),
        "/timeless" => given("id", "secret", "t").replace(END, "soon").into_response(),
        "/empty" => given("", "hidden", "t").into_response(),
        // An instance without a role.
        "/latest/api/token" => "token".into_response(),
        path if path.starts_with("/latest/") => StatusCode::NOT_FOUND.into_response(),
        _ => "no credentials".into_response(),
    })
    .await;
    let container = |path: &str| RoleSource::Container {
        url: format!("{}{path}", fake.url),
        authorization: None,
    };
    for (path, text) in [
        ("/redirect", "responded with status 302"),
        ("/refused", "responded with status 403"),
        ("/large", "sent no credentials that can be read"),
        ("/failed", "sent no credentials that can be read"),
        ("/injected", "sent no credentials that can be read"),
        ("/timeless", "sent no credentials that can be read"),
        ("/empty", "sent no credentials that can be read"),
        ("/other", "sent no credentials that can be read"),
    ] {
        let opened = Blob::s3_with_role("s3://box", &container(path), None, Arc::new(Fixed)).await;
        let error = opened.unwrap_err().to_string();
        assert_eq!(
            error,
            format!("getting credentials: the credential endpoint of the container {text}"),
            "{path}"
        );
    }
    let instance = RoleSource::Instance {
        endpoint: fake.url.clone(),
    };
    assert!(matches!(instance.fetch().await, Err(RoleError::NoRole)));
    let silent = RoleSource::Instance {
        endpoint: "http://127.0.0.1:9".to_owned(),
    };
    assert!(matches!(silent.fetch().await, Err(RoleError::Silent(_))));
    let lost = RoleSource::Container {
        url: fake.url.clone(),
        authorization: Some(Authorization::File("/nowhere/token".into())),
    };
    assert!(matches!(lost.fetch().await, Err(RoleError::Token { .. })));
    let secret = Authorization::Value("hidden".to_owned());
    assert!(!format!("{secret:?} {:?}", bucket_shown()).contains("hidden"));
}

/// A bucket with secrets, as `Debug` shows it.
fn bucket_shown() -> String {
    let keys = Credentials {
        secret_access_key: "hidden".to_owned(),
        ..Credentials::default()
    };
    format!("{:?}", Bucket::open("s3://box", &keys).unwrap())
}
