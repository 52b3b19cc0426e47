//! What a discipline makes of its parameters on a link: those that were left to the link, and the
//! integers that it works with, for those who configure or build other implementations.

use crate::managed::Law;
use crate::{Config, Env, Invalid, Probability, droptail, pi, red, rem};
use alloc::vec;
use alloc::vec::Vec;

/// One constant as a whole number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Integer {
    /// Which.
    pub name: &'static str,
    /// The whole number: it stands for raw/2^bits.
    pub raw: i64,
    /// Fraction bits.
    pub bits: u32,
    /// What it stands for.
    pub value: f64,
    /// Relative distance from what was wanted, signed.
    pub error: f64,
}

impl Integer {
    fn new(name: &'static str, raw: i64, bits: u32, wanted: f64) -> Self {
        // In units of the last place, where doubles only move their exponent.
        let exact = libm::ldexp(wanted, bits as i32);
        let whole = libm::floor(exact);
        let error = (raw - whole as i64) as f64 - (exact - whole);
        Self {
            name,
            raw,
            bits,
            value: libm::ldexp(raw as f64, -(bits as i32)),
            error: if exact == 0.0 { 0.0 } else { error / exact },
        }
    }
}

/// The integers of a discipline on a link: gains, weights and probabilities; empty for those that
/// have none.
///
/// # Errors
/// If a parameter is wrong.
pub fn integers(config: &Config, env: &Env) -> Result<Vec<Integer>, Invalid> {
    config.validate(env)?;
    Ok(match config {
        Config::Pi(p) => {
            let constants = pi::Constants::new(p)?;
            let bits = Probability::BITS;
            vec![
                Integer::new("a", constants.a, bits, p.a),
                Integer::new("b", constants.a - constants.difference, bits, p.b),
                Integer::new("a_minus_b", constants.difference, bits, p.a - p.b),
            ]
        }
        Config::Red(p) => of_red(p, env)?,
        Config::Ared(p) => {
            let mean = crate::env::mean_packet(p.hits.byte_mode.mean_packet, env)?;
            of_red(&p.red_at(env.packets_per_second(mean)), env)?
        }
        Config::Rem(p) => {
            let wanted = p.gamma * libm::log2(p.phi);
            vec![Integer::new(
                "gamma_log2_phi",
                rem::Rem::new(p, env)?.gain(),
                rem::GAIN_BITS,
                wanted,
            )]
        }
        _ => Vec::new(),
    })
}

fn of_red(p: &red::Params, env: &Env) -> Result<Vec<Integer>, Invalid> {
    let wanted = p.weight(
        env.packets_per_second(crate::env::mean_packet(p.hits.byte_mode.mean_packet, env)?),
    );
    let max_p = Probability::from_f64(p.max_p).raw() as i64;
    Ok(vec![
        Integer::new("wq", red::Red::new(p, env)?.weight() as i64, red::WEIGHT_BITS, wanted),
        Integer::new("max_p", max_p, Probability::BITS, p.max_p),
    ])
}

/// The parameters with nothing left to the link: RED's weight, ARED's thresholds, drop-tail's
/// limit; what CAKE's line adds, as numbers.
///
/// # Errors
/// If a parameter is wrong.
pub fn resolved(config: &Config, env: &Env) -> Result<Config, Invalid> {
    config.validate(env)?;
    let per_second = |own| crate::env::mean_packet(own, env).map(|m| env.packets_per_second(m));
    let weight = |wq: Option<f64>, mean| {
        Ok(Some(red::Params { wq, ..red::Params::default() }.weight(per_second(mean)?)))
    };
    let mut config = config.clone();
    match &mut config {
        Config::Red(p) => p.wq = weight(p.wq, p.hits.byte_mode.mean_packet)?,
        Config::Choke(p) => p.wq = weight(p.wq, p.hits.byte_mode.mean_packet)?,
        Config::FengRed(p) => p.wq = weight(p.wq, p.hits.byte_mode.mean_packet)?,
        Config::Ared(p) => {
            let red = p.red_at(per_second(p.hits.byte_mode.mean_packet)?);
            (p.min_th, p.max_th) = (Some(red.min_th), Some(red.max_th));
            p.wq = weight(p.wq, p.hits.byte_mode.mean_packet)?;
        }
        Config::Droptail(p) if *p == droptail::Params::default() => {
            p.limit = Some(droptail::LIMIT);
        }
        Config::Cake(p) => *p = p.with_line_as_numbers(),
        _ => {}
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cake;
    use sojourn_base::Rate;

    const ENV: Env = Env { rate: Rate(15_000_000), mean_packet: 500 };

    #[test]
    fn integers_are_those_nearest_to_the_parameters() {
        let found = integers(&Config::named("pi").unwrap(), &ENV).unwrap();
        let [a, b, difference] = found[..] else { unreachable!() };
        // 1.822e-5 times 2⁶⁰.
        assert_eq!((a.raw, a.bits), (21_006_229_813_937, 60));
        assert_eq!(difference.raw, a.raw - b.raw);
        assert!(a.error.abs() < 1e-13 && difference.error.abs() < 1e-10, "{found:?}");
        let found = integers(&Config::named("red").unwrap(), &ENV).unwrap();
        assert!(found[0].error <= 0.0 && found[0].error > -1e-14, "rounded down: {found:?}");
        assert_eq!(found[1].name, "max_p");
        let ared = integers(&Config::named("ared").unwrap(), &ENV).unwrap();
        let names = ared.iter().map(|integer| integer.name);
        assert!(names.eq(["wq", "max_p"]), "{ared:?}");
        assert!(ared[0].error <= 0.0 && ared[0].error > -1e-14, "{ared:?}");
        let found = integers(&Config::named("rem").unwrap(), &ENV).unwrap();
        assert!(found[0].error.abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn resolved_parameters_leave_nothing_to_the_link() {
        let Config::Ared(p) = resolved(&Config::named("ared").unwrap(), &ENV).unwrap() else {
            unreachable!()
        };
        // Half of 5 ms at 3750 packets per second.
        assert_eq!((p.min_th, p.max_th), (Some(9.375), Some(28.125)));
        assert_eq!(p.wq, Some(-libm::expm1(-1.0 / 3750.0)));
        let Config::Droptail(p) = resolved(&Config::named("droptail").unwrap(), &ENV).unwrap()
        else {
            unreachable!()
        };
        assert_eq!(p.limit, Some(1000));
        let docsis = cake::LinkLayer::Docsis;
        let given = cake::Params { link_layer: docsis, overhead: 4, ..Default::default() };
        let Config::Cake(p) = resolved(&Config::Cake(given), &ENV).unwrap() else { unreachable!() };
        assert_eq!((p.link_layer, p.overhead, p.mpu), (cake::LinkLayer::Raw, 22, Some(64)));
        assert_eq!(p.framing, Some(cake::Framing::None));
    }
}
