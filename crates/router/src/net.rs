//! Network namespaces without a name, TUN devices in them, addresses and settings.
//!
//! A [`Namespace`] is a file descriptor: it and all that is in it vanish with the last process
//! that holds it, whichever way that ends. Nothing here is ever visible in the namespace of whoever
//! started the process, and nothing there is changed.

pub mod address;
mod burst;
mod child;
mod device;
mod enclosed;
mod error;
mod lab;
mod merge;
mod namespace;
mod privilege;
mod setting;
mod tun;

pub use burst::Burst;
pub use child::{Child, spawn};
pub use device::{Device, configure};
pub use error::Error;
pub use lab::Lab;
pub use merge::Merge;
pub use namespace::Namespace;
pub use privilege::acquire;
pub use setting::set;
pub use tun::{LONGEST, Tun};
