//! From an algorithm's settings to the source of its program.

use sojourn_tcp::Algorithm;
use sojourn_tcp::congestion::highspeed;
use std::fmt::Write;

/// What is to be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// Three letters, for the name that the kernel is told.
    pub short: &'static str,
    /// The program, after [`HEADER`].
    pub text: &'static str,
    /// Its constants.
    pub constants: Vec<(&'static str, String)>,
}

/// What all programs begin with.
pub(super) const HEADER: &str = include_str!("../../bpf/sojourn.h");

/// Stands in compiled programs for the name, of which the kernel takes 15 bytes.
pub(super) const PLACE: &str = "sojourn-is-here";

/// The program of `algorithm`, if there is one.
pub(super) fn source(algorithm: &Algorithm) -> Option<Source> {
    let word = |value: u64| format!("{value}ULL");
    let share = |value: f64| word((value * (1u64 << 32) as f64).round() as u64);
    Some(match algorithm {
        Algorithm::Aimd(s) => Source {
            short: "aim",
            text: include_str!("../../bpf/aimd.bpf.c"),
            constants: vec![("A", share(s.a)), ("KEEP", share(1.0 - s.b))],
        },
        Algorithm::Scalable(s) => Source {
            short: "sca",
            text: include_str!("../../bpf/scalable.bpf.c"),
            constants: vec![
                ("A", share(s.a)),
                ("KEEP", share(1.0 - s.b)),
                ("LWND", s.traditional_up_to().to_string()),
                ("AT_LEAST_RENO", u8::from(s.at_least_reno == Some(true)).to_string()),
                ("WHOLE", u8::from(s.whole_segments == Some(true)).to_string()),
                ("PER_ACK", u8::from(!s.delayed_ack_correction).to_string()),
                ("REFERENCE", word(s.reference_rtt.map_or(0, |time| time.0.div_ceil(1000)))),
            ],
        },
        Algorithm::Highspeed(s) => {
            let points = points(s);
            Source {
                short: "hsp",
                text: include_str!("../../bpf/highspeed.bpf.c"),
                constants: vec![
                    ("LOW", s.low_window.to_string()),
                    ("COUNT", points.len().to_string()),
                    ("POINTS", initialiser(&points)),
                ],
            }
        }
        Algorithm::Westwood(s) => Source {
            short: "wes",
            text: include_str!("../../bpf/westwood.bpf.c"),
            constants: vec![
                ("TAU", word(s.tau.0.div_ceil(1000))),
                ("ESTIMATE_AFTER", u8::from(s.estimate_after == Some(true)).to_string()),
            ],
        },
        _ => return None,
    })
}

/// RFC 3649's a and b, both in 2^-16, at eight windows of each octave up to 2^24 segments.
fn points(settings: &highspeed::Settings) -> Vec<(u32, u32)> {
    let unit = f64::from(1u32 << 16);
    let point = |i: u32| {
        let window = libm::ldexp(1.0 + f64::from(i % 8) / 8.0, (i / 8) as i32);
        let (a, b) = settings.exact(window.max(f64::from(settings.low_window)));
        // A segment per segment is slow start: no window grows faster.
        ((a.min(65_535.0) * unit).round() as u32, (b * unit).round() as u32)
    };
    (0..=24 * 8).map(point).collect()
}

fn initialiser(points: &[(u32, u32)]) -> String {
    let mut text = String::new();
    for (a, b) in points {
        let _ = write!(text, "{{{a},{b}}},");
    }
    text
}

/// A compiled program with its name in the place that was kept for it.
///
/// # Errors
/// If there is no such place: then it is none of ours.
pub(super) fn named(mut object: Vec<u8>, name: &str) -> Result<Vec<u8>, String> {
    let wanted = PLACE.as_bytes();
    let mut places = (0..object.len().saturating_sub(wanted.len()))
        .filter(|at| object[*at..].starts_with(wanted));
    let (Some(at), None) = (places.next(), places.next()) else {
        return Err("the compiled program has no place for a name; delete it".into());
    };
    drop(places);
    let place = &mut object[at..at + wanted.len()];
    if name.len() > place.len() {
        return Err(format!("{name}: names have {} bytes at most", place.len()));
    }
    place.fill(0);
    place[..name.len()].copy_from_slice(name.as_bytes());
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_tcp::congestion::{scalable, westwood};

    fn constants(algorithm: &Algorithm) -> Vec<(&'static str, String)> {
        source(algorithm).unwrap().constants
    }

    #[test]
    fn settings_become_constants() {
        let scalable = scalable::Settings { a: 0.5, b: 0.25, ..scalable::Settings::default() };
        let made = constants(&Algorithm::Scalable(scalable));
        assert_eq!(made[0], ("A", "2147483648ULL".into()));
        assert_eq!(made[1], ("KEEP", "3221225472ULL".into()));
        assert_eq!(made[2], ("LWND", "16".into()));
        let mut westwood = westwood::Settings::default();
        assert_eq!(
            constants(&Algorithm::Westwood(westwood.clone()))[1],
            ("ESTIMATE_AFTER", "0".into())
        );
        westwood.estimate_after = Some(true);
        assert_eq!(constants(&Algorithm::Westwood(westwood))[1], ("ESTIMATE_AFTER", "1".into()));
        assert_eq!(source(&Algorithm::named("cubic").unwrap()), None);
    }

    #[test]
    fn the_table_of_highspeed_is_the_rfc_s() {
        let table = points(&highspeed::Settings::default());
        assert_eq!(table.len(), 193);
        // 1024 segments: RFC 3649 appendix B has 8 and 0.33 from 1058 on, 7 and 0.34 below.
        let (a, b) = (f64::from(table[80].0) / 65_536.0, f64::from(table[80].1) / 65_536.0);
        assert!((7.5..8.2).contains(&a) && (0.32..0.34).contains(&b), "{a} {b}");
        assert_eq!(table[0], (65_536, 32_768), "Reno where windows are small");
    }

    #[test]
    fn name_fills_reserved_bytes() {
        let object = [b"ab".as_slice(), PLACE.as_bytes(), b"\0c"].concat();
        let named_one = named(object.clone(), "short").unwrap();
        assert_eq!(&named_one, b"abshort\0\0\0\0\0\0\0\0\0\0\0c");
        assert!(named(b"nothing".to_vec(), "short").is_err());
        assert!(named([object.clone(), object].concat(), "short").is_err());
        assert!(
            named([b"ab".as_slice(), PLACE.as_bytes(), b"\0"].concat(), "longer-than-that")
                .is_err()
        );
    }
}
