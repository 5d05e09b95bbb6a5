//! Tables. On a narrow screen a row becomes a few lines, and every figure keeps its name.

use maud::{Markup, html};

/// A column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column {
    /// Words.
    Text(&'static str),
    /// Figures, aligned at their end.
    Number(&'static str),
    /// A drawing; its name is for those who cannot see it.
    Drawn(&'static str),
}

impl Column {
    const fn name(self) -> &'static str {
        match self {
            Self::Text(name) | Self::Number(name) | Self::Drawn(name) => name,
        }
    }

    const fn class(self) -> Option<&'static str> {
        match self {
            Self::Text(_) => None,
            Self::Number(_) => Some("number"),
            Self::Drawn(_) => Some("wide"),
        }
    }
}

/// A row: what it is about, and one cell for each other column.
pub(crate) struct Row {
    class: Option<&'static str>,
    head: Markup,
    cells: Vec<Markup>,
}

impl Row {
    pub(crate) fn new(head: Markup, cells: impl Into<Vec<Markup>>) -> Self {
        Self { class: None, head, cells: cells.into() }
    }

    /// The same, with less weight.
    pub(crate) fn faint(self) -> Self {
        Self { class: Some("out"), ..self }
    }
}

/// A table; its first column says what a row is about.
pub(crate) fn table(
    class: &str,
    columns: &[Column],
    rows: impl IntoIterator<Item = Row>,
) -> Markup {
    html! {
        table class={ "rows " (class) } {
            thead {
                tr {
                    @for column in columns {
                        th class=[column.class()] {
                            @match column {
                                Column::Drawn(name) => span class="unseen" { (name) },
                                Column::Text(name) | Column::Number(name) => (name),
                            }
                        }
                    }
                }
            }
            tbody {
                @for row in rows {
                    tr class=[row.class] {
                        th scope="row" class=[columns.first().and_then(|column| column.class())] { (row.head) }
                        @for (cell, column) in row.cells.iter().zip(columns.iter().skip(1)) {
                            td class=[column.class()] data-name=(column.name()) { (cell) }
                        }
                    }
                }
            }
        }
    }
}
