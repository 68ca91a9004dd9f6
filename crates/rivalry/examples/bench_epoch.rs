use rivalry::config::{Config, setting_layer, source_layer};
use rivalry::train::*;
use std::ops::ControlFlow;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut layers = vec![source_layer(&args[0])];
    for s in &args[1..] {
        layers.push(setting_layer(s).unwrap());
    }
    let config = Config::from_layers(&layers).unwrap();
    let t = std::time::Instant::now();
    let d =
        rivalry::data::load(&config.data.source, &config.data.read, &config.data.prepare, None, &mut |_| {})
            .unwrap();
    eprintln!(
        "loaded in {:?}: {} users {} items {} {} {}",
        t.elapsed(),
        d.users.len(),
        d.items.len(),
        d.train.len(),
        d.valid.len(),
        d.test.len()
    );
    let mut obs = |e: &Event<'_>| {
        if let Event::Evaluated(r) = e {
            eprintln!(
                "{} {:.4} {:?} {:?}",
                r.epoch,
                r.loss,
                r.valid.as_ref().map(|v| (v["NDCG@20"], v["Recall@20"])),
                r.seconds
            );
        }
        ControlFlow::Continue(())
    };
    let Fitted::Done(f) = fit(&d, &config, None, &mut Nowhere, &mut obs).unwrap() else { panic!() };
    println!("{}", serde_json::to_string_pretty(&f.outcome).unwrap());
}
