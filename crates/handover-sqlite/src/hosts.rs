//! Hook hosts: bindings, tickets and versions.

use handover_model::{
    AgentId, Host, HostSessionId, HostVersion, ReceiptId, SessionId, Ticket, Timestamp, ToolUseId,
};
use handover_store::rows::{self, Columns, HOST_VERSION, TICKET};
use handover_store::{Hosts, NewTicket, Result};
use handover_text::Clean;

use crate::error::backend;
use crate::{SqliteStore, query, session_key, sums};

impl Hosts for SqliteStore {
    fn bind_host(
        &self,
        host: Host,
        conversation: &HostSessionId,
        session: &SessionId,
        now: Timestamp,
    ) -> Result<()> {
        self.write_unsynced(|tx| {
            let key = session_key(tx, session)?;
            tx.execute(
                "INSERT INTO host_binding (host, host_session, session, created_at)
                 VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET session = excluded.session",
                (host.as_str(), conversation.as_str(), key, now.as_micros()),
            )
            .map_err(backend)?;
            Ok(())
        })
    }

    fn bound_session(&self, host: Host, conversation: &HostSessionId) -> Result<Option<SessionId>> {
        let intact = sums::intact("host_binding", "b");
        query::record(
            &self.connection,
            &format!(
                "SELECT s.id, {intact} FROM host_binding b JOIN session s ON s.key = b.session
                 WHERE b.host = ?1 AND b.host_session = ?2"
            ),
            (host.as_str(), conversation.as_str()),
            |row| Columns::of(row).parsed(),
        )
    }

