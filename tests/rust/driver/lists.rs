//! Reads lists.

use billcore::{AsyncList, Error, Item, List, Page, Verdict};
use serde::Serialize;

use crate::client::Raw;
use crate::reading::{Json, json, received};
use crate::{Failure, Outcome, Request, awaited};

/// A list that blocks or is awaited. The driver waits for each of its steps.
trait Listed {
    type Of: Item + Raw;
    fn take_item(&mut self) -> Option<Result<Self::Of, Error>>;
    fn take_page(&mut self) -> Option<Result<Page<Self::Of>, Error>>;
    fn first_item(&mut self) -> Result<Option<Self::Of>, Error>;
    fn end(&mut self) -> Result<(), Error>;
    fn verdict(&self) -> Result<Option<Verdict>, Error>;
    fn total(&self) -> Result<Option<i64>, Error>;
    fn fetched_pages(&self) -> Result<i64, Error>;
    fn state(&mut self) -> Result<String, Error>;
}

macro_rules! listed {
    ($list:ident, $end:path) => {
        impl<T: Item + Raw> Listed for $list<T> {
            type Of = T;
            fn take_item(&mut self) -> Option<Result<T, Error>> {
                $end(self.next())
            }
            fn take_page(&mut self) -> Option<Result<Page<T>, Error>> {
                $end(self.pages().next())
            }
            fn first_item(&mut self) -> Result<Option<T>, Error> {
                $end(self.first())
            }
            fn end(&mut self) -> Result<(), Error> {
                self.stop()
            }
            fn verdict(&self) -> Result<Option<Verdict>, Error> {
                self.verdict()
            }
            fn total(&self) -> Result<Option<i64>, Error> {
                self.total()
            }
            fn fetched_pages(&self) -> Result<i64, Error> {
                self.fetched_pages()
            }
            fn state(&mut self) -> Result<String, Error> {
                <$list<T>>::state(self)
            }
        }
    };
}
listed!(List, std::convert::identity);
listed!(AsyncList, awaited);

pub fn read<T: Item + Raw>(request: &Request, list: List<T>) -> Outcome {
    read_any(request, list)
}
pub fn read_awaited<T: Item + Raw>(request: &Request, list: AsyncList<T>) -> Outcome {
    read_any(request, list)
}

/// Reads a list in the way that the request's `take` names.
fn read_any(request: &Request, mut list: impl Listed) -> Outcome {
    let mut items: Vec<Json> = Vec::new();
    let limit = request.take.as_u64().and_then(|limit| usize::try_from(limit).ok());
    let read = match request.take.as_str() {
        Some("first") => list.first_item().and_then(|found| found.map_or(Ok(()), |item| keep(&mut items, &item))),
        Some("first-all") => list.first_item().and_then(|_| all(&mut items, &mut list, None)),
        Some("pages") => std::iter::from_fn(|| list.take_page()).try_for_each(|page| keep_page(&mut items, &page?)),
        Some("mixed") => mixed(&mut items, &mut list),
        _ => all(&mut items, &mut list, limit),
    };
    read.and_then(|()| standing(&mut list, &items)).map_err(|error| Failure::Listing {
        error,
        items: items.clone(),
        state: list.state().ok(),
    })
}

fn keep(items: &mut Vec<Json>, item: &impl Raw) -> Result<(), Error> {
    items.push(received(item.raw_text()?));
    Ok(())
}

fn keep_page<T: Item + Raw>(items: &mut Vec<Json>, page: &Page<T>) -> Result<(), Error> {
    page.iter().try_for_each(|item| keep(items, &item?))
}

fn all(items: &mut Vec<Json>, list: &mut impl Listed, limit: Option<usize>) -> Result<(), Error> {
    for item in std::iter::from_fn(|| list.take_item()).take(limit.unwrap_or(usize::MAX)) {
        keep(items, &item?)?;
    }
    // The loop may have ended at the requested number of items: stop the list.
    if limit.is_some_and(|limit| limit <= items.len()) { list.end() } else { Ok(()) }
}

/// Reads an item, then a page, until the list ends.
fn mixed(items: &mut Vec<Json>, list: &mut impl Listed) -> Result<(), Error> {
    while let Some(item) = list.take_item() {
        keep(items, &item?)?;
        if let Some(page) = list.take_page() {
            keep_page(items, &page?)?;
        }
    }
    Ok(())
}

fn standing(list: &mut impl Listed, items: &[Json]) -> Result<Json, Error> {
    let verdict = list.verdict()?;
    let word = verdict.map(|verdict| if verdict.complete { "complete" } else { "possibly_missed" });
    #[derive(Serialize)]
    struct Standing<'a> {
        items: &'a [Json],
        verdict: Option<&'static str>,
        reason: Option<&'static str>,
        total: Option<i64>,
        fetched_pages: i64,
        state: String,
    }
    Ok(json(Standing {
        items,
        verdict: word,
        reason: verdict.and_then(|verdict| verdict.reason),
        total: list.total()?,
        fetched_pages: list.fetched_pages()?,
        state: list.state()?,
    }))
}
