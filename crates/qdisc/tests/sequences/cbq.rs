pub use crate::classes::cbq_cases as cases;
