//! The integrator against equations with known solutions.

mod ends;
mod stages;

use super::*;

/// y' = f(y, y(t − lag)) with a lag that may depend on time and state.
struct Scalar {
    lag: fn(f64, f64) -> f64,
    slope: fn(f64, f64, f64) -> f64,
}

impl System for Scalar {
    fn states(&self) -> usize {
        1
    }
    fn signals(&self) -> usize {
        0
    }
    fn kept(&self) -> usize {
        0
    }
    fn lags(&self) -> usize {
        1
    }
    fn guards(&self) -> usize {
        0
    }
    fn past_time(&self, _: usize, time: f64, state: &[f64]) -> f64 {
        time - (self.lag)(time, state[0])
    }
    fn slope(&self, time: f64, state: &[f64], past: &Past<'_>, slope: &mut [f64]) {
        let moment = past.at(0, self.past_time(0, time, state));
        slope[0] = (self.slope)(time, state[0], moment.get(0));
    }
    fn signal(&self, _: f64, _: &[f64], _: bool, _: &mut [f64]) {}
    fn scales(&self, scales: &mut [f64]) {
        scales[0] = 1e-3;
    }
    fn guard(&self, _: f64, _: &[f64], _: &mut [f64]) {}
    fn crossed(&mut self, _: usize, _: f64, _: &mut [f64]) {}
    fn stops(&self) -> &[f64] {
        &[]
    }
    fn stop(&mut self, _: usize, _: f64, _: &mut [f64]) {}
}

fn solve(system: Scalar, begin: f64, end: f64, settings: Settings) -> (f64, Work) {
    let mut solver = Solver::new(system, begin, &[1.0], vec![1.0], settings);
    while solver.time() < end {
        solver.advance(end).unwrap();
    }
    (solver.state()[0], solver.work())
}

fn decay() -> Scalar {
    Scalar { lag: |_, _| 1.0, slope: |_, _, late| -late }
}

/// y' = −y(t − 1), y = 1 before 0: by the method of steps a polynomial of degree n on [n − 1, n].
fn decay_exact(t: f64) -> f64 {
    let mut sum = 1.0;
    let mut factorial = 1.0;
    let mut k = 1.0;
    while t - (k - 1.0) > 0.0 {
        factorial *= k;
        let sign = if (k as u32).is_multiple_of(2) { 1.0 } else { -1.0 };
        sum += sign * libm::pow(t - (k - 1.0), k) / factorial;
        k += 1.0;
    }
    sum
}

#[test]
fn steps_end_at_bends_so_that_polynomials_come_out_exactly() {
    let (y, work) = solve(decay(), 0.0, 4.0, Settings { tolerance: 1e-3, ..Settings::default() });
    assert!((y - decay_exact(4.0)).abs() < 1e-13, "{y} against {}", decay_exact(4.0));
    assert!(work.steps < 60, "{work:?}");
}

#[test]
fn a_lag_that_depends_on_the_state_is_followed_past_its_bend() {
    // Neves's example: y' = y(ln y)·y/t, y = 1 before 1. From e on y = exp(t/e), until e².
    let system = || Scalar { lag: |t, y| t - libm::log(y), slope: |t, y, late| late * y / t };
    for (tolerance, within) in [(1e-4, 1e-3), (1e-8, 1e-7), (1e-11, 1e-10)] {
        let settings = Settings { tolerance, ..Settings::default() };
        let (y, _) = solve(system(), 1.0, 7.0, settings);
        let exact = libm::exp(7.0 / core::f64::consts::E);
        assert!(((y - exact) / exact).abs() < within, "{tolerance}: {y} against {exact}");
    }
}

#[test]
fn halving_the_step_divides_the_error_by_two_to_the_fifth() {
    // Logistic growth with a lag (Hutchinson): smooth, nonlinear, no bends after the first few.
    let hutchinson =
        || Scalar { lag: |_, _| 1.0, slope: |_, y, late| 1.4 * y * (1.0 - late / 3.0) };
    let at = |fixed| {
        let settings = Settings { fixed: Some(fixed), ..Settings::default() };
        solve(hutchinson(), 0.0, 12.0, settings).0
    };
    let exact = at(1.0 / 512.0);
    let errors: Vec<f64> = [8.0, 16.0, 32.0].iter().map(|n| (at(1.0 / n) - exact).abs()).collect();
    for pair in errors.windows(2) {
        let order = libm::log2(pair[0] / pair[1]);
        assert!((4.6..6.0).contains(&order), "order {order}: {errors:?}");
    }
}

