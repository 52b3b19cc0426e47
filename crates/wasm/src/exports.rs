//! What JavaScript calls.
//!
//! Arguments that are not numbers are written into `text_in` and `numbers_in` beforehand; what is
//! not a number comes back in `text_out` and `numbers_out`, valid until the next call. Calls that
//! can fail return -1 and say why in `text_out`. A panic leaves its message in `panic_text`; after
//! that the module must not be used any more.
#![expect(unsafe_code, reason = "names that JavaScript finds are unsafe by declaration only")]

use crate::{Simulations, changed, fields, linearise, margins, nyquist};
use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

/// What came in, what goes out, and the simulations.
#[derive(Default)]
struct Module {
    text_in: Vec<u8>,
    numbers_in: Vec<f64>,
    text_out: String,
    numbers_out: Vec<f64>,
    simulations: Simulations,
}

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
}

static PANIC: Mutex<String> = Mutex::new(String::new());

impl Module {
    /// Hands out the text that came in.
    fn text(&mut self) -> Result<String, String> {
        let bytes = std::mem::take(&mut self.text_in);
        String::from_utf8(bytes).map_err(|error| error.to_string())
    }
}

/// A call: its answer, or -1 and what is wrong.
fn call(work: impl FnOnce(&mut Module) -> Result<i32, String>) -> i32 {
    with(|module| {
        module.text_out.clear();
        module.numbers_out.clear();
        work(module).unwrap_or_else(|why| {
            module.text_out = why;
            -1
        })
    })
}

fn with<A>(work: impl FnOnce(&mut Module) -> A) -> A {
    #[cfg(target_family = "wasm")]
    remember_panics();
    MODULE.with_borrow_mut(work)
}

/// Nobody reads what a panic prints there.
#[cfg(target_family = "wasm")]
fn remember_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = info.to_string();
        }));
    });
}

/// Memory in use, which never shrinks: what was freed is used again.
fn used() -> f64 {
    #[cfg(target_arch = "wasm32")]
    return core::arch::wasm32::memory_size(0) as f64 * 65_536.0;
    #[cfg(not(target_arch = "wasm32"))]
    return 0.0;
}

/// Room for a text of so many bytes in UTF-8.
#[unsafe(no_mangle)]
pub extern "C" fn text_in(bytes: usize) -> *mut u8 {
    with(|module| {
        module.text_in.resize(bytes, 0);
        module.text_in.as_mut_ptr()
    })
}

/// Room for so many numbers.
#[unsafe(no_mangle)]
pub extern "C" fn numbers_in(count: usize) -> *mut f64 {
    with(|module| {
        module.numbers_in.resize(count, 0.0);
        module.numbers_in.as_mut_ptr()
    })
}

/// The text of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn text_out() -> *const u8 {
    with(|module| module.text_out.as_ptr())
}

/// Its bytes.
#[unsafe(no_mangle)]
pub extern "C" fn text_out_bytes() -> usize {
    with(|module| module.text_out.len())
}

/// The numbers of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn numbers_out() -> *const f64 {
    with(|module| module.numbers_out.as_ptr())
}

/// How many they are.
#[unsafe(no_mangle)]
pub extern "C" fn numbers_out_count() -> usize {
    with(|module| module.numbers_out.len())
}

/// The message of a panic.
#[unsafe(no_mangle)]
pub extern "C" fn panic_text() -> *const u8 {
    PANIC.lock().unwrap_or_else(PoisonError::into_inner).as_ptr()
}

/// Its bytes; 0 if there was none.
#[unsafe(no_mangle)]
pub extern "C" fn panic_text_bytes() -> usize {
    PANIC.lock().unwrap_or_else(PoisonError::into_inner).len()
}

/// A simulation of the scenario that came in, TOML: its number, with its description in the text.
/// One that is not `changeable` is faster.
#[unsafe(no_mangle)]
pub extern "C" fn simulation_start(changeable: u32) -> i32 {
    call(|module| {
        let text = module.text()?;
        let (number, about) = module.simulations.start(&text, changeable != 0, used())?;
        module.text_out = about;
        Ok(number as i32)
    })
}

/// A whole run of the scenario that came in by the fluid engine: its number, with its description
/// in the text.
#[unsafe(no_mangle)]
pub extern "C" fn simulation_run_fluid() -> i32 {
    call(|module| {
        let text = module.text()?;
        let (number, about) = module.simulations.run_fluid(&text, used())?;
        module.text_out = about;
        Ok(number as i32)
    })
}

