//! `handover project …`: what the project is made of.

use clap::Subcommand;

use super::persona::PersonaCommand;
use super::template::TemplateCommand;
use super::{Command, stack};

/// Show the project's technology stack, templates and personas
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ProjectCommand {
    Stack(stack::StackArgs),
    #[command(subcommand)]
    Template(TemplateCommand),
    #[command(subcommand)]
    Persona(PersonaCommand),
}

impl From<ProjectCommand> for Command {
    fn from(command: ProjectCommand) -> Self {
        match command {
            ProjectCommand::Stack(args) => Self::Stack(args),
            ProjectCommand::Template(command) => Self::Template(command),
            ProjectCommand::Persona(command) => Self::Persona(command),
        }
    }
}
