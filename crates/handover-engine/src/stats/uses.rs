//! What became of what agents received: by kind, role and section, over time, and per item.

use std::collections::BTreeMap;

use handover_model::{ItemKind, Receipt, ReceiptItem, Role, Timestamp, Use};
use serde::Serialize;

/// So many items are listed.
const LISTED: usize = 100;

/// What became of the items of briefs, where the conversation of the agent was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Uses {
    /// All of them.
    #[serde(flatten)]
    pub total: UseOf,
    /// How many items, by what became of them.
    pub by_use: BTreeMap<Use, u64>,
    /// By kind of item.
    pub by_kind: BTreeMap<ItemKind, UseOf>,
    /// By role of the agent.
    pub by_role: BTreeMap<Role, UseOf>,
    /// By section of the brief.
    pub by_section: BTreeMap<&'static str, UseOf>,
}

/// How much of some items was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct UseOf {
    /// How many items.
    pub items: u64,
    /// How many of them were opened, named or echoed.
    pub used: u64,
    /// Their tokens.
    pub tokens: u64,
    /// The tokens of those that were used.
    pub used_tokens: u64,
}

impl UseOf {
    /// The share of tokens that was used, in percent, for people; none if nothing was judged.
    pub fn percent(&self) -> Option<f64> {
        (self.tokens > 0).then(|| 100.0 * self.used_tokens as f64 / self.tokens as f64)
    }

    fn add(&mut self, used: bool, tokens: u64, used_tokens: u64) {
        self.items += 1;
        self.used += u64::from(used);
        self.tokens += tokens;
        self.used_tokens += used_tokens;
    }
}

impl Uses {
    /// Adds the items of a receipt.
    pub(super) fn count(&mut self, receipt: &Receipt) {
        for (item, tokens) in with_tokens(&receipt.items) {
            let Some(used) = item.used else { continue };
            let (is_used, kind) = (used != Use::Unused, item.kind);
            *self.by_use.entry(used).or_default() += 1;
            for sum in [
                &mut self.total,
                self.by_kind.entry(kind).or_default(),
                self.by_role.entry(receipt.role.clone()).or_default(),
                self.by_section.entry(kind.section()).or_default(),
            ] {
                sum.add(is_used, item.tokens, tokens);
            }
        }
    }
}

/// Items with the tokens that count as used. The first of several notes that are shown together has the tokens of
/// all: they are used if any of these is.
fn with_tokens(items: &[ReceiptItem]) -> Vec<(&ReceiptItem, u64)> {
    let is_used = |item: &ReceiptItem| item.used.is_some_and(|used| used != Use::Unused);
    let joins = |item: &ReceiptItem| item.kind == ItemKind::Note && item.tokens == 0;
    let tokens = |(at, item): (usize, &ReceiptItem)| {
        let mut together =
            std::iter::once(item).chain(items[at + 1..].iter().take_while(|i| joins(i)));
        let used = if joins(item) { is_used(item) } else { together.any(is_used) };
        if used { item.tokens } else { 0 }
    };
    items.iter().enumerate().map(|pair| (pair.1, tokens(pair))).collect()
}

/// How much of one receipt was used; none if the conversation of its agent was not seen.
pub fn use_of(receipt: &Receipt) -> Option<UseOf> {
    let mut uses = Uses::default();
    uses.count(receipt);
    (uses.total.items > 0).then_some(uses.total)
}

/// A part of the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    /// The last seven days.
    LastWeek,
    /// The 23 days before those.
    LastMonth,
    /// Everything earlier.
    Before,
}

impl Period {
    /// The latest first.
    pub const ALL: [Self; 3] = [Self::LastWeek, Self::LastMonth, Self::Before];

    /// From how many days ago, and until how many; no start means the beginning.
    const fn days(self) -> (Option<u32>, u32) {
        match self {
            Self::LastWeek => (Some(7), 0),
            Self::LastMonth => (Some(30), 7),
            Self::Before => (None, 30),
        }
    }

