//! Times the three classes over two RED queues of Misra, Gong and Towsley's third experiment: 200 s
//! of an oscillation in which both queues run empty. `two_queues [RUNS]` prints the least and the
//! median time of a run and what the integration took.
use std::time::Instant;

use sojourn_fluid::controllers::{Controller, Red};
use sojourn_fluid::course::course;
use sojourn_fluid::integrate::{Settings, Solver};
use sojourn_fluid::mgt::{Class, Mgt, Parameters, Queue};

fn main() {
    let runs: usize = std::env::args().nth(1).and_then(|runs| runs.parse().ok()).unwrap_or(21);
    for (capacity, tolerance) in [(1250.0, 1e-6), (3750.0, 1e-4), (3750.0, 1e-6)] {
        let red = Red {
            min_th: 150.0,
            max_th: 200.0,
            max_p: 0.1,
            wq: 1e-4,
            gentle: false,
            spaced: false,
            fastest: f64::INFINITY,
        };
        let parameters = Parameters {
            classes: [vec![0], vec![0, 1], vec![1]].map(|path| Class::reno(40.0, 0.2, path)).into(),
            queues: vec![Queue::new(capacity, Controller::Red(red)); 2],
        };
        let mut times = Vec::new();
        let mut last = None;
        for _ in 0..runs {
            let begun = Instant::now();
            let state = parameters.empty();
            let start = parameters.empty_past();
            let model = Mgt::new(parameters.clone(), &state);
            let settings = Settings { tolerance, ..Settings::default() };
            let solver = Solver::new(model, 0.0, &start, state, settings);
            last = course(solver, &start, 0.01, 200.0).ok();
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let Some(course) = last else { continue };
        println!(
            "{capacity} packets/s, tolerance {tolerance}: {:.1} ms, median {:.1} ms, {:?}",
            times[0],
            times[runs / 2],
            course.work
        );
    }
}
