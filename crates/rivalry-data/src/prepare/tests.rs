//! Preparation as a whole: every pair ends up in exactly one part, and unusable input is refused with help.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::Interactions;
use crate::Records;

fn records(pairs: &[(u32, u32)]) -> Records {
    let (user, item) = pairs.iter().copied().unzip();
    Records { user, item, rating: None, time: None }
}

fn source(parts: RawParts) -> RawData {
    let ids = |letter: char| (0..30).map(|n| format!("{letter}{n}")).collect();
    RawData { users: ids('u'), items: ids('i'), parts, notes: vec![], reading: None }
}

fn whole(pairs: &[(u32, u32)]) -> RawData {
    source(RawParts::Whole(records(pairs)))
}

fn timed(events: &[(u32, u32, i64)]) -> RawData {
    let pairs: Vec<_> = events.iter().map(|&(user, item, _)| (user, item)).collect();
    let time = Some(events.iter().map(|&(.., time)| time).collect());
    source(RawParts::Whole(Records { time, ..records(&pairs) }))
}

fn with(split: Split, validation: Validation) -> Preparation {
    Preparation { split, validation, ..Preparation::default() }
}

fn only(split: Split) -> Preparation {
    with(split, Validation::None {})
}

fn pairs(part: &Interactions) -> Vec<(u32, u32)> {
    part.pairs().collect()
}

fn refusal(raw: RawData, preparation: &Preparation) -> String {
    let error = prepare("set", raw, preparation).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    let text = error.to_string();
    assert!(text.contains("help: "), "{text}");
    text
}

fn grid(users: u32, items: u32) -> Vec<(u32, u32)> {
    (0..users).flat_map(|user| (0..items).map(move |item| (user, item))).collect()
}

#[test]
fn given_parts_keep_their_ids_and_overlaps_are_removed() {
    let raw = source(RawParts::Given {
        train: records(&[(5, 3), (5, 3), (2, 1)]),
        valid: Some(records(&[(2, 1), (2, 4)])),
        test: records(&[(5, 3), (2, 4), (2, 9), (7, 1)]),
    });
    let set = prepare("set", raw, &Preparation::default()).unwrap();
    assert_eq!((set.users.len(), set.items.len()), (30, 30));
    assert_eq!(pairs(&set.train), [(2, 1), (5, 3)]);
    assert_eq!(pairs(&set.valid), [(2, 4)]);
    assert_eq!(pairs(&set.test), [(2, 9), (7, 1)]);
    let expected = [
        "merged 1 duplicate pair",
        "removed 1 pair from the validation set: already in the training set",
        "removed 2 pairs from the test set: already in an earlier set",
        "1 item of the validation set not seen in training (1 pair)",
        "1 user of the test set not seen in training (1 pair)",
        "1 item of the test set not seen in training (1 pair)",
    ];
    assert_eq!(set.notes, expected);
}

#[test]
fn given_parts_can_be_joined_and_split_again() {
    let raw = source(RawParts::Given { train: records(&grid(3, 5)), valid: None, test: records(&[(0, 7)]) });
    let set = prepare("set", raw, &only(Split::Random { test: 0.4 })).unwrap();
    assert_eq!((set.train.len(), set.test.len()), (10, 6));
}

#[test]
fn a_given_validation_part_is_kept_with_a_note_if_another_was_requested() {
    let raw = || {
        let [train, valid, test] = [grid(3, 5), vec![(0, 6)], vec![(0, 7)]].map(|pairs| records(&pairs));
        source(RawParts::Given { train, valid: Some(valid), test })
    };
    let told = |preparation: &Preparation| {
        let set = prepare("set", raw(), preparation).unwrap();
        let told =
            set.notes.iter().any(|note| note.contains("the validation set given by the source is kept"));
        (pairs(&set.valid), told)
    };
    assert_eq!(told(&Preparation::default()), (vec![(0, 6)], false));
    for asked in [Validation::None {}, Validation::Random { ratio: 0.4 }] {
        assert_eq!(told(&with(Split::Auto {}, asked)), (vec![(0, 6)], true));
    }
    assert!(!told(&with(Split::Random { test: 0.4 }, Validation::Random { ratio: 0.4 })).1);
}

#[test]
fn filters_reduce_the_ids_and_leave_a_note() {
    let mut list = grid(3, 4);
    list.extend([(9, 0), (0, 9)]);
    let ratings = list.iter().map(|&(_, item)| if item == 3 { 1.0 } else { 5.0 }).collect();
    let raw = source(RawParts::Whole(Records { rating: Some(ratings), ..records(&list) }));
    let filters = Preparation { min_rating: Some(4.0), user_core: 2, item_core: 2, ..Preparation::default() };
    let set = prepare("set", raw, &filters).unwrap();
    assert_eq!(set.users.iter().collect::<Vec<_>>(), ["u0", "u1", "u2"]);
    assert_eq!(set.items.iter().collect::<Vec<_>>(), ["i0", "i1", "i2"]);
    let expected = "filtered: 14 records read; 11 records rated 4 or more; 9 pairs in the core \
                    (users with 2, items with 2 or more); 3 users and 3 items remain";
    assert_eq!(set.notes[0], expected);
}

