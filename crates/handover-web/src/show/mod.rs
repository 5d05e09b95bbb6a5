//! What pages have in common: words of others, times, figures, marks and charts.

mod chart;
mod figure;
mod mark;
mod table;
mod text;
mod time;

pub(crate) use chart::{Bar, Share, bars, meter, shares, steps};
pub(crate) use figure::{bytes, count, duration, money, of, plural};
pub(crate) use mark::{Tone, badge, empty, fact, facts, section, stat, state_tone};
pub(crate) use table::{Column, Row, table};
pub(crate) use text::{plain, role_name, said, short};
pub(crate) use time::{clock, day, moment, when};