    fn open_ticket(&self, new: &NewTicket) -> Result<()> {
        self.write_unsynced(|tx| {
            tx.execute(
                "INSERT INTO ticket
                    (receipt, host, host_session, agent_type, name, tool_use, task_hash, task, way,
                     agent, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                (
                    new.receipt.as_str(),
                    new.host.as_str(),
                    new.host_session.as_str(),
                    new.agent_type.as_str(),
                    new.name.as_ref().map(Clean::as_str),
                    new.tool_use.as_ref().map(ToolUseId::as_str),
                    &new.task_hash,
                    new.task.as_ref().map(Clean::as_str),
                    new.way.as_str(),
                    new.agent.as_ref().map(AgentId::as_str),
                    new.now.as_micros(),
                ),
            )
            .map_err(backend)?;
            Ok(())
        })
    }

    fn open_tickets(&self, host: Host, conversation: &HostSessionId) -> Result<Vec<Ticket>> {
        let intact = sums::intact("ticket", "ticket");
        query::records(
            &self.connection,
            &format!(
                "SELECT {TICKET}, {intact} FROM ticket WHERE host = ?1 AND host_session = ?2 AND closed_at IS NULL
                 ORDER BY created_at, receipt"
            ),
            (host.as_str(), conversation.as_str()),
            rows::ticket,
        )
    }

    fn tickets(&self, host: Host, conversation: &HostSessionId) -> Result<Vec<Ticket>> {
        let intact = sums::intact("ticket", "ticket");
        query::records(
            &self.connection,
            &format!(
                "SELECT {TICKET}, {intact} FROM ticket WHERE host = ?1 AND host_session = ?2
                 ORDER BY created_at, receipt"
            ),
            (host.as_str(), conversation.as_str()),
            rows::ticket,
        )
    }

    fn latest_tickets(
        &self,
        host: Host,
        conversation: &HostSessionId,
        limit: u32,
    ) -> Result<Vec<Ticket>> {
        let intact = sums::intact("ticket", "ticket");
        query::records(
            &self.connection,
            &format!(
                "SELECT {TICKET}, {intact} FROM ticket WHERE host = ?1 AND host_session = ?2
                 ORDER BY created_at DESC, receipt DESC LIMIT ?3"
            ),
            (host.as_str(), conversation.as_str(), limit),
            rows::ticket,
        )
    }

    fn unsettled_tickets(&self, host: Host, before: Timestamp) -> Result<Vec<Ticket>> {
        let intact = sums::intact("ticket", "ticket");
        query::records(
            &self.connection,
            &format!(
                "SELECT {TICKET}, {intact} FROM ticket
                 WHERE host = ?1 AND closed_at IS NULL AND created_at < ?2
                 ORDER BY created_at, receipt"
            ),
            (host.as_str(), before.as_micros()),
            rows::ticket,
        )
    }

    fn ticket_of_call(
        &self,
        host: Host,
        conversation: &HostSessionId,
        call: &ToolUseId,
    ) -> Result<Option<Ticket>> {
        let intact = sums::intact("ticket", "ticket");
        query::record(
            &self.connection,
            &format!(
                "SELECT {TICKET}, {intact} FROM ticket
                 WHERE host = ?1 AND host_session = ?2 AND tool_use = ?3
                 ORDER BY created_at DESC, receipt DESC LIMIT 1"
            ),
            (host.as_str(), conversation.as_str(), call.as_str()),
            rows::ticket,
        )
    }

    fn ticket_of(&self, host: Host, agent: &AgentId) -> Result<Option<Ticket>> {
        let intact = sums::intact("ticket", "ticket");
        query::record(
            &self.connection,
            &format!(
                "SELECT {TICKET}, {intact} FROM ticket WHERE agent = ?2 AND host = ?1
                 ORDER BY created_at DESC, receipt DESC LIMIT 1"
            ),
            (host.as_str(), agent.as_str()),
            rows::ticket,
        )
    }

    fn take_ticket(&self, receipt: &ReceiptId, agent: &AgentId) -> Result<bool> {
        self.write_unsynced(|tx| {
            let taken = tx
                .execute(
                    "UPDATE ticket SET agent = ?2 WHERE receipt = ?1 AND ifnull(agent, ?2) = ?2
                        AND NOT EXISTS (SELECT 1 FROM ticket other WHERE other.agent = ?2
                            AND other.host = ticket.host AND other.receipt <> ?1)",
                    (receipt.as_str(), agent.as_str()),
                )
                .map_err(backend)?;
            Ok(taken == 1)
        })
    }

    fn bind_ticket(&self, receipt: &ReceiptId, agent: &AgentId) -> Result<bool> {
        self.write_unsynced(|tx| {
            // Both sides read what was there before.
            tx.execute(
                "UPDATE ticket SET agent = (SELECT agent FROM ticket WHERE receipt = ?1)
                 WHERE agent = ?2 AND receipt <> ?1
                    AND host = (SELECT host FROM ticket WHERE receipt = ?1)",
                (receipt.as_str(), agent.as_str()),
            )
            .map_err(backend)?;
            let bound = tx
                .execute(
                    "UPDATE ticket SET agent = ?2 WHERE receipt = ?1",
                    (receipt.as_str(), agent.as_str()),
                )
                .map_err(backend)?;
            Ok(bound == 1)
        })
    }

    fn ask_ticket(&self, receipt: &ReceiptId) -> Result<bool> {
        self.write_unsynced(|tx| {
            let asked = tx
                .execute(
                    "UPDATE ticket SET asked = 1 WHERE receipt = ?1 AND asked = 0",
                    [receipt.as_str()],
                )
                .map_err(backend)?;
            Ok(asked == 1)
        })
    }

    fn end_ticket(&self, receipt: &ReceiptId, ending: &str, now: Timestamp) -> Result<bool> {
        self.write_unsynced(|tx| {
            let ended = tx
                .execute(
                    "UPDATE ticket SET ending = ?2, closed_at = ifnull(closed_at, ?3)
                     WHERE receipt = ?1 AND ending IS NOT ?2",
                    (receipt.as_str(), ending, now.as_micros()),
                )
                .map_err(backend)?;
            Ok(ended == 1)
        })
    }

    fn close_ticket(&self, receipt: &ReceiptId, now: Timestamp) -> Result<bool> {
        self.write_unsynced(|tx| {
            let closed = tx
                .execute(
                    "UPDATE ticket SET closed_at = ?2 WHERE receipt = ?1 AND closed_at IS NULL",
                    (receipt.as_str(), now.as_micros()),
                )
                .map_err(backend)?;
            Ok(closed == 1)
        })
    }

    fn note_host_version(
        &self,
        host: Host,
        version: &Clean,
        drops_rewrites: bool,
        now: Timestamp,
    ) -> Result<()> {
        self.write_unsynced(|tx| {
            tx.execute(
                "INSERT INTO host_version (host, version, drops_rewrites, seen_at)
                 VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET drops_rewrites = excluded.drops_rewrites,
                    seen_at = excluded.seen_at",
                (host.as_str(), version.as_str(), drops_rewrites, now.as_micros()),
            )
            .map_err(backend)?;
            Ok(())
        })
    }

    fn host_versions(&self) -> Result<Vec<HostVersion>> {
        let intact = sums::intact("host_version", "host_version");
        query::records(
            &self.connection,
            &format!("SELECT {HOST_VERSION}, {intact} FROM host_version ORDER BY host, version"),
            [],
            rows::host_version,
        )
    }
}
