//! The script of a page, and the policy that lets a browser run nothing else.

/// Sorts the table of runs by the column that is clicked, and shows a hint where a table is wider than the page.
pub(super) const SCRIPT: &str = include_str!("../page.js");

/// SHA-256 of the script, in base64.
const SCRIPT_DIGEST: &str = "xjYiGmuDVLm7bFYCBT9x48Yq4cjMLzXLS5yDrijHZL4=";

/// The content security policy: no requests, and no script but ours.
pub(super) fn security_policy() -> String {
    format!(
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{SCRIPT_DIGEST}'; base-uri 'none'; form-action 'none'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The base64 form of a hexadecimal digest.
    fn base64(hex: &str) -> String {
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let bits: String = hex.chars().map(|digit| format!("{:04b}", digit.to_digit(16).unwrap())).collect();
        let digits = bits.as_bytes().chunks(6).map(|six| {
            let six = format!("{:0<6}", std::str::from_utf8(six).unwrap());
            char::from(DIGITS[usize::from_str_radix(&six, 2).unwrap()])
        });
        let text: String = digits.collect();
        format!("{text}{}", "=".repeat((4 - text.len() % 4) % 4))
    }

    #[test]
    fn the_policy_allows_the_script() {
        assert_eq!(base64(&rivalry::data::digest::of_bytes(SCRIPT.as_bytes())), SCRIPT_DIGEST);
    }
}
