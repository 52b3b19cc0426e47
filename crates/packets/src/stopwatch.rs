//! How long things take, where there is a clock: WebAssembly by itself has none.

/// Runs from its start.
pub(crate) struct Stopwatch(#[cfg(not(target_family = "wasm"))] std::time::Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(
            #[cfg(not(target_family = "wasm"))]
            std::time::Instant::now(),
        )
    }

    /// Seconds since the start; 0 without a clock.
    pub(crate) fn seconds(&self) -> f64 {
        #[cfg(not(target_family = "wasm"))]
        return self.0.elapsed().as_secs_f64();
        #[cfg(target_family = "wasm")]
        return 0.0;
    }
}
