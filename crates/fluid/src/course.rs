//! A solution at equal times.

use std::sync::atomic::{AtomicBool, Ordering};

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

/// How many steps pass between two looks at whether to stop.
const LOOK: u64 = 1024;

/// Takes `solver` to `end` and calls `sample` every `interval` seconds, the start included, with
/// the number of the sample, its time, and all states and signals. Stops early if `stop` says so;
/// tells in which time it ended.
///
/// # Errors
/// If the solution cannot be followed.
pub fn follow<S: System>(
    solver: &mut Solver<S>,
    start: &[f64],
    interval: f64,
    end: f64,
    stop: &AtomicBool,
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
        if steps.is_multiple_of(LOOK) && stop.load(Ordering::Relaxed) {
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
    let never = AtomicBool::new(false);
    follow(&mut solver, start, interval, end, &never, |_, time, row, _| {
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
    use crate::integrate::Settings;
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
}
