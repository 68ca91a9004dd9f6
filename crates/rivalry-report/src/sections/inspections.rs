//! Diagnostics of a loss, for each run that was inspected.

use rivalry_runs::inspect::{Distribution, GradientShares, Inspection, Radius, Slate};
use rivalry_runs::run::quoted;

use super::count;
use crate::chart::{Bar, BarChart, BarSeries, HistogramChart, HistogramSeries, two_slates};
use crate::draw::{ColorRole, Scene, SeriesStyle};
use crate::page::{Block, Figure, RunTable, Section};
use crate::run::Run;
use crate::table::{Table, TableCell, TableColumn};

const MAX_SLATES: usize = 3;
const MAX_PAIRS: usize = 10;

pub(super) fn section(runs: &[Run]) -> Section {
    let inspected = runs.iter().filter_map(|run| Some((run, run.inspection.as_ref()?)));
    let blocks = inspected.flat_map(|(run, inspection)| blocks(run, inspection)).collect();
    Section { id: "inspections", title: "Loss diagnostics", blocks }
}

fn blocks(run: &Run, inspection: &Inspection) -> Vec<Block> {
    let name = format!("{} ({}, {})", run.name, run.loss(), inspection.data);
    let figure = |title: &str, caption: String, scene: Scene| {
        Block::Figure(Figure { title: format!("{title}, {name}"), caption, scene, runs: vec![run.index] })
    };
    let mut blocks = vec![
        Block::Heading(name.clone()),
        Block::Paragraph(sample(run, inspection)),
        Block::Paragraph(bounds(&inspection.radius)),
    ];
    for Quantity { symbol, title, description, distribution } in quantities(inspection) {
        let caption = format!("Distribution of {description}. {}", statistics(distribution));
        let series = HistogramSeries {
            name: String::new(),
            style: SeriesStyle::of(0),
            histogram: &distribution.histogram,
        };
        match (HistogramChart { x_title: symbol.to_owned(), series: vec![series] }).draw() {
            Some(scene) => blocks.push(figure(title, caption, scene)),
            None => blocks.push(Block::Paragraph(caption)),
        }
    }
    blocks.push(figure(
        "Gradient by rank",
        "Share of the gradient by the rank of the negative (1 has the highest score), mean over the pairs: for the softmax loss at the same temperature, and for the loss of the run.".to_owned(),
        gradient(&inspection.gradient, run.loss()),
    ));
    blocks.extend(radius(&inspection.radius, run.loss()).map(|scene| {
        let caption =
            "Distribution of the attained KL radius: the divergence of the weights of the negatives from uniform.";
        figure("KL radius", caption.to_owned(), scene)
    }));
    let tau = inspection.loss.get("tau").and_then(|tau| tau.as_float());
    for slates in inspection.two_slates.iter().take(MAX_SLATES) {
        let caption = format!(
            "User {}, item {}: the same positive with two samples of fifteen negatives. Points: share of the gradient of each negative, by its score, over all its draws. Horizontal bars: temperatures, on the scale of the scores.",
            slates.calm.user, slates.calm.item
        );
        blocks.push(figure("Two slates", caption, two_slates(slates, run.loss(), tau)));
    }
    for (which, slates) in [("most", &inspection.most_contested), ("least", &inspection.least_contested)] {
        if !slates.is_empty() {
            blocks.push(Block::Table(pairs_table(which, slates, run)));
        }
    }
    blocks
}

/// What was sampled, and the command that samples it again.
fn sample(run: &Run, inspection: &Inspection) -> String {
    let Inspection { epoch, seed, pairs, negatives, .. } = inspection;
    format!(
        "Model of epoch {epoch}; {} with {} each, sampled with seed {seed}. To repeat: rivalry inspect {} --pairs {pairs} --seed {seed}.",
        count(*pairs, "training pair"),
        count(*negatives, "negative"),
        quoted(&run.path),
    )
}

/// A quantity of the loss and its distribution.
struct Quantity<'a> {
    symbol: &'static str,
    title: &'static str,
    description: &'static str,
    distribution: &'a Distribution,
}

