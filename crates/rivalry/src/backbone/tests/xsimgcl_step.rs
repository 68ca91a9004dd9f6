//! XSimGCL's training step: noise, the contrast and its gradients.

use super::*;

const XSIMGCL: &str = "type = 'xsimgcl'\nepsilon = 0.15\nlambda = 0.7\ntemperature = 0.3";

#[test]
fn noise_is_keyed_by_seed_and_step_and_absent_from_evaluation() {
    let x = random(1, USERS, ITEMS, 20);
    let mut backbone = build_backbone(XSIMGCL, &graph());
    let mut noisy = |seed, step| {
        let mut scored = random(7, USERS, ITEMS, 20);
        backbone.forward_training(&x, &mut scored, all_users(seed, step));
        scored
    };
    assert_eq!(noisy(1, 2), noisy(1, 2));
    assert_ne!(noisy(1, 2), noisy(1, 3));
    assert_ne!(noisy(1, 2), noisy(2, 2));
    let before = forward(&mut *build_backbone(XSIMGCL, &graph()), &x);
    assert_eq!(forward(&mut *backbone, &x), before);
    let silent = "type = 'xsimgcl'\nepsilon = 0";
    let mut scored = x.clone();
    build_backbone(silent, &graph()).forward_training(&x, &mut scored, all_users(1, 1));
    assert!(difference(&scored, &Nodes::of(&before)) < 1e-6);
}

/// Value and gradient of the own loss together with a linear loss of the scored rows, noise held fixed, against
/// differences of the plain twin.
#[test]
fn xsimgcl_loss_and_gradients_agree_with_differences() {
    let train = graph();
    let (users, items) = ([0, 3, 3, 7, 8, 1], [2, 0, 2, 9, 12, 0]);
    for layers in 2..4 {
        let (x, y) = (random(1, USERS, ITEMS, 6), random(2, USERS, ITEMS, 6));
        let mut backbone = build_backbone(&format!("{XSIMGCL}\nlayers = {layers}"), &train);
        let mut scored = x.clone();
        backbone.forward_training(&x, &mut scored, all_users(4, 9));
        let noise = plain::noise(&train, &Nodes::of(&x), layers, 0.15, all_users(4, 9));
        let value = |x: &Nodes| -> [f64; 2] {
            let (last, first) = plain::xsimgcl(&train, x, &noise);
            let own = plain::info_nce([&last, &first], &users, &items, 0.7, 0.3);
            let linear: f64 =
                last.0.iter().flatten().zip(Nodes::of(&y).0.iter().flatten()).map(|(a, b)| a * b).sum();
            [own, own + linear]
        };
        let own = backbone.auxiliary_loss(&scored, &users, &items);
        let at = Nodes::of(&x);
        assert!((own - value(&at)[0]).abs() < 1e-5, "{own} {:?}", value(&at));
        let mut grads = y.clone();
        backbone.backward(&mut grads);
        let mut expected = Nodes::of(&x);
        for row in 0..USERS + ITEMS {
            for c in 0..6 {
                let shifted = |h: f64| {
                    let mut x = Nodes::of(&x);
                    x.0[row][c] += h;
                    value(&x)[1]
                };
                expected.0[row][c] = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
            }
        }
        assert!(difference(&grads, &expected) < 1e-5, "{layers} layers");
        // The gradients were for that step alone.
        backbone.forward_training(&x, &mut scored, all_users(4, 10));
        let (mut without, mut linear) = (y.clone(), y.clone());
        backbone.backward(&mut without);
        backbone.forward(&x, &mut scored);
        backbone.backward(&mut linear);
        assert_eq!(without, linear);
    }
}
