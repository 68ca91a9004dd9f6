//! Rankings against sorting everything, and what filters leave.

use super::*;
use crate::Error;
use crate::backbone::{Embeddings, Score};
use crate::scorer::EmbeddingScorer;

fn scorer(users: Matrix, items: Matrix) -> EmbeddingScorer<'static> {
    EmbeddingScorer::new(Embeddings { users, items }, Score::Dot)
}

/// More than one block each way; small whole numbers, so that scores are exact and ties abound.
fn tables() -> (Matrix, Matrix, Interactions) {
    let (n_users, n_items) = (QUERIES + 9, 2 * 512 + 77);
    let users = Matrix::from_fn(n_users, 5, |r, c| ((r * 7 + c * 3) % 5) as f32 - 2.0);
    let items = Matrix::from_fn(n_items, 5, |r, c| ((r * 11 + c * r) % 7) as f32 - 3.0);
    let seen =
        (0..n_users as u32).flat_map(|u| (0..60).map(move |i| (u, (u * 31 + i * i * 5) % n_items as u32)));
    (users, items, Interactions::from_pairs(n_users, n_items, seen))
}

fn naive(scorer: &dyn Scorer, user: u32, keep: impl Fn(u32) -> bool, k: usize) -> Vec<u32> {
    let scores = scorer.reference_scores(user).scores;
    let mut all: Vec<u32> = (0..scorer.n_items() as u32).filter(|&item| keep(item)).collect();
    all.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]));
    all.truncate(k);
    all
}

fn ranked(scorer: &dyn Scorer, users: &[u32], candidates: &Candidates<'_>, k: usize) -> Result<RankedLists> {
    rank(scorer, &scorer.query(users), users, candidates, k)
}

#[test]
fn lists_agree_with_sorting_everything() {
    let (users, items, seen) = tables();
    let scorer = scorer(users, items);
    let targets: Vec<u32> = (0..scorer.n_users() as u32).rev().collect();
    let allow: Vec<u32> = (0..scorer.n_items() as u32).filter(|item| item % 3 == 1).collect();
    for k in [1, 20, 300] {
        let all = Candidates::all(scorer.n_items()).without(Mask::OfUser(&seen, &targets));
        let lists = ranked(&scorer, &targets, &all, k).unwrap();
        let some = all.allow(Some(&allow)).deny(&[1, 4, 22]);
        let filtered = ranked(&scorer, &targets, &some, k).unwrap();
        for (n, &user) in targets.iter().enumerate() {
            let free = |item: u32| !seen.contains(user, item);
            assert_eq!(lists.items(n), naive(&scorer, user, free, k), "user {user}, k = {k}");
            assert!(lists.scores(n).is_sorted_by(|a, b| a >= b));
            let allowed = |item: u32| free(item) && item % 3 == 1 && ![1, 4, 22].contains(&item);
            assert_eq!(filtered.items(n), naive(&scorer, user, allowed, k), "user {user}, k = {k}");
        }
    }
}

#[test]
fn lists_do_not_depend_on_threads_or_on_the_other_queries() {
    let (_, _, seen) = tables();
    let wave = |r: usize, c: usize| ((r * 13 + c * 5) as f32).sin();
    let users = Matrix::from_fn(seen.n_users(), 24, wave);
    let scorer = scorer(users, Matrix::from_fn(seen.n_items(), 24, |r, c| wave(c, r)));
    let targets: Vec<u32> = (0..scorer.n_users() as u32).collect();
    let candidates = Candidates::all(scorer.n_items()).without(Mask::OfUser(&seen, &targets));
    let with_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| ranked(&scorer, &targets, &candidates, 10).unwrap())
    };
    let lists = with_threads(1);
    assert_eq!(lists, with_threads(3));
    let candidates = Candidates::all(scorer.n_items()).without(Mask::OfUser(&seen, &[77]));
    let alone = ranked(&scorer, &[77], &candidates, 10).unwrap();
    assert_eq!((alone.items(0), alone.scores(0)), (lists.items(77), lists.scores(77)));
    // Nor on which other items are candidates.
    let listed = {
        let mut items = alone.items(0).to_vec();
        items.sort_unstable();
        items
    };
    let few = ranked(&scorer, &[77], &Candidates::all(scorer.n_items()).allow(Some(&listed)), 10).unwrap();
    assert_eq!((few.items(0), few.scores(0)), (alone.items(0), alone.scores(0)));
}

#[test]
fn a_user_with_every_item_gets_an_empty_list() {
    let scorer = scorer(Matrix::zeros(2, 4), Matrix::zeros(3, 4));
    let seen = Interactions::from_pairs(2, 3, [(0, 0), (0, 1), (0, 2), (1, 1)]);
    let candidates = Candidates::all(3).without(Mask::OfUser(&seen, &[0, 1]));
    let lists = ranked(&scorer, &[0, 1], &candidates, 9).unwrap();
    assert_eq!((lists.items(0), lists.items(1)), (&[][..], &[0, 2][..]));
}

