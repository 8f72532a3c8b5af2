use std::sync::OnceLock;

use crate::error::{Error, ErrorCode, Result};
use crate::ffi;

/// The version of this crate, such as "0.1.0". The C library must have the same major and minor version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Fails when the C library loaded at run time differs from this crate in its major or minor version. The
/// constructors of clients and verifiers call `loaded`.
pub(crate) fn loaded() -> Result<()> {
    static FITS: OnceLock<bool> = OnceLock::new();
    let found = ffi::library_version();
    if *FITS.get_or_init(|| series(found) == series(ffi::header_version())) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::Config, wrong(found)))
}

fn wrong(found: &str) -> String {
    format!(
        "the C library found is billcore {found}, and this program was compiled with {}: install one of them, and look at \
         LD_LIBRARY_PATH",
        ffi::header_version()
    )
}

/// Returns the major and minor part of a version. A patch release never changes the interface; before 1.0 a minor
/// release may change it.
fn series(version: &str) -> &str {
    version.rsplit_once('.').map_or(version, |(series, _)| series)
}

#[cfg(test)]
mod tests {
    use super::{VERSION, series, wrong};

    #[test]
    fn patches_fit_and_minors_do_not() {
        assert_eq!(series("0.1.0"), series("0.1.9"));
        assert_ne!(series("0.1.0"), series("0.2.0"));
        assert_ne!(series("1.1.0"), series("0.1.0"));
        assert!(wrong("9.9.9").contains("9.9.9") && wrong("").contains(VERSION));
    }
}
