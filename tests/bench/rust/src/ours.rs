use billcore::webhook::Verifier;
use billcore::{Client, EventData, OrderQuery};
use billcore_sys as sys;

use crate::{Delivery, Outcome, Row, repeated};

pub fn row(operation: &str, given: Delivery) -> Outcome<Row> {
    let verifier = Verifier::new(&given.secret)?;
    Ok(match operation {
        "call" => {
            let id = sys::billcore_str { data: c"480001".as_ptr(), len: 6 };
            repeated(move || {
                // SAFETY: both texts are static.
                let same = unsafe { sys::billcore_same_id(std::hint::black_box(id), id) };
                if same { Ok(1) } else { Err("the ids differ".into()) }
            })
        }
        "verify" => repeated(move || {
            verifier.verify(&given.body, &given.signature)?;
            Ok(given.body.len())
        }),
        "unwrap" => repeated(move || {
            let event = verifier.unwrap(&given.body, &given.signature)?;
            let EventData::Subscription(subscription) = event.data()? else { return Err("not a subscription".into()) };
            Ok(event.id()?.len() + event.name()?.len() + subscription.status()?.as_str().len())
        }),
        _ => return Err(format!("billcore has no {operation}").into()),
    })
}

/// Returns a contender that reads the list with the given number of pages.
pub fn list(url: &str, at_once: usize) -> Outcome<Row> {
    let pages = u32::try_from(at_once)?;
    let client = Client::options().base_url(url).api_key("key_bench_0123456789").concurrency(pages).build()?;
    Ok(Box::new(move |pages| {
        let mut sum = 0;
        for order in client.subscriptions().orders(format!("sub_{pages}"), OrderQuery::new())? {
            let order = order?;
            sum += order.id()?.len() + usize::try_from(order.total_with_vat()?)? + order.state()?.as_str().len();
        }
        Ok(sum)
    }))
}
