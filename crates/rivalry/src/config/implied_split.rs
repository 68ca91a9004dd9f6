//! A fraction to hold out implies how the data are split.

/// A fraction to hold out implies a random split, unless the layers so far or this one choose another way to split by a
/// fraction. A validation fraction implies a validation set by time if the test set is.
pub(super) fn imply_split(below: &toml::Table, layer: &mut toml::Table) {
    let kind = |table: &toml::Table, of: &str| {
        let section = table.get("data")?.get("prepare")?.get(of)?;
        section.get("type")?.as_str().map(str::to_owned)
    };
    let split = kind(layer, "split").or_else(|| kind(below, "split"));
    for (of, fraction) in [("split", "test"), ("validation", "ratio")] {
        let chosen = kind(below, of).is_some_and(|kind| !["auto", "given", "none"].contains(&&*kind));
        let section = layer.get_mut("data").and_then(|data| data.get_mut("prepare")?.get_mut(of));
        let Some(toml::Value::Table(section)) = section else { continue };
        if section.contains_key(fraction) && !section.contains_key("type") && !chosen {
            let by_time = of == "validation" && split.as_deref() == Some("time");
            section.insert("type".to_owned(), if by_time { "time" } else { "random" }.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Result;
    use crate::config::{Config, setting_layer};
    use crate::data::{Split, Validation};

    fn with(settings: &[&str]) -> Result<Config> {
        let layers: Result<Vec<_>> = settings.iter().map(|setting| setting_layer(setting)).collect();
        Config::from_layers(&layers?)
    }

    #[test]
    fn a_fraction_implies_a_split() {
        let prepared = |settings: &[&str]| with(settings).map(|config| config.data.prepare);
        let (split, validation) = ("data.prepare.split", "data.prepare.validation");
        let random = prepared(&[&format!("{split}.test=0.3")]).unwrap();
        assert_eq!(random.split, Split::Random { test: 0.3 });
        let given = prepared(&[&format!("{split}.type=given"), &format!("{split}.test=0.3")]).unwrap();
        assert_eq!(given.split, random.split);
        let time = [
            &*format!("{split}.type=time"),
            &format!("{split}.test=0.3"),
            &format!("{validation}.ratio=0.2"),
        ];
        let time = prepared(&time).unwrap();
        assert_eq!(
            (time.split, time.validation),
            (Split::Time { test: 0.3 }, Validation::Time { ratio: 0.2 })
        );
        let none = prepared(&[&format!("{split}.type=none"), &format!("{validation}.ratio=0.2")]).unwrap();
        assert_eq!((none.split, none.validation), (Split::None {}, Validation::Random { ratio: 0.2 }));
        assert!(prepared(&[&format!("{split}.type=leave-last"), &format!("{split}.test=0.3")]).is_err());
    }
}
