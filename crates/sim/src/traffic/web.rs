//! 3GPP2's evaluation methodology (C.R1002, HTTP model), which 3GPP uses too (TR 25.892, annex A). All
//! objects use one persistent connection; embedded ones are requested together after a parsing time, as with
//! HTTP/1.1 pipelining. Parsing and reading begin with the last ACK at the server or proxy, later than the
//! data at the phone by the time of the ACK. Not modelled: parallel connections, caching, and requests of
//! different sizes.

use nodeb_base::check::{Check, Checked};
use nodeb_base::rng::{Stream, unit};
use nodeb_base::units::{Duration, Size};
use rand_core::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::distribution::{Exponential, LogNormal, SizeLaw, TimeLaw};
use super::{After, Source, Transfer};

/// Sequence of web pages with embedded objects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Web {
    /// Distribution of the size of a page's main object.
    pub main: SizeLaw,
    /// Distribution of the size of an embedded object.
    pub embedded: SizeLaw,
    /// Mean number of embedded objects per page (Pareto distribution of shape 1.1) before the limit `most_embedded`,
    /// which may lower the mean.
    pub embedded_objects: f64,
    /// Maximum number of embedded objects per page.
    pub most_embedded: u32,
    /// Distribution of the time to parse a page. It begins when the main object's last ACK arrives at its sender, or at
    /// a proxy in front of the server. When it ends, the embedded objects are requested (in an upload, sent).
    pub parsing: TimeLaw,
    /// Distribution of the time to read a page. It begins when the page's last ACK arrives at its sender, or at a proxy
    /// in front of the server. When it ends, the next page is requested (in an upload, sent).
    pub reading: TimeLaw,
    /// Payload of each request. No effect in an upload.
    pub request: Size,
    /// Time that the server takes for each answer, from the arrival of the request. No effect in an
    /// upload.
    pub server_delay: Duration,
}

impl Default for Web {
    fn default() -> Self {
        let object = |mean, sd, min| {
            let (min, max) = (Some(Size(min)), Some(Size(2_000_000)));
            SizeLaw::LogNormal(LogNormal { mean: Size(mean), sd: Size(sd), min, max })
        };
        let time = |ms| TimeLaw::Exponential(Exponential { mean: Duration::from_millis(ms) });
        Self {
            main: object(10_710, 25_032, 100),
            embedded: object(7_758, 126_168, 50),
            embedded_objects: 5.64,
            most_embedded: 53,
            parsing: time(130),
            reading: time(30_000),
            request: Size(350),
            server_delay: Duration::ZERO,
        }
    }
}

/// A larger number must be a typing error.
const MAX_OBJECTS: u32 = 10_000;

impl Checked for Web {
    fn check(&self, check: &mut Check) {
        check.within("main", |check| self.main.check(check));
        check.within("embedded", |check| self.embedded.check(check));
        check.within("parsing", |check| self.parsing.check(check));
        check.within("reading", |check| self.reading.check(check));
        check.range("embedded_objects", self.embedded_objects, 0.0..=f64::from(MAX_OBJECTS));
        check.at_most("most_embedded", self.most_embedded, MAX_OBJECTS);
        check.require(self.request.0 <= 1_400, "request", || {
            format!("a request of {} does not fit one packet; expected at most 1.4 kB", self.request)
        });
    }
}

#[derive(Debug)]
pub struct Pages {
    params: Web,
    stream: Stream,
    /// Of the current page; `None` if the next transfer is a main object.
    embedded_bytes: Option<u64>,
    first: bool,
}

impl Pages {
    pub fn new(params: &Web, stream: Stream) -> Self {
        Self { params: params.clone(), stream, embedded_bytes: None, first: true }
    }

    /// 3GPP2: a Pareto value of shape 1.1 and minimum 2, reduced by 2 and limited to 53 (mean 5.64), here
    /// scaled by `embedded_objects` / 5.64, rounded, and limited to `most_embedded`.
    fn objects(&mut self) -> u32 {
        const SHAPE: f64 = 1.1;
        const SMALLEST: f64 = 2.0;
        const MEAN: f64 = 5.64;
        let u = 1.0 - unit(self.stream.next_u64());
        let drawn = SMALLEST * libm::pow(u, -1.0 / SHAPE) - SMALLEST;
        let scaled = drawn.min(53.0) * self.params.embedded_objects / MEAN;
        scaled.round().min(f64::from(self.params.most_embedded)) as u32
    }
}

impl Source for Pages {
    fn next(&mut self) -> Option<Transfer> {
        let request_bytes = Some(self.params.request.0 as u32);
        if let Some(bytes) = self.embedded_bytes.take() {
            let wait = self.params.parsing.draw(&mut self.stream);
            return Some(Transfer { bytes, wait, after: After::End, request_bytes, is_last: true });
        }
        let reading = self.params.reading.draw(&mut self.stream);
        let wait = if std::mem::take(&mut self.first) { Duration::ZERO } else { reading };
        let bytes = self.params.main.draw(&mut self.stream);
        let objects = self.objects();
        let embedded: u64 = (0..objects).map(|_| self.params.embedded.draw(&mut self.stream)).sum();
        self.embedded_bytes = (embedded > 0).then_some(embedded);
        let is_last = self.embedded_bytes.is_none();
        Some(Transfer { bytes, wait, after: After::End, request_bytes, is_last })
    }
}
