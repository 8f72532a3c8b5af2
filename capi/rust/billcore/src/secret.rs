/// An API key or a signing secret: a text, bytes, or, with the feature `secrecy`, a `SecretString` or
/// `SecretSlice<u8>`. The C library keeps a copy of the secret and never prints it; this crate keeps no copy.
pub trait Secret {
    /// Calls `use_it` with the bytes of the secret.
    fn expose<T>(&self, use_it: impl FnOnce(&[u8]) -> T) -> T
    where
        Self: Sized;
}

macro_rules! plain {
    ($($kind:ty),*) => {$(
        impl Secret for $kind {
            fn expose<T>(&self, use_it: impl FnOnce(&[u8]) -> T) -> T {
                use_it(self.as_ref())
            }
        }
    )*};
}
plain!(&str, String, &String, &[u8], Vec<u8>, &Vec<u8>);

impl<const N: usize> Secret for &[u8; N] {
    fn expose<T>(&self, use_it: impl FnOnce(&[u8]) -> T) -> T {
        use_it(self.as_slice())
    }
}

#[cfg(feature = "secrecy")]
mod with_secrecy {
    use super::Secret;
    use secrecy::{ExposeSecret, SecretSlice, SecretString};

    macro_rules! hidden {
        ($($kind:ty),*) => {$(
            impl Secret for $kind {
                fn expose<T>(&self, use_it: impl FnOnce(&[u8]) -> T) -> T {
                    use_it(self.expose_secret().as_ref())
                }
            }
        )*};
    }
    hidden!(SecretString, &SecretString, SecretSlice<u8>, &SecretSlice<u8>);
}
