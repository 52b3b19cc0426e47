//! What every call of an endpoint has.

use crate::connection::Connection;
use crate::params::Params;
use sojourn_base::Time;

/// A call of an endpoint: the settings, the time, and the connection.
pub(crate) struct Call<'a> {
    pub params: &'a Params,
    pub now: Time,
    pub conn: &'a mut Connection,
}
