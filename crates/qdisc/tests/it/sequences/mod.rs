//! Random sequences of operations on every discipline with random parameters: whatever validation
//! lets through must keep the books, the order and the rules of ECN, and never panic.
//!
//! A discipline has a module of its name here, with `cases()`: its parameters, and what is true
//! of it ([`case::Case`]). What must hold is in `harness.rs`.

mod case;
mod classes;
mod harness;
mod steps;

use sojourn_qdisc::Config;

macro_rules! disciplines {
    ($($name:ident)+) => {
        $(mod $name;)+

        mod keeps_the_books {
            use crate::sequences::{harness::run, steps::{links, steps}};
            use proptest::prelude::*;

            proptest! {
                #![proptest_config(ProptestConfig {
                    cases: 1500, failure_persistence: None, ..ProptestConfig::default()
                })]
                $(#[test]
                fn $name(case in crate::sequences::$name::cases(), env in links(), steps in steps()) {
                    prop_assume!(case.config.validate(&env).is_ok());
                    run(&case, &env, &steps);
                })+
            }
        }

        const COVERED: &[&str] = &[$(stringify!($name)),+];
    };
}

disciplines! {
    droptail
    red
    ared
    feng_red
    choke
    proportional
    pi
    pi_table
    pie
    pi2
    dualpi2
    blue
    avq
    rem
    rate
    python
    codel
    fq_codel
    cobalt
    cake
    sfq
    fq_pie
    prio
    drr
    tbf
    cbq
}

#[test]
fn sequences_cover_every_discipline() {
    for name in Config::NAMES {
        assert!(COVERED.contains(name), "no module {name} in tests/it/sequences");
        let config = crate::common::outside::sample(name);
        assert_eq!(config.name(), *name);
        config.validate(&crate::common::env(100, 1500)).expect("defaults are valid");
    }
    assert_eq!(COVERED.len(), Config::NAMES.len());
    assert_eq!(Config::named("nothing"), None);
}