    /// Its start, where none is the beginning, and its end.
    fn bounds(self, now: Timestamp) -> (Option<Timestamp>, Timestamp) {
        let (from, until) = self.days();
        // What was delivered while this is counted belongs to the last week.
        let until = if until == 0 { now.plus_seconds(1) } else { now.days_before(until) };
        (from.map(|days| now.days_before(days)), until)
    }

    /// The one that a time is in; none if it has not come yet.
    fn of(at: Timestamp, now: Timestamp) -> Option<Self> {
        Self::ALL.into_iter().find(|period| {
            let (from, until) = period.bounds(now);
            from.is_none_or(|from| at >= from) && at < until
        })
    }

    /// For people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::LastWeek => "7 days",
            Self::LastMonth => "7–30 days",
            Self::Before => "before",
        }
    }
}

/// What became of what agents received in a part of the past.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UsePeriod {
    /// Its name.
    pub period: Period,
    /// Its start; none is the beginning.
    pub from: Option<Timestamp>,
    /// Its end.
    pub until: Timestamp,
    /// The tokens that were delivered in it, seen or not.
    #[serde(rename = "delivered")]
    pub delivered_tokens: u64,
    /// What became of the items.
    #[serde(flatten)]
    pub uses: Uses,
}

impl UsePeriod {
    /// All parts of the past, the latest first.
    pub(super) fn all_before(now: Timestamp) -> Vec<Self> {
        let part = |period: Period| {
            let (from, until) = period.bounds(now);
            Self { period, from, until, delivered_tokens: 0, uses: Uses::default() }
        };
        Period::ALL.map(part).into()
    }

    pub(super) fn count(&mut self, receipt: &Receipt) {
        let at = receipt.created_at;
        if self.from.is_none_or(|from| at >= from) && at < self.until {
            self.delivered_tokens += receipt.tokens;
            self.uses.count(receipt);
        }
    }
}

/// What became of one package, note or strategy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ItemUses {
    /// What kind of record.
    pub kind: ItemKind,
    /// Its id, as text.
    pub id: String,
    /// In how many briefs agents received it, seen to their end or not.
    pub briefs: u64,
    /// What became of it in those that were.
    #[serde(flatten)]
    pub uses: UseOf,
    /// The same by part of the past, where there is something to tell.
    pub over_time: BTreeMap<Period, UseOf>,
    /// When an agent last received it.
    pub last_received: Timestamp,
    /// When an agent that used it received it.
    pub last_used: Option<Timestamp>,
}

/// The use of all items.
#[derive(Debug, Default)]
pub(super) struct Items(BTreeMap<(ItemKind, String), ItemUses>);

impl Items {
    pub(super) fn count(&mut self, receipt: &Receipt, now: Timestamp) {
        let period = Period::of(receipt.created_at, now);
        for (item, used_tokens) in with_tokens(&receipt.items) {
            let (kind, at) = (item.kind, receipt.created_at);
            if !matches!(kind, ItemKind::Package | ItemKind::Note | ItemKind::Strategy) {
                continue;
            }
            let one = self.0.entry((kind, item.id.clone())).or_insert_with(|| ItemUses {
                kind,
                id: item.id.clone(),
                briefs: 0,
                uses: UseOf::default(),
                over_time: BTreeMap::new(),
                last_received: at,
                last_used: None,
            });
            one.briefs += 1;
            one.last_received = one.last_received.max(at);
            let Some(used) = item.used else { continue };
            let is_used = used != Use::Unused;
            one.uses.add(is_used, item.tokens, used_tokens);
            if let Some(period) = period {
                let part = one.over_time.entry(period).or_default();
                part.add(is_used, item.tokens, used_tokens);
            }
            if is_used {
                one.last_used = one.last_used.max(Some(at));
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ItemUses> {
        self.0.values()
    }

    /// Those that cost most tokens without being used.
    pub(super) fn most_wasted(self) -> Vec<ItemUses> {
        let mut all: Vec<ItemUses> =
            self.0.into_values().filter(|one| one.uses.items > 0).collect();
        let wasted = |one: &ItemUses| one.uses.tokens - one.uses.used_tokens;
        all.sort_by_key(|one| std::cmp::Reverse(wasted(one)));
        all.truncate(LISTED);
        all
    }
}
