//! The order of a list, as its address asks for it: `?sort=name`, or `?sort=-name` for the other direction.

use std::cmp::Ordering;

use super::{Column, with_parameter};
use crate::page::Route;

/// The parameter in the address.
const SORT: &str = "sort";

/// What a row is sorted by.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Key {
    Text(String),
    Number(f64),
}

impl Key {
    pub(crate) fn text(text: impl AsRef<str>) -> Self {
        Self::Text(text.as_ref().to_lowercase())
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Text(_), Self::Number(_)) => Ordering::Greater,
            (Self::Number(_), Self::Text(_)) => Ordering::Less,
        }
    }
}

/// The order of a list with these columns.
pub(crate) struct Order {
    /// The address of the page.
    address: String,
    /// The column, and whether the largest is first; none is the order of the page.
    chosen: Option<(usize, bool)>,
}

impl Order {
    pub(crate) fn read(route: &Route<'_>, columns: &[Column]) -> Self {
        let asked = route.query(SORT).unwrap_or_default();
        let (name, descending) = match asked.strip_prefix('-') {
            Some(name) => (name, true),
            None => (asked, false),
        };
        let column = columns.iter().position(|column| {
            !matches!(column, Column::Graphic(_)) && slug(column.name()) == name
        });
        Self { address: route.address(), chosen: column.map(|column| (column, descending)) }
    }

    /// Sorts a list. Rows that are equal keep their order.
    pub(crate) fn apply<T>(&self, list: &mut [T], key: impl Fn(&T, usize) -> Key) {
        let Some((column, descending)) = self.chosen else { return };
        list.sort_by(|a, b| {
            let order = key(a, column).compare(&key(b, column));
            if descending { order.reverse() } else { order }
        });
    }

    /// Whether the list is in another order than the page's own.
    pub(crate) fn is_chosen(&self) -> bool {
        self.chosen.is_some()
    }

    /// Sorts by a column; again, the other way round.
    pub(super) fn link(&self, column: usize, name: &str) -> String {
        let name = slug(name);
        let value = match self.chosen {
            Some((chosen, false)) if chosen == column => format!("-{name}"),
            _ => name,
        };
        with_parameter(&self.address, SORT, &value)
    }

    pub(super) fn direction(&self, column: usize) -> Option<&'static str> {
        let (chosen, descending) = self.chosen?;
        (chosen == column).then_some(if descending { "descending" } else { "ascending" })
    }

    pub(super) fn arrow(&self, column: usize) -> &'static str {
        match self.direction(column) {
            Some("descending") => " ↓",
            Some(_) => " ↑",
            None => "",
        }
    }
}

/// The name of a column in an address.
fn slug(name: &str) -> String {
    name.to_lowercase().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageRequest;

    const COLUMNS: [Column; 3] =
        [Column::Text("What it is"), Column::Number("Count"), Column::Graphic("Bar")];

    fn order(query: &[(&str, &str)]) -> Order {
        let mut request = PageRequest::get("/list");
        request.query = query.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        Order::read(&Route { request: &request, params: Vec::new() }, &COLUMNS)
    }

    fn sorted(order: &Order) -> Vec<(&'static str, f64)> {
        let mut list = vec![("b", 2.0), ("A", 10.0), ("c", 2.0)];
        order.apply(&mut list, |(name, count), column| match column {
            0 => Key::text(name),
            _ => Key::Number(*count),
        });
        list
    }

    #[test]
    fn the_address_decides() {
        assert_eq!(sorted(&order(&[])), [("b", 2.0), ("A", 10.0), ("c", 2.0)]);
        let by_name = order(&[("sort", "what-it-is")]);
        assert_eq!(sorted(&by_name), [("A", 10.0), ("b", 2.0), ("c", 2.0)]);
        let by_count = order(&[("sort", "-count"), ("q", "a&b")]);
        assert_eq!(sorted(&by_count), [("A", 10.0), ("b", 2.0), ("c", 2.0)]);
        for unknown in ["", "-", "bar", "<script>", "Count"] {
            assert!(!order(&[("sort", unknown)]).is_chosen(), "{unknown}");
        }
    }

    #[test]
    fn a_head_sorts_and_then_turns_the_order_round() {
        let plain = order(&[("q", "a&b"), ("done", "op_1")]);
        assert_eq!(plain.link(1, "Count"), "/list?q=a%26b&sort=count");
        let up = order(&[("sort", "count")]);
        assert_eq!(up.link(1, "Count"), "/list?sort=-count");
        assert_eq!(up.link(0, "What it is"), "/list?sort=what-it-is");
        assert_eq!(
            (up.direction(1), up.direction(0), up.arrow(1)),
            (Some("ascending"), None, " ↑")
        );
        let down = order(&[("sort", "-count")]);
        assert_eq!((down.link(1, "Count"), down.arrow(1)), ("/list?sort=count".to_owned(), " ↓"));
    }
}
