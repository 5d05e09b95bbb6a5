//! Maven, through the project's wrapper if it has one. Every module writes its own reports.

use std::path::PathBuf;

use handover_agents::Environment;

use super::kind::folder_of;
use super::{FailedTests, Gate, GateFolder, GateKind, GateOutput, format};

/// The other build tool of JVM projects.
#[derive(Debug)]
pub struct Maven;

impl GateKind for Maven {
    fn id(&self) -> &'static str {
        "maven"
    }

    fn detect(&self, folder: &GateFolder<'_>) -> Option<Gate> {
        if !folder.has("pom.xml") {
            return None;
        }
        let args = ["--batch-mode", "--fail-at-end", "test"];
        let mut gate = Gate::new(&Self, "maven", &args);
        gate.program = if folder.has("mvnw") { "./mvnw".into() } else { "mvn".into() };
        gate.reports = vec!["**/target/surefire-reports/TEST-*.xml".into()];
        Some(gate)
    }

    fn caches(&self, environment: &Environment) -> Vec<PathBuf> {
        folder_of(environment, "MAVEN_USER_HOME", ".m2").into_iter().collect()
    }

    fn is_redirected(&self) -> bool {
        true
    }

    fn parse(&self, output: &GateOutput<'_>) -> FailedTests {
        let mut failed = format::junit(output);
        // A project without tests writes no reports.
        failed.unknown &= !(output.reports.is_empty() && output.stdout.contains("BUILD SUCCESS"));
        failed.unknown |= output.stdout.contains("COMPILATION ERROR");
        failed
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{detect_in, parse};
    use super::*;

    #[test]
    fn prefers_the_wrapper() {
        let gate = detect_in(&Maven, &[("pom.xml", ""), ("mvnw", "")]).unwrap();
        assert_eq!(gate.program.to_str(), Some("./mvnw"));
        assert_eq!(detect_in(&Maven, &[("pom.xml", "")]).unwrap().program.to_str(), Some("mvn"));
        assert!(detect_in(&Maven, &[("mvnw", "")]).is_none());
    }

    #[test]
    fn compiler_errors_are_unknown_failures() {
        let passing = "<testsuite><testcase name=\"t\"/></testsuite>".to_owned();
        assert!(parse(&Maven, "[ERROR] COMPILATION ERROR :", "", std::slice::from_ref(&passing)).1);
        assert!(!parse(&Maven, "BUILD SUCCESS", "", &[passing]).1);
        assert!(!parse(&Maven, "BUILD SUCCESS", "", &[]).1);
        assert!(parse(&Maven, "BUILD FAILURE", "", &[]).1);
    }
}
