//! Scenarios from TOML, from JSON and from other scenarios: whatever is wrong with them is found.

use std::path::Path;

use crate::document::Document;
use crate::error::Error;
use crate::scenario::Scenario;
use crate::{files, resolve, vary};

impl Scenario {
    /// Reads TOML. `file` is the name to use in errors.
    ///
    /// # Errors
    /// The first thing that is wrong. Files that the scenario names are looked at by
    /// [`Scenario::network`], not here.
    pub fn from_toml(text: &str, file: &str) -> Result<Self, Error> {
        Self::from_document(Document::from_toml(text, file)?)
    }

    /// Reads JSON with the same fields.
    ///
    /// # Errors
    /// As for TOML, without a place.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        Self::from_document(Document::from_json(text)?)
    }

    /// Reads a file, as TOML or, if its name ends in `.json`, as JSON.
    ///
    /// # Errors
    /// If it cannot be read, or for what is wrong in it.
    pub fn from_file(path: &Path) -> Result<Self, Error> {
        let file = path.display().to_string();
        let text = files::read(path, files::MAX_SCENARIO).map_err(|message| Error {
            file: Some(file.clone()),
            position: None,
            path: String::new(),
            message,
        })?;
        if path.extension().is_some_and(|extension| extension == "json") {
            return Self::from_json(&text).map_err(|e| Error { file: Some(file), ..e });
        }
        Self::from_toml(&text, &file)
    }

    fn from_document(document: Document) -> Result<Self, Error> {
        Self::read(document)?.checked()
    }

    /// The same scenario with some values put in other values' place. A path is dotted, such as
    /// `bottleneck.qdisc.qref`, `load`, or `traffic.web.users` and `traffic.0.users` (a group by
    /// its name or number); a value is a TOML value or a bare word (`droptail`, `10ms`, `0.98`).
    ///
    /// # Errors
    /// If a path leads nowhere, and whatever is wrong with the scenario that results.
    pub fn with(&self, changes: &[(&str, &str)]) -> Result<Self, Error> {
        let changes = changes.iter().map(|(path, text)| {
            let value = vary::value_from_text(text);
            (
                *path,
                value.map(Some).map_err(|why| Error {
                    file: None,
                    position: None,
                    path: (*path).to_string(),
                    message: why,
                }),
            )
        });
        self.vary(changes)?.checked()
    }

    /// The same as [`Scenario::with`], with JSON values; null takes a field away.
    ///
    /// # Errors
    /// As there.
    pub fn with_json(&self, changes: &[(&str, serde_json::Value)]) -> Result<Self, Error> {
        let changes = changes.iter().map(|(path, value)| (*path, Ok(vary::value_from_json(value))));
        self.vary(changes)?.checked()
    }

    fn checked(self) -> Result<Self, Error> {
        match resolve::network(&self, None) {
            Ok(_) => Ok(self),
            Err(fault) => Err(self.locate(fault)),
        }
    }
}
