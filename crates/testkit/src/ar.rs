//! Static archives: GNU, BSD, thin, and the `.lib` of Windows.

use crate::bytes::Bytes;

/// Which dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// `name/`, long names in `//` each ended by `/` and a newline.
    Gnu,
    /// `#1/len`, long names before the data.
    Bsd,
    /// `!<thin>`: headers only, all names in `//`.
    Thin,
    /// As GNU, with two linker members and names ended by NUL.
    Coff,
}

/// An archive.
#[derive(Clone, Debug)]
pub struct Ar {
    /// Dialect.
    pub flavour: Flavour,
    /// Name and bytes.
    pub members: Vec<(String, Vec<u8>)>,
    /// Symbols of the `/` (BSD: `__.SYMDEF`) member, all pointing at the first member; `None`: no such member.
    pub symbols: Option<Vec<String>>,
    /// Leave out the padding byte behind members of odd size, as some writers do.
    pub unpadded: bool,
    /// Leave out the padding byte behind the last member only.
    pub unpadded_end: bool,
}

impl Ar {
    /// A GNU archive with an empty symbol table left out.
    pub fn new(flavour: Flavour) -> Self {
        Self { flavour, members: Vec::new(), symbols: None, unpadded: false, unpadded_end: false }
    }

    /// Adds a member.
    pub fn member(mut self, name: &str, data: &[u8]) -> Self {
        self.members.push((name.to_owned(), data.to_vec()));
        self
    }

    /// Adds a symbol table.
    pub fn symbols(mut self, names: &[&str]) -> Self {
        self.symbols = Some(names.iter().map(|&n| n.to_owned()).collect());
        self
    }

