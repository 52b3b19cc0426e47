//! A solution at equal times.

use crate::integrate::{Failure, Solver, System, Work, horner};

/// A solution at equal times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// The times, in seconds.
    pub times: Vec<f64>,
    /// Each state and signal at those times.
    pub components: Vec<Vec<f64>>,
    /// What it took.
    pub work: Work,
}

/// How many steps pass between two looks.
const LOOK: u64 = 1024;

/// Takes `solver` to `end` and calls `sample` every `interval` seconds, the start included, with
/// the number of the sample, its time, and all states and signals. Calls `look` now and then with
/// the time reached, and stops early if it says so; tells in which time it ended.
///
/// # Errors
/// If the solution cannot be followed.
pub fn follow<S: System>(
    solver: &mut Solver<S>,
    start: &[f64],
    interval: f64,
    end: f64,
    look: &dyn Fn(f64) -> bool,
    mut sample: impl FnMut(u64, f64, &[f64], &S),
) -> Result<f64, Failure> {
    let mut row = start.to_vec();
    let mut next = 0u64;
    if interval > 0.0 {
        sample(0, 0.0, &row, solver.system());
        next = 1;
    }
    let mut steps = 0u64;
    while solver.time() < end {
        solver.show_from(if interval > 0.0 { next as f64 * interval } else { end });
        solver.advance(end)?;
        steps += 1;
        if let Some((begin, length, coefficients)) = solver.last_step() {
            // Each sample from its number, so that rounding does not add up.
            while interval > 0.0 && next as f64 * interval <= solver.time() {
                let time = next as f64 * interval;
                let theta = ((time - begin) / length).clamp(0.0, 1.0);
                for (value, c) in row.iter_mut().zip(coefficients) {
                    *value = horner(c, theta);
                }
                sample(next, time, &row, solver.system());
                next += 1;
            }
        }
        if steps.is_multiple_of(LOOK) && look(solver.time()) {
            break;
        }
    }
    Ok(solver.time())
}

/// The course of all components up to `end`, every `interval` seconds.
///
/// # Errors
/// If the solution cannot be followed.
pub fn course<S: System>(
    mut solver: Solver<S>,
    start: &[f64],
    interval: f64,
    end: f64,
) -> Result<Course, Failure> {
    let mut course = Course { components: vec![Vec::new(); start.len()], ..Course::default() };
    let samples = ((end / interval) as usize + 2).min(1 << 20);
    course.times.reserve(samples);
    course.components.iter_mut().for_each(|component| component.reserve(samples));
    follow(&mut solver, start, interval, end, &|_| false, |_, time, row, _| {
        course.times.push(time);
        for (component, value) in course.components.iter_mut().zip(row) {
            component.push(*value);
        }
    })?;
    course.work = solver.work();
    Ok(course)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrate::{Past, Settings};
    use crate::mgt::{Class, Mgt, Parameters, Queue};
    use crate::queues::Pi;

    #[test]
    fn samples_lie_at_equal_times_from_start_to_end() {
        let pi = Pi::sampled(1.822e-5, 1.816e-5, 160.0, 200.0);
        let parameters = Parameters {
            classes: vec![Class::reno(60.0, 0.2, vec![0])],
            queues: vec![Queue::new(3750.0, pi)],
        };
        let point = parameters.equilibrium(0.0).unwrap();
        let (state, start) = (parameters.state_at(&point, 0.0), parameters.past_at(&point));
        let model = Mgt::new(parameters, &state);
        let solver = Solver::new(model, 0.0, &start, state, Settings::default());
        let course = course(solver, &start, 0.1, 20.0).unwrap();
        assert_eq!(course.times.len(), 201);
        assert_eq!(course.times[137], 13.700000000000001);
        for component in &course.components {
            assert_eq!(component.len(), 201);
            let (first, last) = (component[0], component[200]);
            assert!((last - first).abs() <= 1e-5 * first.abs().max(1e-3), "{first} {last}");
        }
    }
    /// y' = 2 t from 1 on: y = 1 + t². Its signal is −y.
    struct Parabola;

    impl System for Parabola {
        fn states(&self) -> usize {
            1
        }
        fn signals(&self) -> usize {
            1
        }
        fn kept(&self) -> usize {
            0
        }
        fn lags(&self) -> usize {
            0
        }
        fn guards(&self) -> usize {
            0
        }
        fn past_time(&self, _: usize, time: f64, _: &[f64]) -> f64 {
            time
        }
        fn slope(&self, time: f64, _: &[f64], _: &Past<'_>, slope: &mut [f64]) {
            slope[0] = 2.0 * time;
        }
        fn signal(&self, _: f64, state: &[f64], _: bool, signals: &mut [f64]) {
            signals[0] = -state[0];
        }
        fn scales(&self, scales: &mut [f64]) {
            scales[0] = 1.0;
        }
        fn guard(&self, _: f64, _: &[f64], _: &mut [f64]) {}
        fn crossed(&mut self, _: usize, _: f64, _: &mut [f64]) {}
        fn stops(&self) -> &[f64] {
            &[]
        }
        fn stop(&mut self, _: usize, _: f64, _: &mut [f64]) {}
    }

    fn parabola(settings: Settings) -> Solver<Parabola> {
        Solver::new(Parabola, 0.0, &[1.0, -1.0], vec![1.0], settings)
    }

    #[test]
    fn a_course_has_states_and_signals_at_all_times_and_what_they_took() {
        // Steps much longer and much shorter than the time between two samples.
        for longest in [f64::INFINITY, 0.07] {
            let settings = Settings { longest, ..Settings::default() };
            for (interval, end, samples) in [(0.25, 10.0, 41), (0.3, 10.0, 34), (20.0, 10.0, 1)] {
                let course = course(parabola(settings), &[1.0, -1.0], interval, end).unwrap();
                assert_eq!(course.times.len(), samples, "{interval}");
                for (number, time) in course.times.iter().enumerate() {
                    assert_eq!(*time, number as f64 * interval);
                    let exact = 1.0 + time * time;
                    assert!((course.components[0][number] - exact).abs() < 1e-9 * exact);
                    assert!((course.components[1][number] + exact).abs() < 1e-9 * exact);
                }
                assert!(course.work.steps > 0 && course.work.evaluations >= 6 * course.work.steps);
            }
        }
    }

    #[test]
    fn a_run_without_samples_comes_to_its_end_and_stops_when_it_is_told() {
        let follow = |stop: bool, longest| {
            let mut solver = parabola(Settings { longest, ..Settings::default() });
            let mut samples = 0;
            let end =
                follow(&mut solver, &[1.0, -1.0], 0.0, 10.0, &|_| stop, |_, _, _, _| samples += 1);
            (end.unwrap(), samples, solver.work().steps)
        };
        let (end, samples, _) = follow(false, 0.002);
        assert_eq!((end, samples), (10.0, 0));
        // It looks every 1024 steps.
        let (end, samples, steps) = follow(true, 0.002);
        assert_eq!((samples, steps), (0, 1024));
        assert!(end > 2.0 && end < 2.048 + 1e-9, "{end}");
        assert_eq!(follow(true, f64::INFINITY).0, 10.0);
    }
}
