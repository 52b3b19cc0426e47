//! What a scenario says about web users.

use super::elements::Elements;
use super::http::Http;
use super::model::WebModel;
use super::priorities::Priorities;
use super::recording::Recording;
use super::servers::{ALONE, Servers};
use crate::{Count, Distribution, Invalid};
use sojourn_base::{Size, Time};

/// A built-in model of web pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub enum Model {
    /// The Bell Labs/UNC model (PackMime-HTTP, Cao et al., INFOCOM 2004) turned into a closed loop
    /// of users: heavy-tailed sizes, think times that differ from user to user.
    #[default]
    #[cfg_attr(feature = "schema", serde(rename = "packmime"))]
    Packmime,
    /// The 3GPP web page model: lognormal sizes up to 2 MB, exponential reading times.
    #[cfg_attr(feature = "schema", serde(rename = "3gpp"))]
    ThreeGpp,
    /// Pages as desktops load them today, after the HTTP Archive's Web Almanac 2024: 71 requests
    /// and 2.7 MB at the median, over six persistent connections.
    #[cfg_attr(feature = "schema", serde(rename = "httparchive"))]
    HttpArchive,
    /// Nothing given: `think` and `response` must be, and the rest is a lone object per page on
    /// its own connection, a request of 350 bytes and no delays, unless given.
    #[cfg_attr(feature = "schema", serde(rename = "custom"))]
    Custom,
}

/// Web users. Each thinks, fetches a page (a primary object, then embedded ones over parallel
/// connections), thinks again, and so on. Every element of the model can be replaced.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(deny_unknown_fields, default)
)]
pub struct Web {
    /// Number of users. Give this or `load`; with neither, the scenario's `load` holds.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub users: Option<u32>,
    /// Offered load as a fraction of the rate of the link that the data cross, of the bottleneck's
    /// where they go both ways; the number of users follows by calibration on the uncongested
    /// network.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub load: Option<f64>,
    /// The model whose elements hold where no other is given.
    pub model: Model,
    /// Time from the end of a page to the request of the next. For the heavy-tailed think times of
    /// SURGE (Barford and Crovella, 1998): {dist = "pareto", shape = 1.5, min = "1s", max = …}.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub think: Option<Distribution<Time>>,
    /// A page as a browser recorded it: a HAR file, whose objects all users load, in the place of
    /// those that the model draws. What is larger is larger, and what names others is loaded
    /// before them. Objects lie on the hosts of their URLs, unless `servers` is given.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub har: Option<Recording>,
    /// Number of objects embedded in a page, the primary object not counted.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub embedded: Option<Distribution<Count>>,
    /// Level of an embedded object in the graph of what names what, at least 1: the document names
    /// those of level 1, each of level 2 is named by one of level 1, and so on, and it is asked for
    /// once that one has come. Levels without objects are left out. Default: all are of level 1.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub level: Option<Distribution<Count>>,
    /// Bytes of a request.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub request: Option<Distribution<Size>>,
    /// Bytes of a response: of the primary object, and of the others unless they have their own.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub response: Option<Distribution<Size>>,
    /// Bytes of the response with an embedded object; default `response` if that is given, else
    /// the model's.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub embedded_response: Option<Distribution<Size>>,
    /// Bytes of every response on a persistent connection; default `response` and
    /// `embedded_response` if either is given, else the model's.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub persistent_response: Option<Distribution<Size>>,
    /// What the bytes of every response are multiplied by, 0.001 to 1000 (default 1): the same
    /// model, or the same HAR file, with smaller or larger objects.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub response_scale: Option<f64>,
    /// Time from the arrival of a request at the server to the start of its response.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub server_delay: Option<Distribution<Time>>,
    /// Time from the primary object to the requests of embedded ones.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub parse: Option<Distribution<Time>>,
    /// Time from an embedded object to the next request in its place.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub gap: Option<Distribution<Time>>,
    /// Probability that a page uses persistent connections; otherwise each object has a
    /// connection of its own.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub persistent: Option<f64>,
    /// Pages fetched over a persistent connection, at least 1; between them it stays open.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub pages_per_connection: Option<Distribution<Count>>,
    /// The version of HTTP. "1.1": an object at a time on each connection. "2": all objects of a
    /// page as streams of one TCP connection. "3": as streams of one QUIC connection. Those of "2"
    /// and "3" take turns. "2" and "3" are for the packet engine and the linux engine.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "is_default"))]
    pub http: Http,
    /// Whether TLS 1.3 shakes hands before the first request, as browsers do with HTTP/2: one more
    /// round trip. Default: with "2" it does, and "3" has it in QUIC's own handshake.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub tls: Option<bool>,
    /// Most connections that a user has open to a server at a time, 1 to 100; with HTTP/2 and 3 the
    /// most streams, by default 100.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub parallel: Option<u8>,
    /// How a server orders the responses of a connection, with HTTP/2 and 3. "none": all take
    /// turns, a frame of each. "rfc9218": by the priorities of RFC 9218, the document and objects
    /// that name others (`level`) first, one after another; the others take turns behind them.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "is_default"))]
    pub priorities: Priorities,
    /// Servers of a page, 1 to 100; of a distribution each page has a draw of its own, less or more
    /// than that being 1 or 100. The document comes from the first, other objects by `first_share`.
    /// Each server has connections of its own: up to `parallel` with HTTP/1.1, one with "2" and
    /// "3"; each is opened when its first object is asked for. Only one to the first is kept for
    /// the next page. Default: one, or the hosts of the HAR file. The median site has 23 third
    /// parties (Web Almanac 2021, desktops).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub servers: Option<Distribution<Count>>,
    /// Probability that an object beside the document comes from the first server too; else it
    /// comes from one of the others, all equally likely. Default 0.55: 45.1 % of requests go to
    /// third parties (Web Almanac 2021, chapter Third Parties, desktops).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub first_share: Option<f64>,
    /// Minimum round trip to each server but the first, drawn for each user and server, and never
    /// below the path's. Default: that to the first, `rtt`.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub server_rtt: Option<Distribution<Time>>,
    /// For whom `rtt` and `server_rtt` are drawn: once for each user, or anew for each connection
    /// of a user, as where a shaper of the testbed delays each flow by a time of its own.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "is_default"))]
    pub rtt_per: RttPer,
}

