//! Seconds of a closed-form fit, without reading the data and without evaluation.
//!
//! `cargo bench -p rivalry --bench closed_form --features rivalry/archives -- gowalla model.type=ials model.dim=256`: a known
//! data set or a path, settings of the config, and how often to fit (default 5), in any order.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::process::exit;
use std::time::Instant;

use rivalry::collective::Alone;
use rivalry::config::{Config, setting_layer, source_layer};
use rivalry::data::load;
use rivalry::models::{FitContext, Kind};
use rivalry::{InputError, Result};

fn main() {
    let (mut data, mut settings, mut turns) = (None, Vec::new(), 5);
    // Cargo passes flags of its own.
    for arg in std::env::args().skip(1).filter(|arg| !arg.starts_with("--")) {
        match arg.parse() {
            Ok(number) => turns = number,
            Err(_) if arg.contains('=') => settings.push(arg),
            Err(_) => data = Some(arg),
        }
    }
    let Some(data) = data else {
        // `cargo bench` without arguments runs every benchmark: this one has nothing to do then.
        println!(
            "closed_form: left out; it wants a data set and a model, such as -- gowalla model.type=ials"
        );
        return;
    };
    if let Err(error) = run(&data, &settings, turns) {
        eprintln!("closed_form: {error}");
        exit(1);
    }
}

fn run(data: &str, settings: &[String], turns: usize) -> Result<()> {
    let mut layers = vec![source_layer(data)];
    for setting in settings {
        layers.push(setting_layer(setting)?);
    }
    let config = Config::from_layers(&layers)?;
    let dataset = load(&config.data, &Default::default(), &mut |_| {})?;
    let Kind::ClosedForm(build) = config.model.entry().build else {
        return Err(InputError::new("this model is trained by gradients: use the bench 'stages'").into());
    };
    let model = build(config.model.params());
    for _ in 0..turns {
        let began = Instant::now();
        let mut progress = |_, _| ControlFlow::Continue(());
        let mut context = FitContext { seed: 0, progress: &mut progress, collective: &Alone };
        black_box(model.fit(&dataset.train, &mut context)?);
        println!("fit {:.2} s", began.elapsed().as_secs_f64());
    }
    Ok(())
}
