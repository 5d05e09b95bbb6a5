//! Commands of the `[gates]` configuration, with any of the known report formats.

use std::path::PathBuf;

use handover_agents::{Environment, join_command};
use handover_model::GateFormat;
use handover_model::config::GateCommand;

use super::{BUILT_IN, Cargo, FailedTests, Gate, GateFolder, GateKind, GateOutput, Go, format};

/// A command whose output has a configured format.
#[derive(Debug)]
pub(super) struct Command(GateFormat);

/// One kind for each format.
static COMMANDS: [Command; 6] = [
    Command(GateFormat::None),
    Command(GateFormat::Tap),
    Command(GateFormat::Junit),
    Command(GateFormat::Libtest),
    Command(GateFormat::GoJson),
    Command(GateFormat::Marks),
];

/// The gate of a configured command; none if it has no program.
pub(super) fn configured(command: &GateCommand) -> Option<Gate> {
    let (program, args) = command.argv.split_first()?;
    let kind = COMMANDS.iter().find(|kind| kind.0 == command.format).unwrap_or(&COMMANDS[0]);
    Some(Gate {
        kind,
        name: command.name.clone(),
        folder: PathBuf::new(),
        program: program.into(),
        args: args.iter().map(Into::into).collect(),
        reports: command.report.iter().map(PathBuf::from).collect(),
        success_codes: Vec::new(),
        typed: join_command(program.as_ref(), &args.iter().map(Into::into).collect::<Vec<_>>()),
    })
}

impl GateKind for Command {
    fn id(&self) -> &'static str {
        self.0.as_str()
    }

    /// Commands are configured, never detected.
    fn detect(&self, _folder: &GateFolder<'_>) -> Option<Gate> {
        None
    }

    /// A command may run any tool.
    fn caches(&self, environment: &Environment) -> Vec<PathBuf> {
        let all = BUILT_IN.iter().flat_map(|kind| kind.caches(environment));
        all.filter(|folder| folder.is_dir()).collect()
    }

    fn parse(&self, output: &GateOutput<'_>) -> FailedTests {
        match self.0 {
            GateFormat::None => FailedTests::default(),
            GateFormat::Libtest => Cargo.parse(output),
            GateFormat::Tap => format::tap(output),
            GateFormat::Junit => format::junit(output),
            GateFormat::GoJson => Go.parse(output),
            GateFormat::Marks => format::marks(output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(argv: &[&str], format: GateFormat) -> GateCommand {
        GateCommand {
            name: "unit".to_owned(),
            argv: argv.iter().map(|&word| word.to_owned()).collect(),
            format,
            report: Some("out/*.xml".to_owned()),
        }
    }

    #[test]
    fn every_format_has_a_kind() {
        for format in GateFormat::ALL {
            let gate = configured(&command(&["make", "test"], *format)).unwrap();
            assert_eq!(gate.kind.id(), format.as_str());
            assert_eq!(gate.reports, [PathBuf::from("out/*.xml")]);
            assert_eq!(gate.args, ["test"]);
        }
        assert!(configured(&command(&[], GateFormat::None)).is_none());
    }

    #[test]
    fn a_command_without_a_format_names_no_tests() {
        let gate = configured(&command(&["x"], GateFormat::None)).unwrap();
        let output = GateOutput { stdout: "not ok 1 - a", stderr: "", reports: &[] };
        assert_eq!(gate.kind.parse(&output), FailedTests::default());
        let gate = configured(&command(&["x"], GateFormat::Tap)).unwrap();
        assert_eq!(gate.kind.parse(&output).names.len(), 1);
    }
}
