//! `sojourn-router`: a bottleneck for real packets between two private network namespaces.

use clap::Parser;

/// A bottleneck for real packets between two private network namespaces.
#[derive(Parser)]
#[command(version)]
struct Arguments {}

fn main() {
    let Arguments {} = Arguments::parse();
}
