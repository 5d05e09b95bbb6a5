//! Agents that fail in every way that agents fail: nothing ends as done unless the work is done.

use super::Epic;
