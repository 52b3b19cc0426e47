//! The one definition of a scenario: strict, with units, defaults and documentation.
