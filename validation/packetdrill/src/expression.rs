//! Evaluation of the part of Python with which scripts check `tcp_info`: assignments and assertions over
//! numbers.

use std::collections::BTreeMap;

use crate::cursor::Cursor;

/// Result of the assertions in a script's code event, `%{ ... }%`.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Holds(u64),
    /// The text of an assertion, and the names in it with their values.
    Fails(String, String),
    Unknown(String),
}

const DEEPEST: u32 = 50;

/// Kept until the script ends.
#[derive(Clone, Debug, Default)]
pub struct Code {
    variables: BTreeMap<String, f64>,
}

impl Code {
    /// `known` returns the values of names that are neither variables nor constants.
    pub fn run(&mut self, text: &str, known: &dyn Fn(&str) -> Option<f64>) -> Outcome {
        let mut count = 0;
        for statement in text.replace("\\\n", " ").split(['\n', ';']).map(strip_comment) {
            match self.statement(statement, known) {
                Ok(None) => {}
                Ok(Some((holds, _))) if holds => count += 1,
                Ok(Some((_, seen))) => return Outcome::Fails(statement.to_owned(), seen),
                Err(what) => return Outcome::Unknown(what),
            }
        }
        Outcome::Holds(count)
    }

    /// If it is an assertion, returns its truth value and the values of the names in it. Returns `None` for
    /// other statements, such as assignments.
    fn statement(
        &mut self,
        text: &str,
        known: &dyn Fn(&str) -> Option<f64>,
    ) -> Result<Option<(bool, String)>, String> {
        if text.is_empty() || text.starts_with("print") || text.starts_with("import") {
            return Ok(None);
        }
        // A cursor would skip the integer division `//` and the rest as a comment, so this code is reported
        // as unknown.
        if text.contains("//") {
            return Err(format!("the Python code `{text}`"));
        }
        let lookup =
            |name: &str| self.variables.get(name).copied().or_else(|| constant(name)).or_else(|| known(name));
        let mut reader = Reader { at: Cursor::new(text), text, lookup: &lookup, seen: Vec::new(), depth: 0 };
        if reader.at.eat_word("assert") {
            let holds = reader.either()? != 0.0;
            // The assertion may be followed by a comma and a message, which is not evaluated.
            if !reader.at.is_at_end() && !reader.at.sees(",") {
                return Err(reader.unknown());
            }
            return Ok(Some((holds, reader.seen.join(", "))));
        }
        let name = reader.at.word().to_owned();
        if name.is_empty() || reader.at.sees("==") || !reader.at.eat("=") {
            return Err(reader.unknown());
        }
        let value = reader.either()?;
        if !reader.at.is_at_end() {
            return Err(reader.unknown());
        }
        self.variables.insert(name, value);
        Ok(None)
    }
}

/// A shell's arithmetic, such as `32 * 1024`: sums and products of whole numbers.
pub fn arithmetic(text: &str) -> Option<u64> {
    let is_simple = |c: char| c.is_ascii_digit() || " +-*()".contains(c);
    let lookup = |_: &str| None;
    let mut reader = Reader { at: Cursor::new(text), text, lookup: &lookup, seen: Vec::new(), depth: 0 };
    let value = reader.sum().ok().filter(|_| text.chars().all(is_simple) && reader.at.is_at_end())?;
    (0.0..2_f64.powi(53)).contains(&value).then_some(value as u64)
}

fn strip_comment(line: &str) -> &str {
    let mut quote = None;
    for (at, character) in line.char_indices() {
        match (quote, character) {
            (None, '#') => return line[..at].trim(),
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            _ => {}
        }
    }
    line.trim()
}

/// packetdrill's `code.c`.
fn constant(name: &str) -> Option<f64> {
    Some(match name {
        "TCP_CA_Open" | "False" => 0.0,
        "TCP_CA_Disorder" | "TCP_ESTABLISHED" | "TCPI_OPT_TIMESTAMPS" | "True" => 1.0,
        "TCP_CA_CWR" | "TCPI_OPT_SACK" => 2.0,
        "TCP_CA_Recovery" => 3.0,
        "TCP_CA_Loss" | "TCPI_OPT_WSCALE" => 4.0,
        "TCPI_OPT_ECN" => 8.0,
        "TCP_INFINITE_SSTHRESH" => f64::from(0x7fff_ffff),
        _ => return None,
    })
}

type Comparison = fn(&f64, &f64) -> bool;

/// Evaluates an expression while reading it.
struct Reader<'a> {
    at: Cursor<'a>,
    text: &'a str,
    lookup: &'a dyn Fn(&str) -> Option<f64>,
    seen: Vec<String>,
    depth: u32,
}

fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

