//! Queue disciplines as plain state machines: integers only on the packet path.
#![no_std]
extern crate alloc;
