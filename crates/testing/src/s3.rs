//! An S3 server in the test process, on 127.0.0.1, that verifies signatures.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper::{Method, Request};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// A running server with one empty bucket, addressed by path. Dropping it stops it at once and removes its objects.
#[derive(Debug)]
pub struct S3Server {
    /// The URL, such as `http://127.0.0.1:40001`.
    pub endpoint: String,
    /// The name of the bucket.
    pub bucket: String,
    /// The accepted access key id.
    pub access_key: String,
    /// The secret of the access key.
    pub secret_key: String,
    gets: Arc<AtomicUsize>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    _objects: TempDir,
}

const BUCKET: &str = "test-bucket";
const ACCESS_KEY: &str = "test-access-key";
const SECRET_KEY: &str = "test-secret-key";

impl S3Server {
    /// Starts a server on a free port, with its own thread and runtime.
    ///
    /// # Panics
    /// If it cannot be started.
    #[must_use]
    pub fn start() -> Self {
        let objects = tempfile::tempdir().expect("a temporary directory can be made");
        std::fs::create_dir(objects.path().join(BUCKET)).expect("a bucket can be made");
        let files = FileSystem::new(objects.path()).expect("the S3 server takes the directory");
        let mut builder = S3ServiceBuilder::new(files);
        builder.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
        let service = builder.build();

        let gets = Arc::new(AtomicUsize::new(0));
        let counter = gets.clone();
        let (stop, stopped) = oneshot::channel();
        let (started, address) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_multi_thread();
            let runtime = runtime
                .worker_threads(1)
                .enable_all()
                .build()
                .expect("a runtime can be made");
            runtime.block_on(serve(service, counter, started, stopped));
            // Do not wait for requests in progress: the directory is removed anyway.
            runtime.shutdown_background();
        });
        let address = address
            .recv()
            .expect("the S3 server listens; its thread's message says why not");
        Self {
            endpoint: format!("http://{address}"),
            bucket: BUCKET.to_owned(),
            access_key: ACCESS_KEY.to_owned(),
            secret_key: SECRET_KEY.to_owned(),
            gets,
            stop: Some(stop),
            thread: Some(thread),
            _objects: objects,
        }
    }

    /// The number of GET requests so far.
    #[must_use]
    pub fn gets(&self) -> usize {
        self.gets.load(Ordering::Relaxed)
    }

    /// The value of `--storage-url` for the bucket; the keys go into the usual AWS variables.
    #[must_use]
    pub fn storage_url(&self) -> String {
        format!("s3://{}?endpoint={}&region=us-east-1", self.bucket, self.endpoint)
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // An error means that the thread panicked, which it has reported.
            let _ = thread.join();
        }
    }
}

/// Serves until the sender of `stopped` is dropped; then closes every connection.
async fn serve(
    service: S3Service,
    gets: Arc<AtomicUsize>,
    started: std::sync::mpsc::Sender<SocketAddr>,
    mut stopped: oneshot::Receiver<()>,
) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port is free");
    started
        .send(listener.local_addr().expect("it is bound"))
        .expect("start() waits for it");
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = &mut stopped => break,
        };
        // A client that has already disconnected is no reason to stop.
        let Ok((connection, _)) = accepted else { continue };
        let (service, gets) = (service.clone(), gets.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            gets.fetch_add(usize::from(request.method() == Method::GET), Ordering::Relaxed);
            // The service has a method of the same name for other requests.
            Service::<Request<Incoming>>::call(&service, request)
        });
        connections.spawn(async move {
            let _ = Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(connection), service)
                .await;
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn refuses_who_shows_no_signature_and_stops_when_dropped() {
        let server = S3Server::start();
        let address = server.endpoint.strip_prefix("http://").unwrap().to_owned();
        assert!(
            server
                .storage_url()
                .starts_with("s3://test-bucket?endpoint=http://127.0.0.1:")
        );
        let mut connection = TcpStream::connect(&address).unwrap();
        let request = format!(
            "GET /{}/key HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n",
            server.bucket
        );
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
        drop(server);
        assert!(TcpStream::connect(&address).is_err());
    }
}
