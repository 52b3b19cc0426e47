//! Two laws that sample, each at its own times.

use super::super::*;
use crate::linear::{Form, linearise};
use crate::queues::Pi;

#[test]
fn each_law_that_samples_looks_back_by_its_own_period() {
    let (a, b) = (2e-5, 1e-5);
    let pi = |frequency| Queue::new(3750.0, Pi::sampled(a, b, frequency, 200.0));
    let class = |path| Class::reno(60.0, 0.2, path);
    let parameters = Parameters {
        classes: vec![class(vec![0]), class(vec![1])],
        queues: vec![pi(160.0), pi(50.0)],
    };
    let point = parameters.equilibrium(0.0).unwrap();
    let state = parameters.state_at(&point, 0.0);
    let model = Opened::new(parameters, &state, &point.losses, Form::Paper, true);
    let system = linearise::<9>(&model, &state, &point.losses);
    // Windows, queues, laws: dp/dt = (a q(t) − b q(t − T))/T.
    for (queue, hz) in [(0, 160.0), (1, 50.0)] {
        let (row, column) = (4 + queue, 2 + queue);
        let (_, now) = &system.a[0];
        assert!((now[row][column] / (a * hz) - 1.0).abs() < 1e-12, "{now:?}");
        for (delay, late) in &system.a[1..] {
            for other in [2, 3] {
                let wanted =
                    if other == column && (delay - 1.0 / hz).abs() < 1e-12 { -b * hz } else { 0.0 };
                assert!((late[row][other] - wanted).abs() < 1e-15, "{queue} {delay}: {late:?}");
            }
        }
    }
    assert_eq!(system.a.len(), 4, "the present, a round trip and two periods");
    assert_eq!(model.names(), ["window", "window", "queue", "queue", "law", "law"]);
}
