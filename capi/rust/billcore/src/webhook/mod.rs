//! Verifies and reads the webhooks of the billing service. This module needs no HTTP stack. Without the feature
//! `client` the crate links only `libbillcore-webhook`.
//!
//! Pass the body exactly as it was received: verify first, then parse.
//!
//! ```
//! use billcore::{EventData, webhook::{Verifier, sign}};
//!
//! # fn main() -> billcore::Result<()> {
//! let secret = "0123456789abcdef0123456789abcdef";
//! let verifier = Verifier::new(secret)?;
//! let body = br#"{"id":8,"name":"order.paid","account":1,"data":{"id":"ord_1","total":19900}}"#;
//! let signature = sign(body, secret)?; // the service's, from the header Service-Signature
//! let event = verifier.unwrap(body, &signature)?;
//! if let EventData::Order(order) = event.data()? {
//!     assert_eq!((order.id()?.as_str(), order.total()?), ("ord_1", 19900));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Service interface: Authentication; Events, Request headers.

#[cfg(feature = "tower")]
mod layer;
mod stream;

use std::fmt;
use std::time::Duration;

#[cfg(feature = "tower")]
pub use self::layer::{WebhookLayer, WebhookService};
pub use self::stream::VerifierStream;
use crate::error::Result;
use crate::ffi::{self, NativeHeaders, NativeVerifier, NativeVerifierOptions};
use crate::{Event, Secret, Timestamp};

/// Name of the header with the signature. Service interface: Events, Request headers.
pub const DEFAULT_HEADER: &str = "Service-Signature";

/// The largest body that a verifier accepts (bytes), unless [`VerifierOptions::max_body`] sets another limit.
pub const DEFAULT_MAX_BODY: usize = 1 << 20;

/// The value of the signature header exactly as received: a text, bytes, or an `Option` of either, which is `None`
/// when the request has no such header.
#[derive(Clone, Copy, Debug)]
pub struct Signature<'a>(Option<&'a [u8]>);

macro_rules! signature {
    ($($kind:ty),*) => {$(
        impl<'a> From<&'a $kind> for Signature<'a> {
            fn from(value: &'a $kind) -> Self {
                Self(Some(value.as_ref()))
            }
        }
        impl<'a> From<Option<&'a $kind>> for Signature<'a> {
            fn from(value: Option<&'a $kind>) -> Self {
                Self(value.map(AsRef::as_ref))
            }
        }
    )*};
}
signature!(str, [u8], String);

/// Options of a verifier.
#[must_use]
pub struct VerifierOptions {
    native: Result<NativeVerifierOptions>,
    max_body: usize,
    clock: Option<ffi::Clock>,
}

impl VerifierOptions {
    /// Makes options with only default values. A verifier needs at least one secret.
    pub fn new() -> Self {
        Self { native: NativeVerifierOptions::new(), max_body: DEFAULT_MAX_BODY, clock: None }
    }
    fn set(mut self, to: impl FnOnce(&NativeVerifierOptions) -> Result<()>) -> Self {
        if let Ok(native) = &mut self.native {
            if let Err(error) = to(native) {
                self.native = Err(error);
            }
        }
        self
    }
    /// Adds a secret of the endpoint (32 bytes). Call `secret` again for a second secret while the first is being
    /// replaced. For a secret of another length [`VerifierOptions::build`] fails with
    /// [`ErrorCode::Config`](crate::ErrorCode::Config).
    pub fn secret(self, secret: impl Secret) -> Self {
        self.set(|to| secret.expose(|secret| to.add_secret(secret)))
    }
    /// Begins an account: the secrets that [`VerifierOptions::secret`] adds after this call, until the next account,
    /// belong to `account`. See [`Verifier::for_accounts`].
    pub fn account(self, account: impl fmt::Display) -> Self {
        self.set(|to| to.add_account(&account.to_string()))
    }
    /// Sets the name of the signature header; case does not matter.
    pub fn header(self, name: &str) -> Self {
        self.set(|to| to.set_header(name))
    }
    /// Sets the size (bytes) of the largest body that the verifier accepts. A larger body is refused before it is
    /// hashed.
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self.set(|to| to.set_max_body(bytes))
    }
    /// Makes the verifier refuse (with [`Reason::Stale`](crate::Reason::Stale)) an event whose signed `created_at`
    /// cannot be read, or is more than `limit` before or after the present time. The check is off by default, because
    /// old events are legitimate: the service may retry a failed delivery much later, and a customer may pay an invoice
    /// after weeks. The check does not protect against replays: drop events whose account and id you have already seen.
    /// A test.hook event is never refused as stale.
    pub fn freshness(self, limit: Duration) -> Self {
        self.set(|to| to.set_freshness_ms(crate::timestamp::milliseconds(limit)))
    }
    /// Sets the clock from which the freshness check takes the present time; the default is the system's clock. When
    /// the clock panics, the event counts as stale.
    pub fn clock(mut self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Some(Box::new(move || now().unix_micros()));
        self
    }
    /// Accepts secrets of any length except zero. Use `allow_any_key_length` only for test vectors and keys of other
    /// services: the service's secrets have 32 bytes, so another length usually means that the secret was copied
    /// wrongly.
    pub fn allow_any_key_length(self) -> Self {
        self.set(NativeVerifierOptions::allow_any_key_length)
    }
    /// Makes the verifier.
    pub fn build(self) -> Result<Verifier> {
        crate::version::loaded()?;
        let native = NativeVerifier::new(&self.native?, self.clock)?;
        Ok(Verifier { native, max_body: self.max_body })
    }
}

