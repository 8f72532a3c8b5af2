use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;

/// Serves the router, with a time limit for the head of each request. `axum::serve` has no such limit, so a sender could
/// hold a connection for ever. `WebhookLayer` limits the time for the body.
pub async fn serve(listener: TcpListener, app: Router) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_secs(1)).await; // accept fails while too many files are open
            continue;
        };
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(10));
        let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(app.clone()));
        tokio::spawn(async move {
            let _ = connection.await; // an error is that of the sender, who has disconnected or was too slow
        });
    }
}
