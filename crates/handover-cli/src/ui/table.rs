//! Tables that fit the terminal, with colours that mean something.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr as _;

use super::{single_line, width_of};

const HEADER: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const OPEN: Style = AnsiColor::Yellow.on_default();
const GONE: Style = Style::new().dimmed();

/// The narrowest that a column is made to save space.
const NARROWEST: usize = 8;

/// A terminal that is narrower than this gets a record for each row, unless the table fits.
const RECORDS: usize = 60;

/// Columns that answer the question even if every row has the same answer.
const ANSWERS: [&str; 4] = ["HOOKS", "STATE", "STATUS", "OUTCOME"];

/// The space between two columns.
const GAP: usize = 2;

/// What the words of closed sets mean to a reader. Other words stay plain.
fn tone(cell: &str) -> Option<Style> {
    Some(match cell {
        "done" | "completed" | "complete" | "passed" | "approved" | "delivered" | "confirmed"
        | "ok" | "live" | "briefed" | "in" => GOOD,
        "failed" | "missed" | "refused" | "critical" | "blocked" | "wrong" => BAD,
        "active" | "running" | "high" | "stale" | "amended" | "assembled" | "waiting" => OPEN,
        "retired" | "low" | "out" | "skipped" | "exempt" | "–" => GONE,
        _ => return None,
    })
}

/// Writes a table, no wider than `width` columns if there is a limit: columns that say nothing go first, then the
/// widest give way.
pub(super) fn write(
    out: impl Write,
    header: &[&str],
    rows: Vec<Vec<String>>,
    width: Option<usize>,
) -> io::Result<()> {
    let mut lines = Vec::with_capacity(rows.len() + 1);
    lines.push(header.iter().map(|title| title.to_uppercase()).collect::<Vec<_>>());
    lines.extend(rows.into_iter().map(|row| row.into_iter().map(single_line).collect()));
    let mut widths = widths_of(&lines);
    let mut out = io::BufWriter::new(out);
    if let Some(room) = width {
        while total(&widths) > room
            && let Some(column) = says_nothing(&lines)
        {
            lines.iter_mut().filter(|line| column < line.len()).for_each(|line| {
                line.remove(column);
            });
            widths.remove(column);
        }
        if room < RECORDS && total(&widths) > room {
            return records(&mut out, &lines, room);
        }
        narrow(&mut widths, room);
    }
    for (at, line) in lines.iter().enumerate() {
        let last = line.iter().rposition(|cell| !cell.is_empty()).unwrap_or_default();
        for (column, (width, cell)) in widths.iter().zip(line).enumerate().take(last + 1) {
            let cell = cut(cell, *width);
            let style = if at == 0 { Some(HEADER) } else { tone(&cell) };
            match style.filter(|_| !cell.is_empty()) {
                Some(style) => write!(out, "{style}{cell}{style:#}")?,
                None => write!(out, "{cell}")?,
            }
            if column < last {
                write!(out, "{:1$}", "", width.saturating_sub(width_of(&cell)) + GAP)?;
            }
        }
        writeln!(out)?;
    }
    out.flush()
}

fn widths_of(lines: &[Vec<String>]) -> Vec<usize> {
    let mut widths = vec![0; lines.first().map_or(0, Vec::len)];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = width_of(cell).max(*width);
        }
    }
    widths
}

/// The columns that a line takes.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// The column that says least: one without any value, else one that is the same in every row. The first and the last
/// column name the row and say what it is about.
fn says_nothing(lines: &[Vec<String>]) -> Option<usize> {
    let (header, rows) = lines.split_first()?;
    let inner = 1..header.len().saturating_sub(1);
    let cell = |row: &'_ Vec<String>, column: usize| row.get(column).cloned().unwrap_or_default();
    let is_empty =
        |column: &usize| rows.iter().all(|row| matches!(cell(row, *column).as_str(), "" | "–"));
    let is_same = |column: &usize| {
        rows.len() > 1 && rows.iter().all(|row| cell(row, *column) == cell(&rows[0], *column))
    };
    // That all are done is what people look for.
    let is_answer = |column: &usize| ANSWERS.contains(&header[*column].as_str());
    let is_less = |column: &usize| is_same(column) && !is_answer(column);
    inner.clone().find(is_empty).or_else(|| inner.rev().find(is_less))
}

/// Writes every row as lines of its own, for a terminal that is too narrow for columns.
fn records(out: &mut impl Write, lines: &[Vec<String>], room: usize) -> io::Result<()> {
    let Some((header, rows)) = lines.split_first() else { return Ok(()) };
    let names = header.iter().skip(1).map(|name| width_of(name)).max().unwrap_or_default();
    for row in rows {
        let Some((first, rest)) = row.split_first() else { continue };
        writeln!(out, "{HEADER}{}{HEADER:#}", cut(first, room))?;
        let rest = header.iter().skip(1).zip(rest);
        for (name, cell) in rest.filter(|(_, cell)| !matches!(cell.as_str(), "" | "–")) {
            let name = name.to_lowercase();
            let cell = cut(cell, room.saturating_sub(names + 2 * GAP).max(NARROWEST));
            match tone(&cell) {
                Some(style) => writeln!(out, "  {name:<names$}  {style}{cell}{style:#}")?,
                None => writeln!(out, "  {name:<names$}  {cell}")?,
            }
        }
    }
    out.flush()
}