/// Logistic growth with a short lag.
fn short() -> Scalar {
    Scalar { lag: |_, _| 0.05, slope: |_, y, late| 1.4 * y * (1.0 - late / 3.0) }
}

#[test]
fn steps_longer_than_the_lag_keep_their_order() {
    // Driven, so that nothing forgets an error.
    let driven =
        || Scalar { lag: |_, _| 0.02, slope: |t, _, late| 3.0 * libm::cos(4.0 * t) - late };
    // The last bend is four lags after the start; while bends are ahead no step is longer.
    let ends = [3.0, 4.0, 5.0, 6.0, 7.0, 8.0].map(|quarters| 0.08 + quarters / 4.0);
    let at = |fixed| {
        let settings = Settings { fixed: Some(fixed), tolerance: 1e-12, ..Settings::default() };
        ends.map(|end| solve(driven(), 0.0, end, settings))
    };
    let exact = at(1.0 / 512.0);
    let errors = [4.0, 8.0, 16.0, 32.0].map(|n| {
        let solved = at(1.0 / n);
        let work = solved[5].1;
        assert!(work.steps <= 6 + (2.0 * n) as u64, "1/{n}: {work:?}");
        let pairs = solved.iter().zip(&exact);
        pairs.map(|((y, _), (exact, _))| (y - exact).abs()).fold(0.0, f64::max)
    });
    // Part of the errors cancels, more at some lengths than at others: the order over three
    // halvings.
    let order = libm::log2(errors[0] / errors[3]) / 3.0;
    assert!((4.6..6.0).contains(&order), "order {order}: {errors:?}");
}

#[test]
fn where_it_is_smooth_steps_are_longer_than_the_lag_and_as_exact() {
    let at = |tolerance, longest| {
        let settings = Settings { tolerance, longest, ..Settings::default() };
        solve(short(), 0.0, 2.0, settings)
    };
    let exact = at(1e-12, f64::INFINITY).0;
    for tolerance in [1e-4, 1e-6, 1e-8] {
        let ((long, few), (short, many)) = (at(tolerance, f64::INFINITY), at(tolerance, 0.05));
        let fewer = 2 * few.steps < many.steps && few.evaluations < many.evaluations;
        assert!(fewer || tolerance < 1e-7, "{tolerance}: {few:?} {many:?}");
        for y in [long, short] {
            assert!((y - exact).abs() / exact < 10.0 * tolerance, "{tolerance}: {y} {exact}");
        }
    }
}

#[test]
fn the_error_follows_the_tolerance() {
    let hutchinson =
        || Scalar { lag: |_, _| 1.0, slope: |_, y, late| 1.4 * y * (1.0 - late / 3.0) };
    let at = |tolerance| {
        let settings = Settings { tolerance, ..Settings::default() };
        solve(hutchinson(), 0.0, 30.0, settings).0
    };
    let exact = at(1e-12);
    for tolerance in [1e-4, 1e-6, 1e-8] {
        let error = (at(tolerance) - exact).abs() / exact;
        assert!(error < 30.0 * tolerance, "{tolerance}: {error}");
    }
}

#[test]
fn a_solution_that_grows_without_bound_is_an_error() {
    let system = Scalar { lag: |_, _| 1.0, slope: |_, y, _| y * y };
    let mut solver = Solver::new(system, 0.0, &[1.0], vec![1.0], Settings::default());
    let failure = loop {
        match solver.advance(10.0) {
            Ok(()) => assert!(solver.time() < 2.0),
            Err(failure) => break failure,
        }
    };
    assert!(failure.to_string().contains(" s"), "{failure}");
}

/// A ball under gravity that stops on the floor: a guard, and a stop that throws it up again.
struct Ball {
    down: bool,
    stops: [f64; 1],
}

