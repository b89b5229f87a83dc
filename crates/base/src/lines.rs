//! Parser for numbers in text files, as measuring instruments and other simulators write them.
//!
//! An entry is a line of numbers, separated by commas, semicolons, tabs or blanks. Empty lines and lines that
//! begin with `#` are skipped.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidLine {
    /// From 1.
    pub line: usize,
    pub message: String,
}

pub fn entries(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = text.split(|byte| *byte == b'\n').enumerate();
    let trimmed = lines.map(|(i, line)| (i + 1, line.trim_ascii()));
    trimmed.filter(|(_, line)| !line.is_empty() && line[0] != b'#')
}

/// Returns the numbers in the entries of a text as one list per column, without the first `skip`
/// entries. If no entry is left, there are no lists.
///
/// At most `most` entries are accepted after the skipped ones.
///
/// # Errors
/// Returns the first line that has something other than finite numbers, or more or fewer of them than the first.
/// Also returns an error if there are more than `most` entries.
pub fn numbers(text: &[u8], skip: usize, most: usize) -> Result<Vec<Vec<f64>>, InvalidLine> {
    let lines = text.split(|byte| *byte == b'\n').count().min(most);
    let mut found: Vec<Vec<f64>> = Vec::new();
    let mut row = Vec::new();
    for (count, (line, entry)) in entries(text).skip(skip).enumerate() {
        let invalid = |message: String| InvalidLine { line, message };
        if count == most {
            return Err(invalid(format!("more than {most} entries; expected at most {most}")));
        }
        row.clear();
        words(entry).try_for_each(|word| number(word).map(|value| row.push(value))).map_err(invalid)?;
        if count == 0 {
            found = row.iter().map(|_| Vec::with_capacity(lines)).collect();
        }
        if row.len() != found.len() {
            let (width, expected) = (row.len(), found.len());
            return Err(invalid(format!(
                "{width} numbers after lines of {expected}; expected the same number in every line"
            )));
        }
        for (list, value) in found.iter_mut().zip(&row) {
            list.push(*value);
        }
    }
    Ok(found)
}

/// Commas separate words if the entry has any, otherwise semicolons, otherwise tabs. An entry without any of
/// the three is split at blanks.
pub fn words(entry: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mark = [b',', b';', b'\t'].into_iter().find(|mark| entry.contains(mark));
    let is_end = move |byte: &u8| mark.map_or(*byte == b' ', |mark| *byte == mark);
    let words = entry.split(is_end).map(<[u8]>::trim_ascii);
    words.filter(move |word| mark.is_some() || !word.is_empty())
}

fn number(word: &[u8]) -> Result<f64, String> {
    let parsed = std::str::from_utf8(word).ok().and_then(|word| word.parse::<f64>().ok());
    parsed.filter(|value| value.is_finite()).ok_or_else(|| {
        let shown: String = String::from_utf8_lossy(word).chars().take(40).collect();
        format!("`{}` is not a number", shown.escape_debug())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invalid(text: &str) -> (usize, String) {
        let InvalidLine { line, message } = numbers(text.as_bytes(), 0, 3).unwrap_err();
        (line, message)
    }

    #[test]
    fn columns_are_separated_by_commas_semicolons_tabs_or_blanks() {
        let text = b"# SNR\n\n1.5, -2\r\n 3e1 ,4 \n";
        assert_eq!(numbers(text, 0, 9), Ok(vec![vec![1.5, 30.0], vec![-2.0, 4.0]]));
        assert_eq!(numbers(b"1  2 3\n4 5 6", 0, 9).unwrap()[2], [3.0, 6.0]);
        assert_eq!(numbers(b"# nothing", 0, 9), Ok(vec![]));
    }

    #[test]
    fn invalid_lines_are_reported_with_their_numbers() {
        assert_eq!(invalid("1\n\nloud\n"), (3, "`loud` is not a number".to_owned()));
        assert_eq!(invalid("1\nnan\n").0, 2);
        assert_eq!(invalid("1,\n"), (1, "`` is not a number".to_owned()));
        assert!(invalid("1 2\n3\n").1.starts_with("1 numbers after lines of 2"));
        assert!(invalid("1 2\n3 4 5\n").1.starts_with("3 numbers after lines of 2"));
        assert_eq!(invalid("1\n2\n3\n4\n").0, 4);
    }
}
