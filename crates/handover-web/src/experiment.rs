//! The result of an experiment as a single self-contained HTML file.

use handover_model::Timestamp;
use handover_prove::report::{in_points, method, p_value};
use handover_prove::stats::{Interval, WORTHWHILE};
use handover_prove::{ArmReport, Difference, Report, Verdict};
use maud::{DOCTYPE, Markup, html};

use crate::asset;
use crate::view::{
    Column, Row, Tone, badge, count, exact_time, excerpt, fraction, meter, money, plural, section,
    stat, table,
};

/// What only this page draws.
const STYLE: &str = "
.interval { display: block; width: 100%; min-width: 160px; height: 18px; overflow: visible; }
.interval .axis { stroke: var(--line); }
.interval .zero { stroke: var(--muted); }
.interval .worth { fill: var(--faint); }
.interval .range { fill: color-mix(in srgb, var(--muted) 55%, var(--paper)); }
.interval.good .range { fill: var(--accent); }
.interval.bad .range { fill: var(--bad); }
.interval .point { fill: var(--ink); }
.answer { font-size: 1.15rem; max-width: 46em; }
.prose { max-width: 60em; }
.prose p, .prose ul { margin-block: 0.5em; }
";

/// Renders the page of an experiment.
pub fn experiment(report: &Report, project: &str, now: Timestamp) -> String {
    let one = &report.experiment;
    let document = html! {
        (DOCTYPE)
        html lang="en" data-theme="auto" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { "Experiment · " (project) " · Handover" }
                style { (maud::PreEscaped(asset::STYLE.text)) (maud::PreEscaped(STYLE)) }
            }
            body class="report" {
                main id="main" {
                    header class="page" {
                        h1 { "Does it help? " (verdict_badge(report)) }
                        p class="answer" { (report.answer.replace('`', "")) }
                        p class="muted" {
                            "Project " (project) ", experiment " code { (one.id) } ", begun " (begun(&one.created_at)) ", agent program " (one.host)
                            @if let Some(model) = &one.model { ", model " (excerpt(model, 60)) }
                        }
                    }
                    (figures(report))
                    (section("arms", "Arms", "What agents were given, and how often their work passed its judge", arms(&report.arms)))
                    (section("differences", "Differences", "Within tasks, with 95 % intervals", differences(&report.differences)))
                    @if has_costs(&report.differences) {
                        (section("costs", "What it costs", "Difference per trial, with 95 % intervals", costs(&report.differences)))
                    }
                    (section("tasks", "Tasks", "Trials that passed, of all trials", tasks(report)))
                    (section("reading", "How to read this", "", reading(report)))
                }
                footer { p { "Made by Handover, " (exact_time(now)) ", from the journal of experiment " code { (one.id) } "." } }
            }
        }
    };
    document.into_string()
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Better => Tone::Good,
        Verdict::Worse => Tone::Bad,
        Verdict::NoDifferenceFound => Tone::Calm,
        Verdict::TooSmall => Tone::Warn,
    }
}

fn begun(at: &str) -> String {
    at.parse().map_or_else(|_| at.to_owned(), exact_time)
}

fn verdict_badge(report: &Report) -> Markup {
    html! {
        @if let Some(main) = report.differences.first() { (badge(tone(main.verdict), main.verdict.as_str())) }
    }
}

fn figures(report: &Report) -> Markup {
    let one = &report.experiment;
    let sees = one
        .smallest_visible
        .map_or_else(|| "nothing".to_owned(), |effect| format!("{:.0} points", effect * 100.0));
    html! {
        dl class="stats" {
            (stat("Trials judged", fraction(one.trials, one.planned), html! {
                @if one.dropped > 0 { span class="warn" { (count(one.dropped)) " could not be done" } }
            }))
            (stat("Tasks", count(one.tasks), html! { "× " (one.repeat) " in each arm" }))
            (stat("Smallest visible effect", sees, html! { "four times in five" }))
            (stat("Spent", one.spent_usd.map_or_else(|| "unknown".to_owned(), money), html! {}))
        }
    }
}

