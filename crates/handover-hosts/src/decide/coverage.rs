//! Whether a subagent was covered: what its host keeps of it, against what we recorded.

use handover_model::{Coverage, ReceiptState};

/// What is known about a subagent that a host started, or should have started.
#[derive(Debug, Clone, Default)]
pub struct Facts<'a> {
    /// The receipt of its brief.
    pub receipt: Option<Brief<'a>>,
    /// The rule by which it is exempt, with the reason.
    pub exempt: Option<(&'a str, &'a str)>,
    /// Why its spawn was refused, by us, by its host or by another hook.
    pub refused: Option<&'a str>,
    /// Whether it worked although it was refused: one that has started can only be told to stop.
    pub worked: bool,
    /// Why no hook could answer for it, if that is known.
    pub unhooked: Option<&'a str>,
}

/// A brief that was meant for it.
#[derive(Debug, Clone)]
pub struct Brief<'a> {
    /// The state of its receipt.
    pub state: ReceiptState,
    /// Why it failed.
    pub failure: Option<&'a str>,
    /// What the conversation of the subagent shows of it.
    pub shown: Shown,
}

/// What a host kept of a subagent's conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The marker of the brief is in it.
    Brief,
    /// It is there, without the marker.
    Other,
    /// It is there, and its prompt is neither the one that we wrote nor the one that we were given.
    Changed,
    /// Nothing: the program was killed before it wrote anything.
    Nothing,
}

/// The verdict on one subagent, with the reason where it needs one.
pub fn judge(facts: &Facts<'_>) -> (Coverage, Option<String>) {
    let disobeyed = match facts.refused {
        Some(reason) if !facts.worked => return (Coverage::Refused, Some(reason.to_owned())),
        refused => {
            refused.map(|reason| format!("it worked although it was told to stop: {reason}"))
        }
    };
    let arrived = |brief: &Brief<'_>| match (brief.shown, brief.state) {
        (Shown::Brief, _) | (_, ReceiptState::Confirmed) => true,
        // It was seen to start with it.
        (Shown::Nothing, state) => state == ReceiptState::Delivered,
        (Shown::Other | Shown::Changed, _) => false,
    };
    match (&facts.receipt, facts.exempt) {
        (Some(brief), _) if arrived(brief) => (Coverage::Briefed, None),
        (_, Some((rule, reason))) => (Coverage::Exempt, Some(format!("{rule}: {reason}"))),
        (Some(brief), None) => {
            let reason = match (brief.shown, brief.state) {
                (Shown::Changed, _) => {
                    "its prompt no longer has its brief: another hook changed it"
                }
                (_, ReceiptState::Failed) => brief.failure.unwrap_or("its brief failed"),
                (
                    _,
                    ReceiptState::Assembled | ReceiptState::Delivered | ReceiptState::Confirmed,
                ) => "its conversation does not hold its brief",
            };
            (Coverage::Missed, Some(disobeyed.unwrap_or_else(|| reason.to_owned())))
        }
        (None, None) => {
            let reason = facts.unhooked.unwrap_or("no hook answered for it");
            (Coverage::Missed, Some(disobeyed.unwrap_or_else(|| reason.to_owned())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brief(state: ReceiptState, shown: Shown) -> Option<Brief<'static>> {
        Some(Brief { state, failure: Some("the program did not start it"), shown })
    }

    #[test]
    fn a_subagent_is_covered_by_what_its_conversation_shows() {
        use ReceiptState::{Assembled, Confirmed, Delivered, Failed};
        use Shown::{Nothing, Other};
        let judged = |receipt, exempt, refused| {
            let (state, reason) = judge(&Facts { receipt, exempt, refused, ..Facts::default() });
            format!("{state} {}", reason.unwrap_or_default())
        };
        let rule = Some(("hooks.exempt", "it plans"));
        for (receipt, exempt, refused, expected) in [
            (brief(Confirmed, Other), None, None, "briefed "),
            (brief(Delivered, Shown::Brief), None, None, "briefed "),
            (brief(Failed, Shown::Brief), None, None, "briefed "),
            (
                brief(Delivered, Other),
                None,
                None,
                "missed its conversation does not hold its brief",
            ),
            (
                brief(Assembled, Other),
                None,
                None,
                "missed its conversation does not hold its brief",
            ),
            (brief(Failed, Other), None, None, "missed the program did not start it"),
            (
                brief(Failed, Shown::Changed),
                None,
                None,
                "missed its prompt no longer has its brief: another hook changed it",
            ),
            (brief(Confirmed, Shown::Changed), None, None, "briefed "),
            (brief(Delivered, Nothing), None, None, "briefed "),
            (
                brief(Assembled, Nothing),
                None,
                None,
                "missed its conversation does not hold its brief",
            ),
            (brief(Failed, Nothing), None, None, "missed the program did not start it"),
            (None, rule, None, "exempt hooks.exempt: it plans"),
            (brief(Delivered, Other), rule, None, "exempt hooks.exempt: it plans"),
            (None, None, Some("denied"), "refused denied"),
            (brief(Failed, Other), None, Some("denied"), "refused denied"),
            (None, None, None, "missed no hook answered for it"),
        ] {
            assert_eq!(judged(receipt, exempt, refused), expected);
        }
        let (_, reason) = judge(&Facts { unhooked: Some("not trusted"), ..Facts::default() });
        assert_eq!(reason.as_deref(), Some("not trusted"));
    }

    #[test]
    fn one_that_worked_although_it_was_refused_is_missed() {
        let refused = Facts { refused: Some("no brief"), worked: true, ..Facts::default() };
        let reason = "it worked although it was told to stop: no brief".to_owned();
        assert_eq!(judge(&refused), (Coverage::Missed, Some(reason.clone())));
        let failed = brief(ReceiptState::Failed, Shown::Other);
        let failed = judge(&Facts { receipt: failed, ..refused.clone() });
        assert_eq!(failed, (Coverage::Missed, Some(reason)));
        let briefed = brief(ReceiptState::Delivered, Shown::Brief);
        let briefed = judge(&Facts { receipt: briefed, ..refused.clone() });
        assert_eq!(briefed, (Coverage::Briefed, None));
        let exempt = judge(&Facts { exempt: Some(("hooks.exempt", "it plans")), ..refused });
        assert_eq!(exempt.0, Coverage::Exempt);
    }
}
