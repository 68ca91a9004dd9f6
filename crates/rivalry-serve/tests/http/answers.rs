//! What is answered is what the library computes, to the bit.

use std::sync::Barrier;

use rivalry::ranker::{Filter, Ranker, Side};
use rivalry_serve::{
    Explanation, FoundItems, FoundUsers, Lists, ModelList, Ranked, Recommendations, ScoredItem, SimilarItems,
    SimilarUsers, Source, UserHistory,
};
use serde_json::json;

use crate::support::{World, code, dsl, other, popularity};

fn pairs(items: &[ScoredItem]) -> Vec<(String, u32)> {
    items.iter().map(|item| (item.item.clone(), item.score.to_bits())).collect()
}

fn expected(ranker: &Ranker, list: impl Iterator<Item = (u32, f32)>) -> Vec<(String, u32)> {
    list.map(|(item, score)| (ranker.model().items.original(item).to_owned(), score.to_bits())).collect()
}

#[test]
fn lists_are_those_of_the_library() {
    let ranker = Ranker::new(dsl().clone()).unwrap();
    let world = World::of(dsl());
    let list = ranker.recommend(&[7], 50, &Filter::default()).unwrap();
    let id = dsl().users.original(7);
    let answer: Recommendations = world.ask(&format!("/api/recommend/{id}?n=12&offset=3"));
    assert_eq!(pairs(&answer.items), expected(&ranker, list.list(0).skip(3).take(12)));
    assert_eq!((answer.source, answer.user.as_deref(), answer.arm), (Source::Model, Some(id), None));
    let bytes = std::fs::read(world.path("model")).unwrap();
    assert_eq!(answer.model.checksum, rivalry::files::checksum::checksum(&bytes));

    // Many users, with a filter.
    let exclude: Vec<&str> = list.items(0)[..2].iter().map(|&item| dsl().items.original(item)).collect();
    let users: Vec<&str> = (0..300).map(|user| dsl().users.original(user)).collect();
    let answer: Lists = world.tell("/api/recommend", json!({ "users": users, "n": 5, "exclude": exclude }));
    let mut deny = list.items(0)[..2].to_vec();
    deny.sort_unstable();
    let dense: Vec<u32> = (0..300).collect();
    let lists = ranker.recommend(&dense, 5, &Filter { deny: &deny, ..Filter::default() }).unwrap();
    for (place, answer) in answer.lists.iter().enumerate() {
        assert_eq!(pairs(&answer.items), expected(&ranker, lists.list(place)), "user {place}");
        assert_eq!(answer.items.len(), 5, "exactly n after filtering");
    }
}

#[test]
fn requests_that_are_ranked_together_don_t_mix() {
    let ranker = Ranker::new(dsl().clone()).unwrap();
    let world = World::of(dsl());
    let threads = 24;
    let start = Barrier::new(threads);
    std::thread::scope(|scope| {
        for thread in 0..threads as u32 {
            let (world, ranker, start) = (&world, &ranker, &start);
            scope.spawn(move || {
                start.wait();
                for round in 0..8 {
                    let (user, n) = (thread * 8 + round, 1 + (thread as usize + round as usize) % 30);
                    let id = dsl().users.original(user);
                    let answer: Recommendations = world.ask(&format!("/api/recommend/{id}?n={n}"));
                    let list = ranker.recommend(&[user], n, &Filter::default()).unwrap();
                    assert_eq!(pairs(&answer.items), expected(ranker, list.list(0)), "user {user}");
                }
            });
        }
    });
    let (_, metrics) = world.get("/metrics");
    assert!(metrics.contains("rivalry_ranked_together_count"), "{metrics}");
}

#[test]
fn a_new_user_is_folded_in_and_nobody_gets_popularity() {
    let ranker = Ranker::new(dsl().clone()).unwrap();
    let world = World::of(dsl());
    let history = [3, 11, 40];
    let ids: Vec<&str> = history.iter().map(|&item| dsl().items.original(item)).collect();
    let answer: Lists = world.tell("/api/recommend", json!({ "items": ids, "n": 9 }));
    let histories =
        rivalry::data::Interactions::from_pairs(1, dsl().items.len(), history.map(|item| (0, item)));
    let lists = ranker.recommend_new(&histories, 9, &Filter::default()).unwrap();
    assert_eq!(pairs(&answer.lists[0].items), expected(&ranker, lists.list(0)));
    assert_eq!(answer.lists[0].source, Source::FoldIn);

    let include: Vec<&str> = (20..40).map(|item| dsl().items.original(item)).collect();
    let body = json!({ "items": ids, "include": include, "exclude": [include[4]], "n": 30 });
    let answer: Lists = world.tell("/api/recommend", body);
    assert_eq!(answer.lists[0].items.len(), 19);
    assert!(
        answer.lists[0].items.iter().all(|item| include.contains(&&*item.item) && item.item != include[4])
    );
    let nothing: Lists = world.tell("/api/recommend", json!({ "items": ids, "include": [] }));
    assert_eq!(nothing.lists[0].items, []);

    for path in ["/api/recommend/nobody%2F%3F%20%C3%A9", "/api/recommend/%3Cscript%3E"] {
        let answer: Recommendations = world.ask(path);
        assert_eq!((answer.source, answer.items.len()), (Source::Popularity, 20));
        assert!(answer.note.unwrap().contains("most popular"));
        let popular = Ranker::new(popularity().clone()).unwrap();
        let best = popular.recommend(&[0], 20, &Filter::NONE).unwrap();
        assert_eq!(pairs(&answer.items), expected(&popular, best.list(0)));
    }
    let unknown: Lists = world.tell("/api/recommend", json!({ "items": ["no such item"] }));
    assert_eq!(unknown.lists[0].source, Source::Popularity);
}