#[test]
fn the_last_items_of_each_user_are_held_out() {
    // User 0 saw item 2 again, last of all; user 1 has a tie, decided by file order; user 2 keeps the only item.
    let log = [(0, 2, 1), (0, 1, 5), (0, 3, 4), (0, 2, 9), (1, 4, 7), (1, 0, 7), (2, 6, 1)];
    let set = prepare("set", timed(&log), &only(Split::LeaveLast { n: 1 })).unwrap();
    assert_eq!(pairs(&set.test), [(0, 2), (1, 0)]);
    let both = with(Split::LeaveLast { n: 1 }, Validation::LeaveLast { n: 1 });
    let set = prepare("set", timed(&log), &both).unwrap();
    assert_eq!(pairs(&set.valid), [(0, 1)]);
    assert_eq!(pairs(&set.train), [(0, 3), (1, 4), (2, 6)]);
}

#[test]
fn the_time_split_uses_one_cut_for_all_users() {
    let log = [(0, 0, 4), (0, 1, 1), (1, 2, 3), (1, 3, 2), (2, 4, 5)];
    let set = prepare("set", timed(&log), &only(Split::Time { test: 0.4 })).unwrap();
    assert_eq!(pairs(&set.test), [(0, 0), (2, 4)]);
}

#[test]
fn random_shares_are_rounded_down_but_not_to_zero() {
    let mut list = grid(1, 19);
    list.extend([(1, 0), (1, 1), (2, 0)]);
    let random = with(Split::Random { test: 0.2 }, Validation::Random { ratio: 0.1 });
    let set = prepare("set", whole(&list), &random).unwrap();
    let sizes = |part: &Interactions| [0, 1, 2].map(|user| part.items_of(user).len());
    assert_eq!(sizes(&set.test), [3, 1, 0]);
    assert_eq!(sizes(&set.valid), [1, 0, 0]);
    assert_eq!(sizes(&set.train), [15, 1, 1]);
}

#[test]
fn the_popularity_split_is_uniform_over_items() {
    // Item n is seen by n + 5 of 30 users: popularity from 5 to 30.
    let list: Vec<_> = (0..26).flat_map(|item| (0..item + 5).map(move |user| (user, item))).collect();
    let set = prepare("set", whole(&list), &only(Split::Popularity { test: 0.2 })).unwrap();
    assert_eq!(set.test.len(), list.len() / 5);
    let (train, test) = (set.train.item_counts(), set.test.item_counts());
    // Proportional sampling would give the ten rarest items about 16 of the 91 pairs, uniform sampling up to 35.
    assert!(test[..10].iter().sum::<u32>() >= 24, "{test:?}");
    assert!(train.iter().take(26).all(|&count| count >= 1) && train[25] > 3 * train[0]);
    // Of a 3 × 3 grid, each user and item keeps one: at most six of the eight requested can be held out.
    let set = prepare("set", whole(&grid(3, 3)), &only(Split::Popularity { test: 0.9 })).unwrap();
    assert!(set.test.len() <= 6);
    assert!(set.notes[0].starts_with("the test set has only"), "{:?}", set.notes);
}

#[test]
fn unusable_input_is_refused_with_help() {
    let list = grid(3, 4);
    let default = Preparation::default();
    assert!(refusal(whole(&[]), &default).contains("no records"));
    assert!(refusal(whole(&list), &only(Split::Given {})).contains("without training and test sets"));
    assert!(
        refusal(whole(&list), &only(Split::LeaveLast { n: 1 }))
            .contains("split.type: this split needs timestamps")
    );
    assert!(refusal(whole(&list), &only(Split::LeaveLast { n: 0 })).contains("split.n: "));
    let late = with(Split::Auto {}, Validation::Time { ratio: 0.1 });
    assert!(refusal(whole(&list), &late).contains("validation.type: this split needs timestamps"));
    for test in [0.0, 1.0, -0.5, 7.0, f64::NAN, f64::INFINITY] {
        assert!(refusal(whole(&list), &only(Split::Random { test })).contains("split.test: "));
        assert!(refusal(timed(&[(0, 0, 0)]), &only(Split::Time { test })).contains("split.test: "));
        assert!(refusal(whole(&list), &only(Split::Popularity { test })).contains("split.test: "));
        let valid = with(Split::Auto {}, Validation::Random { ratio: test });
        assert!(refusal(whole(&list), &valid).contains("validation.ratio: "));
    }
    assert!(refusal(whole(&[(0, 0), (1, 1)]), &default).contains("leaves the test set empty"));
    assert!(refusal(timed(&[(0, 0, 1)]), &only(Split::Time { test: 0.5 })).contains("test set empty"));
    let rated = |min_rating| Preparation { min_rating: Some(min_rating), ..Preparation::default() };
    assert!(refusal(whole(&list), &rated(3.0)).contains("min_rating: the records have no ratings"));
    assert!(refusal(whole(&list), &rated(f32::NAN)).contains("min_rating: NaN"));
    let cored = Preparation { user_core: 9, ..Preparation::default() };
    let text = refusal(whole(&list), &cored);
    assert!(text.contains("leave nothing: 12 records read; 0 pairs in the core (users with 9"), "{text}");
    assert!(
        prepare("set", whole(&[(30, 0)]), &default)
            .unwrap_err()
            .to_string()
            .contains("refers to user 30, but there are only 30")
    );
}