impl Reader<'_> {
    fn unknown(&self) -> String {
        format!("the Python code `{}`", self.text)
    }

    fn either(&mut self) -> Result<f64, String> {
        let mut value = self.both()?;
        while self.at.eat_word("or") {
            let other = self.both()?;
            value = if value == 0.0 { other } else { value };
        }
        Ok(value)
    }

    fn both(&mut self) -> Result<f64, String> {
        let mut value = self.negation()?;
        while self.at.eat_word("and") {
            let other = self.negation()?;
            value = if value == 0.0 { value } else { other };
        }
        Ok(value)
    }

    fn negation(&mut self) -> Result<f64, String> {
        if self.at.eat_word("not") {
            return self.nested(|reader| Ok(truth(reader.negation()? == 0.0)));
        }
        self.comparison()
    }

    /// The result of a comparison is 1 for true and 0 for false.
    fn comparison(&mut self) -> Result<f64, String> {
        let mut left = self.sum()?;
        let mut all = None;
        while let Some(compare) = self.comparator() {
            let right = self.sum()?;
            all = Some(all.unwrap_or(true) && compare(&left, &right));
            left = right;
        }
        Ok(all.map_or(left, truth))
    }

    fn comparator(&mut self) -> Option<Comparison> {
        let table: [(&str, Comparison); 6] = [
            ("==", f64::eq),
            ("!=", f64::ne),
            ("<=", f64::le),
            (">=", f64::ge),
            ("<", f64::lt),
            (">", f64::gt),
        ];
        table.into_iter().find(|(token, _)| self.at.eat(token)).map(|(_, compare)| compare)
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        loop {
            if self.at.eat("+") {
                value += self.product()?;
            } else if self.at.eat("-") {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.sign()?;
        loop {
            if self.at.eat("*") {
                value *= self.sign()?;
            } else if self.at.eat("/") {
                value /= self.sign()?;
            } else if self.at.eat("%") {
                value = value.rem_euclid(self.sign()?);
            } else {
                return Ok(value);
            }
        }
    }

    fn sign(&mut self) -> Result<f64, String> {
        if self.at.eat("-") { self.nested(|reader| Ok(-reader.sign()?)) } else { self.value() }
    }

    fn value(&mut self) -> Result<f64, String> {
        if self.at.eat("(") {
            let value = self.nested(Self::either)?;
            return if self.at.eat(")") { Ok(value) } else { Err(self.unknown()) };
        }
        let word = self.at.take(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        let hex = word.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
        if let Some(number) = hex.map(f64::from).or_else(|| word.parse().ok()) {
            return Ok(number);
        }
        let value = (self.lookup)(word)
            .ok_or_else(|| if word.starts_with("tcpi_") { word.to_owned() } else { self.unknown() })?;
        if constant(word).is_none() {
            self.seen.push(format!("{word} = {value}"));
        }
        Ok(value)
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Result<f64, String>) -> Result<f64, String> {
        self.depth += 1;
        let value = if self.depth > DEEPEST { Err(self.unknown()) } else { read(self) };
        self.depth -= 1;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Outcome {
        let known = |name: &str| match name {
            "tcpi_snd_cwnd" => Some(10.0),
            "tcpi_ca_state" => Some(3.0),
            _ => None,
        };
        Code::default().run(text, &known)
    }

    #[test]
    fn assertions_are_evaluated_as_in_python() {
        for (text, holds) in [
            ("assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd", true),
            ("assert tcpi_ca_state == TCP_CA_Recovery", true),
            ("assert 9 < tcpi_snd_cwnd <= 10 and not tcpi_snd_cwnd == 11", true),
            ("assert (tcpi_snd_cwnd - 4) * 2 == 12", true),
            ("assert 2 + 3 * 4 - -1 == 15 or False", true),
            ("assert 7 % 4 == 3 and 7 / 2 == 3.5", true),
            ("x = tcpi_snd_cwnd + 1 # one more\nassert x == 11; assert x > 0x0a", true),
            ("assert tcpi_snd_cwnd != 10", false),
            ("assert 0 or 0", false),
        ] {
            assert_eq!(matches!(run(text), Outcome::Holds(_)), holds, "{text}");
        }
        assert_eq!(run("print(1)\nassert 1\nassert 2, '#'"), Outcome::Holds(2));
    }

    #[test]
    fn failed_assertion_shows_its_values() {
        let fails = Outcome::Fails("assert tcpi_snd_cwnd == 7".to_owned(), "tcpi_snd_cwnd = 10".to_owned());
        assert_eq!(run("assert tcpi_snd_cwnd == 7"), fails);
    }

    #[test]
    fn unknown_syntax_is_named() {
        assert_eq!(run("assert tcpi_busy_time > 5"), Outcome::Unknown("tcpi_busy_time".to_owned()));
        let code = "for i in range(3):";
        assert_eq!(run(code), Outcome::Unknown(format!("the Python code `{code}`")));
    }
}
