// What the targets share.

#[path = "inputs.rs"]
mod inputs;

/// The target of that name among the inputs.
macro_rules! fuzz {
    ($name:literal) => {
        libfuzzer_sys::fuzz_target!(
            init: {
                // The fuzzer's own hook ends the process at once, also where a decoder's panic would have been caught.
                // What is not caught still ends it.
                std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
            },
            |bytes: &[u8]| {
                let (_, input) = inputs::INPUTS.iter().find(|(name, _)| *name == $name).expect("a known kind of input");
                input(bytes);
            }
        );
    };
}