#[test]
fn without_a_split_everything_is_for_training() {
    let list = grid(3, 4);
    let set = prepare("set", whole(&list), &only(Split::None {})).unwrap();
    assert_eq!((set.train.len(), set.valid.len(), set.test.len()), (12, 0, 0));
    let set = prepare("set", whole(&list), &with(Split::None {}, Validation::Random { ratio: 0.3 })).unwrap();
    assert_eq!((set.train.len(), set.valid.len(), set.test.len()), (9, 3, 0));
}

#[test]
fn a_missing_rating_is_refused_where_ratings_are_used() {
    let records =
        Records { user: vec![0, 1], item: vec![0, 1], rating: Some(vec![4.0, f32::NAN]), time: None };
    let mut raw = whole(&[(0, 0)]);
    raw.parts = RawParts::Whole(records);
    let rated = Preparation { min_rating: Some(3.0), split: Split::None {}, ..Preparation::default() };
    assert!(refusal(raw.clone(), &rated).contains("data.prepare.min_rating: record 2 has no rating"));
    assert_eq!(prepare("set", raw, &only(Split::None {})).unwrap().train.len(), 2);
}

#[test]
fn a_preparation_survives_serialisation_and_refuses_unknown_keys() {
    let preparation = Preparation {
        min_rating: Some(3.5),
        user_core: 10,
        item_core: 5,
        split: Split::LeaveLast { n: 2 },
        validation: Validation::None {},
        seed: 42,
        noise: 0.25,
    };
    for preparation in [preparation, Preparation::default()] {
        let text = toml::to_string(&preparation).unwrap();
        assert_eq!(toml::from_str::<Preparation>(&text).unwrap(), preparation, "{text}");
    }
    assert_eq!(toml::from_str::<Preparation>("").unwrap(), Preparation::default());
    assert!(toml::from_str::<Preparation>("min_ratng = 3").unwrap_err().to_string().contains("min_ratng"));
}

fn splits() -> impl Strategy<Value = Split> {
    prop_oneof![
        (0.01..0.99).prop_map(|test| Split::Random { test }),
        (1u32..5).prop_map(|n| Split::LeaveLast { n }),
        (0.01..0.99).prop_map(|test| Split::Time { test }),
        (0.01..0.99).prop_map(|test| Split::Popularity { test }),
    ]
}

fn validations() -> impl Strategy<Value = Validation> {
    prop_oneof![
        Just(Validation::None {}),
        (0.01..0.99).prop_map(|ratio| Validation::Random { ratio }),
        (1u32..5).prop_map(|n| Validation::LeaveLast { n }),
    ]
}

proptest! {
    #[test]
    fn every_pair_is_in_exactly_one_part(
        log in prop::collection::vec((0u32..12, 0u32..12, 0i64..20), 1..120),
        split in splits(), validation in validations(), seed in 0u64..4,
    ) {
        let by_time = matches!(split, Split::Time { .. });
        let preparation = Preparation { seed, ..with(split, validation) };
        // Too small a log may leave the test set empty, which is refused and tested above.
        let Ok(set) = prepare("set", timed(&log), &preparation) else { return Ok(()) };
        let parts = [&set.train, &set.valid, &set.test].map(pairs);
        let all: BTreeSet<(u32, u32)> = log.iter().map(|&(user, item, _)| (user, item)).collect();
        prop_assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), all.len());
        prop_assert_eq!(parts.concat().into_iter().collect::<BTreeSet<_>>(), all.clone());
        if !by_time {
            for (user, _) in all {
                prop_assert!(!set.train.items_of(user).is_empty(), "user {} has no training item", user);
            }
        }
        prop_assert_eq!(prepare("set", timed(&log), &preparation).unwrap().checksum, set.checksum);
    }
}

#[test]
fn another_seed_gives_another_split_and_users_are_independent() {
    let list = grid(20, 30);
    for split in [Split::Random { test: 0.2 }, Split::Popularity { test: 0.2 }] {
        let split = |seed| {
            let preparation = Preparation { seed, ..with(split.clone(), Validation::Random { ratio: 0.2 }) };
            prepare("set", whole(&list), &preparation).unwrap()
        };
        assert_eq!(pairs(&split(1).test), pairs(&split(1).test));
        assert_ne!(pairs(&split(1).test), pairs(&split(2).test));
        assert_ne!(pairs(&split(1).valid), pairs(&split(2).valid));
        // Not all users have the same test items.
        let set = split(1);
        assert!((1..20).any(|user| set.test.items_of(user) != set.test.items_of(0)));
    }
}
