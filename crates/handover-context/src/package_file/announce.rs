//! Packages that an agent announces in its output.
//!
//! The section is headed "Context Package Created" and has lines for File, Type, Priority, Consumers and
//! Summary, in any Markdown formatting. It ends at the next heading or fence: a debrief block after it has
//! keys of the same names.

use std::path::PathBuf;

use handover_model::{Priority, Role};

use super::Facts;

/// One announcement.
#[derive(Debug, Clone)]
pub struct Announced {
    /// The path as the agent wrote it.
    pub file: PathBuf,
    /// The other lines of the section.
    pub facts: Facts,
    /// Values that could not be parsed.
    pub problems: Vec<String>,
}

/// Every announcement in a text. Sections without a file are ignored.
pub fn announced(text: &str) -> Vec<Announced> {
    let mut all = Vec::new();
    let mut current: Option<Section> = None;
    let mut in_debrief = false;
    for line in text.lines() {
        let fence = line.trim_start();
        if fence.starts_with("```") || fence.starts_with("~~~") {
            in_debrief = !in_debrief && fence.trim_start_matches(['`', '~']).trim() == "handover";
            all.extend(current.take().and_then(Section::finish));
            continue;
        }
        if in_debrief {
            continue;
        }
        let plain: String = line.chars().filter(|c| !matches!(c, '*' | '`')).collect();
        let plain = plain.trim().trim_start_matches(['#', '-', '>', '+']).trim();
        if plain.to_ascii_lowercase().starts_with("context package created") {
            all.extend(current.take().and_then(Section::finish));
            current = Some(Section::default());
        } else if line.trim_start().starts_with('#') {
            all.extend(current.take().and_then(Section::finish));
        } else if let (Some(section), Some((key, value))) = (&mut current, plain.split_once(':')) {
            section.line(&key.trim().to_ascii_lowercase(), value.trim());
        }
    }
    all.extend(current.take().and_then(Section::finish));
    all
}

#[derive(Default)]
struct Section {
    file: Option<PathBuf>,
    facts: Facts,
    problems: Vec<String>,
}

impl Section {
    fn line(&mut self, key: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        match key {
            // A second file belongs to an announcement without a heading: keep the first.
            "file" | "path" if self.file.is_none() => self.file = Some(PathBuf::from(value)),
            "type" | "kind" => match value.to_ascii_lowercase().parse() {
                Ok(kind) => self.facts.kind = Some(kind),
                Err(error) => self.problems.push(error.to_string()),
            },
            "priority" => match value.to_ascii_lowercase().parse::<Priority>() {
                Ok(priority) => self.facts.priority = Some(priority),
                Err(error) => self.problems.push(error.to_string()),
            },
            "consumers" | "consumer" => {
                let mut roles = Vec::new();
                for name in value.trim_matches(['[', ']']).split(',').map(str::trim) {
                    match Role::new(name.to_ascii_lowercase()) {
                        Ok(role) => roles.push(role),
                        Err(error) => self.problems.push(error.to_string()),
                    }
                }
                self.facts.consumers = Some(roles);
            }
            "summary" => self.facts.summary = Some(value.to_owned()),
            _ => {}
        }
    }

    fn finish(self) -> Option<Announced> {
        let Self { file, facts, problems } = self;
        Some(Announced { file: file?, facts, problems })
    }
}

#[cfg(test)]
mod tests {
    use handover_model::PackageKind;

    use super::*;

    #[test]
    fn the_usual_form() {
        let text = "Done.\n\n## Context Package Created\n\nI have created a package:\n\n\
            **File:** `docs/research_oauth.md`\n**Type:** research\n**Priority:** High\n\
            **Consumers:** developer, senior_software_engineer\n**Summary:** Endpoints: scopes, samples\n\n\
            📦 **ORCHESTRATOR:** Please register.\n\n## Next\n**File:** `not/this.md`\n";
        let all = announced(text);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].file, PathBuf::from("docs/research_oauth.md"));
        assert_eq!(all[0].facts.kind, Some(PackageKind::Research));
        assert_eq!(all[0].facts.priority, Some(Priority::High));
        assert_eq!(all[0].facts.consumers.as_ref().unwrap().len(), 2);
        assert_eq!(all[0].facts.summary.as_deref(), Some("Endpoints: scopes, samples"));
        assert!(all[0].problems.is_empty());
    }

    #[test]
    fn a_debrief_block_is_no_part_of_it() {
        let text = "## Context Package Created\n**File:** docs/a.md\n**Type:** research\n**Summary:** Endpoints\n\n\
            ```handover\nverdict: complete\nsummary: All done.\npackages:\n  - path: docs/b.md\n    \
            kind: decisions\n    priority: critical\n    consumers: [qa_expert]\n```\n\
            Context Package Created\nFile: docs/c.md\n";
        let all = announced(text);
        let files: Vec<String> = all.iter().map(|a| a.file.display().to_string()).collect();
        assert_eq!(files, ["docs/a.md", "docs/c.md"]);
        let facts = &all[0].facts;
        assert_eq!(facts.kind, Some(PackageKind::Research));
        assert_eq!(facts.summary.as_deref(), Some("Endpoints"));
        assert!(facts.priority.is_none() && facts.consumers.is_none());
    }

    #[test]
    fn several_and_sloppy_ones() {
        let text = "### Context Package Created:\n- File: a.md\n- Type: gossip\n\
            Context Package Created\nFile: b.md\nConsumers: [developer, Q A]\n\
            ## Context Package Created\nno file here\n";
        let all = announced(text);
        let files: Vec<String> = all.iter().map(|a| a.file.display().to_string()).collect();
        assert_eq!(files, ["a.md", "b.md"]);
        assert_eq!(all[0].problems.len(), 1);
        assert_eq!(all[1].problems.len(), 1);
        assert!(announced("nothing of the kind").is_empty());
    }
}
