//! Simulation core of nodeb as a WebAssembly module.
//!
//! A page in a browser loads the module in a worker and calls it as follows:
//!
//! 1. [`nodeb_request`] returns the address of a buffer, to which the worker writes a request: JSON with a key `call`
//!    and the arguments of that call ([`call::Call`]), followed by earlier answers that it refers to ([`frame`]).
//! 2. [`nodeb_call`] carries out the request and returns the length of the answer.
//! 3. [`nodeb_answer`] returns the address of the answer, which is valid until the next call. [`frame`] describes its
//!    form: JSON, followed by the columns of tables as arrays.
//!
//! During a simulation the module calls the imported function `progress` ([`host`]) with the finished
//! fraction. A simulation cannot be cancelled from inside, as a worker receives no messages while it
//! computes. Memory shared with a worker is not available to pages that were opened from a file. So the page
//! ends the worker and starts another one.
//!
//! The module has no clock, no files and no threads, and computes the same bytes as the native program.

pub mod about;
pub mod answers;
pub mod call;
pub mod frame;
pub mod host;
pub mod over_time;
pub mod reading;
#[cfg(test)]
mod tests;

use std::cell::RefCell;

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[allow(unsafe_code, reason = "exported under its name")]
#[unsafe(no_mangle)]
pub extern "C" fn nodeb_request(bytes: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        request.clear();
        request.resize(bytes, 0);
        request.as_mut_ptr()
    })
}

#[allow(unsafe_code, reason = "exported under its name")]
#[unsafe(no_mangle)]
pub extern "C" fn nodeb_call() -> usize {
    host::report_panics();
    let request = REQUEST.take();
    ANSWER.set(Vec::new()); // The memory of the previous answer can be used by this call.
    let answer = call::answer(&request);
    let bytes = answer.len();
    ANSWER.set(answer);
    bytes
}

#[allow(unsafe_code, reason = "exported under its name")]
#[unsafe(no_mangle)]
pub extern "C" fn nodeb_answer() -> *const u8 {
    ANSWER.with_borrow(Vec::as_ptr)
}
