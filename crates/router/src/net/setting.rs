//! Settings of the kernel that each network namespace has of its own.

use super::{Error, Namespace};
use std::fs;

/// Sets variables such as `("net.ipv4.tcp_ecn", "1")` within a namespace.
///
/// # Errors
/// The variable that is not there or refuses the value.
pub fn set(namespace: &Namespace, variables: &[(&str, &str)]) -> Result<(), Error> {
    namespace.run(|| {
        for (name, value) in variables {
            let path = format!("/proc/sys/{}", name.replace('.', "/"));
            fs::write(&path, value).map_err(|e| Error::of(format!("{name} = {value}"), e))?;
        }
        Ok(())
    })
}

/// Whether the kernel knows a variable; IPv6, for one, may not be built in.
pub(super) fn exists(name: &str) -> bool {
    std::path::Path::new("/proc/sys").join(name.replace('.', "/")).exists()
}

/// What every namespace of the router has: no IPv6, which nothing here uses but would fill captures
/// with announcements, and no check of where packets come from, as endpoints share one device.
pub(super) const OURS: &[(&str, &str)] = &[
    ("net.ipv6.conf.all.disable_ipv6", "1"),
    ("net.ipv6.conf.default.disable_ipv6", "1"),
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
];
