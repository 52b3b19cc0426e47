pub use crate::classes::drr_cases as cases;
