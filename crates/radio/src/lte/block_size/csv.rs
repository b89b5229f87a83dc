//! Evaluated by the compiler.

/// Separated by commas and newlines; lines that start with `#` are comments.
///
/// # Panics
/// Panics if the text does not contain exactly `N` numbers, or contains other characters.
pub const fn numbers<const N: usize>(text: &str) -> [u32; N] {
    let bytes = text.as_bytes();
    let mut numbers = [0; N];
    let mut found = 0;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'#' {
            at = end_of_line(bytes, at);
        } else if bytes[at].is_ascii_digit() {
            (numbers[found], at) = number(bytes, at);
            found += 1;
        } else {
            assert!(matches!(bytes[at], b',' | b'\r' | b'\n'), "expected digits and commas");
            at += 1;
        }
    }
    assert!(found == N, "too few numbers");
    numbers
}

const fn end_of_line(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'\n' {
        at += 1;
    }
    at
}

/// The number at byte `at`, and the position after it.
const fn number(bytes: &[u8], mut at: usize) -> (u32, usize) {
    let mut number = 0;
    while at < bytes.len() && bytes[at].is_ascii_digit() {
        number = number * 10 + (bytes[at] - b'0') as u32;
        at += 1;
    }
    (number, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_without_comments() {
        const READ: [u32; 4] = numbers("# 7 comments\n1,20\n# 8\n300,0\n");
        assert_eq!(READ, [1, 20, 300, 0]);
    }
}
