//! What a user feels: seconds of training until the test NDCG@20 passes given marks.
//!
//! `cargo bench -p rivalry --bench time_to_quality -- gowalla 0.124 0.160 optim.lr=0.1 loss.tau=0.1`: a known data set
//! or a path, marks, and settings of the config, in any order. Without settings: MF, SL and the defaults.
//!
//! Seconds count from the start of the training, initial tables included, but for the reading of the data. The test set is
//! ranked after every epoch, and the time that takes is not counted. Looking at the test set is the
//! purpose here; it is not how an epoch should be chosen.

use std::ops::ControlFlow;
use std::process::exit;
use std::time::Instant;

use rivalry::Result;
use rivalry::config::{Config, setting_layer, source_layer};
use rivalry::data::load;
use rivalry::train::{NoCheckpoints, TrainEvent, fit};

const METRIC: &str = "NDCG@20";

fn main() {
    let mut request = Request::default();
    // Cargo passes flags of its own.
    for arg in std::env::args().skip(1).filter(|arg| !arg.starts_with("--")) {
        match arg.parse() {
            Ok(mark) => request.marks.push(mark),
            Err(_) if arg.contains('=') => request.settings.push(arg),
            Err(_) => request.data = Some(arg),
        }
    }
    if let Err(error) = request.run() {
        eprintln!("time_to_quality: {error}");
        exit(1);
    }
}

#[derive(Default)]
struct Request {
    data: Option<String>,
    marks: Vec<f64>,
    settings: Vec<String>,
}

impl Request {
    fn run(mut self) -> Result<()> {
        let (Some(data), false) = (&self.data, self.marks.is_empty()) else {
            // `cargo bench` without arguments runs every benchmark: this one has nothing to do then.
            println!(
                "time_to_quality: left out; it wants a data set and marks, such as -- gowalla 0.124 0.160"
            );
            return Ok(());
        };
        self.marks.sort_unstable_by(f64::total_cmp);
        let mut layers = vec![source_layer(data)];
        let fixed =
            ["loss.type=sl", "train.eval_every=1", "train.select=test", "eval.k=[20]"].map(str::to_owned);
        for setting in fixed.iter().chain(&self.settings) {
            layers.push(setting_layer(setting)?);
        }
        let config = Config::from_layers(&layers)?;
        let dataset = load(&config.data, &Default::default(), &mut |_| {})?;
        println!("{data}, {} threads, {}", rayon::current_num_threads(), self.settings.join(" "));
        println!();
        println!("| {METRIC} passes | after epoch | training seconds | {METRIC} there |");
        println!("|---:|---:|---:|---:|");
        let (mut marks, mut best) = (self.marks.iter().peekable(), 0.0);
        let began = Instant::now();
        let mut watch = |event: &TrainEvent<'_>| {
            let TrainEvent::Evaluated(record) = event else { return ControlFlow::Continue(()) };
            let value = record.test.as_ref().map_or(0.0, |test| test[METRIC]);
            best = value.max(best);
            let seconds = began.elapsed().as_secs_f64() - record.seconds.eval;
            while let Some(mark) = marks.next_if(|&&mark| value > mark) {
                println!("| {mark} | {} | {seconds:.2} | {value:.4} |", record.epoch);
            }
            if marks.peek().is_none() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        fit(&dataset, &config, None, &mut NoCheckpoints, &mut watch)?;
        for mark in marks {
            println!(
                "| {mark} | not within {} epochs | – | {best:.4} at best |",
                config.gradient.as_ref().map_or(0, |gradient| gradient.train.epochs)
            );
        }
        Ok(())
    }
}
