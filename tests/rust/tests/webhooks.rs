//! Tests of the module `billcore::webhook`.

mod support;

use std::io::Write;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use billcore::webhook::{Verifier, VerifierOptions, parse_unverified, sign};
use billcore::{ErrorCode, Event, EventData, Kind, Reason, Timestamp};
use support::{error, resident};

const SECRET: &str = "whsec-0123456789abcdefghijklmnop";
const PAID: &[u8] = br#"{"id":90210,"name":"order.paid","account":17,"created_at":"2025-04-25T09:30:00+02:00","data":{"id":"ord_5001","total":19900,"state":"paid","delivery":{"link":"l"},"newer":[1]}}"#;
const CREATED: i64 = 1_745_566_200_000_000;

fn signed(body: &[u8]) -> String {
    sign(body, SECRET).unwrap()
}

fn verifier() -> Verifier {
    Verifier::new(SECRET).unwrap()
}

#[test]
fn events_and_their_data() {
    let event = verifier().unwrap(PAID, &signed(PAID)).unwrap();
    let order = event.order().unwrap();
    let delivery = order.delivery().unwrap().unwrap();
    assert_eq!(delivery.to_value().unwrap().raw().unwrap(), r#"{"link":"l"}"#);
    assert!(order.raw().unwrap().starts_with(r#"{"id":"ord_5001""#) && order.response_info().unwrap().is_none());
    assert_eq!(error(order.currency(), ErrorCode::MissingField).field_path(), Some("data.currency"));
    error(event.subscription(), ErrorCode::Decode);
    assert_eq!(serde_json::to_string(&event).unwrap().as_bytes(), PAID);
    assert_eq!(format!("{event:?}"), r#"Event { type: OrderPaid, id: "90210", .. }"#);
    let again = parse_unverified(event.raw().unwrap()).unwrap();
    let copied = order.copy().unwrap();
    let EventData::Order(order) = again.into_data().unwrap() else { panic!("an order") };
    drop(event);
    assert!(order.equal(&copied).unwrap());
    assert_eq!(copied.total().unwrap(), 19900);
}

#[test]
fn values() {
    let data = |name: &str, data: &str| {
        parse_unverified(format!(r#"{{"name":"{name}","data":{data}}}"#).as_bytes()).unwrap().into_data().unwrap()
    };
    let EventData::Subscription(subscription) = data("subscription.updated", r#"{"status":"active","ends_at":null}"#)
    else {
        panic!("a subscription")
    };
    assert!(subscription.usable_at(Timestamp::now()).unwrap());
    let EventData::Resource(unknown) = data("newer.kind", r#"{"a":{"b":[1,2.5,"x",null,true]}}"#) else {
        panic!("an object")
    };
    let list = unknown.field("a").unwrap().unwrap().find("b").unwrap().unwrap();
    assert_eq!((list.path().unwrap().as_str(), list.count().unwrap()), ("data.a.b", 5));
    assert_eq!(list.at(1).unwrap().real().unwrap(), 2.5);
    assert_eq!(list.at(2).unwrap().text().unwrap(), "x");
    assert!(list.at(4).unwrap().boolean().unwrap());
    error(list.at(0).unwrap().text(), ErrorCode::Decode);
    let kinds: Vec<Kind> = list.members().unwrap().map(|item| item.unwrap().1.kind().unwrap()).collect();
    assert_eq!(kinds, [Kind::Integer, Kind::Real, Kind::String, Kind::Null, Kind::Boolean]);
    assert_eq!(list.deserialize::<Vec<serde_json::Value>>().unwrap()[0], 1);
    assert!(matches!(data("newer.kind", "[1]"), EventData::Value(_)));
}

#[test]
fn secrets() {
    let other = [7_u8; 32];
    let both = VerifierOptions::new().secret(&other).secret(secrecy::SecretString::from(SECRET)).build().unwrap();
    assert_eq!((both.verify(PAID, &signed(PAID)).unwrap(), both.secret_count()), (1, 2));
    error(both.matches(2), ErrorCode::InvalidArgument);
    assert!(!format!("{both:?} {:?}", VerifierOptions::new().secret(SECRET)).contains("whsec"));
}

#[test]
fn requests() {
    let keys = VerifierOptions::new().secret(SECRET).header("X-Signature").build().unwrap();
    let signature = signed(PAID);
    let mut headers = http::HeaderMap::new();
    error(keys.unwrap_request(PAID, &headers), ErrorCode::Signature);
    headers.insert("x-signature", signature.parse().unwrap());
    keys.unwrap_request(PAID, &headers).unwrap();
    keys.unwrap_request(PAID, [("X-SIGNATURE", &signature), ("x-signature", &signature)]).unwrap();
    error(verifier().unwrap_request(PAID, &headers), ErrorCode::Signature);
}

#[test]
fn clocks() {
    let limited = || VerifierOptions::new().secret(SECRET).freshness(Duration::from_secs(300));
    let panics = || -> Timestamp { panic!("the clock's panic is part of the test") };
    for (fresh, options) in [
        (true, limited().clock(|| Timestamp::from_unix_micros(CREATED + 60_000_000))),
        (false, limited().clock(panics)),
        (false, limited()),
    ] {
        let made = options.build().unwrap().unwrap(PAID, &signed(PAID));
        assert_eq!(made.is_ok(), fresh, "{made:?}");
        if !fresh {
            assert_eq!(error(made, ErrorCode::Signature).reason(), Some(Reason::Stale));
        }
    }
}

#[test]
fn streams() {
    let keys = VerifierOptions::new().secret(SECRET).max_body(1000).build().unwrap();
    let mut stream = keys.stream().unwrap();
    std::io::copy(&mut &*PAID, &mut stream).unwrap();
    stream.flush().unwrap();
    drop(keys); // the stream keeps the keys alive
    assert_eq!(stream.finish(&signed(PAID)).unwrap(), 0);
    let mut stream = VerifierOptions::new().secret(SECRET).max_body(10).build().unwrap().stream().unwrap();
    let failed = stream.write_all(PAID).unwrap_err();
    let inner = failed.into_inner().unwrap().downcast::<billcore::Error>().unwrap();
    assert_eq!(inner.reason(), Some(Reason::BodyTooLarge));
}

/// Damaged bodies give typed errors and never crash the process.
#[test]
fn bodies_of_any_kind() {
    let keys = verifier();
    let mut state = 88_172_645_463_325_252_u64;
    for _ in 0..20_000 {
        let mut body = PAID.to_vec();
        for _ in 0..4 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let place = usize::try_from(state >> 8).unwrap() % body.len();
            body[place] = state.to_le_bytes()[0];
        }
        match keys.unwrap(&body, &signed(&body)) {
            Ok(event) => read_all(&event),
            Err(failed) => assert!(failed.is(ErrorCode::Decode), "{failed}"),
        }
    }
}

fn read_all(event: &Event) {
    let _ = (event.id(), event.name(), event.account(), event.created_at(), event.event_type(), format!("{event:?}"));
    if let Ok(EventData::Order(order)) = event.data() {
        let _ =
            (order.id(), order.total(), order.state(), order.delivery(), order.custom_fields(), format!("{order:?}"));
        if let Ok(Some(delivery)) = order.delivery() {
            let _ = delivery.link();
        }
    }
    if let Ok(value) = event.to_value() {
        for member in value.members().unwrap() {
            let (_, member) = member.unwrap();
            assert!(!member.raw().unwrap().is_empty());
        }
    }
}

#[test]
fn any_number_of_threads() {
    let keys = Arc::new(verifier());
    let event = Arc::new(keys.unwrap(PAID, &signed(PAID)).unwrap());
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let (keys, event) = (Arc::clone(&keys), Arc::clone(&event));
            thread::spawn(move || {
                for _ in 0..500 {
                    let own = keys.unwrap(PAID, &signed(PAID)).unwrap();
                    assert_eq!(own.order().unwrap().total().unwrap(), event.order().unwrap().total().unwrap());
                    error(keys.verify(PAID, "0"), ErrorCode::Signature);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(keys.matches(0).unwrap(), 4001);
}

#[test]
fn memory_stays_bounded() {
    let filler = "y".repeat(100_000);
    let body = format!(r#"{{"id":1,"name":"order.paid","data":{{"id":"o","metadata":{{"x":"{filler}"}}}}}}"#);
    let (keys, signature) = (verifier(), signed(body.as_bytes()));
    let unwrap = |count| {
        for _ in 0..count {
            let event = keys.unwrap(body.as_bytes(), &signature).unwrap();
            let metadata = event.order().unwrap().metadata().unwrap();
            drop(event);
            assert_eq!(metadata.find("x").unwrap().unwrap().text().unwrap().len(), filler.len());
            error(keys.unwrap(b"{}", &signature), ErrorCode::Signature);
        }
    };
    unwrap(200);
    let before = resident();
    unwrap(2_000); // 200 MB of bodies
    assert!(resident() < before + (50 << 20), "{} MB more", (resident() - before) >> 20);
}
