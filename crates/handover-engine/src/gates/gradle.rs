//! Gradle, through the project's wrapper if it has one. Every subproject writes its own reports.

use std::path::PathBuf;

use handover_agents::Environment;

use super::kind::folder_of;
use super::{FailedTests, Gate, GateFolder, GateKind, GateOutput, format};

/// The build tool of many JVM projects.
#[derive(Debug)]
pub struct Gradle;

const BUILD_FILES: &[&str] =
    &["settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts"];

impl GateKind for Gradle {
    fn id(&self) -> &'static str {
        "gradle"
    }

    fn detect(&self, folder: &GateFolder<'_>) -> Option<Gate> {
        if !BUILD_FILES.iter().any(|file| folder.has(file)) {
            return None;
        }
        let args = ["test", "--continue", "--console=plain", "--no-daemon"];
        let mut gate = Gate::new(&Self, "gradle", &args);
        if folder.has("gradlew") {
            gate.program = "./gradlew".into();
        }
        gate.reports = vec!["**/build/test-results/**/TEST-*.xml".into()];
        Some(gate)
    }

    fn caches(&self, environment: &Environment) -> Vec<PathBuf> {
        folder_of(environment, "GRADLE_USER_HOME", ".gradle").into_iter().collect()
    }

    fn is_redirected(&self) -> bool {
        true
    }

    fn parse(&self, output: &GateOutput<'_>) -> FailedTests {
        let mut failed = format::junit(output);
        // A project without tests writes no reports.
        failed.unknown &=
            !(output.reports.is_empty() && output.stdout.contains("BUILD SUCCESSFUL"));
        failed.unknown |= output.stderr.contains("Compilation failed");
        failed
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{detect_in, parse};
    use super::*;

    #[test]
    fn prefers_the_wrapper() {
        let gate = detect_in(&Gradle, &[("build.gradle.kts", ""), ("gradlew", "")]).unwrap();
        assert_eq!(gate.program.to_str(), Some("./gradlew"));
        let gate = detect_in(&Gradle, &[("settings.gradle", "")]).unwrap();
        assert_eq!(gate.program.to_str(), Some("gradle"));
        assert!(detect_in(&Gradle, &[("gradlew", "")]).is_none());
    }

    #[test]
    fn reads_the_reports_of_all_subprojects() {
        let report = |class: &str| {
            format!(
                "<testsuite><testcase classname=\"{class}\" name=\"t\"><failure/></testcase></testsuite>"
            )
        };
        let (names, unknown) = parse(&Gradle, "", "", &[report("app.A"), report("lib.B")]);
        assert_eq!((names, unknown), (vec!["app.A t".to_owned(), "lib.B t".to_owned()], false));
    }

    #[test]
    fn missing_reports_count_unless_the_build_succeeded() {
        assert!(parse(&Gradle, "BUILD FAILED", "", &[]).1);
        assert!(!parse(&Gradle, "BUILD SUCCESSFUL in 1s", "", &[]).1);
        let passing = "<testsuite><testcase name=\"t\"/></testsuite>".to_owned();
        assert!(parse(&Gradle, "", "Compilation failed; see the compiler", &[passing]).1);
    }
}