fn arms(arms: &[ArmReport]) -> Markup {
    let columns = [
        Column::Text("Arm"),
        Column::Number("Passed"),
        Column::Graphic("Share that passed"),
        Column::Number("Share"),
        Column::Number("Cost each"),
        Column::Number("Tokens each"),
        Column::Number("Turns each"),
    ];
    let rows = arms.iter().map(|arm| {
        let share = if arm.trials == 0 { 0.0 } else { arm.passed as f64 / arm.trials as f64 };
        let shown = |value: Option<String>| html! { (value.unwrap_or_else(|| "–".to_owned())) };
        let cells = [
            html! { (fraction(arm.passed, arm.trials)) },
            meter(share, 1.0, Tone::Good),
            html! { (format!("{:.0} %", share * 100.0)) },
            shown(arm.cost_each().map(|usd| format!("${usd:.3}"))),
            shown(arm.tokens_each().map(|tokens| format!("{tokens:.0}"))),
            shown(arm.turns_each().map(|turns| format!("{turns:.1}"))),
        ];
        Row::new(html! { (arm.name) }, cells)
    });
    table("", &columns, rows)
}

fn differences(all: &[Difference]) -> Markup {
    let columns = [
        Column::Text("Compared"),
        Column::Number("Points"),
        Column::Graphic("Interval"),
        Column::Number("95 %"),
        Column::Number("p (Holm)"),
        Column::Number("Tasks"),
        Column::Text("Verdict"),
    ];
    let rows = all.iter().map(|one| {
        let cells = [
            html! { (in_points(one.effect)) },
            interval(one),
            html! { (in_points(one.low)) " to " (in_points(one.high)) },
            html! { (p_value(one.p_adjusted)) },
            html! { (count(one.tasks)) },
            html! {
                (badge(tone(one.verdict), one.verdict.as_str()))
                @if !one.reason.is_empty() { " " small { (one.reason) } }
            },
        ];
        Row::new(html! { (one.a) " – " (one.b) }, cells)
    });
    table("", &columns, rows)
}

/// The interval on an axis from -100 to 100 points; the shaded part is too small to be worthwhile.
fn interval(one: &Difference) -> Markup {
    let at = |share: f64| 50.0 + 50.0 * share.clamp(-1.0, 1.0);
    let percent = |value: f64| format!("{value:.1}%");
    let class = match tone(one.verdict) {
        Tone::Good => "interval good",
        Tone::Bad => "interval bad",
        Tone::Calm | Tone::Warn => "interval",
    };
    html! {
        svg class=(class) aria-hidden="true" focusable="false" {
            rect class="worth" x=(percent(at(-WORTHWHILE))) width=(percent(at(WORTHWHILE) - at(-WORTHWHILE))) y="0" height="18" {}
            line class="axis" x1="0" x2="100%" y1="9" y2="9" {}
            line class="zero" x1="50%" x2="50%" y1="0" y2="18" {}
            rect class="range" x=(percent(at(one.low))) width=(percent((at(one.high) - at(one.low)).max(0.5))) y="6" height="6" rx="3" {}
            circle class="point" cx=(percent(at(one.effect))) cy="9" r="4" {}
        }
    }
}

/// Whether the agent program says what its agents use.
fn has_costs(all: &[Difference]) -> bool {
    all.iter().any(|one| one.cost_usd.is_some() || one.tokens.is_some() || one.turns.is_some())
}

fn costs(all: &[Difference]) -> Markup {
    let columns = [
        Column::Text("Compared"),
        Column::Number("Cost"),
        Column::Number("Tokens"),
        Column::Number("Turns"),
    ];
    let shown = |interval: Option<Interval>, unit: &str, digits: usize| {
        let number = |value: f64| {
            let text = format!("{:.digits$}", value.abs());
            let sign = if text.bytes().all(|b| matches!(b, b'0' | b'.')) {
                ""
            } else if value < 0.0 {
                "−"
            } else {
                "+"
            };
            format!("{sign}{unit}{text}")
        };
        let text = interval.map_or_else(
            || "–".to_owned(),
            |one| format!("{} ({} to {})", number(one.effect), number(one.low), number(one.high)),
        );
        html! { (text) }
    };
    let rows = all.iter().map(|one| {
        let cells =
            [shown(one.cost_usd, "$", 3), shown(one.tokens, "", 0), shown(one.turns, "", 1)];
        Row::new(html! { (one.a) " – " (one.b) }, cells)
    });
    table("", &columns, rows)
}

