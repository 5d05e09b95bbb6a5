//! The table of all store methods: how they cross a network, and which rights they need.
//!
//! A macro that is passed to [`store_methods!`](crate::store_methods) receives the whole table. What it
//! generates cannot drift from the traits: a method missing here leaves a trait unimplemented, and one that
//! does not exist there cannot be called.
//!
//! A line consists of the right that the method needs, its name, its arguments (`by` reference, `val`ue, `opt`ional
//! reference, `text`, or `list`), its result, and its subject, which must belong to the caller's
//! project: a `session`, a `project`, `projects`, a `package`, `packages`, a `receipt`, a `run`, an
//! `epic`; `any` if the result is checked instead (or nothing is); `own` if the rule is more complex.

/// Passes the table of store methods to a macro.
#[macro_export]
macro_rules! store_methods {
    ($callback:ident) => {
        $callback! {
            Sessions {
                write open_session(new: by NewSession) -> Opened<Session>, own();
                read session(id: by SessionId) -> Session, any();
                read sessions(status: val Option<SessionStatus>) -> Vec<Session>, any();
                read session_counts(id: by SessionId) -> SessionCounts, session(id);
                write set_session_status(id: by SessionId, status: val SessionStatus, now: val Timestamp) -> Session, session(id);
                admin purge_session(id: by SessionId) -> SessionCounts, session(id);
            }
            Groups {
                write set_group(update: by GroupUpdate) -> Group, session(&update.session);
                read group(session: by SessionId, id: by GroupId) -> Group, session(session);
                read groups(session: by SessionId) -> Vec<Group>, session(session);
            }
            Packages {
                write register_packages(new: list NewPackage) -> Vec<Registered>, own();
                read package(id: val PackageId) -> Package, any();
                read packages_by_id(ids: list PackageId) -> Vec<Package>, any();
                read packages(session: by SessionId, filter: by PackageFilter) -> Vec<Package>, session(session);
                read slice(session: by SessionId, group: opt GroupId, role: opt Role, from: val i64, enough: val u32) -> Slice, session(session);
                read outlines(session: by SessionId, limit: val Option<u32>) -> Vec<Outline>, session(session);
                write set_package_state(ids: list PackageId, state: val RecordState, reason: opt Clean) -> Vec<Package>, packages(ids);
                admin delete_packages(ids: list PackageId) -> u64, packages(ids);
                read package_history(id: val PackageId) -> Vec<Package>, package(id);
                read package_deliveries(id: val PackageId) -> Vec<Delivery>, package(id);
                read package_body(id: val PackageId) -> String, package(id);
                read package_bodies(ids: list PackageId) -> Vec<String>, packages(ids);
            }
            Reasonings {
                write add_reasoning(new: by NewReasoning) -> Reasoning, session(&new.session);
                read reasoning(session: by SessionId, filter: by ReasoningFilter) -> Vec<Reasoning>, session(session);
            }
            Verdicts {
                write add_verdict(new: by NewVerdict) -> VerdictRecord, session(&new.session);
                read verdicts(session: by SessionId, filter: by VerdictFilter) -> Vec<VerdictRecord>, session(session);
            }
            TrustClasses {
                write lower_trust(written: by WrittenBy, trust: val Trust) -> u64, session(&written.session);
            }
            SkillOutputs {
                write save_skill_output(new: by NewSkillOutput) -> SkillOutput, session(&new.session);
                read skill_outputs(session: by SessionId, filter: by SkillOutputFilter) -> Vec<SkillOutput>, session(session);
            }
            ErrorPatterns {
                write record_error(sighting: by ErrorSighting) -> ErrorPattern, own();
                write resolve_error(sighting: by ErrorSighting, solution: by Clean) -> ErrorPattern, own();
                write judge_error(project: by ProjectId, hash: text String, verdict: val $crate::Judgement, now: val Timestamp) -> ErrorPattern, project(project);
                write set_error_state(project: by ProjectId, hash: text String, state: val RecordState, reason: opt Clean) -> ErrorPattern, project(project);
                read errors(project: by ProjectId, filter: by ErrorFilter) -> Vec<ErrorPattern>, project(project);
                read error_incidents(project: by ProjectId, hash: text String) -> Vec<ErrorIncident>, project(project);
                read error_trust(project: by ProjectId, hash: text String) -> Vec<TrustAt>, project(project);
            }
            Strategies {
                write learn_strategies(new: list NewStrategy) -> Vec<Strategy>, projects(new.iter().map(|new| &new.project));
                write strategy_helped(id: text String, now: val Timestamp) -> Strategy, own();
                write set_strategy_state(project: by ProjectId, id: text String, state: val RecordState, reason: opt Clean) -> Strategy, project(project);
                read strategies(project: by ProjectId, filter: by StrategyFilter) -> Vec<Strategy>, project(project);
            }
            Notes {
                write learn_notes(project: by ProjectId, units: list NewUnit, now: val Timestamp) -> Learned, own();
                read note(project: by ProjectId, id: by NoteId) -> Note, own();
                read notes(project: by ProjectId, filter: by NoteFilter) -> Vec<Note>, own();
                read notes_by_number(project: by ProjectId, numbers: list i64) -> Vec<(i64, Note)>, own();
                write set_note_state(project: by ProjectId, id: by NoteId, state: val NoteState, reason: opt Clean, now: val Timestamp) -> Note, own();
                read note_units(project: by ProjectId, kind: val NoteKind) -> Vec<KnownUnit>, own();
                admin forget_notes(project: by ProjectId, kind: val NoteKind, source: opt String, now: val Timestamp) -> Vec<NoteId>, own();
                admin purge_note(project: by ProjectId, id: by NoteId, now: val Timestamp) -> Note, own();
                admin erase_delivered(project: by ProjectId, notes: list NoteId) -> u64, project(project);
                read note_postings(project: by ProjectId, terms: list String) -> NotePostings, own();
                read note_numbers(project: by ProjectId, kind: val NoteKind) -> Vec<i64>, own();
                read note_words_like(project: by ProjectId, word: text String, slips: val u32) -> Vec<String>, own();
            }
            Operations {
                write log_operation(new: by NewOperation) -> (), own();
                read operations(project: by ProjectId, filter: by OperationFilter) -> Vec<Operation>, own();
                admin drop_operations(project: by ProjectId, before: val Timestamp) -> u64, project(project);
            }
            Amendments {
                write decide_amendment(new: by Amendment) -> (), own();
                read amendments(project: by ProjectId) -> Vec<Amendment>, own();
            }
            Events {
                write log_event(new: by NewEvent) -> Logged, session(&new.session);
                read events(session: by SessionId, filter: by EventFilter) -> Vec<Event>, session(session);
            }
            Receipts {
                write put_receipt(new: by NewReceipt) -> (), session(&new.session);
                write advance_receipt(id: by ReceiptId, step: by ReceiptStep, now: val Timestamp) -> Receipt, own();
                write claim_receipt(id: by ReceiptId, now: val Timestamp) -> (), receipt(id);
                read deliveries(session: by SessionId, group: opt GroupId, role: by Role, now: val Timestamp) -> u32, session(session);
                write mark_read(id: by ReceiptId, package: val PackageId, now: val Timestamp) -> Receipt, own();
                write mark_used(id: by ReceiptId, uses: list ItemUse) -> (), receipt(id);
                read use_tallies(project: by ProjectId, kind: val ItemKind, items: list String) -> handover_model::learn::UseTallies, project(project);
                read receipt(id: by ReceiptId) -> Receipt, any();
                read receipts(filter: by ReceiptFilter) -> Vec<Receipt>, own();
                read receipt_sums(project: by ProjectId, since: val Timestamp) -> $crate::ReceiptSums, project(project);
                read item_sums(project: by ProjectId, since: val Timestamp) -> $crate::ItemSums, project(project);
                read handed(session: by SessionId) -> Vec<Handed>, session(session);
                read handed_by(session: by SessionId, receipts: list ReceiptId) -> Vec<Handed>, session(session);
                read given(project: by ProjectId, kind: val ItemKind, item: text String, limit: val u32) -> Vec<$crate::Given>, project(project);
                read consumed(session: by SessionId, group: opt GroupId, role: by Role, iteration: val u32, now: val Timestamp) -> Vec<(PackageId, u32)>, session(session);
            }
            Runs {
                write lock_epic(claim: by LockClaim) -> u64, epic(&claim.epic);
                write unlock_epic(epic: by EpicId, fence: val u64) -> (), epic(epic);
                write keep_epic(epic: by EpicId, fence: val u64, until: val Timestamp) -> (), epic(epic);
                read epic_owner(epic: by EpicId) -> Option<(LockOwner, u64)>, epic(epic);
                write start_run(new: by NewRun, fence: val u64) -> (), own();
                write append_journal(run: by RunId, new: by NewJournalEntry, fence: val u64) -> (), run(run);
                read journal(run: by RunId, from: val u64) -> Vec<JournalEntry>, run(run);
                read run_record(id: by RunId) -> Run, any();
                read runs(filter: by RunFilter) -> Vec<Run>, own();
                read decided(project: by ProjectId, limit: val u32) -> Vec<$crate::Decided>, project(project);
                read agent_costs(project: by ProjectId, since: val Timestamp) -> Vec<$crate::DayCost>, project(project);
            }
            Jobs {
                write offer_job(new: by NewJob) -> (), run(&new.run);
                write take_job(hold: by Hold, now: val Timestamp) -> Option<Job>, run(&hold.run);
                write keep_job(hold: by Hold, seq: val u64) -> bool, run(&hold.run);
                write finish_job(hold: by Hold, seq: val u64, result: by CleanJson) -> bool, run(&hold.run);
                read job(run: by RunId, seq: val u64) -> Option<Job>, run(run);
                write withdraw_job(run: by RunId, seq: val u64) -> (), run(run);
                write announce_helper(hold: by Hold, slots: val u32) -> (), run(&hold.run);
                read helping_slots(run: by RunId, now: val Timestamp) -> u32, run(run);
            }
            Hosts {
                write bind_host(host: val Host, conversation: by HostSessionId, session: by SessionId, now: val Timestamp) -> (), own();
                read bound_session(host: val Host, conversation: by HostSessionId) -> Option<SessionId>, any();
                write open_ticket(new: by NewTicket) -> (), receipt(&new.receipt);
                read open_tickets(host: val Host, conversation: by HostSessionId) -> Vec<Ticket>, any();
                read tickets(host: val Host, conversation: by HostSessionId) -> Vec<Ticket>, any();
                read latest_tickets(host: val Host, conversation: by HostSessionId, limit: val u32) -> Vec<Ticket>, any();
                read unsettled_tickets(host: val Host, before: val Timestamp) -> Vec<Ticket>, any();
                read ticket_of_call(host: val Host, conversation: by HostSessionId, call: by ToolUseId) -> Option<Ticket>, any();
                read ticket_of(host: val Host, agent: by AgentId) -> Option<Ticket>, any();
                write take_ticket(receipt: by ReceiptId, agent: by AgentId) -> bool, receipt(receipt);
                write bind_ticket(receipt: by ReceiptId, agent: by AgentId) -> bool, receipt(receipt);
                write ask_ticket(receipt: by ReceiptId) -> bool, receipt(receipt);
                write end_ticket(receipt: by ReceiptId, ending: text String, now: val Timestamp) -> bool, receipt(receipt);
                write close_ticket(receipt: by ReceiptId, now: val Timestamp) -> bool, receipt(receipt);
                write note_host_version(host: val Host, version: by Clean, drops_rewrites: val bool, now: val Timestamp) -> (), any();
                read host_versions() -> Vec<HostVersion>, any();
            }
            TextIndex {
                read postings(session: by SessionId, terms: list String) -> Vec<$crate::packed::Postings>, session(session);
                read words_like(session: by SessionId, word: text String, slips: val u32) -> Vec<String>, session(session);
                admin reindex(session: opt SessionId) -> Reindexed, own();
            }
            Feed {
                read changes(after: val u64, limit: val u32) -> Vec<Change>, any();
                read feed_span() -> FeedSpan, any();
            }
            Tokens {
                admin create_token(new: by NewToken) -> Token, own();
                admin token(id: by TokenId) -> Token, own();
                admin tokens() -> Vec<Token>, own();
                admin end_token(id: by TokenId, now: val Timestamp) -> bool, own();
            }
        }
    };
}
