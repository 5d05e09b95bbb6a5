//! Tests of the shared store on a real server: the conformance suite, agreement with the embedded
//! store, and the faults of servers. `HANDOVER_TEST_POSTGRES` says where the server is;
//! `scripts/test` starts one.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod agree;
mod index;
mod lives;
mod locks;
mod moving;
mod server;
mod test_project;

mod conformance {
    use handover_store::Store;
    use handover_store::conformance::Backend;

    use crate::test_project::TestProject;

    impl Backend for TestProject {
        fn open(&self) -> Box<dyn Store + Send> {
            Box::new(Self::open(self))
        }
    }

    handover_store::conformance_tests!(TestProject::fresh());
}
