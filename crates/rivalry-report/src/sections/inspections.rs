//! What a loss does inside, for each run that was inspected.

use rivalry_runs::inspect::{Distribution, GradientShares, Inspection, Radius, Slate};
use rivalry_runs::run::quoted;

use super::count;
use crate::chart::{BarSeries, Bars, HistogramSeries, Histograms, two_slates};
use crate::draw::{Ink, Scene, Style};
use crate::page::{Block, Cell, Column, Figure, Section, Table};
use crate::run::Run;

/// Pairs of slates that are drawn; each shows the same in other numbers.
const MOST_SLATES: usize = 3;
const MOST_PAIRS: usize = 10;

pub(super) fn section(runs: &[Run]) -> Section {
    let inspected = runs.iter().filter_map(|run| Some((run, run.inspection.as_ref()?)));
    let blocks = inspected.flat_map(|(run, inspection)| blocks(run, inspection)).collect();
    Section { id: "inspections", title: "Inside the loss", blocks }
}

fn blocks(run: &Run, inspection: &Inspection) -> Vec<Block> {
    let Inspection { epoch, seed, pairs, negatives, .. } = inspection;
    let name = format!("{} ({}, {})", run.name, run.loss(), inspection.data);
    let [pairs, negatives] = [count(*pairs, "training pair"), count(*negatives, "negative")];
    let text = format!(
        "The model of epoch {epoch}; {pairs} with {negatives} each, drawn with seed {seed}. Inspect the run again: rivalry inspect {} --pairs {} --seed {seed}.",
        quoted(&run.path),
        inspection.pairs
    );
    let figure = |title: String, caption: String, scene: Scene| {
        Block::Figure(Figure { title: format!("{title}, {name}"), caption, scene, runs: vec![run.number] })
    };
    let mut blocks =
        vec![Block::Heading(name.clone()), Block::Prose(text), Block::Prose(theory(&inspection.radius))];
    let alone = [
        ("κ", "Scale of the negatives", "the scale κ of each negative", &inspection.kappa),
        (
            "c",
            "Competition",
            "the competition c of each pair: 0 is calm, 1 fully contested",
            &inspection.competition,
        ),
        ("τ of the pair", "Temperature", "the temperature of each pair", &inspection.temperature),
    ];
    for (x, title, what, distribution) in alone {
        let Some(distribution) = distribution else { continue };
        let series = vec![HistogramSeries {
            name: String::new(),
            style: Style::of(0),
            histogram: &distribution.histogram,
        }];
        let caption = format!("Distribution of {what}. {}", told(distribution));
        match (Histograms { x: x.to_owned(), series }).draw() {
            Some(scene) => blocks.push(figure(title.to_owned(), caption, scene)),
            None => blocks.push(Block::Prose(caption)),
        }
    }
    blocks.push(figure(
        "Gradient by rank".to_owned(),
        "Share of the gradient that goes to negatives of a rank (1 is the highest score), mean over the pairs: the softmax loss at the same temperature, and the run's own loss.".to_owned(),
        gradient(&inspection.gradient, run.loss()),
    ));
    blocks.extend(radius(&inspection.radius, run.loss()).map(|scene| {
        figure(
            "KL radius".to_owned(),
            "Distribution of the attained KL radius: how far the weights of the negatives are from even."
                .to_owned(),
            scene,
        )
    }));
    let tau = inspection.loss.get("tau").and_then(|tau| tau.as_float());
    for slates in inspection.two_slates.iter().take(MOST_SLATES) {
        let caption = format!(
            "User {}, item {}: the same positive with two samples of fifteen negatives. Points: each negative's share of the gradient by its score. Rulers: temperatures, on the scale of the scores.",
            slates.calm.user, slates.calm.item
        );
        blocks.push(figure("Two slates".to_owned(), caption, two_slates(slates, run.loss(), tau)));
    }
    for (which, slates) in [("most", &inspection.most_contested), ("least", &inspection.least_contested)] {
        if !slates.is_empty() {
            blocks.push(Block::Table(pairs_table(which, slates, run)));
        }
    }
    blocks
}

fn told(distribution: &Distribution) -> String {
    let [least, _, _, median, _, _, greatest] = distribution.quantiles;
    let Distribution { mean, deviation, .. } = distribution;
    format!(
        "Mean {mean:.4}, standard deviation {deviation:.4}, median {median:.4}, from {least:.4} to {greatest:.4}."
    )
}

fn theory(radius: &Radius) -> String {
    let bounds = &radius.bounds;
    format!(
        "What theory says was checked on {}: the bounds of the value failed for {}, the growth of the radius with sharpness for {}; the mean of 1/τ over a batch times τ is at most {:.1e} off one.",
        count(bounds.checked, "pair"),
        bounds.value_broken,
        bounds.radius_broken,
        bounds.mean_sharpness_off
    )
}

fn gradient(shares: &GradientShares, own: &str) -> Scene {
    let mut first = 1;
    let categories = shares.up_to_rank.iter().map(|&last| {
        let name = if first >= last { format!("{last}") } else { format!("{first}–{last}") };
        first = last + 1;
        name
    });
    let series = |name: &str, ink: usize, values: &[f64]| {
        let at = |place: usize| values.get(place).map(|share| (share * 100.0, None));
        let values = (0..shares.up_to_rank.len()).map(at).collect();
        BarSeries { name: name.to_owned(), ink: Ink::Series(ink), values }
    };
    let bars = Bars {
        axis: "share of the gradient, %, by rank".to_owned(),
        categories: categories.collect(),
        series: vec![series("sl", 0, &shares.sl), series(own, 1, &shares.this_loss)],
        marks: None,
        write: |share| format!("{share:.1}"),
    };
    bars.draw()
}

fn radius(radius: &Radius, own: &str) -> Option<Scene> {
    let both = [("sl", &radius.sl), (own, &radius.this_loss)].into_iter().enumerate();
    let series = both.map(|(index, (name, distribution))| HistogramSeries {
        name: name.to_owned(),
        style: Style::of(index),
        histogram: &distribution.histogram,
    });
    let series = series.collect();
    Histograms { x: "KL radius".to_owned(), series }.draw()
}

fn pairs_table(which: &str, slates: &[Slate], run: &Run) -> Table {
    let row = |slate: &Slate| {
        let rivals = slate.negatives.iter().take(3).map(|n| format!("{} ({:.3})", n.item, n.score));
        vec![
            Cell::plain(&slate.user),
            Cell::plain(&slate.item),
            Cell::plain(format!("{:.4}", slate.score)),
            Cell::plain(format!("{:.4}", slate.competition)),
            Cell::plain(format!("{:.4}", slate.temperature)),
            Cell::plain(rivals.collect::<Vec<_>>().join(", ")),
        ]
    };
    let [score, competition, temperature] = ["score", "c", "τ"].map(Column::number);
    Table {
        caption: format!(
            "The {which} contested of the sampled pairs, with their strongest negatives and the scores of these."
        ),
        columns: vec![
            Column::text("user"),
            Column::text("item"),
            score,
            competition,
            temperature,
            Column::text("strongest negatives"),
        ],
        rows: slates.iter().take(MOST_PAIRS).map(row).collect(),
        runs: vec![run.number],
    }
}