impl Default for VerifierOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows no secret.
impl fmt::Debug for VerifierOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifierOptions").field("max_body", &self.max_body).finish_non_exhaustive()
    }
}

/// Checks the signatures of webhooks with the secrets of a webhook endpoint. Any number of threads may share a
/// `Verifier`.
pub struct Verifier {
    native: NativeVerifier,
    max_body: usize,
}

impl Verifier {
    /// Makes a verifier with one secret of 32 bytes and default options.
    pub fn new(secret: impl Secret) -> Result<Self> {
        VerifierOptions::new().secret(secret).build()
    }
    /// Makes a verifier with default options for an endpoint to which several accounts deliver, each with its own
    /// secrets, so that nobody can sign another account's events. For other options use [`VerifierOptions::account`].
    ///
    /// [`Verifier::unwrap`], [`Verifier::unwrap_request`] and the tower layer accept an event only if the matching
    /// secret belongs to the account that the signed body names; otherwise, or if the body names no account, they fail
    /// with [`Reason::Mismatch`](crate::Reason::Mismatch). A test.hook event matches any secret, because only its name is
    /// reliable. [`Verifier::verify`] and [`Verifier::stream`], which do not parse the body, fail with
    /// [`ErrorCode::Config`](crate::ErrorCode::Config). Two accounts may have the same secret. The indexes of secrets
    /// count through all accounts, in the order given. Fails with [`ErrorCode::Config`](crate::ErrorCode::Config) when
    /// there is no account, when an account is empty or has no secret, and unless each secret has 32 bytes.
    ///
    /// ```
    /// # fn main() -> billcore::Result<()> {
    /// # let (one, other) = ("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210");
    /// let verifier = billcore::webhook::Verifier::for_accounts([(17, [one]), (18, [other])])?;
    /// let body = br#"{"id":8,"name":"order.paid","account":17,"data":null}"#;
    /// assert!(verifier.unwrap(body, &billcore::webhook::sign(body, one)?).is_ok());
    /// assert!(verifier.unwrap(body, &billcore::webhook::sign(body, other)?).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn for_accounts<A: fmt::Display, S: Secret>(
        accounts: impl IntoIterator<Item = (A, impl IntoIterator<Item = S>)>,
    ) -> Result<Self> {
        let mut options = VerifierOptions::new();
        for (account, secrets) in accounts {
            options = secrets.into_iter().fold(options.account(account), VerifierOptions::secret);
        }
        options.build()
    }
    /// Checks the signature of a body and returns the index of the secret with which the service made the signature.
    /// `verify` neither copies nor parses the body. Fails with [`ErrorCode::Signature`](crate::ErrorCode::Signature)
    /// and a [`Reason`](crate::Reason); for a verifier for accounts, with
    /// [`ErrorCode::Config`](crate::ErrorCode::Config): call [`Verifier::unwrap`].
    pub fn verify<'a>(&self, body: &[u8], signature: impl Into<Signature<'a>>) -> Result<usize> {
        self.native.verify(body, signature.into().0)
    }
    /// Verifies the body as [`Verifier::verify`] does, then parses it. Fails with
    /// [`ErrorCode::Decode`](crate::ErrorCode::Decode) when the body is not an event.
    pub fn unwrap<'a>(&self, body: &[u8], signature: impl Into<Signature<'a>>) -> Result<Event> {
        self.native.unwrap(body, signature.into().0).map(Event::own)
    }
    /// Finds the signature among the header fields of a request, then verifies and parses the body as
    /// [`Verifier::unwrap`] does. Several equal signatures, in repeated fields or joined by commas, count as one;
    /// different signatures are refused with [`Reason::Malformed`](crate::Reason::Malformed). `headers` yields pairs of
    /// name and value, as `&http::HeaderMap` does.
    pub fn unwrap_request<N, V>(&self, body: &[u8], headers: impl IntoIterator<Item = (N, V)>) -> Result<Event>
    where
        N: AsRef<[u8]>,
        V: AsRef<[u8]>,
    {
        self.native.unwrap_request(body, &NativeHeaders::of(headers)?).map(Event::own)
    }
    /// Begins the check of one body that arrives in pieces. Fails with [`ErrorCode::Config`](crate::ErrorCode::Config)
    /// for a verifier with a freshness check or for accounts, because both need the whole body.
    pub fn stream(&self) -> Result<VerifierStream> {
        self.native.stream().map(VerifierStream::own)
    }
    /// How many secrets the verifier has.
    pub fn secret_count(&self) -> usize {
        self.native.secret_count()
    }
    /// How many of the verified signatures were made with the secret at the index `secret`; indexes count from 0 in the
    /// order in which the secrets were added. You can remove a secret when its number of matches no longer grows.
    pub fn matches(&self, secret: usize) -> Result<u64> {
        self.native.matches(secret)
    }
    /// The largest body that the verifier accepts (bytes).
    pub fn max_body(&self) -> usize {
        self.max_body
    }
}

