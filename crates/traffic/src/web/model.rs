//! A web model, compiled: what the users of a group share.

use super::elements::Elements;
use super::graph;
use super::object::{NONE, Object};
use super::priorities::Priorities;
use super::servers::Servers;
use crate::{Character, Count, Distribution, Invalid, Residual, Sampler};
use sojourn_base::{Stream, Time};
use std::sync::Arc;

/// Objects embedded in a page are at most this many.
const MOST_EMBEDDED: u64 = 65_535;
/// A connection is kept for at most as many pages.
const MOST_PAGES: u64 = u16::MAX as u64;

/// What the users of a group share.
#[derive(Clone, Debug)]
pub struct WebModel {
    pub(super) think: Sampler,
    pub(super) first_think: Residual,
    pub(super) parse: Sampler,
    pub(super) gap: Sampler,
    pub(super) parallel: u8,
    pub(super) priorities: Priorities,
    embedded: Sampler,
    level: Option<Sampler>,
    request: Sampler,
    response: Sampler,
    embedded_response: Sampler,
    persistent_response: Option<Sampler>,
    /// What the bytes of every response are multiplied by.
    response_scale: f64,
    server_delay: Sampler,
    persistent: f64,
    pages_per_connection: Sampler,
    /// Where the objects of a page lie; none: all where they were recorded, or on one server.
    servers: Option<Servers>,
    /// A page that takes the place of those that are drawn.
    recorded: Option<Arc<[Object]>>,
}

/// The bytes of a response, multiplied; at least one.
fn scaled(bytes: u64, scale: f64) -> u64 {
    ((bytes as f64 * scale).round() as u64).max(1)
}

