//! The rules over words: one row each, in the tables next to this file.
//!
//! A row consists of the rule's name, whether it is strong or weak, its patterns (see [`super::pattern`]), a text that
//! it finds and an ordinary text that it does not. Words are in lower case, without apostrophes.

use handover_model::ScreenFlag;

/// One rule.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) flag: ScreenFlag,
    pub(super) strong: bool,
    pub(super) patterns: &'static [&'static str],
    /// A text that the rule finds.
    #[cfg(test)]
    pub(super) yes: &'static str,
    /// A text that it does not find.
    #[cfg(test)]
    pub(super) no: &'static str,
}

macro_rules! rules {
    ($flag:ident: $($name:literal $strength:ident $($pattern:literal)|+, yes $yes:literal, no $no:literal;)*) => {
        &[$(Row {
            name: $name,
            flag: handover_model::ScreenFlag::$flag,
            strong: rules!(@$strength),
            patterns: &[$($pattern),+],
            #[cfg(test)]
            yes: $yes,
            #[cfg(test)]
            no: $no,
        }),*]
    };
    (@strong) => { true };
    (@weak) => { false };
}

mod commands;
mod languages;
mod overrides;
mod poses;
mod sends;

const TABLES: [&[Row]; 5] =
    [overrides::TABLE, commands::TABLE, sends::TABLE, poses::TABLE, languages::TABLE];

/// Every rule.
pub(super) fn all() -> impl Iterator<Item = &'static Row> {
    TABLES.into_iter().flatten()
}

/// Words that several patterns share.
pub(super) const SETS: &[(&str, &str)] = &[
    (
        "lead",
        "do please now must should shall to and then just instead will you can could also simply or but so first \
        hereby immediately kindly lets always therefore next need want would might can ought i",
    ),
    (
        "previous",
        "previous prior above earlier preceding foregoing former past initial original existing previously \
        preceeding previos prevous",
    ),
    (
        "instructions",
        "instruction instructions prompt prompts directive directives guideline guidelines intructions \
        instuctions instrucitons istructions",
    ),
    (
        "told",
        "instruction instructions prompt prompts directive directives guideline guidelines rule rules order \
        orders command commands direction directions constraint constraints restriction restrictions context \
        conversation message messages text texts content task tasks assignment assignments request requests \
        sentence sentences input inputs statement statements programming policy policies requirement requirements \
        intructions instuctions words information information everything",
    ),
    (
        "ai",
        "ai llm llms chatbot chatbots assistant assistants chatgpt gpt claude copilot gemini codex bard llama \
        bot aiagent ais",
    ),
    (
        "unbound",
        "unrestricted uncensored unfiltered jailbroken jailbreak jailbreaked dan amoral unethical evil \
        unbound unlimited unaligned unchained liberated hacker aim stan dude",
    ),
];