/// For whom the minimum round trips of web users are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub enum RttPer {
    /// Once for each user.
    #[default]
    #[cfg_attr(feature = "schema", serde(rename = "user"))]
    User,
    /// Anew for each connection of a user.
    #[cfg_attr(feature = "schema", serde(rename = "connection"))]
    Connection,
}

#[cfg(feature = "schema")]
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Web {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), Invalid> {
        match (self.users, self.load) {
            (Some(_), Some(load)) => {
                return Err(Invalid::new("load", load, "give either `users` or `load`, not both"));
            }
            (Some(0), None) => return Err(Invalid::new("users", 0, "must be at least 1")),
            (None, Some(load)) if !(load.is_finite() && load > 0.0) => {
                let remedy = "must be a fraction of the bottleneck's rate above 0, such as 0.98";
                return Err(Invalid::new("load", load, remedy));
            }
            _ => {}
        }
        self.http.check(self.persistent, self.tls)?;
        if self.priorities == Priorities::Rfc9218 && !self.http.multiplexes() {
            let remedy = "over HTTP/1.1 a connection has one object at a time: take http = \"2\" or \
                          \"3\", or leave it out";
            return Err(Invalid::new("priorities", "\"rfc9218\"", remedy));
        }
        self.check_recording()?;
        if self.server_rtt.is_some() && self.servers.is_none() && self.har.is_none() {
            return Err(Invalid::new("server_rtt", "given", ALONE));
        }
        self.compile().map(|_| ())
    }

    /// Reads the quantile files that the fields name.
    pub fn load_files(
        &mut self,
        read: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<(), Invalid> {
        let times = [
            ("think", &mut self.think),
            ("server_delay", &mut self.server_delay),
            ("parse", &mut self.parse),
            ("gap", &mut self.gap),
        ];
        for (field, element) in times {
            element.as_mut().map_or(Ok(()), |element| element.load_files(field, read))?;
        }
        let sizes = [
            ("request", &mut self.request),
            ("response", &mut self.response),
            ("embedded_response", &mut self.embedded_response),
            ("persistent_response", &mut self.persistent_response),
        ];
        for (field, element) in sizes {
            element.as_mut().map_or(Ok(()), |element| element.load_files(field, read))?;
        }
        let counts = [
            ("embedded", &mut self.embedded),
            ("level", &mut self.level),
            ("pages_per_connection", &mut self.pages_per_connection),
            ("servers", &mut self.servers),
        ];
        for (field, element) in counts {
            element.as_mut().map_or(Ok(()), |element| element.load_files(field, read))?;
        }
        Ok(())
    }

    /// What a recorded page has in it cannot be drawn as well.
    fn check_recording(&self) -> Result<(), Invalid> {
        let Some(Recording { file, .. }) = &self.har else { return Ok(()) };
        if file.trim().is_empty() {
            return Err(Invalid::new("har", "\"\"", "must name a HAR file"));
        }
        let drawn = [
            ("embedded", self.embedded.is_some()),
            ("level", self.level.is_some()),
            ("request", self.request.is_some()),
            ("response", self.response.is_some()),
            ("embedded_response", self.embedded_response.is_some()),
            ("persistent_response", self.persistent_response.is_some()),
        ];
        match drawn.into_iter().find(|(_, given)| *given) {
            Some((field, _)) => {
                Err(Invalid::new(field, "given", "the recorded page has it: leave it out"))
            }
            None => Ok(()),
        }
    }

    /// Compiles what the users of a group share.
    pub fn compile(&self) -> Result<WebModel, Invalid> {
        let recorded = self.har.as_ref().filter(|har| !har.objects.is_empty());
        let servers = Servers::of(self.servers.as_ref(), self.first_share)?;
        let dealt = (servers, self.priorities);
        WebModel::new(&self.elements()?, dealt, recorded.map(Recording::arranged))
    }

    /// The model's elements with this group's in their place.
    pub(super) fn elements(&self) -> Result<Elements, Invalid> {
        let mut elements = match self.model {
            Model::Packmime => Elements::packmime(),
            Model::ThreeGpp => Elements::three_gpp(),
            Model::HttpArchive => Elements::http_archive(),
            Model::Custom => {
                let needed = |field: &'static str| {
                    Invalid::new(field, "missing", "model = \"custom\" has none: give one")
                };
                let think = self.think.clone().ok_or_else(|| needed("think"))?;
                Elements::custom(think, self.response.clone().ok_or_else(|| needed("response"))?)
            }
        };
        if self.response.is_some() || self.embedded_response.is_some() {
            elements.persistent_response = None;
        }
        if let Some(response) = &self.response {
            elements.response = response.clone();
            elements.embedded_response = response.clone();
        }
        fn replace<T: Clone>(element: &mut T, given: &Option<T>) {
            if let Some(given) = given {
                *element = given.clone();
            }
        }
        replace(&mut elements.think, &self.think);
        replace(&mut elements.embedded, &self.embedded);
        if self.level.is_some() {
            elements.level = self.level.clone();
        }
        replace(&mut elements.request, &self.request);
        replace(&mut elements.embedded_response, &self.embedded_response);
        if self.persistent_response.is_some() {
            elements.persistent_response = self.persistent_response.clone();
        }
        replace(&mut elements.response_scale, &self.response_scale);
        replace(&mut elements.server_delay, &self.server_delay);
        replace(&mut elements.parse, &self.parse);
        replace(&mut elements.gap, &self.gap);
        replace(&mut elements.persistent, &self.persistent);
        replace(&mut elements.pages_per_connection, &self.pages_per_connection);
        if self.http.multiplexes() {
            (elements.persistent, elements.parallel) = (1.0, Http::STREAMS);
        }
        replace(&mut elements.parallel, &self.parallel);
        Ok(elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_and_load_exclude_each_other() {
        let web = |users, load| Web { users, load, ..Web::default() }.validate();
        assert!(web(None, None).is_ok());
        assert!(web(Some(10), None).is_ok());
        assert!(web(None, Some(0.98)).is_ok());
        assert_eq!(web(Some(10), Some(0.98)).unwrap_err().field, "load");
        assert_eq!(web(Some(0), None).unwrap_err().field, "users");
        assert_eq!(web(None, Some(f64::INFINITY)).unwrap_err().field, "load");
    }

    #[test]
    fn every_element_can_be_replaced_and_is_checked() {
        let base = Web { model: Model::Custom, ..Web::default() };
        assert_eq!(base.validate().unwrap_err().field, "think");
        let think = Some(Distribution::Constant(Time::from_secs(1)));
        let base = Web { think, ..base };
        assert_eq!(base.validate().unwrap_err().field, "response");
        let response = Some(Distribution::Constant(Size(1000)));
        let base = Web { response, ..base };
        assert!(base.validate().is_ok());
        let bad = Web { parallel: Some(0), ..base.clone() };
        assert_eq!(bad.validate().unwrap_err().field, "parallel");
        let bad = Web { persistent: Some(1.5), ..base.clone() };
        assert_eq!(bad.validate().unwrap_err().field, "persistent");
        let gap = Some(Distribution::Exponential { mean: Time::ZERO });
        assert_eq!(Web { gap, ..base }.validate().unwrap_err().field, "gap.mean");
    }

    #[test]
    fn custom_response_size_holds_for_every_object() {
        let response = Some(Distribution::Constant(Size(1234)));
        let web = Web { response: response.clone(), ..Web::default() };
        let elements = web.elements().unwrap();
        assert_eq!(Some(elements.embedded_response), response);
        assert_eq!(elements.persistent_response, None);
    }
}
