use super::super::effective::modulation::Modulation;
use super::measured::{Measured, Point};

pub const COLUMNS: &str = "order,k,channel_bits,snr_db,blocks,errors";

/// Tables of mutual information end at this SNR.
const MAX_DB: f64 = 39.0;

/// The last point must not exceed this rate, the first have at least 1 minus it.
const LEAST: f64 = 0.1;

/// Returns the curves in a text with the columns [`COLUMNS`]. The points of a curve must follow
/// each other.
///
/// # Errors
///
/// Returns a message with the line or curve, the problem, and what is expected.
pub fn parse(text: &str) -> Result<Vec<Measured>, String> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    match lines.next() {
        Some((_, COLUMNS)) => {}
        Some((at, line)) => return Err(format!("line {at} is {line:?}; expected the columns {COLUMNS:?}")),
        None => return Err(format!("the text is empty; expected the columns {COLUMNS:?}, then points")),
    }
    let mut curves: Vec<Measured> = Vec::new();
    for (at, line) in lines {
        let (format, point) = parse_line(line).map_err(|message| format!("line {at}: {message}"))?;
        if let Some(curve) = curves.last_mut().filter(|curve| format == key(curve)) {
            curve.points.push(point);
            continue;
        }
        if curves.iter().any(|curve| format == key(curve)) {
            return Err(format!("line {at}: its curve has points above; expected them to follow each other"));
        }
        let (modulation, size, channel_bits) = format;
        curves.push(Measured { modulation, size, channel_bits, points: vec![point] });
    }
    curves.iter().try_for_each(check)?;
    if curves.is_empty() {
        Err("there are no points; expected at least one curve".to_owned())
    } else {
        Ok(curves)
    }
}

fn key(curve: &Measured) -> (Modulation, u32, u32) {
    (curve.modulation, curve.size, curve.channel_bits)
}

fn parse_line(line: &str) -> Result<((Modulation, u32, u32), Point), String> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [order, size, channel_bits, snr_db, blocks, errors] = fields[..] else {
        return Err(format!("{} values; expected 6: {COLUMNS}", fields.len()));
    };
    let orders = [Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64, Modulation::Qam256];
    let modulation = orders.into_iter().find(|one| one.order().to_string() == order);
    let modulation = modulation.ok_or_else(|| format!("the order is {order}; expected 2, 4, 6 or 8"))?;
    let size = number("k", size, 1)?;
    let channel_bits = number("channel_bits", channel_bits, size + 1)?;
    let blocks = number("blocks", blocks, 1)?;
    let errors = number("errors", errors, 0)?;
    if errors > blocks {
        return Err(format!("{errors} errors in {blocks} blocks; expected at most as many"));
    }
    let known = snr_db.parse().ok().filter(|snr_db: &f64| snr_db.abs() <= MAX_DB);
    let snr_db = known.ok_or_else(|| format!("snr_db is {snr_db}; expected -{MAX_DB} to {MAX_DB}"))?;
    let point = Point { snr_db, blocks: blocks.into(), errors: errors.into() };
    Ok(((modulation, size, channel_bits), point))
}

fn number(name: &str, field: &str, least: u32) -> Result<u32, String> {
    let found = field.parse().ok().filter(|number| *number >= least);
    found.ok_or_else(|| format!("{name} is {field}; expected a whole number, at least {least}"))
}

fn check(curve: &Measured) -> Result<(), String> {
    let name = format!(
        "the curve of order {}, k {}, channel_bits {}",
        curve.modulation.order(),
        curve.size,
        curve.channel_bits
    );
    if let Some(pair) = curve.points.windows(2).find(|pair| pair[0].snr_db >= pair[1].snr_db) {
        return Err(format!(
            "{name} has {} dB after {} dB; expected rising SNRs",
            pair[1].snr_db, pair[0].snr_db
        ));
    }
    let rate = |point: &Point| point.errors as f64 / point.blocks as f64;
    let (first, last) = (curve.points.first().map_or(0.0, rate), curve.points.last().map_or(1.0, rate));
    if last > LEAST {
        return Err(format!("{name} ends at a rate of {last:.3}; expected points down to {LEAST} or less"));
    }
    if first < 1.0 - LEAST {
        return Err(format!(
            "{name} begins at a rate of {first:.3}; expected points from {} on",
            1.0 - LEAST
        ));
    }
    Ok(())
}
