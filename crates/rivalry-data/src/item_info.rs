//! Titles, links and pictures of items, from a CSV file.

use std::collections::HashMap;
use std::path::Path;

use crate::{Error, InputError, Result};

/// What people see of an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemInfo {
    /// The title.
    pub title: Option<String>,
    /// A link, over http or https.
    pub url: Option<String>,
    /// The address of a picture, over http or https.
    pub image: Option<String>,
}

/// What is known of the items, by original id.
#[derive(Clone, Debug, Default)]
pub struct ItemTable(HashMap<String, ItemInfo>);

impl ItemTable {
    /// Reads a table with a header. The column `id` (or `item`, `item_id`) is required; `title`, `url` and `image` are read
    /// where they are; other columns are ignored.
    ///
    /// # Errors
    /// If the file can't be read or is not such a table; the error names the line.
    pub fn read(path: &Path) -> Result<Self> {
        let broken = |error: csv::Error| -> Error {
            let line = error.position().map_or(1, csv::Position::line);
            match error.into_kind() {
                csv::ErrorKind::Io(error) => Error::io("read", path, error),
                other => {
                    InputError::new(format!("not a table of items: {other:?}")).file(path).line(line).into()
                }
            }
        };
        let mut reader = csv::Reader::from_path(path).map_err(broken)?;
        let header = reader.headers().map_err(broken)?.clone();
        let column =
            |names: &[&str]| header.iter().position(|name| names.contains(&&*name.trim().to_lowercase()));
        let Some(id) = column(&["id", "item", "item_id"]) else {
            let what = "there is no column 'id'";
            return Err(InputError::new(what)
                .file(path)
                .line(1)
                .help("start with: id,title,url,image")
                .into());
        };
        let (title, url, image) = (column(&["title", "name"]), column(&["url", "link"]), column(&["image"]));
        if [title, url, image].iter().all(Option::is_none) {
            let found = header.iter().collect::<Vec<_>>().join(", ");
            let what = format!("there is no column 'title', 'url' or 'image' among: {found}");
            let help = "give a table that starts with: id,title,url,image";
            return Err(InputError::new(what).file(path).line(1).help(help).into());
        }
        let mut items = HashMap::new();
        for record in reader.records() {
            let record = record.map_err(broken)?;
            let line = record.position().map_or(1, csv::Position::line);
            let text = |column: Option<usize>| {
                column
                    .and_then(|column| record.get(column))
                    .filter(|text| !text.is_empty())
                    .map(str::to_owned)
            };
            let address = |column: Option<usize>| match text(column) {
                Some(address) if !(address.starts_with("https://") || address.starts_with("http://")) => {
                    let what = format!("'{address}' is not an address");
                    Err(InputError::new(what)
                        .file(path)
                        .line(line)
                        .help("write https://…, or leave it empty"))
                }
                address => Ok(address),
            };
            let info = ItemInfo { title: text(title), url: address(url)?, image: address(image)? };
            items.insert(record[id].to_owned(), info);
        }
        Ok(Self(items))
    }

    /// What is known of an item.
    pub fn get(&self, item: &str) -> Option<&ItemInfo> {
        self.0.get(item)
    }

    /// The title of an item, if it has one.
    pub fn title(&self, item: &str) -> Option<&str> {
        self.get(item)?.title.as_deref()
    }

    /// The number of items in the table.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ItemTable> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("items.csv");
        std::fs::write(&path, text).unwrap();
        ItemTable::read(&path)
    }

    #[test]
    fn columns_are_found_by_name_and_addresses_are_checked() {
        let titles =
            read("Title,extra,ID,url\n\"Tea, green\",1,t1,https://example.org/t1\n,2,t2,\n").unwrap();
        assert_eq!((titles.title("t1"), titles.title("t2"), titles.len()), (Some("Tea, green"), None, 2));
        assert_eq!(titles.get("t1").unwrap().url.as_deref(), Some("https://example.org/t1"));
        let error = read("id,url\na,\nb,javascript:alert(1)\n").unwrap_err().to_string();
        assert!(error.contains("items.csv:3: 'javascript:alert(1)' is not an address"), "{error}");
        assert!(read("title\nTea\n").unwrap_err().to_string().contains("no column 'id'"));
        assert!(read("id,title\na\n").unwrap_err().to_string().contains("items.csv:2"));
    }
}
