//! `/health`, and starting and stopping.

use handover_serve::{BindError, Port, Service};

use crate::fixture::{EventClient, TestService};

#[test]
fn reports_version_and_status() {
    let service = TestService::start();
    let health = service.get("/health").is(200).json();
    assert_eq!(health["health"]["status"], "ok");
    assert_eq!(health["health"]["service"], "handover");
    assert_eq!(health["health"]["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn reports_a_missing_a_broken_and_a_repaired_store() {
    let service = TestService::start();
    let file = service.contexts.file(None);
    let good = fs_err::read(&file).unwrap();
    fs_err::remove_file(&file).unwrap();
    let health = service.get("/health").is(503).json();
    assert_eq!(health["health"]["code"], "no_store");
    service.get("/api/v1/sessions").fails(503, "no_store");

    fs_err::write(&file, vec![b'x'; 8_192]).unwrap();
    let health = service.get("/health").is(503).json();
    assert_eq!(health["health"]["status"], "broken");

    let folder = file.parent().unwrap();
    for file in fs_err::read_dir(folder).unwrap() {
        fs_err::remove_file(file.unwrap().path()).unwrap();
    }
    fs_err::write(&file, good).unwrap();
    service.get("/health").is(200);
}

#[test]
fn a_port_in_use_is_an_error_and_the_default_falls_back() {
    let first = Service::bind([127, 0, 0, 1].into(), Port::Exactly(0)).unwrap();
    let port = first.address().port();
    let error = Service::bind([127, 0, 0, 1].into(), Port::Exactly(port)).unwrap_err();
    assert!(matches!(error, BindError::Taken { port: taken, .. } if taken == port), "{error}");
    let error = Service::bind([192, 0, 2, 1].into(), Port::Exactly(0)).unwrap_err();
    assert!(matches!(error, BindError::Refused { .. }), "{error}");
    // Whether 4747 is free or not, two services get different ports.
    let (one, two) = (
        Service::bind([127, 0, 0, 1].into(), Port::Default).unwrap(),
        Service::bind([127, 0, 0, 1].into(), Port::Default).unwrap(),
    );
    assert_ne!(one.address(), two.address());
}

#[test]
fn shutdown_ends_event_streams() {
    let mut service = TestService::start();
    let mut events = EventClient::open(&service, "/events", "");
    service.stop();
    let end = events.next().unwrap();
    assert_eq!((end.name.as_str(), &end.data["reason"]), ("end", &"shutdown".into()));
    assert!(events.next().is_none());
}
