//! One web user as a state machine.

use super::model::WebModel;
use super::page::{Page, Pages, Phase, State};
use crate::{Character, Client, Command, Exchange, Input};
use sojourn_base::{Kind, Stream, Time};

const THINKING: u32 = u32::MAX;

/// One web user: 64 bytes at most. All that is random comes from the user's own stream: the
/// character and the first think time at the start, all of a page when it begins, a think time
/// when it ends. So the draws are the same whatever the network does, only their instants differ.
///
/// Users start in their steady state, thinking, with a residual think time ([`crate::Residual`]);
/// that a user might as well be in the midst of a page is left to the warm-up.
#[derive(Clone, Debug)]
pub struct Browser {
    stream: Stream,
    /// The earliest time asked for, [`Time::MAX`] if none.
    armed: Time,
    character: Option<Character>,
    page: u32,
    pages: u32,
    failures: u32,
    /// Pages, the present one included, for which the persistent connection is still kept.
    kept: u16,
    /// Whether connection 0 is open while the user thinks.
    open: bool,
}

impl Browser {
    /// User `index` of a group.
    #[must_use]
    pub fn new(model: &WebModel, seed: u64, group: u32, index: u64) -> Self {
        let mut stream = Stream::new(seed, Kind::User, group, index);
        let character = model.draw_character(&mut stream);
        Self {
            stream,
            armed: Time::MAX,
            character,
            page: THINKING,
            pages: 0,
            failures: 0,
            kept: 0,
            open: false,
        }
    }

    /// Pages that have ended.
    #[must_use]
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Objects given up because their connection failed, not counting those that a page whose
    /// primary object failed never asked for.
    #[must_use]
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Whether no page is under way.
    #[must_use]
    pub fn is_thinking(&self) -> bool {
        self.page == THINKING
    }

    /// Tells the user what happened; `out` gets what it wants done, in order.
    pub fn step(
        &mut self,
        model: &WebModel,
        pages: &mut Pages,
        now: Time,
        input: Input,
        out: &mut impl FnMut(Command),
    ) {
        match input {
            Input::Start => {
                let first = model.first_think.sample(self.character, &mut self.stream);
                self.arm(now.saturating_add(Time(first)), out);
            }
            Input::Wake if now < self.armed => {}
            Input::Wake => {
                self.armed = Time::MAX;
                if self.is_thinking() {
                    self.begin(model, pages, now, out);
                } else {
                    self.resume(pages, now, out);
                }
            }
            Input::ResponseDone { slot, first_byte } => {
                if self.is_thinking() {
                    return;
                }
                let page = pages.get(self.page);
                let Some(place) = page.slots.get_mut(usize::from(slot)) else { return };
                let State::Busy(object) = place.state else { return };
                place.state = State::Idle;
                if !page.persistent {
                    place.open = false;
                    out(Command::Close { slot });
                }
                page.came(now, object, first_byte);
                self.advance(model, pages, now, slot, out);
            }
            Input::Failed { slot } => {
                if self.is_thinking() {
                    // Others were closed when the page ended, and may fail while closing.
                    self.open &= slot != 0;
                    return;
                }
                let page = pages.get(self.page);
                let Some(place) = page.slots.get_mut(usize::from(slot)) else { return };
                place.open = false;
                if let State::Busy(_) = place.state {
                    // What a lost object would have named is never known of.
                    place.state = State::Idle;
                    page.left -= 1;
                    page.complete = false;
                    self.failures += 1;
                    self.advance(model, pages, now, slot, out);
                }
            }
        }
    }

    fn arm(&mut self, at: Time, out: &mut impl FnMut(Command)) {
        if at < self.armed {
            self.armed = at;
            out(Command::Wake { at });
        }
    }

    /// Begins a page: draws it whole and asks for its primary object.
    fn begin(
        &mut self,
        model: &WebModel,
        pages: &mut Pages,
        now: Time,
        out: &mut impl FnMut(Command),
    ) {
        if self.kept == 0 {
            self.kept = model.draw_persistence(&mut self.stream);
        }
        self.page = pages.acquire();
        let page = pages.get(self.page);
        page.persistent = self.kept > 0;
        page.parse = model.draw_page(page.persistent, &mut self.stream, &mut page.objects);
        page.phase = Phase::Primary;
        (page.left, page.priorities) = (1, model.priorities);
        (page.begun, page.complete) = (now, true);
        (page.bytes, page.byte_times) = (0, 0);
        (page.came, page.first_byte) = (0, None);
        let servers = model.servers_of(&page.objects);
        page.parallel = u16::from(model.parallel);
        page.waiting.clear();
        page.waiting.resize(servers, Default::default());
        page.slots.clear();
        page.slots.resize(servers * usize::from(model.parallel), Default::default());
        page.slots[0].open = self.open;
        out(Command::PageBegins);
        request(page, 0, 0, out);
    }

