//! Pages that are rendered once for everybody who asks for the same at the same time.
//!
//! After a change, every browser that shows a page asks for it again, all within the same moment. Those with the same
//! rights get one rendered body, for as long as nothing has changed and only for a moment: not everything that a page
//! shows is in the feed of changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use handover_web::PageResponse;

use crate::limits;

/// The token of the caller's forms, which nobody else has, and what is asked for.
type Key = (String, String);

#[derive(Default)]
pub(crate) struct SharedPages {
    slots: Mutex<HashMap<Key, Arc<Slot>>>,
}

/// Locked while the page is rendered: the others wait for it.
#[derive(Default)]
struct Slot {
    page: Mutex<Option<Rendered>>,
}

struct Rendered {
    /// The last change that was there before.
    change: u64,
    at: Instant,
    page: PageResponse,
}

impl Rendered {
    fn is_current(&self, change: u64) -> bool {
        self.change >= change && self.is_recent()
    }

    fn is_recent(&self) -> bool {
        self.at.elapsed() < limits::SHARED_PAGE
    }
}

impl SharedPages {
    /// The page as of a change, rendered now unless somebody else just did.
    pub(crate) fn get(
        &self,
        form_token: &str,
        address: String,
        change: u64,
        render: impl FnOnce() -> PageResponse,
    ) -> PageResponse {
        let slot = self.slot((form_token.to_owned(), address));
        let mut rendered = locked(&slot.page);
        if let Some(known) = rendered.as_ref().filter(|known| known.is_current(change)) {
            return known.page.clone();
        }
        let page = render();
        *rendered = Some(Rendered { change, at: Instant::now(), page: page.clone() });
        page
    }

    /// Forgets all pages: a form may have changed what is in no feed.
    pub(crate) fn clear(&self) {
        locked(&self.slots).clear();
    }

    fn slot(&self, key: Key) -> Arc<Slot> {
        let mut slots = locked(&self.slots);
        if let Some(slot) = slots.get(&key) {
            return Arc::clone(slot);
        }
        // Those that are being rendered are locked; somebody waits for them.
        slots.retain(|_, slot| match slot.page.try_lock() {
            Ok(page) => page.as_ref().is_some_and(Rendered::is_recent),
            Err(_) => true,
        });
        let slot = Arc::<Slot>::default();
        if slots.len() < limits::SHARED_PAGES {
            slots.insert(key, Arc::clone(&slot));
        }
        slot
    }
}

/// What a panic left behind is whole: a page is stored in one step.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    struct Renders(AtomicU32);

    impl Renders {
        fn page(&self) -> PageResponse {
            let nth = self.0.fetch_add(1, Ordering::Relaxed) + 1;
            PageResponse::html(nth.to_string())
        }
    }

    fn of(pages: &SharedPages, renders: &Renders, who: &str, address: &str, change: u64) -> String {
        let page = pages.get(who, address.to_owned(), change, || renders.page());
        String::from_utf8(page.body).unwrap()
    }

    #[test]
    fn one_rendering_is_for_all_who_ask_at_once() {
        let (pages, renders) = (SharedPages::default(), Renders(AtomicU32::new(0)));
        let together = Barrier::new(50);
        std::thread::scope(|scope| {
            for _ in 0..50 {
                scope.spawn(|| {
                    together.wait();
                    let page = pages.get("a", "/".to_owned(), 7, || {
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        renders.page()
                    });
                    assert_eq!(page.body, b"1");
                });
            }
        });
    }

    #[test]
    fn others_and_later_ones_get_their_own() {
        let (pages, renders) = (SharedPages::default(), Renders(AtomicU32::new(0)));
        let of = |who, address, change| of(&pages, &renders, who, address, change);
        assert_eq!(of("a", "/", 7), "1");
        assert_eq!(of("b", "/", 7), "2", "somebody else");
        assert_eq!(of("a", "/x", 7), "3", "another page");
        assert_eq!(of("a", "/", 8), "4", "after a change");
        assert_eq!(of("a", "/", 7), "4", "newer than asked for");
        pages.clear();
        assert_eq!(of("a", "/", 8), "5", "after a form");
        std::thread::sleep(limits::SHARED_PAGE);
        assert_eq!(of("a", "/", 8), "6", "a moment later");
    }

    #[test]
    fn few_pages_are_kept() {
        let (pages, renders) = (SharedPages::default(), Renders(AtomicU32::new(0)));
        for nth in 0..10 * limits::SHARED_PAGES {
            of(&pages, &renders, "a", &nth.to_string(), 1);
        }
        assert!(locked(&pages.slots).len() <= limits::SHARED_PAGES);
    }
}
