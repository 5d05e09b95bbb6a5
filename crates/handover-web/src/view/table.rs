//! Tables. On a narrow screen each row becomes a few lines, and every value keeps its label.

use maud::{Markup, html};

use super::Order;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Column {
    Text(&'static str),
    /// Right-aligned.
    Number(&'static str),
    /// A graphic; its name is for screen readers.
    Graphic(&'static str),
}

impl Column {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Text(name) | Self::Number(name) | Self::Graphic(name) => name,
        }
    }

    const fn class(self) -> Option<&'static str> {
        match self {
            Self::Text(_) => None,
            Self::Number(_) => Some("number"),
            Self::Graphic(_) => Some("wide"),
        }
    }
}

/// A row: its header cell, and one cell for each other column.
pub(crate) struct Row {
    class: Option<&'static str>,
    head: Markup,
    cells: Vec<Markup>,
}

impl Row {
    pub(crate) fn new(head: Markup, cells: impl Into<Vec<Markup>>) -> Self {
        Self { class: None, head, cells: cells.into() }
    }

    /// De-emphasized.
    pub(crate) fn dimmed(self) -> Self {
        Self { class: Some("out"), ..self }
    }
}

/// A table whose first column is the row header.
pub(crate) fn table(
    class: &str,
    columns: &[Column],
    rows: impl IntoIterator<Item = Row>,
) -> Markup {
    ordered_table(class, columns, None, rows)
}

/// The same, whose heads sort it.
pub(crate) fn ordered_table(
    class: &str,
    columns: &[Column],
    order: Option<&Order>,
    rows: impl IntoIterator<Item = Row>,
) -> Markup {
    html! {
        table class={ "rows " (class) @if order.is_some() { " ordered" } } {
            thead {
                tr {
                    @for (nth, column) in columns.iter().enumerate() {
                        th scope="col" class=[column.class()] aria-sort=[order.and_then(|order| order.direction(nth))] {
                            @match (column, order) {
                                (Column::Graphic(name), _) => span class="unseen" { (name) },
                                (Column::Text(name) | Column::Number(name), Some(order)) => a href=(order.link(nth, name)) rel="nofollow" { (name) (order.arrow(nth)) },
                                (Column::Text(name) | Column::Number(name), None) => (name),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_carry_the_name_of_their_column() {
        let columns = [Column::Text("Name"), Column::Number("Count"), Column::Graphic("As a bar")];
        let row = Row::new(html! { "a" }, [html! { "1" }, html! { "bar" }]);
        let html = table("small", &columns, [row.dimmed()]).into_string();
        assert!(html.contains("<table class=\"rows small\">"), "{html}");
        assert!(
            html.contains(
                "<th scope=\"col\">Name</th><th scope=\"col\" class=\"number\">Count</th>"
            ),
            "{html}"
        );
        assert!(html.contains("<span class=\"unseen\">As a bar</span>"), "{html}");
        assert!(html.contains("<tr class=\"out\"><th scope=\"row\">a</th>"), "{html}");
        assert!(html.contains("<td class=\"number\" data-name=\"Count\">1</td>"), "{html}");
        assert!(html.contains("<td class=\"wide\" data-name=\"As a bar\">bar</td>"), "{html}");
    }
}
