//! Parser of packetdrill's language, as far as scripts of TCP tests use it (`lexer.l` and `parser.y` of
//! packetdrill are the reference).

use crate::cursor::{Cursor, Unreadable};
use crate::packets::packet;
use crate::script::{Action, Call, Event, Script, When};

/// Reads a script.
///
/// # Errors
/// If the text is not a script. The error gives the line and the expected text.
pub fn parse(text: &str) -> Result<Script, Unreadable> {
    let mut at = Cursor::new(text);
    let mut script = Script::default();
    while !at.is_at_end() {
        if at.eat("--") {
            script.options.push(option(&mut at));
        } else if script.events.is_empty() && at.sees("`") {
            let line = at.line();
            script.setup.push((line, command(&mut at)?));
        } else if at.sees("`") {
            // A command after the events restores the machine's settings, which has no effect on nodeb.
            command(&mut at)?;
        } else {
            script.events.push(event(&mut at)?);
        }
    }
    Ok(script)
}

fn option(at: &mut Cursor) -> (String, String) {
    let name = at.word().to_owned();
    let value = if at.eat("=") { at.take(|c| !c.is_whitespace()) } else { "" };
    (name, value.to_owned())
}

fn command(at: &mut Cursor) -> Result<String, Unreadable> {
    at.need("`")?;
    Ok(at.until("`")?.to_owned())
}

fn event(at: &mut Cursor) -> Result<Event, Unreadable> {
    let (from, line) = (at.at(), at.line());
    let when = when(at)?;
    let action = if at.sees("<") || at.sees(">") {
        packet(at)?
    } else if at.sees("`") {
        Action::Command(command(at)?)
    } else if at.eat("%{") {
        Action::Code(at.until("}%")?.to_owned())
    } else {
        Action::Call(call(at)?)
    };
    Ok(Event { line, text: at.since(from), when, action })
}

/// Reads the time of an event. For a blocking call (`0.1...0.2`), the time of its end is ignored.
fn when(at: &mut Cursor) -> Result<When, Unreadable> {
    let relative = at.eat("+");
    if at.eat("*") {
        return Ok(When::Any);
    }
    let from = at.seconds()?;
    let mut to = from;
    if at.eat("~") {
        if at.eat("+") != relative {
            return Err(at.error("both times of a range must be relative, or neither"));
        }
        to = at.seconds()?;
        if to < from {
            return Err(at.error("the range of times ends before it begins"));
        }
    } else if at.eat("...") {
        at.eat("+");
        at.seconds()?;
    }
    Ok(When::Span { relative, from, to })
}

fn call(at: &mut Cursor) -> Result<Call, Unreadable> {
    let name = at.word().to_owned();
    if name.is_empty() {
        return Err(at.expected("a packet, a system call, a command or code"));
    }
    at.need("(")?;
    let arguments = arguments(at)?;
    at.need("=")?;
    let mut result = at.take(|c| c.is_ascii_alphanumeric() || c == '-').to_owned();
    if let Some(hex) = result.strip_prefix("0x") {
        result = i64::from_str_radix(hex, 16).map(|value| value.to_string()).unwrap_or_default();
    }
    at.rest_of_line();
    Ok(Call { name, arguments, result: result.parse().ok() })
}

fn arguments(at: &mut Cursor) -> Result<String, Unreadable> {
    let rest = at.rest();
    let (mut depth, mut quoted) = (1_u32, false);
    for (end, character) in rest.char_indices() {
        match character {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let arguments = rest[..end].to_owned();
            at.pass(end + 1);
            return Ok(arguments);
        }
    }
    Err(at.error("the parenthesis of this call is never closed"))
}
