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

impl Call<'_> {
    /// The same call for a function that is seldom needed: of what is handed on by its address the
    /// compiler keeps nothing in registers, here or anywhere before.
    #[inline(always)]
    pub(crate) fn again(&mut self) -> Call<'_> {
        Call { params: self.params, now: self.now, conn: self.conn }
    }
}
