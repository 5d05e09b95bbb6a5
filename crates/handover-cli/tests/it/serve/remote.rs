//! The store behind a service: the same contracts, and what only a network can do.

use std::time::Duration;

use handover_remote::RemoteStore;
use handover_store::Store;
use handover_store::conformance::Backend;
use handover_testkit::{Service, TestEnv};

struct Remote {
    _env: TestEnv,
    service: Service,
}

impl Remote {
    fn fresh() -> Self {
        let env = crate::empty();
        env.run(["init"]).ok();
        let service = Service::start(&env, &[]);
        Self { _env: env, service }
    }
}

impl Backend for Remote {
    fn open(&self) -> Box<dyn Store + Send> {
        Box::new(RemoteStore::new(&self.service.url, None, Duration::from_secs(30)))
    }
}

mod conformance {
    use super::Remote;

    handover_store::conformance_tests!(Remote::fresh());
}
