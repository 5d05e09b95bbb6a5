use proptest::prelude::*;

use super::*;

#[test]
fn names_of_files_are_recognized() {
    let task = "Fix `src/auth.rs`, (see Cart.java) and v1.2.3; e.g. lib/a-b.test.ts. No 3.5 or end. ../x.py";
    assert_eq!(mentions(task), ["src/auth.rs", "Cart.java", "lib/a-b.test.ts"]);
}

#[test]
fn the_first_line_and_repetition_count_more() {
    let weights: HashMap<String, f32> = task_terms("\nrefresh tokens\nthe cart, the cart 42", 2.0)
        .into_iter()
        .map(|term| (term.word, term.weight))
        .collect();
    assert_eq!(weights["refresh"], 2.0);
    assert_eq!(weights["cart"], 1.15);
    assert_eq!(weights["42"], 1.0 / 3.0);
    assert!(!weights.contains_key("the"));
}

proptest! {
    #[test]
    fn any_task_can_be_read(task in "[\\PC\n]{0,200}") {
        let terms = task_terms(start_of(&task), 1.5);
        prop_assert!(terms.is_sorted_by(|a, b| a.term < b.term));
        for term in &terms {
            prop_assert!(task.contains(&term.word));
        }
        let _ = mentions(&task);
    }
}
