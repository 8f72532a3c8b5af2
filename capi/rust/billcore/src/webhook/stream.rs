use std::fmt;
use std::io;

use super::Signature;
use crate::error::{ErrorCode, Result};
use crate::ffi::NativeStream;

/// A check of one body that arrives in pieces and is too large to hold; it keeps none of them. It is an [`io::Write`]. Use
/// nothing of the pieces before [`VerifierStream::finish`] says that the signature is right.
///
/// One thread at a time may use it: it is `Send`, not `Sync`.
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
    /// The next piece. [`Reason::BodyTooLarge`](crate::Reason::BodyTooLarge) when all of them are over the limit.
    pub fn update(&mut self, piece: &[u8]) -> Result<()> {
        self.0.update(piece)
    }
    /// The end of the body; it works as [`Verifier::verify`](super::Verifier::verify).
    pub fn finish<'a>(mut self, signature: impl Into<Signature<'a>>) -> Result<usize> {
        self.0.finish(signature.into().0)
    }
}

/// The errors hold an [`Error`](crate::Error).
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
