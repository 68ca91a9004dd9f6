//! The words of commands in a shell script, as far as the documentation needs them: comments, quotes, loops over words,
//! pipes, redirections, here documents and lines that go on.

use std::collections::BTreeMap;

/// The commands of a script, as words. A variable of a loop has its first value.
pub fn commands(script: &str) -> Vec<Vec<String>> {
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    let mut commands = Vec::new();
    for mut words in split(&without_here_documents(script)) {
        for word in &mut words {
            for (name, value) in &values {
                *word = word.replace(&format!("${name}"), value);
            }
        }
        if let Some(at) = words.iter().position(|word| word == "for")
            && let [_, name, _, value, ..] = &words[at..]
        {
            values.insert(name.clone(), value.clone());
        }
        commands.push(words);
    }
    commands
}

fn without_here_documents(script: &str) -> String {
    let mut kept = String::new();
    let mut lines = script.lines();
    while let Some(line) = lines.next() {
        kept.push_str(line);
        kept.push('\n');
        if let Some((_, end)) = line.split_once("<<") {
            let end = end.trim();
            lines.by_ref().take_while(|line| *line != end).for_each(drop);
        }
    }
    kept
}

fn split(script: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut redirected = false;
    let mut characters = script.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' if characters.peek() == Some(&'\n') => {
                characters.next();
            }
            '#' if word.is_none() => while characters.next_if(|c| *c != '\n').is_some() {},
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                word.extend(characters.by_ref().take_while(|next| *next != c));
            }
            ' ' | '\n' | ';' | '|' | '&' | '>' | '<' => {
                // The number of a stream is no word, and neither is where it goes.
                let stream = "<>".contains(c) && word.as_ref().is_some_and(|word| word.parse::<u8>().is_ok());
                if let Some(word) = word.take().filter(|_| !stream)
                    && !std::mem::take(&mut redirected)
                {
                    commands.last_mut().unwrap().push(word);
                }
                if "<>".contains(c) {
                    while characters.next_if(|c| " <>&".contains(*c)).is_some() {}
                    redirected = true;
                } else if c != ' ' {
                    commands.push(Vec::new());
                }
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    if let Some(word) = word.filter(|_| !redirected) {
        commands.last_mut().unwrap().push(word);
    }
    commands.retain(|command| !command.is_empty());
    commands
}

#[test]
fn words_are_those_that_a_shell_passes_on() {
    let words = |script: &str| commands(script).iter().map(|words| words.join(" ")).collect::<Vec<_>>();
    assert_eq!(words("a --b 'c d' | e   # f\n"), ["a --b c d", "e"]);
    assert_eq!(words("a \\\n  --b\nc 2>&1 > d || e"), ["a --b", "c", "e"]);
    assert_eq!(words("cat > a <<END\nx; y\nEND\nb"), ["cat", "b"]);
    assert_eq!(
        words("for s in 0 1; do a --s $s --out x-$s; done"),
        ["for s in 0 1", "do a --s 0 --out x-0", "done"]
    );
    assert_eq!(commands("a ''")[0], ["a", ""]);
}
