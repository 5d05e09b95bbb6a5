//! Which build of `handover` the tests start.

use std::path::Path;
use std::sync::LazyLock;

/// Overrides the build under test with the program of another commit; `scripts/against` sets it.
const OVERRIDE: &str = "HANDOVER_TEST_BINARY";

/// `built`, the binary that Cargo built for this test, unless `HANDOVER_TEST_BINARY` names another.
///
/// The override is what shows that a test fails on an older version.
pub fn binary(built: &'static str) -> &'static str {
    static OVERRIDDEN: LazyLock<Option<String>> = LazyLock::new(|| {
        let path = std::env::var_os(OVERRIDE)?.into_string().expect("a path in UTF-8");
        assert!(Path::new(&path).is_absolute(), "{OVERRIDE} must be an absolute path: {path}");
        Some(path)
    });
    OVERRIDDEN.as_deref().unwrap_or(built)
}
