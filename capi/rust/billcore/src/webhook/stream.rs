use std::fmt;
use std::io;

use super::Signature;
use crate::error::{ErrorCode, Result};
use crate::ffi::NativeStream;

/// Checks one body that arrives in pieces and is too large to hold in memory. A `VerifierStream` stores none of the
/// pieces. `VerifierStream` implements [`io::Write`]. Do not use the pieces before [`VerifierStream::finish`]
/// confirms the signature.
///
/// One thread at a time may use a `VerifierStream`: it is `Send` but not `Sync`.
///
/// ```compile_fail,E0277
/// fn shared<T: Sync>() {}
/// shared::<billcore::webhook::VerifierStream>();
/// ```
pub struct VerifierStream(NativeStream);

impl VerifierStream {
    pub(super) fn own(native: NativeStream) -> Self {
        Self(native)
    }
    /// Adds the next piece of the body to the check. Fails with [`Reason::BodyTooLarge`](crate::Reason::BodyTooLarge)
    /// when the pieces together exceed the limit.
    pub fn update(&mut self, piece: &[u8]) -> Result<()> {
        self.0.update(piece)
    }
    /// Marks the end of the body, then checks the signature and returns the same result as
    /// [`Verifier::verify`](super::Verifier::verify).
    pub fn finish<'a>(self, signature: impl Into<Signature<'a>>) -> Result<usize> {
        self.0.finish(signature.into().0)
    }
}

/// Each `io::Error` from a write contains an [`Error`](crate::Error).
impl io::Write for VerifierStream {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.update(piece).map_err(|error| {
            let kind =
                if error.code() == ErrorCode::Signature { io::ErrorKind::InvalidData } else { io::ErrorKind::Other };
            io::Error::new(kind, error)
        })?;
        Ok(piece.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for VerifierStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VerifierStream")
    }
}
