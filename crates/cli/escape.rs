//! Names come from files, and whatever shows them obeys: a terminal, a log, a spreadsheet, a web page. Here is one
//! function a format, and nothing that a file says is printed without it.
//!
//! A name looks the same in all formats for people: what misleads is written out, `\n`, `\u{202e}`. JSON is for programs
//! and keeps the name as it is.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Control characters, marks of direction, ends of lines, and what is no character.
fn misleads(character: char) -> bool {
    let direction = matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}');
    let more = matches!(character, '\u{2028}' | '\u{2029}' | '\u{2066}'..='\u{2069}' | '\u{fdd0}'..='\u{fdef}');
    character.is_control() || direction || more || u32::from(character) & 0xfffe == 0xfffe
}

/// Whether every byte is a visible one of ASCII or a blank, and none are `##` or a colon at the start of a word; of long names
/// most are.
fn is_plain(text: &str) -> bool {
    let behind = text.as_bytes().get(1..).unwrap_or_default().iter();
    // without an early end the compiler makes vector code of both
    let odd = text.bytes().fold(false, |any, byte| any | !matches!(byte, b' '..=b'~'));
    let begins = text
        .bytes()
        .zip(behind)
        .fold(false, |any, (byte, next)| any | ((byte == b' ') & (*next == b':')) | ((byte == b'#') & (*next == b'#')));
    !(odd | begins | text.starts_with(':'))
}

/// Text for people: one line, and no command to a terminal or to a system that reads logs. `::` begins a command of
/// GitHub at the start of a line, and any word may come to stand there; `##[`, `##vso[` and `##teamcity[` begin one of
/// others anywhere. Text that went through it stays as it is.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let begins = match character {
            ':' => before.is_whitespace() && rest.as_str().starts_with(':'),
            '#' => rest.as_str().starts_with('#'),
            _ => false,
        };
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if begins || misleads(character) => {
                // a String takes everything
                let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
            }
            _ => out.push(character),
        }
        before = character;
    }
    Cow::Owned(out)
}

/// Text in Markdown: no markup, no link, no mention, no end of a cell.
pub(crate) fn markdown(name: &str) -> String {
    let mut out = String::new();
    for character in text(name).chars() {
        if matches!(character, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '#' | '|' | '~' | '$' | ':' | '@')
        {
            out.push('\\');
        }
        out.push(character);
    }
    // GitHub makes a link of it
    out.replace("www.", "www\\.")
}

/// Text and attributes in XML 1.0.
pub(crate) fn xml(name: &str) -> String {
    let mut out = String::new();
    for character in text(name).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            other => out.push(other),
        }
    }
    out
}

/// A cell of comma-separated values (RFC 4180). Spreadsheets compute what begins like a formula: it gets an apostrophe.
pub(crate) fn csv(cell: &str) -> Cow<'_, str> {
    let mut cell = text(cell);
    if cell.starts_with(['=', '+', '-', '@']) {
        cell = Cow::Owned(format!("'{cell}"));
    }
    // without an early end the compiler makes vector code of it
    if cell.bytes().fold(false, |any, byte| any | matches!(byte, b',' | b'"')) {
        cell = Cow::Owned(format!("\"{}\"", cell.replace('"', "\"\"")));
    }
    cell
}

/// The message of a GitHub workflow command, with the escapes of its toolkit; of what else misleads those of text.
pub(crate) fn github(message: &str) -> String {
    let lines = message.split_inclusive(['\r', '\n']);
    let line = |line: &str| {
        let own = line.trim_end_matches(['\r', '\n']);
        let end = line.strip_prefix(own).unwrap_or_default().replace('\r', "%0D").replace('\n', "%0A");
        text(own).replace('%', "%25") + &end
    };
    lines.map(line).collect()
}

/// A property of such a command: colons and commas end it.
pub(crate) fn github_property(value: &str) -> String {
    github(value).replace(':', "%3A").replace(',', "%2C")
}

/// JSON with the same values, but none of the characters that mislead.
pub(crate) fn json(json: &str) -> Cow<'_, str> {
    if is_plain(json) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut rest = json.chars();
    while let Some(character) = rest.next() {
        // below DEL only the blanks between values are left, since JSON has no others
        let bad = character >= '\u{7f}' && misleads(character);
        if bad || (character == '#' && rest.as_str().starts_with('#')) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

struct Json;

impl Formatter for Json {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        out.write_all(json(fragment).as_bytes())
    }
}

/// A value in such JSON on a line.
pub(crate) fn json_line(out: &mut impl io::Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, Json))?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_one_line_without_commands() {
        for (name, shown) in [
            ("lib/x.so", "lib/x.so"),
            ("at::native::k<1>", "at::native::k<1>"),
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("\u{1b}[31m\u{7f}\u{9b}", "\\u{1b}[31m\\u{7f}\\u{9b}"),
            ("\u{202e}\u{2066}\u{61c}\u{200f}\u{2028}", "\\u{202e}\\u{2066}\\u{61c}\\u{200f}\\u{2028}"),
            ("\u{fdd0}\u{fffe}\u{1ffff}\u{fffd}", "\\u{fdd0}\\u{fffe}\\u{1ffff}\u{fffd}"),
            ("::add-mask::x", "\\u{3a}:add-mask::x"),
            ("a ::b\u{a0}::c", "a \\u{3a}:b\u{a0}\\u{3a}:c"),
            ("##[error]x ###", "\\u{23}#[error]x \\u{23}\\u{23}#"),
            ("é名 #1", "é名 #1"),
        ] {
            assert_eq!(text(name), shown);
            assert_eq!(text(shown), shown, "once is enough");
        }
    }

    #[test]
    fn every_format_keeps_names_in_their_place() {
        assert_eq!(markdown("a|`*_[x](y)<b>&#1\\\n"), "a\\|\\`\\*\\_\\[x\\](y)\\<b\\>\\&\\#1\\\\\\\\n");
        assert_eq!(markdown("https://www.x @y"), "https\\://www\\.x \\@y");
        assert_eq!(xml("<a b=\"c'\">&\u{0}\n]]>"), "&lt;a b=&quot;c&apos;&quot;&gt;&amp;\\u{0}\\n]]&gt;");
        assert_eq!(["=a", "+1", "-1", "@x", "\t=1", "x=1"].map(csv), ["'=a", "'+1", "'-1", "'@x", "\\t=1", "x=1"]);
        assert_eq!(["a,b", "a\"b", "a\nb", "-a,b"].map(csv), ["\"a,b\"", "\"a\"\"b\"", "a\\nb", "\"'-a,b\""]);
        assert_eq!(github("100%: a,b\r\n::c\u{1b}"), "100%25: a,b%0D%0A\\u{3a}:c\\u{1b}");
        assert_eq!(github_property("a:b,c%3A\n"), "a%3Ab%2Cc%253A%0A");
    }

    #[test]
    fn json_keeps_its_values() {
        let name = "\u{7f}\u{9b}\u{202e}\u{ffff}\u{1fffe}\n\"##[x]é#";
        let mut out = Vec::new();
        json_line(&mut out, &name).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.trim_end().chars().all(|character| !misleads(character)) && !out.contains("##"), "{out}");
        assert_eq!(serde_json::from_str::<String>(&out).unwrap(), name);
        let pretty = serde_json::to_string_pretty(&[name]).unwrap();
        assert_eq!(serde_json::from_str::<[String; 1]>(&json(&pretty)).unwrap(), [name]);
    }
}
