pub use crate::classes::prio_cases as cases;