/// Takes from the widest columns until all fit.
fn narrow(widths: &mut [usize], room: usize) {
    loop {
        let Some(over) = total(widths).checked_sub(room).filter(|over| *over > 0) else { return };
        let Some(widest) = widths.iter().copied().max().filter(|width| *width > NARROWEST) else {
            return;
        };
        // Down to the next widest, so that equal columns share what is missing.
        let next = widths.iter().copied().filter(|width| *width < widest).max().unwrap_or(0);
        let among = widths.iter().filter(|width| **width == widest).count();
        let step = over.div_ceil(among).min(widest - next.max(NARROWEST)).max(1);
        for width in widths.iter_mut().filter(|width| **width == widest) {
            *width -= step;
        }
    }
}

/// A cell cut to a width.
pub(super) fn cut(cell: &str, width: usize) -> String {
    if width_of(cell) <= width {
        return cell.to_owned();
    }
    let (mut text, mut used) = (String::new(), 0);
    for c in cell.chars() {
        let wide = c.to_string().width();
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        text.push(c);
    }
    text + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "缓存 and a long text that goes on and on until it ends somewhere";

    fn table(width: Option<usize>) -> Vec<String> {
        let rows = vec![
            vec!["1".to_owned(), "done".to_owned(), LONG.to_owned()],
            vec!["22".to_owned(), "odd".to_owned(), String::new()],
        ];
        let mut bytes = Vec::new();
        write(&mut bytes, &["id", "state", "text"], rows, width).unwrap();
        let plain = anstream::adapter::strip_str(std::str::from_utf8(&bytes).unwrap()).to_string();
        plain.lines().map(str::to_owned).collect()
    }

    #[test]
    fn columns_fit_their_content_without_a_limit() {
        let lines = table(None);
        assert_eq!(lines[0], "ID  STATE  TEXT");
        assert_eq!(lines[1], format!("1   done   {LONG}"));
        assert_eq!(lines[2], "22  odd");
    }

    #[test]
    fn the_widest_column_gives_way() {
        for width in [60, 64] {
            let lines = table(Some(width));
            assert!(lines.iter().all(|line| line.width() <= width), "{lines:?}");
            assert!(lines[1].ends_with('…'), "{lines:?}");
        }
    }

    fn receipts(width: usize) -> Vec<String> {
        let row = |id: &str, role: &str| {
            ["s1", role, "–", "1", "normal"]
                .iter()
                .fold(vec![id.to_owned()], |row, cell| [row, vec![(*cell).to_owned()]].concat())
        };
        let rows = vec![row("4f2a91", "developer"), row("07be3d", "senior_software_engineer")];
        let rows =
            rows.into_iter().map(|row| [row, vec!["just now".to_owned()]].concat()).collect();
        let header = ["receipt", "session", "role", "group", "attempt", "zone", "time"];
        let mut bytes = Vec::new();
        write(&mut bytes, &header, rows, Some(width)).unwrap();
        let plain = anstream::adapter::strip_str(std::str::from_utf8(&bytes).unwrap()).to_string();
        plain.lines().map(str::to_owned).collect()
    }

    #[test]
    fn columns_that_say_nothing_go_first() {
        assert!(receipts(100)[0].contains("GROUP"));
        let lines = receipts(65);
        assert_eq!(
            lines[0].split_whitespace().collect::<Vec<_>>(),
            ["RECEIPT", "SESSION", "ROLE", "ATTEMPT", "TIME"]
        );
        assert!(lines[2].contains("senior_software_engineer"), "{lines:?}");
        let lines = receipts(50);
        assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["RECEIPT", "ROLE", "TIME"]);
    }

    #[test]
    fn what_a_table_is_about_stays() {
        let row = |host: &str| {
            ["project", "no", "settings.json"]
                .map(str::to_owned)
                .into_iter()
                .fold(vec![host.to_owned()], |row, cell| [row, vec![cell]].concat())
        };
        let header = ["host", "scope", "hooks", "settings"];
        let mut bytes = Vec::new();
        write(&mut bytes, &header, vec![row("claude"), row("copilot")], Some(34)).unwrap();
        let plain = anstream::adapter::strip_str(std::str::from_utf8(&bytes).unwrap()).to_string();
        let first = plain.lines().next().unwrap();
        assert_eq!(first.split_whitespace().collect::<Vec<_>>(), ["HOST", "HOOKS", "SETTINGS"]);
    }

    #[test]
    fn a_narrow_terminal_gets_records() {
        let lines = receipts(30);
        assert_eq!(
            lines,
            [
                "4f2a91",
                "  role  developer",
                "  time  just now",
                "07be3d",
                "  role  senior_software_engin…",
                "  time  just now"
            ]
        );
    }

    #[test]
    fn a_terminal_that_is_too_narrow_gets_the_least() {
        let mut widths = [40, 9, 40];
        narrow(&mut widths, 10);
        assert_eq!(widths, [NARROWEST, NARROWEST, NARROWEST]);
        let mut widths = [5, 30, 30];
        narrow(&mut widths, 60);
        assert!(widths.iter().sum::<usize>() + 2 * GAP <= 60 && widths[1] >= 25, "{widths:?}");
    }

    #[test]
    fn words_of_closed_sets_have_a_colour() {
        let mut bytes = Vec::new();
        write(&mut bytes, &["state"], vec![vec!["failed".to_owned()]], None).unwrap();
        assert!(String::from_utf8(bytes).unwrap().contains(&format!("{BAD}failed{BAD:#}")));
    }
}
