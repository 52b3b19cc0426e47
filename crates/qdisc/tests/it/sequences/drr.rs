pub(super) use super::classes::drr_cases as cases;