/// Shows no secret.
impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").field("secrets", &self.secret_count()).finish_non_exhaustive()
    }
}

/// Parses the bytes of [`Event::raw`] of an event that was verified earlier and then stored. `parse_unverified` checks
/// no signature and no age, so use it only for storage that the receiver alone can write to.
pub fn parse_unverified(raw: &[u8]) -> Result<Event> {
    crate::version::loaded()?;
    ffi::NativeEvent::parse_unverified(raw).map(Event::own)
}

/// The signature that the service would send for this body (64 lowercase hex digits); use it to test your receiver.
pub fn sign(body: &[u8], secret: impl Secret) -> Result<String> {
    secret.expose(|secret| ffi::sign(body, secret))
}

/// Explains in human-readable text why a signature is refused. `explain` tries the usual mistakes (the body
/// serialised again, still in base64, or with other line ends; the signature in upper case or with a prefix; a secret
/// with white space or in another encoding; another one of several secrets) and names the mistake that would produce
/// this signature. The function never accepts a signature, and shows neither a secret nor the right signature.
/// `explain` is slow: do not call it in a request path.
pub fn explain<'a, S: Secret>(
    body: &[u8],
    signature: impl Into<Signature<'a>>,
    secrets: impl IntoIterator<Item = S>,
) -> Result<String> {
    explain_with_headers(body, signature, None::<([u8; 0], [u8; 0])>, secrets)
}

/// Does the same as [`explain`], but also looks at the header fields of the request, and notices a body that a proxy
/// has unpacked (`Content-Encoding`). `headers` yields pairs of name and value, as `&http::HeaderMap` does.
pub fn explain_with_headers<'a, S: Secret, N: AsRef<[u8]>, V: AsRef<[u8]>>(
    body: &[u8],
    signature: impl Into<Signature<'a>>,
    headers: impl IntoIterator<Item = (N, V)>,
    secrets: impl IntoIterator<Item = S>,
) -> Result<String> {
    let options = NativeVerifierOptions::new()?;
    for secret in secrets {
        secret.expose(|secret| options.add_secret(secret))?;
    }
    ffi::explain(body, signature.into().0, &NativeHeaders::of(headers)?, &options)
}
