//! What the model is made of.

use serde::Deserialize;

use super::class::Class;
use super::layout::Layout;
use super::queue::Queue;
use crate::Invalid;

/// Classes and queues.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The classes.
    pub classes: Vec<Class>,
    /// The queues.
    pub queues: Vec<Queue>,
}

impl Parameters {
    /// Where what stands among states and signals.
    pub fn layout(&self) -> Layout {
        Layout { classes: self.classes.len(), queues: self.queues.len() }
    }

    /// Checks everything.
    ///
    /// # Errors
    /// Names the first that is wrong.
    pub fn validate(&self) -> Result<(), Invalid> {
        if self.classes.is_empty() {
            return Err(Invalid::new("classes", "[]", "there must be at least one class of flows"));
        }
        for (number, queue) in self.queues.iter().enumerate() {
            queue.validate().map_err(|error| error.of(format_args!("queues[{number}]")))?;
        }
        for (number, class) in self.classes.iter().enumerate() {
            let checked = class.validate(self.queues.len());
            checked.map_err(|error| error.of(format_args!("classes[{number}]")))?;
        }
        Ok(())
    }
}
