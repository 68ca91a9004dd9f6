//! From a CSV file to a model file: `cargo run --release -p rivalry --example train_csv [log.csv]`
//!
//! Without a file, a small log is written and used.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rivalry::config::{Config, source_layer};
use rivalry::data::{self, LoadOptions};
use rivalry::train::{self, Fitted, NoCheckpoints, TrainEvent};

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1) {
        Some(log) => train(&PathBuf::from(log)),
        None => train_on_a_small_log(),
    }
}

fn train_on_a_small_log() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("log.csv");
    write_log(&log)?;
    train(&log)
}

fn train(log: &Path) -> Result<(), Box<dyn Error>> {
    // Layers lie over each other; what none of them sets has its default.
    let settings = "loss = { type = 'sl', tau = 0.2 }
                    train = { epochs = 10, negatives = 50 }
                    data.prepare = { user_core = 5, split = { type = 'random', test = 0.2 } }";
    let config = Config::from_layers(&[source_layer(&log.to_string_lossy()), settings.parse()?])?;
    let dataset = data::load(&config.data, &LoadOptions::default(), &mut |_| {})?;
    dataset.notes.iter().for_each(|note| println!("note: {note}"));

    let mut observer = |event: &TrainEvent<'_>| {
        if let TrainEvent::Evaluated(record) = event {
            println!("epoch {}: loss {:.4}", record.epoch, record.loss);
        }
        ControlFlow::Continue(()) // `Break` would stop the training, ready to be resumed
    };
    let fitted = train::fit(&dataset, &config, None, &mut NoCheckpoints, &mut observer)?;
    let Fitted::Done(fit) = fitted else { return Ok(()) };
    println!("test NDCG@20 {:.4}", fit.outcome.test["NDCG@20"]);

    let file = log.with_extension("safetensors");
    fit.into_model(&dataset, config).save(&file)?;
    println!("{}: {} bytes", file.display(), std::fs::metadata(&file)?.len());
    Ok(())
}

/// 60 users with 12 items each, of which most are of the user's own kind.
fn write_log(path: &Path) -> std::io::Result<()> {
    let mut text = String::from("user,item\n");
    for user in 0..60 {
        for n in 0..12 {
            let item =
                if n < 9 { user % 3 + 3 * ((user * 7 + n * 5) % 20) } else { (user * 11 + n * 17) % 60 };
            text += &format!("user-{user},item-{item}\n");
        }
    }
    std::fs::write(path, text)
}

#[test]
fn runs() {
    train_on_a_small_log().unwrap();
}
