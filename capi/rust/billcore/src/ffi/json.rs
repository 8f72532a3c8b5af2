use billcore_sys as sys;

use super::{NO_TEXT, Step, bytes_out, calls, handle, next};
use crate::error::Result;

handle!(
    /// A JSON value, which keeps its document alive.
    NativeValue, billcore_value, billcore_value_free, immutable
);
handle!(
    /// An iteration over the items of an array or the members of an object.
    NativeItems, billcore_value_iterator, billcore_value_iterator_free, single
);

calls! { NativeValue;
    fn kind(&self) -> i32 = billcore_value_kind;
    fn boolean(&self) -> bool = billcore_value_boolean;
    fn integer(&self) -> i64 = billcore_value_integer;
    fn real(&self) -> f64 = billcore_value_real;
    fn count(&self) -> usize = billcore_value_count;
    fn text(&self) -> &str = billcore_value_text;
    fn raw(&self) -> &str = billcore_value_raw;
    fn path(&self) -> String = billcore_value_path;
    fn at(&self, index: usize) -> NativeValue = billcore_value_at;
    fn find(&self, name: &str) -> Option<NativeValue> = billcore_value_find;
    fn equal(&self, other: &NativeValue) -> bool = billcore_value_equal;
    fn copy(&self) -> NativeValue = billcore_value_copy;
    fn items(&self) -> NativeItems = billcore_value_iterator_new;
}

impl NativeItems {
    /// The next item and its name; the name is empty in an array.
    pub(crate) fn next(&mut self) -> Result<Step<(String, NativeValue)>> {
        let mut name = NO_TEXT;
        // SAFETY: the handle is valid and used by this thread alone, and the output pointers are valid.
        let step =
            next(|out, error| unsafe { sys::billcore_value_iterator_next(self.get(), &raw mut name, out, error) })?;
        Ok(match step {
            // SAFETY: the name is valid until the next use of the iterator; this line copies the name.
            Step::Item(item) => Step::Item((String::from_utf8_lossy(unsafe { bytes_out(name) }).into_owned(), item)),
            Step::Done => Step::Done,
        })
    }
}
