use super::case::{Case, magnitude, qref, rest};
use proptest::prelude::*;
use sojourn_qdisc::{Config, bank::Grid, pi, pi_table::Params};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let grid = prop_oneof![
        Just(Grid::Linear),
        Just(Grid::Sqrt),
        Just(Grid::Log),
        Just(Grid::Geometric),
        Just(Grid::Optimal)
    ];
    let range = (2u32..=16, magnitude(1e-4, 0.1), 0.1..0.9999);
    let given = prop::collection::vec(0.0..=1.0, 100);
    let gains = (magnitude(1e-15, 2.0), 0.0..1.0, magnitude(1e-3, 1e6));
    (gains, qref(), grid, range, given, rest()).prop_map(
        |((a, share, frequency), qref, table, (entries, least, top), optimal_for, r)| {
            let (ecn, byte_mode, limit) = r;
            let config = Config::PiTable(Params {
                pi: pi::Params { a, b: a * share, frequency, qref, ecn, byte_mode, limit },
                table,
                entries,
                least,
                top,
                optimal_for,
            });
            Case::new(config, limit, ecn)
        },
    )
}