#[test]
fn candidates_are_ordered_and_unknown_ones_named() {
    let ranker = Ranker::new(dsl().clone()).unwrap();
    let world = World::of(dsl());
    let known = dsl().train.items_of(5)[0];
    let mut allow = vec![2, 9, 17, known];
    let candidates: Vec<&str> = allow.iter().map(|&item| dsl().items.original(item)).chain(["?"]).collect();
    allow.sort_unstable();
    let body = json!({ "user": dsl().users.original(5), "candidates": candidates });
    let answer: Ranked = world.tell("/api/rank", body);
    let lists = ranker.recommend(&[5], 4, &Filter { allow: Some(&allow), ..Filter::NONE }).unwrap();
    assert_eq!(pairs(&answer.list.items), expected(&ranker, lists.list(0)));
    assert_eq!(answer.unknown, ["?"]);
    let answer: Ranked = world.tell("/api/rank", json!({ "user": "nobody", "candidates": candidates }));
    assert_eq!((answer.list.source, answer.list.items.len()), (Source::Popularity, 4));
    let answer: Ranked = world.tell("/api/rank", json!({ "items": [candidates[0]], "candidates": ["?"] }));
    assert_eq!((answer.list.source, answer.list.items.len()), (Source::FoldIn, 0));
    assert_eq!(code(world.post("/api/rank", r#"{"candidates": []}"#)), (422, "invalid_request".to_owned()));
}

#[test]
fn neighbours_histories_and_searches() {
    let ranker = Ranker::new(dsl().clone()).unwrap();
    let world = World::with(&[("model", dsl())], |folder, options| {
        let path = folder.join("items.csv");
        let id = dsl().items.original(4);
        std::fs::write(&path, format!("id,title,url\n{id},Green <b>Tea</b>,https://example.org\n")).unwrap();
        options.items = Some(path);
    });
    let item = dsl().items.original(4);
    let answer: SimilarItems = world.ask(&format!("/api/items/{item}/similar?n=6&offset=1"));
    let lists = ranker.similar(Side::Items, &[4], 7, &Filter::default()).unwrap();
    assert_eq!(pairs(&answer.similar), expected(&ranker, lists.list(0).skip(1)));
    assert_eq!(answer.item.info.title.as_deref(), Some("Green <b>Tea</b>"));
    let user = dsl().users.original(4);
    let answer: SimilarUsers = world.ask(&format!("/api/users/{user}/similar?n=3"));
    let lists = ranker.similar(Side::Users, &[4], 3, &Filter::default()).unwrap();
    let found: Vec<&str> = lists.items(0).iter().map(|&user| dsl().users.original(user)).collect();
    assert_eq!(answer.similar.iter().map(|user| &*user.user).collect::<Vec<_>>(), found);
    let known: UserHistory = world.ask(&format!("/api/users/{user}?n=1000"));
    assert_eq!(known.train.len(), dsl().train.items_of(4).len());
    assert!(known.train.is_sorted_by(|a, b| a.score >= b.score));

    let found: FoundItems = world.ask("/api/items?q=green");
    assert_eq!(found.items.iter().map(|item| &*item.item).collect::<Vec<_>>(), [item]);
    let found: FoundItems = world.ask(&format!("/api/items?q={item}&n=5"));
    assert_eq!(found.items[0].item, item);
    let found: FoundUsers = world.ask(&format!("/api/users?q={user}&n=5"));
    assert_eq!(found.users[0], user);
    assert_eq!(code(world.get("/api/items/nothing/similar")), (404, "unknown_item".to_owned()));
    assert_eq!(code(world.get("/api/users/nobody/similar")), (404, "unknown_user".to_owned()));
    assert_eq!(code(world.get("/api/users/nobody")), (404, "unknown_user".to_owned()));
}

#[test]
fn explanations_name_reasons_rivals_and_the_temperature() {
    let world = World::with(&[("dsl", dsl()), ("plain", popularity())], |_, _| {});
    let user = dsl().users.original(7);
    let best: Recommendations = world.ask(&format!("/api/recommend/{user}?n=1"));
    let item = &best.items[0].item;
    let why: Explanation = world.tell("/api/explain", json!({ "user": user, "item": item, "n": 5 }));
    assert_eq!(why.item.score.to_bits(), best.items[0].score.to_bits());
    assert!(why.because.len() == 5 && why.because.is_sorted_by(|a, b| a.score >= b.score));
    let known = |id: &str| dsl().train.contains(7, dsl().items.dense(id).unwrap());
    assert!(why.because.iter().all(|reason| known(&reason.item)));
    assert!(why.hardest.len() == 5 && why.hardest.iter().all(|rival| rival.item.item != *item));
    assert!(why.similar.unwrap().is_sorted_by(|a, b| a.similarity >= b.similarity));
    let slate = why.slate.unwrap();
    assert!(slate.temperature > 0.0 && slate.temperature != slate.base_temperature && slate.loss == "dsl");
    assert!((0.0..=1.0).contains(&slate.competition) && slate.negatives.len() == 5);

    // Without a user there is no pair, and without embeddings no similarity.
    let ids: Vec<&str> = [3, 11].iter().map(|&item| dsl().items.original(item)).collect();
    let why: Explanation = world.tell("/api/explain", json!({ "items": ids, "item": item }));
    assert!(why.slate.is_none() && why.because.len() == 2);
    assert!((why.because.iter().map(|part| part.score).sum::<f32>() - why.fold_in_score).abs() < 1e-5);
    let why: Explanation =
        world.tell("/api/explain", json!({ "user": user, "item": item, "model": "plain" }));
    assert!(why.slate.is_none() && why.similar.is_none() && why.because.iter().all(|part| part.score == 0.0));
    let nothing = world.post("/api/explain", &json!({ "items": [], "item": item }).to_string());
    assert_eq!(code(nothing), (422, "invalid_request".to_owned()));
}

#[test]
fn models_side_by_side_are_asked_by_name_or_by_arm() {
    let world = World::with(&[("a", dsl()), ("b", other()), ("p", popularity())], |_, options| {
        options.split = vec![("a".to_owned(), 0.75), ("b".to_owned(), 0.25)];
    });
    let models: ModelList = world.ask("/api/models");
    let shares: Vec<_> = models.models.iter().map(|model| (&*model.name, model.share)).collect();
    assert_eq!(shares, [("a", Some(0.75)), ("b", Some(0.25)), ("p", Some(0.0))]);
    assert!(models.models[0].similar_items && !models.models[2].similar_items);
    assert_eq!(models.models[0].search.kind, "exact");

    let users: Vec<&str> = (0..400).map(|user| dsl().users.original(user)).collect();
    let lists: Lists = world.tell("/api/recommend", json!({ "users": users, "n": 1 }));
    let in_b = lists.lists.iter().filter(|list| list.arm.as_deref() == Some("b")).count();
    assert!((60..140).contains(&in_b), "{in_b} of 400");
    for (user, list) in users.iter().zip(&lists.lists) {
        assert_eq!(list.arm.as_ref(), Some(&list.model.name));
        let again: Recommendations = world.ask(&format!("/api/recommend/{user}?n=1"));
        assert_eq!(&again, list, "the same arm and the same list");
    }
    let named: Recommendations = world.ask(&format!("/api/recommend/{}?model=p", users[0]));
    assert_eq!((&*named.model.name, named.arm), ("p", None));
    assert_eq!(code(world.get("/api/recommend/1?model=q")), (404, "unknown_model".to_owned()));
    let similar = world.get(&format!("/api/items/{}/similar?model=p", dsl().items.original(0)));
    assert_eq!(code(similar), (422, "invalid_request".to_owned()));
}

#[cfg(feature = "hnsw")]
#[test]
fn an_approximate_index_finds_nearly_the_same_with_the_same_scores() {
    let ranker = Ranker::new(dsl().clone()).unwrap();
    let world = World::with(&[("model", dsl())], |_, options| options.approximate_from = Some(1));
    let models: ModelList = world.ask("/api/models");
    let search = &models.models[0].search;
    assert!(search.kind == "hnsw" && search.recall_at_20.unwrap() > 0.9, "{search:?}");
    for user in 0..50 {
        let exact = ranker.recommend(&[user], dsl().items.len(), &Filter::default()).unwrap();
        let exact = expected(&ranker, exact.list(0));
        let answer: Recommendations = world.ask(&format!("/api/recommend/{}", dsl().users.original(user)));
        let found = pairs(&answer.items);
        assert_eq!(found.len(), 20, "exactly n after filtering");
        assert!(
            found.iter().all(|pair| exact.contains(pair)),
            "scores are exact, and seen items are left out"
        );
    }
}