fn quantities(inspection: &Inspection) -> Vec<Quantity<'_>> {
    let kappa = inspection.kappa.as_ref().map(|distribution| Quantity {
        symbol: "κ",
        title: "Scale of the negatives",
        description: "the scale κ of each negative",
        distribution,
    });
    let competition = inspection.competition.as_ref().map(|distribution| Quantity {
        symbol: "c",
        title: "Competition",
        description: "the competition c of each pair, between 0 (uncontested) and 1 (fully contested)",
        distribution,
    });
    let temperature = inspection.temperature.as_ref().map(|distribution| Quantity {
        symbol: "τ of the pair",
        title: "Temperature",
        description: "the temperature of each pair",
        distribution,
    });
    kappa.into_iter().chain(competition).chain(temperature).collect()
}

fn statistics(distribution: &Distribution) -> String {
    let [least, _, _, median, _, _, greatest] = distribution.quantiles;
    let Distribution { mean, deviation, .. } = distribution;
    format!(
        "Mean {mean:.4}, standard deviation {deviation:.4}, median {median:.4}, range {least:.4} to {greatest:.4}."
    )
}

fn bounds(radius: &Radius) -> String {
    let bounds = &radius.bounds;
    format!(
        "Theoretical bounds, checked on {}: {} violations for the loss value, {} for the growth of the radius with sharpness; the batch mean of τ / τ(pair) deviates from 1 by at most {:.1e}.",
        count(bounds.checked, "pair"),
        bounds.value_broken,
        bounds.radius_broken,
        bounds.mean_sharpness_off
    )
}

fn gradient(shares: &GradientShares, loss: &str) -> Scene {
    let mut first = 1;
    let categories = shares.up_to_rank.iter().map(|&last| {
        let name = if first >= last { format!("{last}") } else { format!("{first}–{last}") };
        first = last + 1;
        name
    });
    let series = |name: &str, color: usize, values: &[f64]| {
        let bar = |index: usize| values.get(index).map(|share| Bar { value: share * 100.0, deviation: None });
        let bars = (0..shares.up_to_rank.len()).map(bar).collect();
        BarSeries { name: name.to_owned(), color: ColorRole::Series(color), bars }
    };
    let chart = BarChart {
        x_title: "share of the gradient, %, by rank".to_owned(),
        categories: categories.collect(),
        series: vec![series("sl", 0, &shares.sl), series(loss, 1, &shares.this_loss)],
        marks: None,
        format: |share| format!("{share:.1}"),
    };
    chart.draw()
}

fn radius(radius: &Radius, loss: &str) -> Option<Scene> {
    let both = [("sl", &radius.sl), (loss, &radius.this_loss)].into_iter().enumerate();
    let series = both.map(|(index, (name, distribution))| HistogramSeries {
        name: name.to_owned(),
        style: SeriesStyle::of(index),
        histogram: &distribution.histogram,
    });
    HistogramChart { x_title: "KL radius".to_owned(), series: series.collect() }.draw()
}

fn pairs_table(which: &str, slates: &[Slate], run: &Run) -> RunTable {
    let row = |slate: &Slate| {
        let negatives = slate.negatives.iter().take(3).map(|negative| {
            let draws = if negative.draws > 1 { format!(", ×{}", negative.draws) } else { String::new() };
            format!("{} ({:.3}{draws})", negative.item, negative.score)
        });
        vec![
            TableCell::new(&slate.user),
            TableCell::new(&slate.item),
            TableCell::new(format!("{:.4}", slate.score)),
            TableCell::new(format!("{:.4}", slate.competition)),
            TableCell::new(format!("{:.4}", slate.temperature)),
            TableCell::new(negatives.collect::<Vec<_>>().join(", ")),
        ]
    };
    let table = Table {
        caption: format!(
            "The sampled pairs with the {which} competition c, each with its highest-scored negatives and their scores; ×2 marks one that was drawn twice."
        ),
        columns: vec![
            TableColumn::text("user"),
            TableColumn::text("item"),
            TableColumn::number("score"),
            TableColumn::number("c"),
            TableColumn::number("τ"),
            TableColumn::text("highest-scored negatives"),
        ],
        rows: slates.iter().take(MAX_PAIRS).map(row).collect(),
    };
    RunTable { table, runs: vec![run.index] }
}
