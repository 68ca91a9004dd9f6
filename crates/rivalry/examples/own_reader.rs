//! Data of your own kind: interactions that are in no file, or in a format that Rivalry does not read.
//!
//! `cargo run --release -p rivalry --example own_reader`

use std::error::Error;

use rivalry::config::Config;
use rivalry::data::{Interner, Preparation, RawData, RawParts, Records, Split, prepare};
use rivalry::train::{self, Fitted, NoCheckpoints, NoObserver};

// ANCHOR: reader
/// A line for each user: the name, a colon, the items separated by spaces.
fn read(text: &str) -> Result<RawData, rivalry::InputError> {
    let (mut users, mut items) = (Interner::default(), Interner::default());
    let mut records = Records::default();
    for (line, number) in text.lines().zip(1..) {
        let (user, rest) = line
            .split_once(':')
            .ok_or_else(|| rivalry::InputError::new(format!("line {number} has no colon: '{line}'")))?;
        for item in rest.split_whitespace() {
            records.user.push(users.intern(user)?);
            records.item.push(items.intern(item)?);
        }
    }
    let (users, items) = (users.finish(), items.finish());
    Ok(RawData { users, items, parts: RawParts::Whole(records), notes: vec![], reading: None })
}
// ANCHOR_END: reader

fn main() -> Result<(), Box<dyn Error>> {
    let line = |user: usize| {
        let items: Vec<String> =
            (0..10).map(|n| format!("i{}", (user % 4) * 10 + (user + 3 * n) % 15)).collect();
        format!("u{user}: {}", items.join(" "))
    };
    let text: Vec<String> = (0..80).map(line).collect();

    let preparation = Preparation { split: Split::Random { test: 0.2 }, ..Preparation::default() };
    let dataset = prepare("my-data", read(&text.join("\n"))?, &preparation)?;
    let config = Config::from_layers(&["model.type = 'item-knn'".parse()?])?;
    let fitted = train::fit(&dataset, &config, None, &mut NoCheckpoints, &mut NoObserver)?;
    let Fitted::Done(fit) = fitted else { return Ok(()) };
    println!("test NDCG@20 {:.4}", fit.outcome.test["NDCG@20"]);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}

#[test]
fn a_line_without_a_colon_is_refused_by_number() {
    let error = read("ann: tea\nbob milk").unwrap_err().to_string();
    assert!(error.contains("line 2"), "{error}");
}
