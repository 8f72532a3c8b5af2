//! Tests of `WebhookLayer`, the tower layer for webhook receivers.

mod support;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use billcore::webhook::{VerifierOptions, WebhookLayer, sign};
use billcore::{Event, Reason};
use bytes::Bytes;
use http::{Request, Response, header};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use tower::{Layer, ServiceExt, service_fn};

const SECRET: &str = "whsec-0123456789abcdefghijklmnop";
const PAID: &str = r#"{"id":8,"name":"order.paid","account":1,"data":{"id":"ord_1","total":19900}}"#;

/// A body that is read in pieces of seven bytes and may end with an error.
struct Pieces {
    rest: Bytes,
    breaks_off: bool,
}

impl From<Bytes> for Pieces {
    fn from(rest: Bytes) -> Self {
        Self { rest, breaks_off: false }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = std::io::Error;
    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.rest.is_empty() {
            return Poll::Ready(self.breaks_off.then(|| Err(std::io::ErrorKind::ConnectionReset.into())));
        }
        let size = self.rest.len().min(7);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(size)))))
    }
}

async fn answer(request: Request<Pieces>) -> Result<Response<Full<Bytes>>, Infallible> {
    let event = Arc::clone(request.extensions().get::<Arc<Event>>().expect("the layer adds the event"));
    let body = request.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(event.raw().unwrap(), body);
    Ok(Response::new(Full::from(event.name().unwrap().to_owned())))
}

#[tokio::test]
async fn requests_are_let_through_or_answered() {
    let refused = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&refused);
    let keys = VerifierOptions::new().secret(SECRET).max_body(1000).build().unwrap();
    let layer = WebhookLayer::new(keys).on_refused(move |parts, error| {
        told.lock().unwrap().push((parts.method.clone(), error.reason()));
    });
    let large = "x".repeat(1001);
    let good = |body: &str| Some(sign(body.as_bytes(), SECRET).unwrap());
    let cases = [
        ("POST", PAID, good(PAID), false, 200, None),
        ("POST", PAID, None, false, 401, Some(Reason::Missing)),
        ("POST", PAID, Some(String::new()), false, 400, Some(Reason::Malformed)),
        ("POST", PAID, Some("0".repeat(64)), false, 401, Some(Reason::Mismatch)),
        ("POST", large.as_str(), good(&large), false, 413, Some(Reason::BodyTooLarge)),
        ("POST", large.as_str(), good(&large), true, 413, Some(Reason::BodyTooLarge)),
        ("POST", "[]", good("[]"), false, 500, None),
        ("POST", PAID, good(PAID), true, 400, None),
        ("GET", "", None, false, 405, None),
    ];
    for (method, body, signature, breaks_off, status, reason) in cases {
        let mut request = Request::builder().method(method).uri("/webhooks");
        if let Some(signature) = &signature {
            request = request.header("service-signature", signature);
        }
        let body = Pieces { rest: Bytes::from(body.to_owned()), breaks_off };
        let service = layer.layer(service_fn(answer));
        let answer = service.oneshot(request.body(body).unwrap()).await.unwrap();
        assert_eq!(answer.status(), status);
        assert_eq!(answer.headers().get(header::ALLOW).is_some(), status == 405);
        let told = refused.lock().unwrap().pop();
        assert_eq!(told, (status != 200).then(|| (method.parse().unwrap(), reason)));
        let said = answer.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(said == "order.paid", status == 200);
    }
    assert!(!format!("{layer:?}").contains(SECRET));
}
