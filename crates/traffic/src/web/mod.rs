//! Web users: a closed loop of thinking and pages.

mod browser;
mod elements;
mod graph;
mod http;
mod model;
mod object;
mod page;
mod params;
mod priorities;
mod recording;
mod servers;

pub use browser::{Browser, WebUsers};
pub use http::Http;
pub use model::WebModel;
pub use page::Pages;
pub use params::{Model, RttPer, Web};
pub use priorities::{Priorities, Priority};
pub use recording::{Recorded, Recording};
pub use servers::MOST_SERVERS;
