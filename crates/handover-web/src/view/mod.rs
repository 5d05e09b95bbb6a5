//! Elements shared by pages: untrusted text, times, numbers, tables, charts.

mod chart;
mod elements;
mod format;
mod links;
mod order;
mod paging;
mod room;
mod table;
mod text;
mod time;
mod waterfall;

pub(crate) use chart::{Bar, Share, bars, meter, shares, step_chart};
pub(crate) use elements::{
    Tone, badge, copy_link, empty_state, fact, facts, kept_views, retired, section, share,
    short_id, stale_names, stat, state_tone,
};
pub(crate) use format::{bytes, count, duration, fraction, money, plural, price, was};
pub(crate) use links::{unlinked, with_parameter};
pub(crate) use order::{Key, Order};
pub(crate) use paging::Paging;
pub(crate) use room::{Room, beginning, ending};
pub(crate) use table::{Column, Row, ordered_table, table};
pub(crate) use text::{excerpt, role_name, single_line, untrusted, with_code};
pub(crate) use time::{
    clock, exact_time, moment, relative_time, short_date, time_of_day, utc_note,
};
pub(crate) use waterfall::{Lane, Span, waterfall};
