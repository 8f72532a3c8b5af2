//! Tests of `WebhookLayer`, the tower layer for webhook receivers.

mod support;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use billcore::webhook::{Verifier, VerifierOptions, WebhookLayer, sign};
use billcore::{Event, Reason};
use bytes::Bytes;
use http::{Request, Response, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Full};
use tower::{Layer, ServiceExt, service_fn};

const SECRET: &str = "whsec-0123456789abcdefghijklmnop";
const PAID: &str = r#"{"id":8,"name":"order.paid","account":1,"data":{"id":"ord_1","total":19900}}"#;

/// A body that is read in pieces of seven bytes, and may then end with an error, or never end.
struct Pieces {
    rest: Bytes,
    end: End,
    declared: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Whole,
    Broken,
    Never,
}
use End::{Broken, Never, Whole};

impl From<Bytes> for Pieces {
    fn from(rest: Bytes) -> Self {
        Self { rest, end: Whole, declared: 0 }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = std::io::Error;
    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.rest.is_empty() {
            return match self.end {
                Whole => Poll::Ready(None),
                Broken => Poll::Ready(Some(Err(std::io::ErrorKind::ConnectionReset.into()))),
                Never => Poll::Pending,
            };
        }
        let size = self.rest.len().min(7);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(size)))))
    }
    fn size_hint(&self) -> SizeHint {
        let mut hint = SizeHint::new();
        hint.set_lower(self.declared);
        hint
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
    let keys = VerifierOptions::new().secret(SECRET).max_body(994).build().unwrap(); // a piece ends at the limit
    let limit = Some(Duration::from_millis(50));
    let layer = WebhookLayer::new(keys).read_timeout(limit).on_refused(move |parts, error| {
        told.lock().unwrap().push((parts.method.clone(), error.reason()));
    });
    let large = "x".repeat(1001);
    let good = |body: &str| Some(sign(body.as_bytes(), SECRET).unwrap());
    let cases = [
        ("POST", PAID, good(PAID), Whole, 200, None),
        ("POST", PAID, None, Whole, 401, Some(Reason::Missing)),
        ("POST", large.as_str(), good(&large), Whole, 413, Some(Reason::BodyTooLarge)),
        ("POST", large.as_str(), good(&large), Broken, 413, Some(Reason::BodyTooLarge)),
        ("POST", "[]", good("[]"), Whole, 400, None),
        ("POST", PAID, good(PAID), Broken, 499, Some(Reason::Disconnected)),
        ("POST", &PAID[..20], good(PAID), Never, 408, Some(Reason::Timeout)),
        ("GET", "", None, Whole, 405, None),
    ];
    for (method, body, signature, end, status, reason) in cases {
        let mut request = Request::builder().method(method).uri("/webhooks");
        if let Some(signature) = &signature {
            request = request.header("service-signature", signature);
        }
        let body = Pieces { rest: Bytes::from(body.to_owned()), end, declared: 0 };
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

#[tokio::test]
async fn a_body_whose_declared_size_is_too_large_is_not_read() {
    let layer = WebhookLayer::new(Verifier::new(SECRET).unwrap()).read_timeout(None);
    let body = Pieces { rest: Bytes::new(), end: Never, declared: 1 << 30 };
    let request = Request::post("/webhooks").body(body).unwrap();
    assert_eq!(layer.layer(service_fn(answer)).oneshot(request).await.unwrap().status(), 413);
}

#[tokio::test]
async fn the_shared_deliveries() {
    let file: serde_json::Value = serde_json::from_str(include_str!("../../fixtures/deliveries.json")).unwrap();
    let deliveries = file["deliveries"].as_array().unwrap();
    assert!(deliveries.len() > 50);
    let layer = WebhookLayer::new(Verifier::new(SECRET).unwrap());
    for delivery in deliveries {
        let body = delivery["body"].as_str().unwrap().to_owned();
        let request = Request::post("/webhooks").header("service-signature", sign(body.as_bytes(), SECRET).unwrap());
        let request = request.body(Pieces::from(Bytes::from(body))).unwrap();
        let answer = layer.layer(service_fn(answer)).oneshot(request).await.unwrap();
        assert_eq!(u64::from(answer.status().as_u16()), delivery["status"], "{}", delivery["name"]);
    }
}
