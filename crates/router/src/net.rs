//! Network namespaces without a name, TUN devices in them, addresses and settings.
