//! One suite that holds every backend to the contracts of the traits.
//!
//! A backend implements [`Backend`] and calls [`conformance_tests!`](crate::conformance_tests);
//! every case becomes a separate test. Cases are plain functions over the traits, so a contract
//! is written once.

#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::Store;

pub mod amendments;
pub mod concurrency;
pub mod errors;
pub mod events;
pub mod feed;
pub mod fields;
pub mod fixture;
pub mod forgetting;
pub mod groups;
pub mod hosts;
pub mod jobs;
pub mod laws;
pub mod missing;
pub mod notes;
pub mod packages;
pub mod reasoning;
pub mod receipts;
pub mod runs;
pub mod search;
pub mod sessions;
pub mod skill_outputs;
pub mod strategies;
pub mod texts;
pub mod tokens;
pub mod trust;
pub mod verdicts;

/// One empty store that can be opened as often as needed.
pub trait Backend: Sync {
    /// Opens a handle on the store.
    fn open(&self) -> Box<dyn Store + Send>;
}

/// Generates one `#[test]` per case; the argument is an expression that creates a fresh [`Backend`].
#[macro_export]
macro_rules! conformance_tests {
    ($backend:expr) => {
        $crate::conformance_tests! { $backend;
            sessions: the_same_id_is_the_same_session, unknown_is_not_found, newest_first_and_by_status,
                closing_and_reopening, purge_takes_everything_but_what_the_project_learned,
                a_used_store_is_sound;
            groups: sets_only_given_fields, exists_once_named, references_keep_their_order,
                references_must_be_of_the_session, listed_oldest_first;
            packages: same_content_is_a_no_op, new_content_is_a_new_version,
                content_that_returns_is_a_new_version, identity_is_group_kind_and_path,
                a_named_package_is_superseded, invalid_supersession_is_rejected,
                an_update_without_a_change_is_a_no_op, all_or_nothing, several_packages_are_read_at_once, listings,
                total_order_within_one_moment,
                the_body_is_kept_for_every_version, candidates_are_seen_by_a_role_of_a_group;
            reasoning: filters_and_order, unknown_session_is_refused;
            verdicts: reads_back_completely, newest_first_and_filtered, belongs_to_its_session;
            trust: an_error_has_the_lowest_class_of_its_sightings,
                a_strategy_has_the_lowest_class_of_its_sources, what_an_agent_wrote_is_lowered;
            amendments: the_last_decision_counts, a_decision_is_reported;
            skill_outputs: always_a_new_row, iterations_count_per_role_and_group;
            errors: sightings_count, the_first_solution_starts_and_later_ones_confirm,
                judging_moves_trust_within_its_bounds, the_most_frequent_solution_is_shown,
                old_patterns_are_not_recalled, projects_do_not_mix, hashes_may_be_shortened,
                sightings_keep_their_circumstances;
            strategies: the_same_insight_grows, extracting_twice_is_once, ordered_by_help_then_time,
                filtered_by_language_and_framework;
            notes: words_alike_are_found, numbers_by_kind, read_back_whole, a_unit_is_replaced_as_a_whole, states_are_kept_and_changed, listed_newest_first_and_filtered,
                found_by_their_words, a_unit_that_is_gone_takes_its_notes, forgetting_leaves_nothing, purging_leaves_a_hash,
                projects_do_not_mix, many_are_found_as_few, reindexing_changes_nothing;
            events: an_event_with_a_key_is_logged_once, random_keys_stay_distinct, events_without_a_key_are_always_new, keys_are_per_group_and_type, listings;
            receipts: reads_back_completely, lists_the_items_of_all_receipts, steps_are_ordered, only_delivery_consumes,
                consumption_is_per_group_role_and_iteration, reading_is_noted_once, use_is_kept_per_item, uses_are_tallied, a_claim_holds_for_a_while,
                only_one_agent_gets_a_receipt, listings, sums_of_a_period;
            runs: one_owner_at_a_time, a_lease_expires, dead_owners_are_replaced, an_old_fence_writes_nothing,
                journals_are_append_only, listings, renewing_keeps_the_lock, costs_by_day, decisions_of_people;
            jobs: each_is_taken_once, an_expired_job_is_taken_again, late_results_change_nothing,
                helpers_count_while_they_live, concurrent_helpers_take_each_job_once;
            hosts: a_conversation_is_bound, tickets_are_found_by_conversation_and_subagent, a_ticket_has_one_agent, assumed_tickets_are_exchanged,
                a_ticket_ends_with_each_message, a_claim_lives_as_long_as_its_ticket, asked_once_and_closed_once,
                the_last_observation_of_a_version_counts;
            search: finds_words_in_every_column, context_is_a_column, sessions_do_not_see_each_other,
                superseded_versions_leave_the_index, lengths_are_known, many_packages_are_found_like_few, a_batch_equals_registering_one_by_one,
                slices_cover_everything, purged_sessions_leave_nothing,
                reindexing_changes_nothing, reindexing_covers_the_named_sessions;
            feed: every_change_is_in_the_feed_once, a_batch_is_in_the_feed_in_order, only_committed_changes_are_in_the_feed, learned_records_are_in_the_feed,
                notes_are_reported_together;
            forgetting: a_retired_package_is_in_no_index, a_retired_package_can_be_superseded,
                retired_packages_can_be_deleted,
                what_was_learned_is_retired, operations_are_logged, erased_notes_leave_the_log;
            tokens: kept_and_listed, ends_once;
            fields: of_a_session, of_a_group, of_a_package, of_what_agents_report, of_what_a_project_learns,
                of_a_run, of_hosts_and_tokens;
            concurrency: counters_lose_no_increment, iterations_are_distinct, one_key_one_event,
                one_registration_wins, chains_stay_linear, exclusive_work_is_isolated_and_atomic,
                a_transaction_is_invisible_until_it_ends, a_consistent_read_sees_one_state;
            missing: a_session, a_group, a_package, a_receipt, a_run, something_learned, where_a_miss_is_normal;
            texts: texts_read_back_unchanged, similar_texts_stay_distinct, may_be_large;
            laws: versions_form_chains, receipts_move_as_their_steps_allow, limits_return_the_beginning,
                a_failed_transaction_leaves_nothing;
        }
    };
    ($backend:expr; $($module:ident: $($case:ident),+;)+) => {
        fn fresh_backend() -> impl $crate::conformance::Backend {
            $backend
        }

        $(mod $module {
            $(#[test]
            fn $case() {
                $crate::conformance::$module::$case(&super::fresh_backend());
            })+
        })+
    };
}
