//! Shares, counts and lists in words.

use crate::digits::apportioned;

const PARTS: [(f64, &str); 5] = [
    (1.0 / 4.0, "a quarter"),
    (1.0 / 3.0, "a third"),
    (1.0 / 2.0, "half"),
    (2.0 / 3.0, "two thirds"),
    (3.0 / 4.0, "three quarters"),
];
/// Maximum difference between a share and the simple fraction that names it.
const NEAR: f64 = 0.02;
/// Share for which [`percent`] returns "less than 1 %"; [`part_percent`] uses it in place of larger shares that are
/// rounded down to 0.
const LITTLE: f64 = 0.001;
const SMALL: [&str; 13] =
    ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// Returns the simple fraction that a share is near, such as "a third"; empty if there is none.
pub fn fraction(share: f64) -> &'static str {
    PARTS.iter().find(|(part, _)| (share - part).abs() <= NEAR).map_or("", |(_, word)| word)
}

/// A share that would be rounded to 0 % or 100 % becomes "less than 1 %" or "more than 99 %".
pub fn percent(share: f64) -> String {
    match (100.0 * share).round_ties_even() as i64 {
        100 if share < 1.0 => "more than 99 %".to_owned(),
        0 if share > 0.0 => "less than 1 %".to_owned(),
        whole => format!("{whole} %"),
    }
}

/// Returns the sum of some shares of a whole in whole per cent.
///
/// Every share is rounded so that all of them add up to the rounded sum of the exact shares. As in [`percent`], a sum
/// above 0 that is rounded to 0 becomes "less than 1 %".
pub fn part_percent(shares: &[f64], which: &[usize]) -> String {
    let percents: Vec<_> = shares.iter().map(|share| 100.0 * share).collect();
    let rounded = apportioned(&percents, (100.0 * shares.iter().sum::<f64>()).round_ties_even() as i64);
    let whole: i64 = which.iter().map(|&at| rounded[at]).sum();
    let exact: f64 = which.iter().map(|&at| shares[at]).sum();
    match whole {
        1..100 => format!("{whole} %"),
        0 => percent(exact.min(LITTLE)),
        _ => percent(exact),
    }
}

/// Returns a list in words, such as `a, b and c` with `last` "and".
pub fn joined<T: AsRef<str>>(words: &[T], last: &str) -> String {
    match words {
        [] => String::new(),
        [word] => word.as_ref().to_owned(),
        [first @ .., word] => {
            let first: Vec<_> = first.iter().map(AsRef::as_ref).collect();
            format!("{} {last} {}", first.join(", "), word.as_ref())
        }
    }
}

pub fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Returns a number up to 12 in letters ("no" for 0), a larger one in digits.
pub fn spelled(number: usize) -> String {
    SMALL.get(number).map_or_else(|| number.to_string(), |&word| word.to_owned())
}

/// Returns a text with its first letter capitalized.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_put_into_words() {
        assert_eq!(["a third", ""], [fraction(0.34), fraction(0.4)]);
        let percents = [percent(0.996), percent(1.0), percent(0.004), percent(0.0), percent(0.125)];
        assert_eq!(percents, ["more than 99 %", "100 %", "less than 1 %", "0 %", "12 %"]);
    }

    #[test]
    fn parts_in_per_cent_add_up() {
        let shares = [0.335, 0.335, 0.33];
        let each: Vec<_> = (0..3).map(|at| part_percent(&shares, &[at])).collect();
        assert_eq!(each, ["34 %", "33 %", "33 %"]);
        assert_eq!(part_percent(&shares, &[0, 1, 2]), "100 %");
        assert_eq!(part_percent(&[0.996, 0.004], &[1]), "less than 1 %");
    }

    #[test]
    fn lists_and_counts_read_as_sentences() {
        assert_eq!(joined(&["a", "b", "c"], "and"), "a, b and c");
        assert_eq!([joined::<&str>(&[], "or"), joined(&["a"], "or")], ["", "a"]);
        assert_eq!([counted(1, "run"), counted(0, "run")], ["1 run", "0 runs"]);
        assert_eq!([spelled(0), spelled(12), spelled(13)], ["no", "twelve", "13"]);
        assert_eq!([sentence("iPad"), sentence("")], ["IPad", ""]);
    }
}
