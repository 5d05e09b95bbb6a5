//! `handover token …`

mod create;
mod link;
mod list;
mod revoke;

use clap::Subcommand;
use handover_model::{ProjectId, Token, TokenKind, TokenScope};
use handover_serve::{Minted, mint};
use handover_store::NewToken;
use serde_json::{Value, json};

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit};

/// Create, list and revoke access tokens for the service
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum TokenCommand {
    Create(create::CreateArgs),
    Link(link::LinkArgs),
    List(list::ListArgs),
    Revoke(revoke::RevokeArgs),
}

impl TokenCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::Create(args) => create::run(app, args),
            Self::Link(args) => link::run(app, args),
            Self::List(args) => list::run(app, args),
            Self::Revoke(args) => revoke::run(app, &args),
        }
    }
}

/// The rights of a new token.
#[derive(Debug, clap::Args)]
struct RightsArgs {
    /// Access level: read, write (includes read) or admin (includes write)
    #[arg(long)]
    scope: TokenScope,

    /// Project that the token gives access to [default: this one]
    #[arg(long, value_name = "ID", conflicts_with = "all_projects")]
    project_id: Option<ProjectId>,

    /// Give access to every project in the store
    #[arg(long)]
    all_projects: bool,

    /// Description of what the token is for
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
}

impl RightsArgs {
    /// Mints a token and stores its hash.
    fn make(
        self,
        app: &App,
        kind: TokenKind,
        seconds: Option<i64>,
    ) -> Result<(Minted, Token), CommandError> {
        let minted = mint()
            .map_err(|error| CommandError::chain(Exit::Environment, "no_randomness", &error))?;
        let project = match (self.project_id, self.all_projects) {
            (Some(project), _) => Some(app.no_secret("project id", project)?),
            (None, true) => None,
            (None, false) => Some(app.project_id()?),
        };
        let redactor = app.redactor()?;
        let now = app.now();
        let new = NewToken {
            id: minted.id.clone(),
            name: self.name.map(|name| redactor.clean(&name).one_line().cut(80)),
            kind,
            scope: self.scope,
            project,
            hash: minted.hash.clone(),
            expires_at: seconds.map(|seconds| now.plus_seconds(seconds)),
            now,
        };
        let token = app.store()?.create_token(&new)?;
        Ok((minted, token))
    }
}

/// The JSON form of a token, without its hash.
fn to_json(token: &Token) -> Value {
    json!({
        "id": token.id, "name": token.name, "kind": token.kind, "scope": token.scope,
        "project": token.project, "created_at": token.created_at,
        "expires_at": token.expires_at, "ended_at": token.ended_at,
    })
}
