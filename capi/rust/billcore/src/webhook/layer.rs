use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderValue, Method, Request, Response, StatusCode, header, request};
use http_body::Body;
use tower_layer::Layer;
use tower_service::Service;

use super::Verifier;
use crate::error::{Error, ErrorCode};

type OnRefused = Arc<dyn Fn(&request::Parts, &Error) + Send + Sync>;

/// A tower layer that receives webhooks in front of an inner service (of axum, hyper or tonic, for example). The layer
/// limits the body's size, verifies and parses the body, and puts the event into the request's extensions, as
/// `Arc<Event>`. The inner service gets the request with its body as received.
///
/// A refused request does not reach the inner service. The layer answers a refused request with the status of the error
/// (413, 401 or 400), with 405 for a method other than POST, and with 400 when the body is cut short. The layer answers
/// 500 when the signature is right but the body is not an event, so that the billing service sends the event again.
#[derive(Clone)]
pub struct WebhookLayer {
    verifier: Arc<Verifier>,
    refused: Option<OnRefused>,
}

impl WebhookLayer {
    /// Makes a layer that accepts the requests that `verifier` accepts.
    pub fn new(verifier: impl Into<Arc<Verifier>>) -> Self {
        Self { verifier: verifier.into(), refused: None }
    }
    /// Sets a function that can log or count refused requests. The layer calls the function for each refused request,
    /// before the layer answers.
    #[must_use]
    pub fn on_refused(mut self, tell: impl Fn(&request::Parts, &Error) + Send + Sync + 'static) -> Self {
        self.refused = Some(Arc::new(tell));
        self
    }
}

impl fmt::Debug for WebhookLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookLayer").field("verifier", &self.verifier).finish_non_exhaustive()
    }
}

impl<S> Layer<S> for WebhookLayer {
    type Service = WebhookService<S>;
    fn layer(&self, inner: S) -> Self::Service {
        WebhookService { inner, layer: self.clone() }
    }
}

/// The tower service that [`WebhookLayer`] makes.
#[derive(Clone, Debug)]
pub struct WebhookService<S> {
    inner: S,
    layer: WebhookLayer,
}

impl<S, B, R> Service<Request<B>> for WebhookService<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    B: Body + From<Bytes> + Send + 'static,
    B::Data: Send,
    R: From<Bytes>,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<R>, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The future takes `self.inner`, because `poll_ready` prepared `self.inner` and not its clones. A clone becomes
        // the new `self.inner`.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let layer = self.layer.clone();
        Box::pin(async move {
            match layer.receive(request).await {
                Ok(request) => inner.call(request).await,
                Err(status) => Ok(refusal(status)),
            }
        })
    }
}

impl WebhookLayer {
    /// Verifies a request and returns it with its event as an extension, or returns the HTTP status of the refusal.
    async fn receive<B: Body + From<Bytes>>(&self, request: Request<B>) -> Result<Request<B>, StatusCode> {
        let (mut parts, body) = request.into_parts();
        match self.event(&parts, body).await {
            Ok((event, body)) => {
                parts.extensions.insert(Arc::new(event));
                Ok(Request::from_parts(parts, B::from(body)))
            }
            Err((status, error)) => {
                if let Some(tell) = &self.refused {
                    tell(&parts, &error);
                }
                Err(status)
            }
        }
    }

    async fn event<B: Body>(
        &self,
        parts: &request::Parts,
        body: B,
    ) -> Result<(crate::Event, Bytes), (StatusCode, Error)> {
        if parts.method != Method::POST {
            let error = Error::new(ErrorCode::InvalidArgument, format!("a webhook is a POST, not a {}", parts.method));
            return Err((StatusCode::METHOD_NOT_ALLOWED, error));
        }
        let Some(body) = collect(body, self.verifier.max_body()).await else {
            let error = Error::new(ErrorCode::Connection, "the sender broke off before the end of the body");
            return Err((StatusCode::BAD_REQUEST, error));
        };
        match self.verifier.unwrap_request(&body, &parts.headers) {
            Ok(event) => Ok((event, body)),
            Err(error) => {
                let status = error.http_status().filter(|_| error.code() == ErrorCode::Signature);
                let status = status.and_then(|status| StatusCode::from_u16(status).ok());
                Err((status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), error))
            }
        }
    }
}

/// Reads the body. For a body that is too large, `collect` returns `limit + 1` bytes, so that the verifier refuses the
/// body with [`Reason::BodyTooLarge`](crate::Reason::BodyTooLarge). Returns `None` when the body is cut short.
async fn collect<B: Body>(body: B, limit: usize) -> Option<Bytes> {
    let mut body = pin!(body);
    let mut whole = BytesMut::new();
    while whole.len() <= limit {
        let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await else { break };
        if let Ok(mut data) = frame.ok()?.into_data() {
            let wanted = data.remaining().min(limit.saturating_add(1).saturating_sub(whole.len()));
            whole.extend_from_slice(&data.copy_to_bytes(wanted));
        }
    }
    Some(whole.freeze())
}

fn refusal<R: From<Bytes>>(status: StatusCode) -> Response<R> {
    let text = status.canonical_reason().unwrap_or("refused");
    let mut answer = Response::new(R::from(Bytes::from_static(text.as_bytes())));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(header::ALLOW, HeaderValue::from_static("POST"));
    }
    answer
}
