//! The floor: the cost of a request before anything is looked up.
//!
//!     floor ADDR:PORT
//!
//! The same body is read in three ways, and the answer is always the same 200 bytes.
//!
//! | | |
//! | --- | --- |
//! | `POST /noop` | the body is not parsed |
//! | `POST /pick` | only the variables that the generated hierarchy uses are parsed |
//! | `POST /parse` | the whole body is parsed into values |

use std::borrow::Cow;
use std::error::Error;
use std::hint::black_box;

use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::serve::ListenerExt;
use serde::Deserialize;
use tokio::net::TcpListener;

const ANSWER: &[u8] = br#"{"key":"profile::web::listen_address","environment":"production","value":{"ensure":"present","port":8080,"tags":["alpha-bravo","carbon-delta","ember-falcon"]},"revision":"0123456789abcdef0123456789abcdef"}"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).ok_or("usage: floor ADDR:PORT")?;
    let routes = Router::new()
        .route("/noop", post(noop))
        .route("/pick", post(read::<Picked<'_>>))
        .route("/parse", post(read::<Parsed>));
    // TCP_NODELAY, as in hierad.
    let listener = TcpListener::bind(address).await?.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            eprintln!("floor: {error}");
        }
    });
    Ok(axum::serve(listener, routes).await?)
}

async fn noop(body: Bytes) -> Response {
    black_box(&body);
    answer()
}

async fn read<B: Body>(body: Bytes) -> Response {
    if B::read(&body) {
        answer()
    } else {
        StatusCode::BAD_REQUEST.into_response()
    }
}

fn answer() -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, Bytes::from_static(ANSWER)).into_response()
}

/// A way to read a body.
trait Body {
    /// Reads a body, and returns whether it is valid.
    fn read(body: &[u8]) -> bool;
}

impl Body for Parsed {
    fn read(body: &[u8]) -> bool {
        serde_json::from_slice::<Parsed>(body)
            .map(black_box)
            .is_ok()
    }
}

impl Body for Picked<'_> {
    fn read(body: &[u8]) -> bool {
        serde_json::from_slice::<Picked<'_>>(body)
            .map(black_box)
            .is_ok()
    }
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only the cost of reading is measured")]
struct Parsed {
    environment: String,
    key: String,
    facts: serde_json::Value,
    trusted: serde_json::Value,
    merge: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only the cost of reading is measured")]
struct Picked<'a> {
    #[serde(borrow)]
    environment: Cow<'a, str>,
    #[serde(borrow)]
    key: Cow<'a, str>,
    #[serde(borrow)]
    facts: Facts<'a>,
    #[serde(borrow)]
    trusted: Trusted<'a>,
    merge: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only the cost of reading is measured")]
struct Facts<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    datacenter: Cow<'a, str>,
    #[serde(borrow)]
    os: Os<'a>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only the cost of reading is measured")]
struct Os<'a> {
    #[serde(borrow)]
    family: Cow<'a, str>,
    #[serde(borrow)]
    release: Release<'a>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only the cost of reading is measured")]
struct Release<'a> {
    #[serde(borrow)]
    major: Cow<'a, str>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only the cost of reading is measured")]
struct Trusted<'a> {
    #[serde(borrow)]
    certname: Cow<'a, str>,
}