impl WebModel {
    pub(super) fn new(
        elements: &Elements,
        (servers, priorities): (Option<Servers>, Priorities),
        recorded: Option<Vec<Object>>,
    ) -> Result<Self, Invalid> {
        if !(0.0..=1.0).contains(&elements.persistent) {
            let remedy = "must be a probability between 0 and 1";
            return Err(Invalid::new("persistent", elements.persistent, remedy));
        }
        if !(1..=100).contains(&elements.parallel) {
            return Err(Invalid::new("parallel", elements.parallel, "must be between 1 and 100"));
        }
        let scale = elements.response_scale;
        if !(0.001..=1000.0).contains(&scale) {
            return Err(Invalid::new("response_scale", scale, "must be between 0.001 and 1000"));
        }
        let counts = |field: &'static str, of: &Distribution<Count>, least: u64, most: u64| {
            let sampler = of.sampler(field)?;
            let mean = sampler.mean();
            if (least as f64..=most as f64).contains(&mean) {
                return Ok(sampler);
            }
            let remedy = format!("must be from {least} to {most} in the mean");
            Err(Invalid::new(field, mean, remedy))
        };
        let think = elements.think.sampler("think")?;
        let persistent_response = elements.persistent_response.as_ref();
        Ok(Self {
            first_think: think.residual(),
            think,
            parse: elements.parse.sampler("parse")?,
            gap: elements.gap.sampler("gap")?,
            parallel: elements.parallel,
            priorities,
            embedded: counts("embedded", &elements.embedded, 0, MOST_EMBEDDED)?,
            level: elements
                .level
                .as_ref()
                .map(|level| counts("level", level, 1, graph::MOST_LEVELS))
                .transpose()?,
            request: elements.request.sampler("request")?,
            response: elements.response.sampler("response")?,
            embedded_response: elements.embedded_response.sampler("embedded_response")?,
            persistent_response: persistent_response
                .map(|response| response.sampler("persistent_response"))
                .transpose()?,
            response_scale: scale,
            server_delay: elements.server_delay.sampler("server_delay")?,
            persistent: elements.persistent,
            pages_per_connection: counts(
                "pages_per_connection",
                &elements.pages_per_connection,
                1,
                MOST_PAGES,
            )?,
            servers,
            recorded: recorded.map(|mut page| {
                page.iter_mut().for_each(|object| object.response = scaled(object.response, scale));
                Arc::from(page)
            }),
        })
    }

    /// For how many pages the connection of the page that now begins is kept: 0 if it is not
    /// persistent. Two numbers from the stream.
    pub(super) fn draw_persistence(&self, stream: &mut Stream) -> u16 {
        let persistent = stream.uniform() < self.persistent;
        let pages = self.pages_per_connection.sample(stream).clamp(1, MOST_PAGES);
        if persistent { pages as u16 } else { 0 }
    }

    /// Draws all of a page: its objects into `objects`, the primary first; gives the parse time.
    pub(super) fn draw_page(
        &self,
        persistent: bool,
        stream: &mut Stream,
        objects: &mut Vec<Object>,
    ) -> Time {
        let embedded = self.embedded.sample(stream).min(MOST_EMBEDDED);
        // What two-level elements keep for a page.
        let timing = self.gap.character(stream);
        let parse = self.parse.sample_as(timing, stream);
        let (primary, others) = match &self.persistent_response {
            Some(both) if persistent => (both, both),
            _ => (&self.response, &self.embedded_response),
        };
        let sizing = primary.character(stream).or_else(|| others.character(stream));
        objects.clear();
        if let Some(recorded) = &self.recorded {
            objects.extend_from_slice(recorded);
            for object in &mut *objects {
                object.server_delay = self.server_delay.sample(stream);
                object.gap = self.gap.sample_as(timing, stream);
            }
            self.deal(stream, objects);
            return Time(parse);
        }
        for i in 0..=embedded {
            let response = if i == 0 { primary } else { others };
            objects.push(Object {
                request: self.request.sample(stream).clamp(1, u64::from(u32::MAX)) as u32,
                response: scaled(response.sample_as(sizing, stream), self.response_scale),
                server_delay: self.server_delay.sample(stream),
                gap: self.gap.sample_as(timing, stream),
                children: 0..0,
                next: NONE,
                server: 0,
            });
        }
        match &self.level {
            Some(level) => graph::draw(level, stream, objects),
            None => objects[0].children = 1..objects.len() as u32,
        }
        self.deal(stream, objects);
        Time(parse)
    }

    /// Deals the objects of a page to its servers, behind all else that is drawn.
    fn deal(&self, stream: &mut Stream, objects: &mut [Object]) {
        if let Some(servers) = &self.servers {
            servers.deal(stream, objects);
        }
    }

    /// Most connections to a server, or streams of the one.
    #[must_use]
    pub fn parallel(&self) -> u16 {
        u16::from(self.parallel)
    }

    /// How many servers a page has.
    pub(super) fn servers_of(&self, objects: &[Object]) -> usize {
        if self.servers.is_none() && self.recorded.is_none() {
            return 1;
        }
        objects.iter().map(|object| usize::from(object.server) + 1).max().unwrap_or(1)
    }

    /// What a user keeps for all think times.
    pub(super) fn draw_character(&self, stream: &mut Stream) -> Option<Character> {
        self.think.character(stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::Kind;

    #[test]
    fn responses_are_scaled_whether_drawn_or_recorded_and_nothing_else_is() {
        let page = |scale, recorded: Option<Vec<Object>>| {
            let elements = Elements { response_scale: scale, ..Elements::packmime() };
            let model = WebModel::new(&elements, (None, Priorities::default()), recorded).unwrap();
            let mut objects = Vec::new();
            model.draw_page(true, &mut Stream::new(1, Kind::Test, 0, 0), &mut objects);
            objects
        };
        let (whole, half) = (page(1.0, None), page(0.5, None));
        assert_eq!(whole.len(), half.len());
        for (a, b) in whole.iter().zip(half) {
            let response = (a.response as f64 / 2.0).round() as u64;
            assert_eq!(b, Object { response, ..a.clone() });
        }
        let recorded = |bytes| Some(vec![Object { response: bytes, ..Object::default() }]);
        assert_eq!(page(2.5, recorded(1001))[0].response, 2503);
        assert_eq!(page(0.001, recorded(3))[0].response, 1);
        for scale in [0.0, -1.0, 1001.0, f64::NAN] {
            let elements = Elements { response_scale: scale, ..Elements::packmime() };
            let error = WebModel::new(&elements, (None, Priorities::default()), None).unwrap_err();
            assert_eq!(error.field, "response_scale");
        }
    }
}