    fn header(out: &mut Bytes, name: &str, size: usize) {
        let line = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, "100644");
        assert_eq!(line.len(), 60, "name {name:?} does not fit");
        out.put(line.as_bytes());
    }

    fn pad(&self, out: &mut Bytes) {
        if !self.unpadded && out.len() % 2 == 1 {
            out.put(b"\n");
        }
    }

    /// The bytes of the symbol table (first linker member), with `first` as the offset of the first member.
    fn symbol_table(&self, first: u32) -> Vec<u8> {
        let names = self.symbols.as_deref().unwrap_or_default();
        let mut out = Bytes::new();
        if self.flavour == Flavour::Bsd {
            let mut strings = Bytes::new();
            out.u32(8 * names.len() as u32);
            for name in names {
                out.u32(strings.len() as u32).u32(first);
                strings.cstr(name);
            }
            strings.align(4);
            out.u32(strings.len() as u32).put(&strings.0);
        } else {
            out.be32(names.len() as u32);
            names.iter().for_each(|_| {
                out.be32(first);
            });
            names.iter().for_each(|n| {
                out.cstr(n);
            });
        }
        out.0
    }

    /// The second linker member of a `.lib`: member offsets, symbol indices, names.
    fn second_linker_member(&self, first: u32) -> Vec<u8> {
        let names = self.symbols.as_deref().unwrap_or_default();
        let mut out = Bytes::new();
        out.u32(1).u32(first).u32(names.len() as u32);
        names.iter().for_each(|_| {
            out.u16(1);
        });
        names.iter().for_each(|n| {
            out.cstr(n);
        });
        out.0
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let probe = self.build(0);
        self.build(probe.1).0
    }

    /// The file, and the offset of the header of the first member.
    fn build(&self, first: u32) -> (Vec<u8>, u32) {
        let mut out = Bytes::new();
        out.put(if self.flavour == Flavour::Thin { b"!<thin>\n" } else { b"!<arch>\n" });
        if self.symbols.is_some() {
            let table = self.symbol_table(first);
            Self::header(&mut out, if self.flavour == Flavour::Bsd { "__.SYMDEF" } else { "/" }, table.len());
            out.put(&table);
            self.pad(&mut out);
            if self.flavour == Flavour::Coff {
                let table = self.second_linker_member(first);
                Self::header(&mut out, "/", table.len());
                out.put(&table);
                self.pad(&mut out);
            }
        }
        let long = |name: &str| match self.flavour {
            Flavour::Thin => true,
            Flavour::Bsd => name.len() > 16 || name.contains(' '),
            Flavour::Gnu | Flavour::Coff => name.len() > 15,
        };
        let mut strings = Bytes::new();
        let mut names = Vec::new();
        for (name, data) in &self.members {
            names.push(match (long(name), self.flavour) {
                (false, Flavour::Bsd) => name.clone(),
                (false, _) => format!("{name}/"),
                (true, Flavour::Bsd) => format!("#1/{}", name.len()),
                (true, _) => {
                    let field = format!("/{}", strings.len());
                    strings.put(name.as_bytes()).put(if self.flavour == Flavour::Coff { b"\0" } else { b"/\n" });
                    field
                }
            });
            let _ = data;
        }
        if !strings.is_empty() {
            Self::header(&mut out, "//", strings.len());
            out.put(&strings.0);
            self.pad(&mut out);
        }
        let at = out.len() as u32;
        for (index, ((name, data), field)) in self.members.iter().zip(&names).enumerate() {
            let inline = field.starts_with("#1/");
            Self::header(&mut out, field, data.len() + if inline { name.len() } else { 0 });
            if inline {
                out.put(name.as_bytes());
            }
            if self.flavour != Flavour::Thin {
                out.put(data);
                if !(self.unpadded_end && index + 1 == self.members.len()) {
                    self.pad(&mut out);
                }
            }
        }
        (out.0, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::read::be32;

    #[test]
    fn gnu_short_name_header_is_the_documented_line() {
        let b = Ar::new(Flavour::Gnu).member("a.o", b"123").bytes();
        assert_eq!(&b[..8], b"!<arch>\n");
        assert_eq!(&b[8..68], b"a.o/            0           0     0     100644  3         `\n");
        assert_eq!(&b[68..], b"123\n");
    }

    #[test]
    fn gnu_long_name_stands_in_the_name_member() {
        let name = "a_name_of_more_than_fifteen.o";
        let b = Ar::new(Flavour::Gnu).member(name, b"1").bytes();
        assert_eq!(&b[8..12], b"//  ");
        assert_eq!(&b[68..68 + 31], format!("{name}/\n").as_bytes());
        // 31 bytes are odd: one newline, then "/0"
        assert_eq!(&b[100..103], b"/0 ");
    }

    #[test]
    fn bsd_long_name_stands_before_the_data_and_is_counted() {
        let b = Ar::new(Flavour::Bsd).member("a long name.o", b"xyz").bytes();
        assert_eq!(&b[8..14], b"#1/13 ");
        assert_eq!(&b[56..60], b"16  ");
        assert_eq!(&b[68..84], b"a long name.oxyz");
    }

    #[test]
    fn symbol_table_points_at_the_first_member() {
        let b = Ar::new(Flavour::Gnu).symbols(&["f", "g"]).member("a.o", b"12").bytes();
        assert_eq!((&b[8..10], be32(&b, 68)), (&b"/ "[..], 2));
        let at = be32(&b, 72) as usize;
        assert_eq!(&b[at..at + 4], b"a.o/");
    }

    #[test]
    fn thin_archive_holds_no_data() {
        let b = Ar::new(Flavour::Thin).member("dir/a.o", b"secret").bytes();
        assert_eq!(&b[..8], b"!<thin>\n");
        assert!(!b.windows(6).any(|w| w == b"secret"));
        assert!(b.windows(9).any(|w| w == b"dir/a.o/\n"));
    }

    #[test]
    fn odd_members_can_be_left_unpadded() {
        let mut ar = Ar::new(Flavour::Gnu).member("a", b"1").member("b", b"2");
        assert_eq!(ar.bytes().len(), 8 + 2 * 62);
        ar.unpadded_end = true;
        assert_eq!(ar.bytes().len(), 8 + 2 * 62 - 1);
        ar.unpadded = true;
        assert_eq!(ar.bytes().len(), 8 + 2 * 61);
    }
}
