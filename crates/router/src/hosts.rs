//! Real traffic: servers, clients and flows over sockets of the two namespaces.