/// The scenario that came in, TOML, with users instead of loads: likewise.
#[unsafe(no_mangle)]
pub extern "C" fn scenario_calibrated() -> i32 {
    call(|module| {
        let text = module.text()?;
        module.text_out = Simulations::calibrated(&text, used())?;
        Ok(0)
    })
}

/// A scenario with other values: JSON that came in, `[toml, {path: value}]`; TOML as the text.
#[unsafe(no_mangle)]
pub extern "C" fn scenario_with() -> i32 {
    call(|module| {
        let text = module.text()?;
        module.text_out = changed(&text)?;
        Ok(0)
    })
}

/// The scenario that came in, TOML, with every field: JSON as the text.
#[unsafe(no_mangle)]
pub extern "C" fn scenario_fields() -> i32 {
    call(|module| {
        let text = module.text()?;
        module.text_out = fields(&text)?;
        Ok(0)
    })
}

/// Runs on up to an instant in seconds; the instant reached is among the numbers.
#[unsafe(no_mangle)]
pub extern "C" fn simulation_run_until(number: usize, seconds: f64) -> i32 {
    call(|module| {
        let reached = module.simulations.run_until(number, seconds)?;
        module.numbers_out.push(reached);
        Ok(0)
    })
}

/// Links, groups and flows now, as numbers.
#[unsafe(no_mangle)]
pub extern "C" fn simulation_observe(number: usize) -> i32 {
    call(|module| {
        module.simulations.observe(number, &mut module.numbers_out)?;
        Ok(0)
    })
}

/// The first `most` packets in the queue of the link whose name came in, packet by packet.
#[unsafe(no_mangle)]
pub extern "C" fn simulation_queued(number: usize, most: usize) -> i32 {
    call(|module| {
        let link = module.text()?;
        module.simulations.queued(number, &link, most, &mut module.numbers_out)?;
        Ok(0)
    })
}

/// Sets a value from now on: the text that came in is JSON, a path and its value.
#[unsafe(no_mangle)]
pub extern "C" fn simulation_set(number: usize) -> i32 {
    call(|module| {
        let text = module.text()?;
        module.simulations.set(number, &text)?;
        Ok(0)
    })
}

/// The scenario with all that was set, TOML.
#[unsafe(no_mangle)]
pub extern "C" fn simulation_scenario(number: usize) -> i32 {
    call(|module| {
        module.text_out = module.simulations.scenario(number)?;
        Ok(0)
    })
}

/// The rows since the last time of the table whose name came in, column by column.
#[unsafe(no_mangle)]
pub extern "C" fn simulation_rows(number: usize) -> i32 {
    call(|module| {
        let table = module.text()?;
        module.numbers_out = module.simulations.rows(number, &table)?;
        Ok(0)
    })
}

/// Ends a simulation; its summary is the text, JSON. Its tables can still be read.
#[unsafe(no_mangle)]
pub extern "C" fn simulation_finish(number: usize) -> i32 {
    call(|module| {
        module.text_out = module.simulations.finish(number)?;
        Ok(0)
    })
}

/// Forgets a simulation.
#[unsafe(no_mangle)]
pub extern "C" fn simulation_forget(number: usize) {
    with(|module| module.simulations.forget(number));
}

/// The loop that came in, JSON, about its operating point: JSON.
#[unsafe(no_mangle)]
pub extern "C" fn theory_linearise() -> i32 {
    call(|module| {
        let text = module.text()?;
        module.text_out = linearise(&text)?;
        Ok(0)
    })
}

/// The loop of the scenario that came in, TOML, in the complex plane: its margins are the text,
/// JSON, its curve the numbers.
#[unsafe(no_mangle)]
pub extern "C" fn theory_nyquist() -> i32 {
    call(|module| {
        let text = module.text()?;
        (module.text_out, module.numbers_out) = nyquist(&text)?;
        Ok(0)
    })
}

/// Phase margins of many loops, whose values came in as numbers.
#[unsafe(no_mangle)]
pub extern "C" fn theory_margins() -> i32 {
    call(|module| {
        let text = module.text()?;
        let values = std::mem::take(&mut module.numbers_in);
        (module.text_out, module.numbers_out) = margins(&text, &values)?;
        Ok(0)
    })
}
