#![no_main]
include!("../target.rs");
fuzz!("jsonl");