impl System for Ball {
    fn states(&self) -> usize {
        2
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
        1
    }
    fn past_time(&self, _: usize, time: f64, _: &[f64]) -> f64 {
        time
    }
    fn slope(&self, _: f64, y: &[f64], _: &Past<'_>, slope: &mut [f64]) {
        (slope[0], slope[1]) = if self.down { (0.0, 0.0) } else { (y[1], -9.81) };
    }
    fn signal(&self, _: f64, y: &[f64], _: bool, signals: &mut [f64]) {
        signals[0] = y[0] * 2.0;
    }
    fn scales(&self, scales: &mut [f64]) {
        scales.fill(1.0);
    }
    fn guard(&self, _: f64, y: &[f64], guards: &mut [f64]) {
        guards[0] = if self.down { 1.0 } else { y[0] };
    }
    fn crossed(&mut self, _: usize, _: f64, y: &mut [f64]) {
        self.down = true;
        y.fill(0.0);
    }
    fn stops(&self) -> &[f64] {
        &self.stops
    }
    fn stop(&mut self, _: usize, _: f64, y: &mut [f64]) {
        self.down = false;
        y[1] = 9.81;
    }
}

#[test]
fn guards_and_stops_are_met_to_the_instant() {
    let ball = Ball { down: false, stops: [3.0] };
    let mut solver =
        Solver::new(ball, 0.0, &[4.905, 0.0, 9.81], vec![4.905, 0.0], Settings::default());
    let mut landed = Vec::new();
    while solver.time() < 6.0 {
        let down = solver.system().down;
        solver.advance(6.0).unwrap();
        if solver.system().down && !down {
            landed.push(solver.time());
        }
        let (_, _, row) = solver.last_step().unwrap();
        assert!((horner(&row[2], 0.3) - 2.0 * horner(&row[0], 0.3)).abs() < 1e-12);
    }
    assert_eq!(landed.len(), 2);
    assert!((landed[0] - 1.0).abs() < 1e-8 && (landed[1] - 5.0).abs() < 1e-8, "{landed:?}");
}

/// A switch that is thrown every `period` seconds, or at once again if that is 0.
struct Switch {
    period: f64,
    next: f64,
}

impl System for Switch {
    fn states(&self) -> usize {
        1
    }
    fn signals(&self) -> usize {
        0
    }
    fn kept(&self) -> usize {
        0
    }
    fn lags(&self) -> usize {
        0
    }
    fn guards(&self) -> usize {
        1
    }
    fn past_time(&self, _: usize, time: f64, _: &[f64]) -> f64 {
        time
    }
    fn slope(&self, _: f64, _: &[f64], _: &Past<'_>, slope: &mut [f64]) {
        slope[0] = 1.0;
    }
    fn signal(&self, _: f64, _: &[f64], _: bool, _: &mut [f64]) {}
    fn scales(&self, scales: &mut [f64]) {
        scales.fill(1.0);
    }
    fn guard(&self, time: f64, _: &[f64], guards: &mut [f64]) {
        guards[0] = self.next - time;
    }
    fn crossed(&mut self, _: usize, _: f64, _: &mut [f64]) {
        self.next += self.period;
    }
    fn stops(&self) -> &[f64] {
        &[]
    }
    fn stop(&mut self, _: usize, _: f64, _: &mut [f64]) {}
}

#[test]
fn events_without_progress_are_an_error_and_any_number_with_progress_is_none() {
    let solver = |period| {
        let system = Switch { period, next: 0.005 };
        Solver::new(system, 0.0, &[1.0], vec![0.0], Settings::default())
    };
    let mut often = solver(0.01);
    while often.time() < 5.0 {
        often.advance(5.0).unwrap();
    }
    assert!((499..=501).contains(&often.work().events), "{:?}", often.work());
    assert!((often.state()[0] - 5.0).abs() < 1e-9);
    let mut stuck = solver(0.0);
    let failure = loop {
        match stuck.advance(5.0) {
            Ok(()) => assert!(stuck.time() < 1.0),
            Err(failure) => break failure,
        }
    };
    let Failure::Chatter(time) = failure else { panic!("{failure}") };
    assert!((time - 0.005).abs() < 1e-6, "{time}");
    assert_eq!(stuck.work().events, 201, "two hundred are borne");
}