    /// After an object came or failed on `slot`.
    fn advance(
        &mut self,
        model: &WebModel,
        pages: &mut Pages,
        now: Time,
        slot: u16,
        out: &mut impl FnMut(Command),
    ) {
        let page = pages.get(self.page);
        if page.left == 0 {
            return self.end(model, pages, now, out);
        }
        if page.phase == Phase::Primary {
            if page.parse == Time::ZERO {
                return embed(page, out);
            }
            let at = now.saturating_add(page.parse);
            page.phase = Phase::Parsing(at);
            return self.arm(at, out);
        }
        let Some(object) = page.take(page.server(slot)) else { return fill(page, out) };
        let gap = page.objects[object as usize].gap;
        if gap == 0 {
            request(page, slot, object, out);
            return fill(page, out);
        }
        let until = now.saturating_add(Time(gap));
        page.slots[usize::from(slot)].state = State::Waiting { until, object };
        fill(page, out);
        self.arm(until, out);
    }

    /// A time within a page has come.
    fn resume(&mut self, pages: &mut Pages, now: Time, out: &mut impl FnMut(Command)) {
        let page = pages.get(self.page);
        if let Phase::Parsing(until) = page.phase {
            if until <= now {
                return embed(page, out);
            }
            return self.arm(until, out);
        }
        let mut next = Time::MAX;
        for slot in 0..page.slots.len() {
            if let State::Waiting { until, object } = page.slots[slot].state {
                if until <= now {
                    request(page, slot as u16, object, out);
                } else {
                    next = next.min(until);
                }
            }
        }
        self.arm(next, out);
    }

    /// Ends a page: closes what is not kept, and thinks.
    fn end(
        &mut self,
        model: &WebModel,
        pages: &mut Pages,
        now: Time,
        out: &mut impl FnMut(Command),
    ) {
        self.kept = self.kept.saturating_sub(1);
        let page = pages.get(self.page);
        out(Command::PageEnds(page.ended()));
        self.open = false;
        for (slot, place) in page.slots.iter().enumerate() {
            if !place.open {
                continue;
            }
            if slot == 0 && self.kept > 0 {
                self.open = true;
            } else {
                out(Command::Close { slot: slot as u16 });
            }
        }
        pages.release(self.page);
        self.page = THINKING;
        self.pages += 1;
        let think = model.think.sample_as(self.character, &mut self.stream);
        self.arm(now.saturating_add(Time(think)), out);
    }
}

/// What the web users of a group share.
#[derive(Clone, Debug)]
pub struct WebUsers {
    /// How they behave.
    pub model: WebModel,
    /// The pages that they are fetching.
    pub pages: Pages,
}

impl Client for Browser {
    type Shared = WebUsers;

    fn tell(
        &mut self,
        shared: &mut WebUsers,
        now: Time,
        input: Input,
        out: &mut impl FnMut(Command),
    ) {
        self.step(&shared.model, &mut shared.pages, now, input, out);
    }
}

/// Asks for an object over a slot, opening its connection if need be.
fn request(page: &mut Page, slot: u16, object: u32, out: &mut impl FnMut(Command)) {
    let server = page.objects[object as usize].server;
    let place = &mut page.slots[usize::from(slot)];
    if !place.open {
        place.open = true;
        out(Command::Open { slot, server });
    }
    place.state = State::Busy(object);
    let drawn = &page.objects[object as usize];
    let exchange = Exchange {
        response: drawn.response,
        server_delay: Time(drawn.server_delay),
        request: drawn.request,
        primary: object == 0,
        priority: page.priorities.of(object, drawn),
    };
    out(Command::Request { slot, exchange });
}

/// Asks for the first embedded objects, one over each slot.
fn embed(page: &mut Page, out: &mut impl FnMut(Command)) {
    page.phase = Phase::Embedded;
    fill(page, out);
}

/// Asks for what has been named over the slots that have nothing to do.
fn fill(page: &mut Page, out: &mut impl FnMut(Command)) {
    let parallel = page.parallel;
    for server in 0..page.waiting.len() {
        if !page.waits(server) {
            continue;
        }
        let first = server as u16 * parallel;
        for slot in first..first + parallel {
            if page.slots[usize::from(slot)].state == State::Idle {
                let Some(object) = page.take(server) else { break };
                request(page, slot, object, out);
            }
        }
    }
}
