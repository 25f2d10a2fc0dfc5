use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

use super::admission::Admitted;
use super::*;
use crate::config::{CorsOrigins, Limits};
use crate::environments::Environments;

/// Rejects every request without a badge.
#[derive(Debug)]
struct BadgeOnly;

impl Admission for BadgeOnly {
    fn admit(&self, head: &Parts) -> Result<Admitted, ApiError> {
        match head.headers.contains_key("badge") {
            true => Ok(Admitted),
            false => Err(ApiError::new(ErrorKind::BadRequest, "no badge")),
        }
    }
}

fn app() -> App {
    let environments = Environments::new();
    let snapshot = hiera_resolver::Snapshot::build(Default::default());
    environments.serve("production", snapshot.into());
    environments.set_loaded();
    App::new(environments, Limits::default())
}

async fn send(gate: &Gate, request: Request<Body>) -> Response {
    gate.clone().oneshot(request).await.unwrap()
}

async fn text_of(response: Response) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn lookup_request() -> axum::http::request::Builder {
    Request::post("/lookup").header(header::CONTENT_TYPE, "application/json")
}

const LOOKUP: &str = r#"{"key":"a","default":1}"#;

#[tokio::test]
async fn a_request_rejected_at_the_gate_reaches_neither_path() {
    let gate = Gate::new(app(), BadgeOnly);
    let paths = || {
        [
            (lookup_request(), LOOKUP),
            (Request::get("/environments"), ""),
            (Request::get("/no/such/path"), ""),
            (Request::delete("/lookup"), ""),
        ]
    };
    for (request, body) in paths() {
        let refused = send(&gate, request.body(body.into()).unwrap()).await;
        assert_eq!(refused.status(), 400);
        assert!(refused.headers().contains_key(&X_REQUEST_ID));
        let closes = refused.headers().contains_key(header::CONNECTION);
        assert_eq!(
            closes,
            !body.is_empty(),
            "an unread body ends the connection"
        );
        assert!(text_of(refused).await.contains("no badge"));
    }
    let expected = [200, 200, 404, 405];
    for ((request, body), status) in paths().into_iter().zip(expected) {
        let request = request.header("badge", "1");
        let answered = send(&gate, request.body(body.into()).unwrap()).await;
        assert_eq!(answered.status(), status);
    }
}

#[tokio::test]
async fn a_request_is_rejected_behind_cross_origin_rules_as_well() {
    let origins = CorsOrigins::try_from("https://a.example.com").unwrap();
    let gate = Gate::new(app().with_cors_origins(&origins), BadgeOnly);
    for (request, body) in [(lookup_request(), LOOKUP), (Request::get("/livez"), "")] {
        let request = request.header(header::ORIGIN, "https://a.example.com");
        let refused = send(&gate, request.body(body.into()).unwrap()).await;
        assert_eq!(refused.status(), 400);
        // The page can read the error.
        let allowed = refused.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
        assert_eq!(allowed.unwrap(), "https://a.example.com");
    }
}

/// A rule with a bug.
#[derive(Debug)]
struct Panics;

impl Admission for Panics {
    fn admit(&self, _head: &Parts) -> Result<Admitted, ApiError> {
        panic!("on purpose")
    }
}

#[tokio::test]
async fn a_panic_is_an_internal_error_and_is_counted() {
    let app = app();
    let gate = Gate::new(app.clone(), Panics);
    let requests = [(lookup_request(), LOOKUP), (Request::get("/livez"), "")];
    for (request, body) in requests {
        let response = send(&gate, request.body(body.into()).unwrap()).await;
        assert_eq!(response.status(), 500);
        let body = text_of(response).await;
        assert!(body.contains("/problems/internal"), "{body}");
        assert!(!body.contains("on purpose"), "{body}");
    }
    let metrics = app.service();
    let request = Request::get("/metrics").body(Body::empty()).unwrap();
    let metrics = text_of(send(&metrics, request).await).await;
    assert!(
        metrics.contains(r#"http_requests_total{status="5xx"} 2"#),
        "{metrics}"
    );
}

#[tokio::test]
async fn credentials_are_not_printed_with_headers() {
    let mut headers = HeaderMap::new();
    let names = [
        "authorization",
        "cookie",
        "x-client-cert",
        "proxy-authorization",
    ];
    for name in names {
        headers.append(name, HeaderValue::from_static("secret"));
        headers.append(name, HeaderValue::from_static("secret"));
    }
    headers.append("accept", HeaderValue::from_static("text/plain"));
    HeadersRead::new(&mut headers, &app());
    let printed = format!("{headers:?}");
    assert!(!printed.contains("secret"), "{printed}");
    assert!(printed.contains("text/plain"), "{printed}");
}
