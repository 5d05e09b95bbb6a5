//! Long lists, a page at a time: the address says how many are passed over.

use maud::{Markup, html};

use super::with_parameter;
use crate::page::Route;

/// The parameter in the address.
const FROM: &str = "from";

/// A page of a list, newest first.
pub(crate) struct Paging {
    address: String,
    /// How many are passed over.
    pub(crate) from: u32,
    size: u32,
    has_more: bool,
}

impl Paging {
    pub(crate) fn read(route: &Route<'_>, size: u32) -> Self {
        let from = route.query(FROM).and_then(|from| from.parse().ok()).unwrap_or(0);
        Self { address: route.address(), from, size, has_more: false }
    }

    /// How many to read: one more than are shown says whether there are more.
    pub(crate) const fn limit(&self) -> u32 {
        self.size + 1
    }

    /// Keeps what is shown of what was read with [`Paging::limit`].
    pub(crate) fn keep<T>(&mut self, list: &mut Vec<T>) {
        self.has_more = list.len() > self.size as usize;
        list.truncate(self.size as usize);
    }

    /// The page of a list that was read as a whole.
    pub(crate) fn of<'l, T>(&mut self, list: &'l [T]) -> &'l [T] {
        let rest = list.get(self.from as usize..).unwrap_or_default();
        self.has_more = rest.len() > self.size as usize;
        rest.get(..self.size as usize).unwrap_or(rest)
    }

    /// Where this page is in the list: `the latest 200`, `201 to 400`; nothing for the whole list.
    pub(crate) fn place(&self, shown: usize) -> Option<String> {
        let last = self.from as usize + shown;
        match (self.from, self.has_more) {
            (0, false) => None,
            (0, true) => Some(format!("the latest {shown}")),
            (from, _) => Some(format!("{} to {last}", from + 1)),
        }
    }

    /// The ways to the other pages.
    pub(crate) fn links(&self, what: &str) -> Markup {
        let link = |from: u32| with_parameter(&self.address, FROM, &from.to_string());
        html! {
            @if self.from > 0 || self.has_more {
                nav class="pages" aria-label=(format!("More {what}")) {
                    @if self.from > 0 { a href=(link(self.from.saturating_sub(self.size))) rel="prev" { "Newer" } }
                    @if self.has_more { a href=(link(self.from.saturating_add(self.size))) rel="next" { "Older" } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageRequest;

    fn paging(from: &str, size: u32) -> Paging {
        let mut request = PageRequest::get("/list");
        request.query = vec![
            ("role".to_owned(), "a&b".to_owned()),
            ("done".to_owned(), "op_1".to_owned()),
            ("from".to_owned(), from.to_owned()),
        ];
        Paging::read(&Route { request: &request, params: Vec::new() }, size)
    }

    #[test]
    fn pages_lead_to_their_neighbours() {
        let mut middle = paging("4", 4);
        let mut read: Vec<u8> = vec![5, 6, 7, 8, 9];
        middle.keep(&mut read);
        assert_eq!(read, [5, 6, 7, 8]);
        assert_eq!(middle.place(read.len()).as_deref(), Some("5 to 8"));
        let links = middle.links("things").into_string();
        for link in
            ["/list?role=a%26b&amp;from=0\" rel=\"prev\">Newer", "&amp;from=8\" rel=\"next\">Older"]
        {
            assert!(links.contains(link), "{links}");
        }
        assert!(!links.contains("done"), "{links}");
    }

    #[test]
    fn a_short_list_is_one_page() {
        for from in ["", "x", "-1", "0"] {
            let mut only = paging(from, 4);
            assert_eq!(only.of(&[1, 2, 3, 4]), [1, 2, 3, 4]);
            assert!(only.links("things").into_string().is_empty());
            assert_eq!(only.place(4), None);
        }
        let mut behind = paging("9", 4);
        assert!(behind.of(&[1, 2]).is_empty());
        assert!(behind.links("things").into_string().contains("Newer"), "there is a way back");
    }
}