fn tasks(report: &Report) -> Markup {
    html! {
        table class="rows" {
            thead { tr { th { "Task" } @for arm in &report.arms { th class="number" { (arm.name) } } } }
            tbody {
                @for task in &report.tasks {
                    tr {
                        th scope="row" { (excerpt(&task.id, 64)) }
                        @for ((passed, all), arm) in task.passed.iter().zip(&report.arms) {
                            td class="number" data-name=(arm.name) { (fraction(*passed, *all)) }
                        }
                    }
                }
            }
        }
    }
}

fn reading(report: &Report) -> Markup {
    let one = &report.experiment;
    html! {
        div class="prose" {
            @if !report.warnings.is_empty() {
                ul { @for warning in &report.warnings { li { (warning.replace('`', "")) } } }
            }
            ul {
                li { strong { "bare" } ": the prompt alone. " strong { "placebo" } ": a brief of the same size that was chosen for another task. "
                    strong { "brief" } ": the brief. " strong { "brief-without-…" } ": the brief without one section." }
                li { strong { "better, worse" } ": such a difference would hardly ever appear by chance." }
                li { strong { "no difference found" } ": a difference of " (format!("{:.0}", WORTHWHILE * 100.0)) " points or more would most likely have been seen." }
                li { strong { "too small" } ": the experiment cannot tell. It is no evidence that there is no difference." }
            }
            p { (method().replace('`', "")) }
            p class="muted" {
                (plural(one.tasks, "task", "tasks")) ", " (one.repeat) " in each arm, order by seed " (one.seed)
                ". The result is about these tasks, this agent program and this project, and about nothing else."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use handover_model::{Host, ReceiptId};
    use handover_prove::{AgentEnd, Arm, Entry, Plan, Progress};

    use super::*;

    fn report(tasks: &[&str]) -> Report {
        let plan = Plan {
            id: "x_1".to_owned(),
            version: Plan::VERSION,
            file: "tasks.toml".into(),
            fingerprint: "f".to_owned(),
            tasks: tasks.iter().map(|&id| id.to_owned()).collect(),
            arms: Arm::USUAL.to_vec(),
            repeat: 1,
            seed: 1,
            host: Host::CLAUDE,
            model: Some("<b>opus".to_owned()),
            max_cost: None,
            timeout: None,
            created_at: Timestamp::default(),
        };
        let mut progress = Progress::new(&plan);
        for trial in 0..progress.trials.len() {
            let at = Timestamp::default();
            let passed = progress.trials[trial].0.arm == Arm::Brief;
            let agent = AgentEnd { cost_usd: Some(0.5), ..AgentEnd::default() };
            let receipt = ReceiptId::new("r_1").unwrap();
            for entry in [
                Entry::Started { trial, receipt, clone: "/c".into(), at },
                Entry::Ended { trial, agent, at },
                Entry::Judged { trial, passed, judge: String::new(), at },
            ] {
                progress.add(entry).unwrap();
            }
        }
        Report::new(&plan, &progress)
    }

    #[test]
    fn a_page_stands_alone_and_says_the_answer() {
        let names: Vec<String> = (0..12).map(|at| format!("t{at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let page = experiment(&report(&names), "shop", Timestamp::default());
        assert!(
            page.contains("It helps: agents with brief passed 100 points more often"),
            "{page}"
        );
        assert!(
            page.contains("default-src 'none'")
                && !page.contains("<script")
                && !page.contains("href=")
        );
        assert!(page.contains("badge good\">better"), "{page}");
        assert!(page.contains("&lt;b&gt;opus") && !page.contains("<b>opus"));
        assert!(page.contains("$18.00") && page.contains("$0.000 ($0.000 to $0.000)"), "{page}");
    }

    #[test]
    fn too_few_tasks_are_said_to_be_too_few() {
        let page = experiment(&report(&["a", "b"]), "shop", Timestamp::default());
        assert!(
            page.contains("too small to say") && page.contains("badge warn\">too small"),
            "{page}"
        );
        assert!(page.contains("nothing"), "{page}");
    }
}
