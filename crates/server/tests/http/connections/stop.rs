//! The end of a server: what has arrived is answered, and what was answered reaches its client.

use launchway_web::server::{self, HttpServer};
use reqwest::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{CHECK, FOR_EVER, ask, head, with_places};
use crate::support::TestApp;

/// The server stops while a connection that has sent checks is on its way to the HTTP implementation.
#[tokio::test]
async fn a_request_that_came_before_the_stop_is_answered() {
    let app = with_places(1, 1).await;
    for path in [CHECK, "/healthz"] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let stopped = async move {
            let _ = stopped.await;
            FOR_EVER
        };
        let server = HttpServer::new(app.app.clone());
        let serving = tokio::spawn(server::serve(server, listener, stopped));
        ask(&mut stream, CHECK).await;
        stream.write_all(head(Method::GET, path, &[]).as_bytes()).await.unwrap();
        stop.send(()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        serving.await.unwrap();
    }
}

/// Serves this listener, and stops at once, for as long as running requests take.
async fn stop_at_once(app: &TestApp, listener: TcpListener) {
    let server = HttpServer::new(app.app.clone());
    server::serve(server, listener, async { FOR_EVER }).await;
}

#[tokio::test]
async fn connections_that_wait_at_the_stop_are_served() {
    let app = TestApp::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut clients = Vec::new();
    for number in 0..100 {
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let path = if number % 2 == 0 { CHECK } else { "/healthz" };
        stream.write_all(head(Method::GET, path, &[]).as_bytes()).await.unwrap();
        clients.push(stream);
    }
    let read = async {
        for mut stream in clients {
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        }
    };
    tokio::join!(stop_at_once(&app, listener), read);
}

/// Closing a connection with requests that nobody has read resets it, and the system drops answers that it has not delivered.
#[tokio::test]
async fn a_stop_delivers_the_answers_of_a_client_that_has_sent_more() {
    let app = TestApp::with(settings!(check_limit = "0")).await;
    // A check of exactly as many bytes as are read at once leaves none of another that were read.
    let filling = 2048 - head(Method::GET, CHECK, &[("X-Filling", String::new())]).len();
    let filled = head(Method::GET, CHECK, &[("X-Filling", "f".repeat(filling))]);
    for request in [head(Method::GET, CHECK, &[]), filled, head(Method::GET, "/healthz", &[])] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut reading, mut writing) = stream.into_split();
        let requests = request.repeat(50);
        writing.write_all(requests.as_bytes()).await.unwrap();
        let write = async move {
            // The service does not answer them to the end.
            let _ = writing.write_all(requests.repeat(200).as_bytes()).await;
        };
        let read = async move {
            let mut answers = Vec::new();
            reading.read_to_end(&mut answers).await.unwrap();
            assert!(answers.starts_with(b"HTTP/1.1 200"), "{request}");
        };
        tokio::join!(stop_at_once(&app, listener), write, read);
    }
}
