//! The text that the agent sees.
//!
//! Headings and banners are an interface: agents are written for them. Everything that comes from
//! the store is quoted, so that it can neither fake them nor close anything. The receipt comes last:
//! the same context then has the same start, and prompt caches hit.

use std::fmt::Write;

use handover_model::{ErrorPattern, ReceiptId, Role, Strategy, Zone};
use handover_text::quote::{quote_block, quote_inline};

use super::block::Block;
use super::{PackedPackage, PackedReasoning};

/// The most tokens of a block's frame: headings, the marker, and the lines about reading and about
/// more packages.
pub(super) const FRAME_TOKENS: u64 = 130;

/// A block and its frame.
pub(super) struct Shown<'a> {
    pub(super) role: &'a Role,
    pub(super) zone: Zone,
    pub(super) usage_percent: f64,
    /// How many packages this role could get.
    pub(super) available: usize,
    pub(super) block: &'a Block,
    pub(super) receipt: &'a ReceiptId,
}

pub(super) fn block(shown: &Shown<'_>) -> String {
    let mut text = format!("## Context for {}\n", shown.role);
    let percent = shown.usage_percent;
    match shown.zone {
        Zone::Normal => {}
        Zone::SoftWarning => {
            let _ = write!(
                text,
                "\n🔶 **Token budget: Soft Warning ({percent:.1}%) - Reduced summaries (200 char)**\n"
            );
        }
        Zone::Conservative => {
            let _ = write!(text, "\n🔶 **Token budget: Conservative ({percent:.1}%)**\n");
        }
        Zone::WrapUp => {
            let _ = write!(
                text,
                "\n🔶 **Token budget: Wrap-up ({percent:.1}%) - Completing current operation**\n\n\
                 ### Essential Info Only\n\nMinimal context mode active. Focus on completing current task.\n"
            );
        }
        Zone::Emergency => {
            let _ = write!(
                text,
                "\n🚨 **Token budget: Emergency ({percent:.1}%) - Checkpoint recommended**\n\n\
                 Context assembly skipped due to token budget constraints.\n\
                 Suggest: Complete current operation and start new session.\n"
            );
        }
    }
    if !matches!(shown.zone, Zone::WrapUp | Zone::Emergency) {
        packages(&mut text, shown);
        sections(&mut text, shown.block);
    }
    let _ = write!(text, "\n<!-- handover:receipt {} -->\n", shown.receipt);
    text
}

fn packages(text: &mut String, shown: &Shown<'_>) {
    let Shown { block, available, zone, .. } = shown;
    let count = block.packages.len();
    let overflow = available.saturating_sub(count);
    let _ = match zone {
        Zone::Conservative => {
            let level = block.packages.iter().map(|p| p.priority).min();
            let level = level.map_or("critical", handover_model::Priority::as_str);
            write!(text, "\n### Priority Packages ({count}/{available}) - {level} level\n")
        }
        Zone::Normal | Zone::SoftWarning | Zone::WrapUp | Zone::Emergency => {
            write!(text, "\n### Relevant Packages ({count}/{available})\n")
        }
    };
    if block.packages.is_empty() && *available == 0 {
        text.push_str(
            "\nNo context packages found for this session/group. The agent will proceed with task and \
             specialization context only.\n",
        );
        return;
    }
    for item in &block.packages {
        text.push('\n');
        text.push_str(&package(item));
    }
    if !block.packages.is_empty() {
        let cost: u64 = block.packages.iter().map(|p| p.file_tokens).sum();
        let _ = write!(
            text,
            "\nRead the files listed above before you start (about {cost} tokens). Where they disagree, the \
             higher priority wins.\n"
        );
    }
    if overflow > 0 && matches!(zone, Zone::Normal | Zone::SoftWarning) {
        let _ = write!(
            text,
            "\n📦 +{overflow} more packages available (re-invoke with higher limit to expand)\n"
        );
    }
}

fn sections(text: &mut String, block: &Block) {
    if !block.reasoning.is_empty() {
        let _ = write!(text, "\n### Prior Agent Reasoning ({} entries)\n", block.reasoning.len());
        for entry in &block.reasoning {
            text.push('\n');
            text.push_str(&reasoning(entry));
        }
    }
    if !block.errors.is_empty() {
        let _ = write!(text, "\n### Error Patterns ({} matches)\n", block.errors.len());
        for pattern in &block.errors {
            text.push('\n');
            text.push_str(&error(pattern));
        }
    }
    if !block.strategies.is_empty() {
        let _ = write!(text, "\n### Strategies ({})\n\n", block.strategies.len());
        for item in &block.strategies {
            text.push_str(&strategy(item));
        }
    }
}

/// One package.
pub(super) fn package(package: &PackedPackage) -> String {
    let priority = package.priority.as_str().to_uppercase();
    let mut text = format!("**[{priority}]** {}\n", path(&package.path));
    if !package.summary.is_empty() {
        text.push_str(quote_block(&package.summary).trim_end());
        text.push('\n');
    }
    if package.changed {
        text.push_str("(The file has changed since this was written; trust the file.)\n");
    }
    if package.elsewhere {
        let show = format!("handover package show {} --body", package.id);
        text.push_str("(The file is on another machine; `");
        text.push_str(&show);
        text.push_str("` prints it.)\n");
    }
    text
}

/// A path must be readable as it is; one that could be anything else is quoted.
fn path(path: &str) -> String {
    let plain =
        |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | ' ' | ',');
    if path.chars().all(plain) { path.to_owned() } else { quote_inline(path) }
}

/// One piece of reasoning.
pub(super) fn reasoning(entry: &PackedReasoning) -> String {
    format!("**[{}] {}:** {}\n", entry.role, entry.phase, quote_inline(&entry.content))
}

/// One error pattern.
pub(super) fn error(pattern: &ErrorPattern) -> String {
    let signature = format!("{}: {}", pattern.signature.kind, pattern.signature.message);
    format!(
        "⚠️ **Known Issue**: \"{}\"\n> **Solution**: {}\n> **Confidence**: {} (seen {} times)\n",
        quote_inline(signature.trim_start_matches("error: ")),
        quote_inline(pattern.solution.as_deref().unwrap_or_default()),
        pattern.confidence,
        pattern.occurrences
    )
}

/// One strategy.
pub(super) fn strategy(strategy: &Strategy) -> String {
    format!("- **[{}]** {}\n", strategy.topic, quote_inline(&strategy.insight))
}

/// What an agent gets when assembling failed: it must never be blocked.
pub fn fallback(role: &Role) -> String {
    format!(
        "## Context for {role}\n\n\
         ⚠️ Context assembly encountered an error. Proceeding with minimal context.\n\n\
         **Fallback Mode**: Task and specialization context only. Context packages unavailable.\n"
    )
}
