//! Every scenario in `bad/` is refused with the one line that `bad/expected.txt` has for it.
//!
//! `SOJOURN_UPDATE=1 cargo test -p sojourn-scenario --test it bad` writes that file anew: read the
//! difference before keeping it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use sojourn_scenario::Scenario;

#[test]
fn every_mistake_gets_its_own_line() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    assert!(names.len() >= 50);
    let mut lines = String::new();
    for name in &names {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let result = Scenario::from_toml(&text, name);
        let error = match result.and_then(|scenario| scenario.network(&folder)) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{name} was accepted"),
        };
        assert!(!error.contains('\n'), "{error}");
        writeln!(lines, "{error}").unwrap();
    }
    let expected = folder.join("expected.txt");
    if std::env::var_os("SOJOURN_UPDATE").is_some() {
        fs::write(&expected, &lines).unwrap();
    }
    let wanted = fs::read_to_string(&expected).unwrap();
    for (found, wanted) in lines.lines().zip(wanted.lines()) {
        assert_eq!(found, wanted);
    }
    assert_eq!(lines, wanted);
}
