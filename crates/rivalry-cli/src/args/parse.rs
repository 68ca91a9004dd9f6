//! The arguments of the process, with errors in words.

use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches};

use super::Cli;

/// What parsers of numbers say, and what it means.
const WORDS: [(&str, &str); 5] = [
    ("invalid digit found in string", "expected a whole number"),
    ("number too large to fit in target type", "the number is too large"),
    ("cannot parse integer from empty string", "expected a whole number"),
    ("cannot parse float from empty string", "expected a number"),
    ("invalid float literal", "expected a number"),
];

/// The arguments of this process; errors are printed, and end it.
pub fn parse() -> Cli {
    let matches = with_negative_numbers(Cli::command()).try_get_matches();
    match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) if error.kind() == ErrorKind::ValueValidation => {
            crate::output::say(in_words(&error.to_string()).trim_end());
            std::process::exit(error.exit_code())
        }
        Err(error) => error.exit(),
    }
}

/// A negative number is a value, and not a flag that doesn't exist: the error is about the value then.
fn with_negative_numbers(command: Command) -> Command {
    let command = command.mut_args(|arg| match arg.get_action().takes_values() {
        true => arg.allow_negative_numbers(true),
        false => arg,
    });
    command.mut_subcommands(with_negative_numbers)
}

fn in_words(error: &str) -> String {
    WORDS.iter().fold(error.to_owned(), |text, (parser, plain)| text.replace(parser, plain))
}
