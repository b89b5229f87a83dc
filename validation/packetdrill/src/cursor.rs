//! Reading position in the text of a script.

use nodeb_base::units::{Duration, NANOS_PER_S};

use crate::script::LONGEST;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Unreadable {
    pub line: usize,
    pub what: String,
}

/// Methods that look for a token, word or number first skip blanks and comments.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Byte positions at which lines end, in ascending order.
    ends: Vec<usize>,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, ends: text.match_indices('\n').map(|(at, _)| at).collect() }
    }

    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Skips blanks and comments, and returns the reading position as a byte index into the text.
    pub fn at(&mut self) -> usize {
        self.skip();
        self.at
    }

    pub fn since(&self, from: usize) -> String {
        self.text[from..self.at].split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub fn line(&self) -> usize {
        1 + self.ends.partition_point(|&end| end < self.at)
    }

    pub fn error(&self, what: impl Into<String>) -> Unreadable {
        Unreadable { line: self.line(), what: what.into() }
    }

    /// `what` was expected, and the text at the reading position found instead.
    pub fn expected(&mut self, what: &str) -> Unreadable {
        self.skip();
        let here: String = self.rest().chars().take_while(|c| *c != '\n').take(30).collect();
        let here = if here.is_empty() { "the end of the line".to_owned() } else { format!("`{here}`") };
        self.error(format!("expected {what}, found {here}"))
    }

    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            let comment = match &rest[blank..] {
                text if text.starts_with("//") => text.find('\n').unwrap_or(text.len()),
                // A comment without an end is not skipped, so that the caller reports it as an error.
                text if text.starts_with("/*") => text.find("*/").map_or(0, |end| end + 2),
                _ => 0,
            };
            if blank + comment == 0 {
                return;
            }
            self.at += blank + comment;
        }
    }

    pub fn is_at_end(&mut self) -> bool {
        self.skip();
        self.rest().is_empty()
    }

    pub fn sees(&mut self, token: &str) -> bool {
        self.skip();
        self.rest().starts_with(token)
    }

    pub fn eat(&mut self, token: &str) -> bool {
        let seen = self.sees(token);
        if seen {
            self.at += token.len();
        }
        seen
    }

    /// Returns false before a longer word that begins with `word`.
    pub fn eat_word(&mut self, word: &str) -> bool {
        self.skip();
        let here = self.clone().word();
        here == word && self.eat(word)
    }

    pub fn need(&mut self, token: &str) -> Result<(), Unreadable> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    pub fn take(&mut self, is: impl Fn(char) -> bool) -> &'a str {
        self.skip();
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !is(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    pub fn word(&mut self) -> &'a str {
        self.take(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// The text before `end`; moves past `end`.
    pub fn until(&mut self, end: &str) -> Result<&'a str, Unreadable> {
        let rest = self.rest();
        let Some(length) = rest.find(end) else {
            return Err(self.error(format!("`{end}` is missing")));
        };
        self.at += length + end.len();
        Ok(&rest[..length])
    }

    pub fn pass(&mut self, bytes: usize) {
        self.at += bytes;
    }

    pub fn rest_of_line(&mut self) -> &'a str {
        let rest = self.rest();
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        self.at += line.len();
        line
    }

    /// A line that leaves a bracket open or ends with `;` goes on in the next.
    pub fn rest_of_statement(&mut self) {
        let mut open = 0_i32;
        let rest = self.rest();
        let end = rest.char_indices().find(|&(at, character)| {
            open += match character {
                '[' | '(' | '{' => 1,
                ']' | ')' | '}' => -1,
                _ => 0,
            };
            character == '\n' && open <= 0 && !rest[..at].trim_end().ends_with(';')
        });
        self.at += end.map_or(rest.len(), |(at, _)| at);
    }

    pub fn number(&mut self) -> Result<u64, Unreadable> {
        let mut ahead = self.clone();
        let digits = ahead.take(|c| c.is_ascii_digit());
        let Ok(number) = digits.parse() else {
            return Err(self.expected("a whole number"));
        };
        self.at = ahead.at;
        Ok(number)
    }

    /// Such as `0`, `.05` or `1.200`, at most one day.
    pub fn seconds(&mut self) -> Result<Duration, Unreadable> {
        let mut ahead = self.clone();
        let whole = ahead.take(|c| c.is_ascii_digit());
        let rest = ahead.rest().strip_prefix('.').unwrap_or("");
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let part = &rest[..digits];
        let seconds: Option<u64> = if whole.is_empty() { Some(0) } else { whole.parse().ok() };
        let nanos: Option<u64> = format!("{part:0<9}")[..9].parse().ok();
        let time = seconds.zip(nanos).and_then(|(s, ns)| s.checked_mul(NANOS_PER_S)?.checked_add(ns));
        let Some(time) = time.filter(|_| whole.len() + part.len() > 0) else {
            return Err(self.expected("a time in seconds"));
        };
        if time > LONGEST.0 {
            return Err(self.expected("a time of at most 86400 s"));
        }
        self.at = ahead.at + if digits > 0 { 1 + digits } else { 0 };
        Ok(Duration(time))
    }
}
