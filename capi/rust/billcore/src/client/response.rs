use std::borrow::Cow;
use std::fmt;

use crate::error::Result;
use crate::ffi::NativeResponse;
use crate::{ResponseInfo, Value};

/// The answer to a request made with [`Client::request`](crate::Client::request), as received.
pub struct Response {
    native: NativeResponse,
    info: ResponseInfo,
}

impl Response {
    pub(crate) fn own(native: NativeResponse) -> Result<Self> {
        let info = ResponseInfo::own(native.info()?);
        Ok(Self { native, info })
    }
    /// HTTP status.
    pub fn status(&self) -> Result<u16> {
        self.info.status()
    }
    /// The body; a chunked transfer coding and compression (gzip, deflate) are already decoded, and the header fields
    /// stay as received. A body may be any bytes, not only UTF-8. [`ErrorCode::Decode`](crate::ErrorCode::Decode) when
    /// the body is compressed in another way, or its compression is corrupt.
    pub fn body(&self) -> Result<&[u8]> {
        self.native.body()
    }
    /// The body parsed as JSON; [`ErrorCode::Decode`](crate::ErrorCode::Decode) when the body is not JSON.
    pub fn json(&self) -> Result<Value> {
        self.native.json().map(Value::own)
    }
    /// The body deserialised into a type of your own.
    #[cfg(feature = "serde")]
    pub fn deserialize<T: serde::de::DeserializeOwned>(&self) -> Result<T> {
        crate::value::parsed(self.body()?)
    }
    /// Value of the first header field with this name (case does not matter). Bytes that are not UTF-8 are replaced
    /// by U+FFFD.
    pub fn header(&self, name: &str) -> Result<Option<Cow<'_, str>>> {
        self.info.header(name)
    }
    /// Status, header fields, attempts and request id.
    pub fn info(&self) -> &ResponseInfo {
        &self.info
    }
}

/// The `Debug` text shows only the status.
impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response").field("status", &self.status().ok()).finish_non_exhaustive()
    }
}
