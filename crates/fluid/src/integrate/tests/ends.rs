//! Where steps end: at limits, at guards, at what is seen again through lags; and when it is given
//! up.

use super::super::*;

/// y' = `slope`(t, y(t − lag) for each lag), with a guard and a stop at which `stopped` is set and
/// the state moves.
struct Made {
    lags: Vec<f64>,
    slope: fn(f64, &[f64]) -> f64,
    guard: Box<dyn Fn(f64) -> f64>,
    scale: f64,
    /// By how much the state and the signal change at the stop.
    moves: [f64; 2],
    stops: Vec<f64>,
    stopped: bool,
    crossed: Vec<f64>,
}

impl System for Made {
    fn states(&self) -> usize {
        1
    }
    fn signals(&self) -> usize {
        1
    }
    fn kept(&self) -> usize {
        1
    }
    fn lags(&self) -> usize {
        self.lags.len()
    }
    fn guards(&self) -> usize {
        1
    }
    fn past_time(&self, lag: usize, time: f64, _: &[f64]) -> f64 {
        time - self.lags[lag]
    }
    fn slope(&self, time: f64, _: &[f64], past: &Past<'_>, slope: &mut [f64]) {
        let late: Vec<f64> =
            (0..self.lags.len()).map(|lag| past.at(lag, time - self.lags[lag]).get(0)).collect();
        slope[0] = (self.slope)(time, &late);
    }
    fn signal(&self, _: f64, _: &[f64], _: bool, signals: &mut [f64]) {
        signals[0] = 5.0 + if self.stopped { self.moves[1] } else { 0.0 };
    }
    fn scales(&self, scales: &mut [f64]) {
        scales[0] = self.scale;
    }
    fn guard(&self, time: f64, _: &[f64], guards: &mut [f64]) {
        guards[0] = if self.crossed.is_empty() { (self.guard)(time) } else { 1.0 };
    }
    fn crossed(&mut self, _: usize, time: f64, _: &mut [f64]) {
        self.crossed.push(time);
    }
    fn stops(&self) -> &[f64] {
        &self.stops
    }
    fn stop(&mut self, _: usize, _: f64, state: &mut [f64]) {
        self.stopped = true;
        state[0] += self.moves[0];
    }
}

fn made(lags: &[f64], slope: fn(f64, &[f64]) -> f64) -> Made {
    Made {
        lags: lags.to_vec(),
        slope,
        guard: Box::new(|_| 1.0),
        scale: 1.0,
        moves: [0.0; 2],
        stops: Vec::new(),
        stopped: false,
        crossed: Vec::new(),
    }
}

fn solver(system: Made, settings: Settings) -> Solver<Made> {
    Solver::new(system, 0.0, &[1.0, 5.0], vec![1.0], settings)
}

/// The ends of all steps up to `end`, and the solver there.
fn ends(system: Made, end: f64, settings: Settings) -> (Vec<f64>, Solver<Made>) {
    let mut solver = solver(system, settings);
    let mut ends = Vec::new();
    while solver.time() < end {
        solver.advance(end).unwrap();
        ends.push(solver.time());
    }
    (ends, solver)
}

fn meets(ends: &[f64], time: f64) -> bool {
    ends.iter().any(|end| (end - time).abs() < 1e-9)
}

#[test]
fn every_limit_is_met_to_the_last_digit() {
    // Steps right to the limit, in which a time and the rest up to there often do not add up.
    let settings = Settings { fixed: Some(1e9), ..Settings::default() };
    let mut inexact = 0;
    for number in 1..500 {
        let first = 0.1 * f64::from(number);
        let limit = 3.3 * first + 0.7;
        let mut solver = solver(made(&[], |_, _| 1.0), settings);
        for end in [first, limit] {
            solver.advance(end).unwrap();
            assert_eq!(solver.time(), end);
        }
        assert!((solver.state()[0] - 1.0 - limit).abs() < 1e-9 * limit);
        inexact += u32::from(first + (limit - first) != limit);
    }
    assert!(inexact > 10, "{inexact}");
}

#[test]
fn no_scrap_is_left_before_a_limit() {
    for (longest, limit) in [(0.7, 3.0), (0.7, 2.3), (0.05, 0.47)] {
        let settings = Settings { longest, ..Settings::default() };
        let (found, _) = ends(made(&[], |_, _| 1.0), limit, settings);
        let lengths: Vec<f64> = found.windows(2).map(|ends| ends[1] - ends[0]).collect();
        let [.., before, last] = lengths[..] else { panic!() };
        // What is left and less than two steps is halved.
        assert!((before / last - 1.0).abs() < 1e-9, "{lengths:?}");
        assert!(last <= longest && last > 0.5 * longest, "{lengths:?}");
    }
}

#[test]
fn a_step_that_looks_at_itself_takes_one_evaluation_more() {
    let settings = Settings { fixed: Some(1.0), ..Settings::default() };
    let mut solver = solver(made(&[0.1], |_, _| 1.0), settings);
    let mut seen = [0; 2];
    while solver.time() < 6.0 {
        let (from, before) = (solver.time(), solver.work().evaluations);
        solver.advance(6.0).unwrap();
        let (long, bent) = (solver.time() - from > 0.11, from < 0.41);
        let took = solver.work().evaluations - before;
        // The first stage is the last one's of the step before, unless something bent there.
        assert_eq!(took, 6 + u64::from(long) + u64::from(bent), "{from}");
        seen[usize::from(long)] += 1;
    }
    assert!(seen.iter().all(|steps| *steps > 3), "{seen:?}");
}

