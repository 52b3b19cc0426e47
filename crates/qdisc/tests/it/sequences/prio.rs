pub(super) use super::classes::prio_cases as cases;
