//! A separate project on the test server.

use handover_model::ProjectId;
use handover_postgres::{Location, PostgresStore};

pub(crate) struct TestProject {
    pub(crate) location: Location,
    pub(crate) project: ProjectId,
}

impl TestProject {
    /// An empty project; without a server the test fails.
    pub(crate) fn fresh() -> Self {
        let project = format!("t{}", uuid::Uuid::now_v7().simple());
        let location = handover_testkit::postgres().parse().unwrap();
        Self { location, project: ProjectId::new(project).unwrap() }
    }

    pub(crate) fn open(&self) -> PostgresStore {
        PostgresStore::open(&self.location, &self.project).unwrap()
    }
}

impl Drop for TestProject {
    fn drop(&mut self) {
        let _ = PostgresStore::destroy(&self.location, &self.project);
    }
}