#[test]
fn a_nan_score_names_its_user() {
    let (mut users, items, _) = tables();
    users.row_mut(130)[2] = f32::NAN;
    users.row_mut(3)[1] = f32::NAN;
    let scorer = scorer(users, items);
    let error = ranked(&scorer, &[2, 130, 3], &Candidates::all(scorer.n_items()), 5).unwrap_err();
    assert!(matches!(error, Error::NanScore { user: 130 }), "{error}");
    assert!(ranked(&scorer, &[2], &Candidates::all(scorer.n_items()), 0).is_err());
}

#[test]
fn similarity_is_the_cosine() {
    let items = Matrix::from_dense(4, 2, &[1.0, 0.0, 10.0, 10.0, 0.0, 0.0, -3.0, 0.5]).unwrap();
    let scorer = scorer(Matrix::zeros(1, 2), items);
    let similarity = scorer.item_similarity().unwrap();
    let candidates = Candidates::all(4).without(Mask::Itself(&[0]));
    let found = ranked(similarity, &[0], &candidates, 2).unwrap();
    assert_eq!((found.items(0), found.scores(0)[1]), (&[1, 2][..], 0.0));
    assert!((f64::from(found.scores(0)[0]) - 0.5f64.sqrt()).abs() < 1e-6);
}

/// A model of random embeddings on a generated data set.
fn trained(score: &str, model: &str) -> Ranker {
    let settings = format!(
        "model = {{ type = '{model}', score = '{score}' }}\nloss.type = 'sl'\ntrain = {{ epochs = 1, negatives = 20 }}"
    );
    let settings = if model == "popularity" { "model.type = 'popularity'".to_owned() } else { settings };
    let layers = [crate::config::source_layer("synthetic"), settings.parse().unwrap()];
    let config = crate::config::Config::from_layers(&layers).unwrap();
    let data = crate::data::load(&config.data, &Default::default(), &mut |_| {}).unwrap();
    let fitted = crate::train::fit(
        &data,
        &config,
        None,
        &mut crate::train::NoCheckpoints,
        &mut crate::train::NoObserver,
    );
    let crate::train::Fitted::Done(fit) = fitted.unwrap() else { panic!() };
    Ranker::new(fit.into_model(&data, config)).unwrap()
}

#[test]
fn contributions_of_embeddings_add_up_to_the_score_of_a_new_user() {
    for score in ["cosine", "dot"] {
        let ranker = trained(score, "mf");
        let history = ranker.model().train.items_of(3);
        let explained = ranker.explain(history, 5).unwrap();
        let sum: f64 = explained.contributions.iter().map(|c| f64::from(c.contribution)).sum();
        assert!((sum - f64::from(explained.score)).abs() < 1e-5, "{score}: {sum} {}", explained.score);
        assert_eq!(explained.contributions.len(), history.len());
        assert!(explained.contributions.is_sorted_by(|a, b| a.contribution >= b.contribution));
    }
    // A model that ignores the history owes nothing to it.
    let ranker = trained("cosine", "popularity");
    let explained = ranker.explain(&[1, 2, 3], 5).unwrap();
    assert!(explained.contributions.iter().all(|c| c.contribution == 0.0));
    assert!(ranker.explain(&[1, 99_999], 5).is_err() && ranker.explain(&[1], 99_999).is_err());
}

#[test]
fn rivals_are_the_highest_scores_and_the_nearest_items() {
    let ranker = trained("cosine", "mf").compact();
    let lists = ranker.recommend(&[3], 6, &Filter::default()).unwrap();
    let item = lists.items(0)[2];
    let rivals = ranker.rivals(RivalsOf::User(3), item, 5, &Filter::default()).unwrap();
    let others: Vec<u32> = lists.items(0).iter().copied().filter(|&other| other != item).collect();
    assert_eq!(rivals.hardest.iter().map(|rival| rival.item).collect::<Vec<_>>(), others);
    let near = ranker.similar(Side::Items, &[item], 5, &Filter::default()).unwrap();
    let similar = rivals.similar.unwrap();
    assert_eq!(similar.iter().map(|rival| rival.item).collect::<Vec<_>>(), near.items(0));
    // Each number is the one that the model gives when asked directly.
    let all = ranker.recommend(&[3], ranker.model().items.len(), &Filter::NONE).unwrap();
    assert!(similar.iter().all(|rival| all.list(0).any(|pair| pair == (rival.item, rival.score))));
    let popularity = trained("cosine", "popularity");
    assert_eq!(popularity.rivals(RivalsOf::User(3), item, 5, &Filter::default()).unwrap().similar, None);
}
