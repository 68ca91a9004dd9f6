//! Structs of settings whose doc comments are also the reference of these settings.

/// A field of a struct of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The key in a config.
    pub name: &'static str,
    /// The type as it is written in Rust.
    pub rust_type: &'static str,
    /// The lines of its documentation.
    pub docs: &'static [&'static str],
}

impl Field {
    /// Its documentation as one line.
    pub fn doc(&self) -> String {
        let lines = self.docs.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" ").trim_end_matches('.').replace('`', "'")
    }
}

/// Declares a struct of settings: the struct as it is written, and [`Field`]s with the documentation of those that are
/// settings (not `#[serde(skip)]`).
#[doc(hidden)]
#[macro_export]
macro_rules! declared {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$($attr:tt)*])* $field_vis:vis $field:ident: $kind:ty,)*
    }) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$($attr)*])* $field_vis $field: $kind,)*
        }

        impl $name {
            /// The settings, as they are declared.
            $vis fn fields() -> impl Iterator<Item = $crate::declared::Field> {
                let all = [$((
                    $crate::declared::Field {
                        name: stringify!($field),
                        rust_type: stringify!($kind),
                        docs: &[$($crate::declared!(@doc $($attr)*)),*],
                    },
                    [$($crate::declared!(@skipped $($attr)*)),*].contains(&true),
                )),*];
                all.into_iter().filter(|(_, skipped)| !skipped).map(|(field, _)| field)
            }
        }
    };
    (@doc doc = $doc:literal) => { $doc };
    (@doc $($other:tt)*) => { "" };
    (@skipped serde(skip)) => { true };
    (@skipped $($other:tt)*) => { false };
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    declared! {
        /// Settings.
        #[derive(Default, Serialize)]
        struct Settings {
            /// The number of `things`,
            /// counted from one.
            #[serde(rename = "n")]
            things: usize,
            /// Not a setting.
            #[serde(skip)]
            hidden: bool,
        }
    }

    #[test]
    fn fields_have_their_documentation() {
        let fields: Vec<_> = Settings::fields().collect();
        assert_eq!((fields.len(), fields[0].name, fields[0].rust_type), (1, "things", "usize"));
        assert_eq!(fields[0].doc(), "The number of 'things', counted from one");
        assert!(!Settings::default().hidden);
    }
}
