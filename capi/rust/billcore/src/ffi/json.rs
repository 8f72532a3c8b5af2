use billcore_sys as sys;

use super::{Step, bytes_out, check, handle, made, next, owned_text, text_in, text_out};
use crate::error::Result;

handle!(
    /// A JSON value, which keeps its document alive.
    NativeValue, billcore_value, billcore_value_free, immutable
);
handle!(
    /// An iteration over the items of an array or the members of an object.
    NativeItems, billcore_value_iterator, billcore_value_iterator_free, single
);

type Read<T> = unsafe extern "C" fn(*const sys::billcore_value, *mut T, *mut *mut sys::billcore_error) -> i32;

impl NativeValue {
    fn read<T>(&self, empty: T, read: Read<T>) -> Result<T> {
        let mut out = empty;
        // SAFETY: the handle and the output pointers are valid.
        check(|error| unsafe { read(self.get(), &raw mut out, error) })?;
        Ok(out)
    }
    pub(crate) fn kind(&self) -> Result<i32> {
        self.read(0, sys::billcore_value_kind)
    }
    pub(crate) fn boolean(&self) -> Result<bool> {
        self.read(false, sys::billcore_value_boolean)
    }
    pub(crate) fn integer(&self) -> Result<i64> {
        self.read(0, sys::billcore_value_integer)
    }
    pub(crate) fn real(&self) -> Result<f64> {
        self.read(0.0, sys::billcore_value_real)
    }
    pub(crate) fn count(&self) -> Result<usize> {
        self.read(0, sys::billcore_value_count)
    }
    pub(crate) fn text(&self) -> Result<&str> {
        // SAFETY: the text is valid as long as the value, which the result borrows through `self`.
        self.read(super::NO_TEXT, sys::billcore_value_text).map(|text| unsafe { text_out(text) })
    }
    pub(crate) fn raw(&self) -> Result<&str> {
        // SAFETY: the text is valid as long as the value, which the result borrows through `self`.
        self.read(super::NO_TEXT, sys::billcore_value_raw).map(|text| unsafe { text_out(text) })
    }
    pub(crate) fn path(&self) -> Result<String> {
        let empty = sys::billcore_buf { data: std::ptr::null_mut(), len: 0 };
        self.read(empty, sys::billcore_value_path).map(owned_text)
    }
    pub(crate) fn at(&self, index: usize) -> Result<Self> {
        // SAFETY: the handle and the output pointers are valid.
        made(Self::own, |out, error| unsafe { sys::billcore_value_at(self.get(), index, out, error) })
    }
    pub(crate) fn find(&self, name: &str) -> Result<Option<Self>> {
        let mut present = false;
        let (mut out, name) = (std::ptr::null_mut(), text_in(name));
        // SAFETY: the handle is valid, the name is valid during the call, and the output pointers are valid.
        check(|error| unsafe { sys::billcore_value_find(self.get(), name, &raw mut out, &raw mut present, error) })?;
        Ok(std::ptr::NonNull::new(out).map(Self::own))
    }
    pub(crate) fn equal(&self, other: &Self) -> Result<bool> {
        let mut out = false;
        // SAFETY: both handles are valid, and the output pointers are valid.
        check(|error| unsafe { sys::billcore_value_equal(self.get(), other.get(), &raw mut out, error) })?;
        Ok(out)
    }
    pub(crate) fn copy(&self) -> Result<Self> {
        // SAFETY: the handle and the output pointers are valid.
        made(Self::own, |out, error| unsafe { sys::billcore_value_copy(self.get(), out, error) })
    }
    pub(crate) fn items(&self) -> Result<NativeItems> {
        // SAFETY: the handle and the output pointers are valid.
        made(NativeItems::own, |out, error| unsafe { sys::billcore_value_iterator_new(self.get(), out, error) })
    }
}

impl NativeItems {
    /// The next item and its name; the name is empty in an array.
    pub(crate) fn next(&mut self) -> Result<Step<(String, NativeValue)>> {
        let mut name = super::NO_TEXT;
        // SAFETY: the handle is valid and used by this thread alone, and the output pointers are valid.
        let step = next(NativeValue::own, |out, error| unsafe {
            sys::billcore_value_iterator_next(self.get(), &raw mut name, out, error)
        })?;
        Ok(match step {
            // SAFETY: the name is valid until the next use of the iterator; this line copies the name.
            Step::Item(item) => Step::Item((String::from_utf8_lossy(unsafe { bytes_out(name) }).into_owned(), item)),
            Step::Done => Step::Done,
        })
    }
}
