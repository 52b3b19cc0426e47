//! Times the three classes over two RED queues of Misra, Gong and Towsley's third experiment for
//! 200 s: 2 % beside the operating point, where nothing bends, and from empty queues on, which
//! oscillate and run empty. `two_queues [RUNS] [CASE]` prints the least and the median time of a
//! run and what the integration took; the cases are 0 to 3.
use std::time::Instant;

use sojourn_fluid::course::course;
use sojourn_fluid::integrate::{Settings, Solver};
use sojourn_fluid::mgt::{Class, Mgt, Parameters, Queue};
use sojourn_fluid::queues::Red;

const CASES: [(f64, f64, bool); 4] =
    [(1250.0, 1e-6, true), (1250.0, 1e-6, false), (3750.0, 1e-4, false), (3750.0, 1e-6, false)];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut argument = || arguments.next().and_then(|argument| argument.parse::<usize>().ok());
    let (runs, only) = (argument().unwrap_or(21), argument());
    for (number, (capacity, tolerance, settled)) in CASES.into_iter().enumerate() {
        if only.is_some_and(|only| only != number) {
            continue;
        }
        let red = Red {
            min_th: 150.0,
            max_th: 200.0,
            max_p: 0.1,
            wq: 1e-4,
            gentle: false,
            spacing: None,
            fastest: f64::INFINITY,
        };
        let parameters = Parameters {
            classes: [vec![0], vec![0, 1], vec![1]].map(|path| Class::reno(40.0, 0.2, path)).into(),
            queues: vec![Queue::new(capacity, red); 2],
        };
        let mut times = Vec::new();
        let mut last = None;
        for _ in 0..runs {
            let begun = Instant::now();
            let point = if settled { parameters.equilibrium(0.0).ok() } else { None };
            let (state, start) = match &point {
                Some(point) => (parameters.state_at(point, 0.02), parameters.past_at(point)),
                None => (parameters.empty(), parameters.empty_past()),
            };
            let model = Mgt::new(parameters.clone(), &state);
            let settings = Settings { tolerance, ..Settings::default() };
            let solver = Solver::new(model, 0.0, &start, state, settings);
            last = course(solver, &start, if settled { 200.0 } else { 0.01 }, 200.0).ok();
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let Some(course) = last else { continue };
        println!(
            "{capacity} packets/s, tolerance {tolerance}, {}: {:.2} ms, median {:.2} ms, {:?}",
            if settled { "beside the operating point" } else { "from empty queues" },
            times[0],
            times[runs / 2],
            course.work
        );
    }
}
