//! The name that a mistyped one was meant to be.

/// The known name from which a wrong one differs by few letters; of several the nearest, then the
/// first. Case does not count, nor whether it is `-` or `_`.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (distance(wrong, name), name))
        // A name of one letter is near to every other.
        .filter(|(edits, name)| *edits <= ((name.len() + 1) / 4).max(1) && *edits < name.len())
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, name)| name)
}

/// "did you mean …" and the names there are.
pub(crate) fn suggestion(wrong: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return "there is none to choose from".into();
    }
    let known_names = format!("known: {}", known.join(", "));
    match nearest(wrong, known.iter().copied()) {
        Some(name) => format!("did you mean \"{name}\"? ({known_names})"),
        None => known_names,
    }
}

/// Edits (insert, delete, replace, swap neighbours) between two names.
fn distance(a: &str, b: &str) -> usize {
    let letters =
        |name: &str| name.to_ascii_lowercase().replace('-', "_").chars().collect::<Vec<_>>();
    let (a, b) = (letters(a), letters(b));
    let mut rows = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_few_letters_differ() {
        let known = ["web", "codel", "late", "a", "http", "interval", "few-marks"];
        let nearest = |wrong| nearest(wrong, known);
        assert_eq!(nearest("wbe"), Some("web"));
        assert_eq!(nearest("CoDell"), Some("codel"));
        assert_eq!(nearest("few_marsk"), Some("few-marks"));
        for unlike in ["latency", "internet", "k", "htb", ""] {
            assert_eq!(nearest(unlike), None, "{unlike}");
        }
    }

    #[test]
    fn suggestion_is_nearest_name() {
        let known = ["rate", "delay", "qdisc", "frame_overhead"];
        assert!(suggestion("rat", &known).starts_with("did you mean \"rate\"?"));
        assert!(suggestion("qdics", &known).starts_with("did you mean \"qdisc\"?"));
        assert!(suggestion("frame-overhead", &known).contains("mean \"frame_overhead\""));
        assert!(suggestion("colour", &known).starts_with("known: rate, delay"));
    }
}
