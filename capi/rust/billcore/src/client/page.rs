use std::fmt;
use std::marker::PhantomData;

use super::Item;
use crate::error::Result;
use crate::ffi::{NativePage, Resource};
use crate::resource::Part;

/// A page of a list: the items that the list had not returned before, and the page's `pagination` object as received.
pub struct Page<T> {
    native: NativePage,
    count: usize,
    kind: PhantomData<fn() -> T>,
}

impl<T: Item> Page<T> {
    pub(crate) fn own(native: NativePage) -> Result<Self> {
        let count = native.count()?;
        Ok(Self { native, count, kind: PhantomData })
    }
    /// Number of items on the page, without those that the list had returned before.
    pub fn len(&self) -> usize {
        self.count
    }
    /// Whether the page has no items, or only items that the list had returned before.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// The item at `index`, from 0; [`ErrorCode::InvalidArgument`](crate::ErrorCode::InvalidArgument) beyond the last
    /// item.
    pub fn at(&self, index: usize) -> Result<T> {
        self.native.at(index).map(T::own)
    }
    /// The items in the order in which the service sent them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Result<T>> + '_ {
        (0..self.count).map(|index| self.at(index))
    }
    /// The values of the field `name`, such as "total": one cell for each item. The method does not check the type of
    /// the field: each cell has the kind of its value.
    pub fn column(&self, name: &str) -> Result<Vec<Cell<'_>>> {
        self.native.column(name)
    }
    /// The page's `pagination` object.
    pub fn pagination(&self) -> Result<Pagination> {
        self.native.numbers().map(Pagination)
    }
}

impl<T> fmt::Debug for Page<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").field("count", &self.count).finish_non_exhaustive()
    }
}

/// All items of a page.
pub(crate) fn items<T: Item>(native: &NativePage) -> Result<Vec<T>> {
    (0..native.count()?).map(|index| native.at(index).map(T::own)).collect()
}

/// The value of one field of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Cell<'a> {
    Absent,
    Null,
    Text(&'a str),
    Integer(i64),
    Boolean(bool),
    /// A JSON value of another kind, such as an object. The cell does not contain the value: read the field with the
    /// item's getter.
    Other,
}

/// The `pagination` object of a page, as received. Service interface: Pagination.
pub struct Pagination(Resource);

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(&self) -> Result<i64> {
            self.fields().integer(stringify!($name))
        }
    )*};
}

impl Pagination {
    fn fields(&self) -> Part<'_> {
        Part::whole(&self.0)
    }
    numbers! {
        /// Number of records in the whole list.
        total;
        /// Number of records on this page.
        count;
        /// Number of records on a full page.
        per_page;
        /// Number of this page, from 1.
        current_page;
        /// Number of pages.
        total_pages;
    }
    /// `links.next` as received; the library does not use this link.
    pub fn links_next(&self) -> Result<Option<&str>> {
        self.fields().maybe_text("/links/next?")
    }
    /// `links.previous` as received; the library does not use this link.
    pub fn links_previous(&self) -> Result<Option<&str>> {
        self.fields().maybe_text("/links/previous?")
    }
}

impl fmt::Debug for Pagination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pagination")
            .field("current_page", &self.current_page().ok())
            .field("total_pages", &self.total_pages().ok())
            .finish_non_exhaustive()
    }
}
