use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderValue, Method, Request, Response, StatusCode, header, request};
use http_body::Body;
use tower_layer::Layer;
use tower_service::Service;

use super::Verifier;
use crate::error::{Error, ErrorCode, Reason};

type OnRefused = Arc<dyn Fn(&request::Parts, &Error) + Send + Sync>;

/// A tower layer that receives webhooks in front of an inner service (of axum, hyper or tonic, for example). The layer
/// limits the body's size, verifies and parses the body, and puts the event into the request's extensions, as
/// `Arc<Event>`. The inner service gets the request with its body as received.
///
/// A refused request does not reach the inner service. The layer answers it with
/// - 413, 401 or 400 if the verification fails (the status of the error); a body whose declared size is over the limit is
///   refused before any of it is read;
/// - 400 if the signature is right, but the body is not an event, or a receiver cannot store it
///   ([`Event::require_claimable`](crate::Event::require_claimable));
/// - 405 for a method other than POST;
/// - 408 if the body does not arrive in time ([`WebhookLayer::read_timeout`]);
/// - 499 if the sender disconnects before the end of the body, so that nobody receives the answer.
///
/// The layer does not see a request before its head is complete: limit the time for the head in the server.
#[derive(Clone)]
pub struct WebhookLayer {
    verifier: Arc<Verifier>,
    refused: Option<OnRefused>,
    read_timeout: Option<Duration>,
}

/// The time limit for a body, unless [`WebhookLayer::read_timeout`] sets another limit.
const DEFAULT_READ_TIMEOUT: Duration = Duration::from_secs(10);

impl WebhookLayer {
    /// Makes a layer that accepts the requests that `verifier` accepts.
    pub fn new(verifier: impl Into<Arc<Verifier>>) -> Self {
        Self { verifier: verifier.into(), refused: None, read_timeout: Some(DEFAULT_READ_TIMEOUT) }
    }
    /// Sets the time limit for the whole body (10 seconds by default); `None` means no limit. On a runtime that is not
    /// tokio's, the layer has no limit of its own. On a tokio runtime that was built without `enable_time`, set `None`:
    /// tokio panics if a limit is used without its timers.
    #[must_use]
    pub fn read_timeout(mut self, limit: Option<Duration>) -> Self {
        self.read_timeout = limit;
        self
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
        let answered = |error: Error| {
            let told = error.reason().and_then(|reason| StatusCode::from_u16(reason.http_status()).ok());
            let otherwise =
                if error.is(ErrorCode::Decode) { StatusCode::BAD_REQUEST } else { StatusCode::INTERNAL_SERVER_ERROR };
            (told.unwrap_or(otherwise), error)
        };
        let body = self.read(body).await.map_err(answered)?;
        let event = self.verifier.unwrap_request(&body, &parts.headers).map_err(answered)?;
        event.require_claimable().map_err(answered)?;
        Ok((event, body))
    }

    /// Reads the body. For a body without a declared size that is too large, `read` returns `max_body + 1` bytes, so
    /// that the verifier refuses the body.
    async fn read<B: Body>(&self, body: B) -> Result<Bytes, Error> {
        let limit = self.verifier.max_body();
        let declared = body.size_hint().lower();
        if declared > limit as u64 {
            let text = format!("the body has {declared} bytes, over max_body ({limit})");
            return Err(Error::refused(ErrorCode::Signature, Reason::BodyTooLarge, &text));
        }
        let Some(found) = within(self.read_timeout, collect(body, limit)).await else {
            let text = format!("the body did not arrive within {:?}", self.read_timeout.unwrap_or_default());
            return Err(Error::refused(ErrorCode::Timeout, Reason::Timeout, &text));
        };
        found.ok_or_else(|| {
            let text = "the sender disconnected before the end of the body";
            Error::refused(ErrorCode::Connection, Reason::Disconnected, text)
        })
    }
}

/// Awaits `work`; returns `None` if it does not end within the limit.
async fn within<T>(limit: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match limit {
        Some(limit) if tokio::runtime::Handle::try_current().is_ok() => tokio::time::timeout(limit, work).await.ok(),
        _ => Some(work.await),
    }
}

/// Reads the body, up to `limit + 1` bytes. Returns `None` when the body is cut short.
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
