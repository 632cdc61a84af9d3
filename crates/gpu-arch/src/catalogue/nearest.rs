//! How far two names are apart.

/// The number of letters to add, drop or change to turn one text into the other (Levenshtein).
pub(crate) fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut previous: Vec<usize> = (0..=right.len()).collect();
    for (row, letter) in left.chars().enumerate() {
        let mut current = Vec::with_capacity(previous.len());
        let mut before = row.saturating_add(1);
        current.push(before);
        for ((diagonal, above), other) in previous.iter().zip(previous.iter().skip(1)).zip(right.iter()) {
            let change = diagonal.saturating_add(usize::from(*other != letter));
            before = change.min(above.saturating_add(1)).min(before.saturating_add(1));
            current.push(before);
        }
        previous = current;
    }
    previous.last().copied().unwrap_or(0)
}
