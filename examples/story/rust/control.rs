use billcore::{Client, RequestOptions};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::Outcome;

/// Calls the sandbox's control routes, which need no API key.
pub struct Control(Client);

#[derive(Deserialize)]
struct Endpoints {
    endpoints: Vec<Endpoint>,
}

#[derive(Deserialize)]
struct Endpoint {
    url: String,
    secret: String,
}

#[derive(Deserialize)]
struct Ledger {
    effects: Vec<Effect>,
}

#[derive(Deserialize)]
struct Effect {
    kind: String,
}

impl Control {
    pub fn new(address: &str) -> Outcome<Self> {
        Ok(Self(Client::options().base_url(address).api_key("none").build()?))
    }
    fn post(&self, path: &str, body: &serde_json::Value) -> Outcome<()> {
        self.0.request("POST", path, RequestOptions::new().body(body))?;
        Ok(())
    }
    fn get<T: DeserializeOwned>(&self, path: &str) -> Outcome<T> {
        Ok(self.0.request("GET", path, RequestOptions::new())?.deserialize()?)
    }
    pub fn reset(&self) -> Outcome<()> {
        self.post("/reset", &json!({}))
    }
    /// Renews a subscription. The path needs no encoding, because the sandbox's ids are digits.
    pub fn renew(&self, id: &str) -> Outcome<()> {
        self.post(&format!("/subscriptions/{id}/renew"), &json!({}))
    }
    pub fn lose_the_next_charge_answer(&self) -> Outcome<()> {
        self.post("/faults", &json!({"kind": "reset_after", "method": "POST", "path": "/subscription/*/order"}))
    }
    /// The secret of an endpoint. The real service shows the secret only in its admin UI; the sandbox returns it
    /// through a control route.
    pub fn secret(&self, url: &str) -> Outcome<String> {
        let found: Endpoints = self.get("/endpoints")?;
        let found = found.endpoints.into_iter().find(|endpoint| endpoint.url == url);
        Ok(found.ok_or("the endpoint is not registered")?.secret)
    }
    pub fn charges(&self) -> Outcome<usize> {
        let found: Ledger = self.get("/ledger")?;
        Ok(found.effects.iter().filter(|effect| effect.kind == "charge").count())
    }
}
