use super::*;

fn found(earlier: &str, later: &str) -> Option<Replacement> {
    let (earlier, later) = (Facts::of("", earlier), Facts::of("", later));
    replacement(&earlier, &later, &Compared::of([&earlier, &later]))
}

#[track_caller]
fn found_as(how: AmendedHow, earlier: &str, later: &str) {
    let found = found(earlier, later);
    assert_eq!(found.map(|found| found.how), Some(how), "{earlier} / {later}");
}

#[test]
fn another_value_on_the_same_subject_replaces() {
    found_as(
        AmendedHow::OtherValue,
        "Map tiles are cached on the device for 7 days.",
        "Map tiles are cached on the device for 30 days, technicians work in cellars.",
    );
}

#[test]
fn a_change_of_what_was_named_replaces() {
    found_as(
        AmendedHow::NamesOld,
        "The app keeps its state in Redux.",
        "The app keeps its state in Zustand instead of Redux.",
    );
}

#[test]
fn another_choice_of_the_same_kind_replaces() {
    found_as(
        AmendedHow::OtherValue,
        "Service reports are rendered with wkhtmltopdf.",
        "Service reports: please render them with Typst from the next release.",
    );
}

#[test]
fn what_says_something_else_about_the_same_may_replace() {
    for later in [
        "Dispatchers must not delete work orders any more; they archive them.",
        "Dispatchers delete work orders through the archive.",
    ] {
        let earlier = "Dispatchers may delete work orders themselves.";
        found_as(AmendedHow::Otherwise, earlier, later);
    }
}

#[test]
fn what_many_statements_share_says_nothing_about_two() {
    let text = |about: &str| format!("The {about} of the map tiles on the device.");
    let all: Vec<Facts> = ["cache", "colours", "size", "names", "format"]
        .iter()
        .map(|about| Facts::of("", &text(about)))
        .collect();
    assert_eq!(replacement(&all[0], &all[1], &Compared::of(&all)), None);
    assert!(replacement(&all[0], &all[1], &Compared::of(&all[..2])).is_some());
}

#[test]
fn neighbours_stay_in_force() {
    for (earlier, later) in [
        ("Access tokens are valid for 10 minutes.", "Refresh tokens are valid for 30 days."),
        ("In staging a session lasts 8 hours.", "In production a session lasts 30 minutes."),
        ("Level 1 incidents page through Opsgenie.", "Level 3 incidents page nobody any more."),
        ("Telemetry goes to InfluxDB.", "Icons are Lucide; Font Awesome was removed."),
        ("", "Nothing was said before."),
        ("The nightly job starts at 01:30.", ""),
    ] {
        assert_eq!(found(earlier, later), None, "{earlier} / {later}");
    }
}

#[test]
fn what_says_the_same_replaces_nothing() {
    let (once, again) = ("Switch to pyproject.toml.", "Switch to pyproject.toml (#2438).");
    assert_eq!(found(once, again), None);
}

#[test]
fn a_statement_does_not_replace_itself() {
    for text in ["Uploads are limited to 10 MB.", "The partner API is REST.", ""] {
        assert_eq!(found(text, text), None, "{text}");
    }
}

#[test]
fn a_text_that_says_many_things_is_not_one_statement() {
    let old = "Map tiles are cached on the device for 7 days.";
    let new = "Map tiles are cached on the device for 30 days.";
    let long = format!(
        "{new} Photos, forms, signatures, barcodes, reports, invoices, contracts, quotes, depots, tours, vehicles, \
         drivers, shifts, alarms, sensors, routes, parcels, pallets and gates are synced at night."
    );
    assert!(found(old, new).is_some());
    assert_eq!(found(old, &long), None);
}

#[test]
fn a_heading_is_part_of_what_a_statement_is_about() {
    let facts = Facts::of("# Retention", "Tracks are deleted after 90 days.");
    assert_eq!(facts.heading.len(), 1);
    let same = Facts::of("Retention", "Retention\n\nTracks are deleted after 90 days.");
    assert_eq!(same.heading, facts.heading);
}

#[test]
fn any_text_can_be_read() {
    for text in ["…", "ß’ñ 3 – 4 %", "`", "<<>>", "a.b.c/d:e", "１２ 日", "\u{0}", "- - -"]
    {
        let facts = Facts::of(text, text);
        let _ = features(&facts, &facts, &Compared::of([&facts]));
    }
    assert!(Facts::of("", &"ä ".repeat(2_000)).long);
}