#[test]
fn a_guard_is_met_where_it_is_below_zero_by_more_than_rounding() {
    for guard in [
        (|t| 0.7 - t) as fn(f64) -> f64,
        |t| 3.0 * (0.7 - t) * (2.0 + t),
        |t| libm::exp(-t) - libm::exp(-0.7),
    ] {
        let mut system = made(&[], |_, _| 1.0);
        system.guard = Box::new(guard);
        let (_, solver) = ends(system, 2.0, Settings::default());
        let [time] = solver.system().crossed[..] else { panic!() };
        // By 1e-9, which is hysteresis.
        assert!((guard(time) + 1e-9).abs() < 1e-12, "{time}: {}", guard(time));
    }
}

#[test]
fn a_guard_that_falls_off_a_cliff_is_met_by_halving() {
    for depth in [1.0, 1e6, 1e18, 1e30] {
        let mut system = made(&[], |_, _| 1.0);
        system.guard = Box::new(move |t| if t < 0.7 { 1.0 } else { -depth });
        let (_, solver) = ends(system, 2.0, Settings::default());
        let [time] = solver.system().crossed[..] else { panic!() };
        assert!((0.7..0.7 + 2e-5).contains(&time), "{depth}: {time}");
    }
}

#[test]
fn a_dip_in_a_long_step_is_seen_at_its_quarters() {
    let settings = Settings { fixed: Some(1.0), ..Settings::default() };
    let make = || made(&[0.1], |_, late| -0.1 * late[0]);
    // While what bends is ahead steps are no longer than the lag; the first longer one is a jump.
    let (found, _) = ends(make(), 6.0, settings);
    let first = found.windows(2).find(|ends| ends[1] - ends[0] > 0.9).unwrap();
    for quarter in [0.25, 0.5, 0.75] {
        let dip = first[0] + quarter * (first[1] - first[0]);
        let mut system = make();
        system.guard =
            Box::new(move |t| 1.0 - 2.0 * libm::exp(-((t - dip) / 0.02) * ((t - dip) / 0.02)));
        let (_, solver) = ends(system, 6.0, settings);
        let [time] = solver.system().crossed[..] else { panic!("{quarter}") };
        let exact = dip - 0.02 * libm::sqrt(std::f64::consts::LN_2);
        assert!((time - exact).abs() < 1e-9, "{quarter}: {time} {exact}");
    }
}

#[test]
fn what_jumps_is_met_again_through_every_lag_and_what_moves_a_little_is_not() {
    let met = |scale: f64, moves: [f64; 2]| {
        let mut system = made(&[1.0, 1.3, 1.7], |_, late| -1e-3 * late.iter().sum::<f64>());
        (system.scale, system.moves, system.stops) = (scale, moves, vec![5.0]);
        // Steps of this length come by none of these times by themselves.
        let settings = Settings { tolerance: 1e-2, longest: 0.37, ..Settings::default() };
        let (ends, _) = ends(system, 10.0, settings);
        assert!(meets(&ends, 5.0));
        let met = [6.0, 6.3, 6.7].map(|time| meets(&ends, time));
        assert!(met.iter().all(|one| *one == met[0]), "{ends:?}");
        met[0]
    };
    assert!(!met(1.0, [0.0, 0.0]));
    // By more than 1e-7 of its scale.
    assert!(met(1.0, [2e-7, 0.0]) && !met(1.0, [5e-8, 0.0]));
    assert!(met(1e-4, [1e-5, 0.0]) && met(1e-4, [2e-11, 0.0]));
    assert!(!met(1e4, [1e-5, 0.0]) && met(1e4, [2e-3, 0.0]));
    assert!(met(1.0, [-2e-7, 0.0]));
    // A signal by more than that of itself.
    assert!(met(1.0, [0.0, 1.0]) && met(1.0, [0.0, -4.0]));
    assert!(met(1.0, [0.0, 1e-6]) && !met(1.0, [0.0, 2e-7]));
}

#[test]
fn with_many_lags_a_step_ends_at_a_bend_only_if_it_was_too_inexact_across_it() {
    for lags in [[1.0, 1.3, 1.7], [1.7, 1.3, 1.0]] {
        let at = |tolerance: f64| {
            let system = made(&lags, |_, late| -late[0] - 0.5 * late[1] - 0.7 * late[2]);
            let settings = Settings { tolerance, ..Settings::default() };
            let (ends, solver) = ends(system, 2.5, settings);
            (lags.map(|lag| meets(&ends, lag)), solver.work())
        };
        let (fine, work) = at(1e-11);
        assert_eq!(fine, [true; 3], "{work:?}");
        assert!(work.rejected < 40, "{work:?}");
        assert_eq!(at(1e-2).0, [false; 3]);
    }
}

#[test]
fn too_many_steps_are_given_up() {
    for (fixed, most, time) in [(0.1, 10, 1.1), (0.5, 3, 2.0)] {
        let settings = Settings { fixed: Some(fixed), most_steps: most, ..Settings::default() };
        let mut solver = solver(made(&[], |_, _| 1.0), settings);
        let failure = loop {
            if let Err(failure) = solver.advance(100.0) {
                break failure;
            }
        };
        let Failure::TooManySteps(at) = failure else { panic!("{failure}") };
        assert!((at - time).abs() < 1e-9, "{at}");
        assert_eq!(solver.work().steps, most + 1);
    }
}

#[test]
fn a_slope_that_cannot_be_followed_is_given_up_where_it_is() {
    let system = made(&[], |t, _| if t < 1000.0 { 1e-3 } else { 1e40 });
    let mut solver = solver(system, Settings::default());
    let failure = loop {
        if let Err(failure) = solver.advance(2000.0) {
            break failure;
        }
    };
    let Failure::StepTooShort(at) = failure else { panic!("{failure}") };
    assert!((at - 1000.0).abs() < 1e-9, "{at}");
    assert!(solver.work().rejected < 100, "{:?}", solver.work());
}
