//! Evaluation by full ranking: means, values per user, popular and rare items.
//!
//! `cargo run --release -p rivalry --example evaluate`

use std::error::Error;

use rivalry::config::{Config, source_layer};
use rivalry::data::{self, LoadOptions};
use rivalry::eval::{EvalOptions, EvalPart, MetricAt, evaluate};
use rivalry::train::{self, Fitted, NoCheckpoints, NoObserver};

fn main() -> Result<(), Box<dyn Error>> {
    let config = Config::from_layers(&[source_layer("synthetic"), "model.type = 'ease'".parse()?])?;
    let dataset = data::load(&config.data, &LoadOptions::default(), &mut |_| {})?;
    let fitted = train::fit(&dataset, &config, None, &mut NoCheckpoints, &mut NoObserver)?;
    let Fitted::Done(fit) = fitted else { return Ok(()) };
    let model = fit.into_model(&dataset, config);

    let options = EvalOptions {
        k: vec![5, 20],
        buckets: true,
        beyond_accuracy: true,
        per_user: true,
        ..Default::default()
    };
    let evaluation = evaluate(&*model.scorer()?, &dataset, EvalPart::Test, &options)?;
    for (metric, value) in evaluation.metrics.iter() {
        println!("{metric:14} {value:.4}");
    }
    if let (Some(head), Some(tail)) = (&evaluation.head, &evaluation.tail) {
        let [head, tail] = [head, tail].map(|bucket| bucket.metrics["NDCG@20"]);
        println!("NDCG@20 of popular items {head:.4}, of rare items {tail:.4}");
    }
    if let Some(values) = evaluation.per_user.as_ref().and_then(|all| all.values.get(&MetricAt::ndcg(20))) {
        let nothing = values.iter().filter(|&&value| value == 0.0).count();
        println!("{nothing} of {} users get nothing right among the first 20", values.len());
    }
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
