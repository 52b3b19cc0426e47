pub(super) use super::classes::cbq_cases as cases;
