//! Incomplete, damaged and foreign run folders.

use crate::support::{SMALL, World, holds};

const ALL: [&[&str]; 4] = [
    &["evaluate", "run"],
    &["recommend", "run", "--user", "user 1"],
    &["similar", "run", "--item", "item/1"],
    &["train", "--resume", "run", "--epochs", "9"],
];

#[test]
fn a_corrupt_or_foreign_model_file() {
    let world = World::with_log();
    world.train("run", &[]);
    let good = world.read("run/model.safetensors");
    let foreign = b"\x40\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}            \0\0\0\0";
    let end = good.len();
    for (what, bytes) in [
        ("empty", &[][..]),
        ("cut", &good[..end / 2]),
        ("text", b"just some text that is longer than eight bytes"),
        ("foreign", &foreign[..]),
        ("length", &[0xff; 64][..]),
    ] {
        world.write("run/model.safetensors", bytes);
        // Resuming trains the model again; see the next test.
        for command in &ALL[..3] {
            let error = world.fails(2, command);
            assert!(error.contains("model.safetensors: ") && error.contains("damaged"), "{what}: {error}");
            holds(&error, &["help: "]);
        }
    }
    // A flipped byte is found anywhere.
    for place in (0..end).step_by(end / 61) {
        let mut damaged = good.clone();
        damaged[place] ^= 0xff;
        world.write("run/model.safetensors", &damaged);
        holds(&world.fails(2, ALL[1]), &["model.safetensors: "]);
    }
}

#[test]
fn a_corrupt_checkpoint_or_record() {
    let world = World::with_log();
    world.train("run", &[]);
    let (checkpoint, model) = (world.read("run/checkpoint"), world.read("run/model.safetensors"));
    world.write("run/checkpoint", &checkpoint[..checkpoint.len() - 9]);
    // Damaged checkpoints and records are made again, with the same result.
    let again = |what: &str| {
        let (out, said) = world.ok(&["train", "--resume", "run", "--json"]);
        assert!(world.read("run/model.safetensors") == model, "{what}: {out}");
        said
    };
    std::fs::remove_file(world.path("run/metrics.json")).unwrap();
    let said = again("a checkpoint that was cut");
    holds(&said, &["checkpoint: has been changed or damaged", "restarting"]);
    world.write("run/metrics.json", "{}");
    holds(&world.fails(2, &["compare", "run", "run"]), &["metrics.json", "--resume"]);
    again("figures that were cut");
}

#[test]
fn a_config_that_was_cut_short_is_not_taken_for_one_with_defaults() {
    let world = World::with_log();
    world.train("run", &[]);
    std::fs::remove_file(world.path("run/metrics.json")).unwrap();
    // With a checksum it is found anywhere.
    let config = world.read("run/config.toml");
    world.write("run/config.toml", &config[..config.len() / 2]);
    holds(&world.fails(2, &["train", "--resume", "run"]), &["config.toml: has been changed or damaged"]);
    world.write("run/config.toml", &config);
    // Truncated at the end of a section it is still a valid config.
    let config = world.without_checksum("run/config.toml");
    for section in ["[train]", "[eval]"] {
        world.write("run/config.toml", &config[..config.find(section).unwrap()]);
        let said = world.fails(2, &["train", "--resume", "run"]);
        holds(&said, &["config.toml: the file is truncated", "help: "]);
    }
    world.write("run/config.toml", &config);
    world.ok(&["train", "--resume", "run", "--quiet"]);
}

#[test]
fn a_folder_that_is_no_run() {
    let world = World::with_log();
    world.write("run/other.txt", "");
    for command in ALL {
        holds(&world.fails(2, command), &["run: not a run", "help: "]);
    }
}

#[test]
fn data_that_changed_since() {
    let world = World::with_log();
    world.train("run", &[]);
    let text = String::from_utf8(world.read("log.csv")).unwrap();
    world.write("log.csv", &(text + "user 1,item/new,5,9999\n"));
    for command in [ALL[0], ALL[3]] {
        holds(&world.fails(2, command), &["has changed since the run was trained", "help: "]);
    }
    world.ok(ALL[1]);
}

#[test]
fn a_loss_that_becomes_non_finite_stops_and_keeps_the_last_good_checkpoint() {
    let world = World::with_log();
    let dot = ["--loss", "sl", "--set", "model.score=dot", "--batch-size", "50"];
    world.train("run", &dot);
    let config = world.without_checksum("run/config.toml");
    let config = config.replace("lr = 0.1\n", "lr = 1e30\n").replace("epochs = 4\n", "epochs = 6\n");
    assert!(config.contains("1e30") && config.contains("epochs = 6"));
    world.write("run/config.toml", &config);
    std::fs::remove_file(world.path("run/metrics.json")).unwrap();
    let error = world.fails(1, &["train", "--resume", "run", "--quiet"]);
    holds(
        &error,
        &["non-finite in epoch 5, batch 2", "checkpoint is kept in run", "smaller learning rate", "loss.tau"],
    );
    world.ok(&["recommend", "run", "--user", "user 1"]);

    let train = ["train", "--data", "log.csv", "--quiet", "--out", "new", "--lr", "1e30"];
    let output = world.run(&[&train, &dot[..], SMALL].concat());
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    holds(&said, &["non-finite in epoch 1, batch 2", "there is no checkpoint yet"]);
}
