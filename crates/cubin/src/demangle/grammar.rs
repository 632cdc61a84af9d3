//! Whether a mangled name is well-formed, in time that grows with its length.
//!
//! The demangler tries one production after the other and parses the same bytes again where it was wrong: on a name that is
//! damaged deep inside, twice as long for each level of `na`, of `L` and some more. On a well-formed name its first choice
//! that takes more than a few bytes is the right one. This parser has the demangler's grammar, but decides by the next two
//! bytes and gives up where it is wrong, so that the demangler sees no other names. Spellings that no compiler writes and
//! two bytes do not decide (a type that is named like an operator or constructor) count as damage.
//!
//! <https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling>

/// Depth of nesting, as for the demangler.
const DEPTH: u32 = super::RECURSION_LIMIT;
/// Only one place is decided by what stands behind the whole: `cv T_ I ... E`, where the arguments may be those of the
/// operator. So often both parsers look ahead.
const LOOKAHEADS: u32 = 8;

/// Operators with the number of their operands.
const OPERATORS: [(&[u8; 2], u8); 48] = [
    (b"nw", 3),
    (b"na", 3),
    (b"dl", 1),
    (b"da", 1),
    (b"ps", 1),
    (b"ng", 1),
    (b"ad", 1),
    (b"de", 1),
    (b"co", 1),
    (b"pl", 2),
    (b"mi", 2),
    (b"ml", 2),
    (b"dv", 2),
    (b"rm", 2),
    (b"an", 2),
    (b"or", 2),
    (b"eo", 2),
    (b"aS", 2),
    (b"pL", 2),
    (b"mI", 2),
    (b"mL", 2),
    (b"dV", 2),
    (b"rM", 2),
    (b"aN", 2),
    (b"oR", 2),
    (b"eO", 2),
    (b"ls", 2),
    (b"rs", 2),
    (b"lS", 2),
    (b"rS", 2),
    (b"eq", 2),
    (b"ne", 2),
    (b"lt", 2),
    (b"gt", 2),
    (b"le", 2),
    (b"ge", 2),
    (b"nt", 1),
    (b"aa", 2),
    (b"oo", 2),
    (b"pp", 1),
    (b"mm", 1),
    (b"cm", 2),
    (b"pm", 2),
    (b"pt", 2),
    (b"cl", 2),
    (b"ix", 2),
    (b"qu", 3),
    (b"ss", 2),
];

/// Whether the demangler can parse `name`, which begins with `_Z`, without going back.
pub(super) fn is_well_formed(name: &[u8]) -> bool {
    let mut parser = Parser { rest: name, depth: 0, substitutions: 0, in_conversion: false, lookaheads: 0 };
    parser.mangled_name().is_some() && parser.rest.is_empty()
}

/// The methods have the names of the productions. `None`: the name is not well-formed.
struct Parser<'name> {
    rest: &'name [u8],
    depth: u32,
    /// Parts that `S_`, `S0_`, ... can name so far.
    substitutions: u64,
    /// Within the type of a conversion operator.
    in_conversion: bool,
    lookaheads: u32,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// The next two bytes, or zeros.
    fn next_two(&self) -> [u8; 2] {
        self.rest.first_chunk().copied().unwrap_or_default()
    }

    fn eat(&mut self, token: &[u8]) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn need(&mut self, token: &[u8]) -> Option<()> {
        self.eat(token).then_some(())
    }

    /// Eats the bytes that are `known`, and tells how many.
    fn eat_while(&mut self, known: impl Fn(u8) -> bool) -> usize {
        let count = self.rest.iter().position(|byte| !known(*byte)).unwrap_or(self.rest.len());
        self.rest = self.rest.get(count..).unwrap_or_default();
        count
    }

    fn nested(&mut self, production: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        self.depth = self.depth.checked_add(1).filter(|depth| *depth < DEPTH)?;
        let result = production(self);
        self.depth = self.depth.saturating_sub(1);
        result
    }

    fn substitutable(&mut self) {
        self.substitutions = self.substitutions.saturating_add(1);
    }

    /// A number of digits and, in base 36, capitals; without zeros before it.
    fn number_in(&mut self, base: u8) -> Option<u64> {
        let digits = self.rest;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (base > 10 && byte.is_ascii_uppercase());
        let digits = digits.get(..self.eat_while(is_digit))?;
        if digits.is_empty() || (digits.len() > 1 && digits.starts_with(b"0")) {
            return None;
        }
        let value = digits.iter().try_fold(0_u64, |value, byte| {
            let digit = if byte.is_ascii_digit() { byte.checked_sub(b'0')? } else { byte.checked_sub(b'A' - 10)? };
            value.checked_mul(u64::from(base))?.checked_add(u64::from(digit))
        })?;
        (value < 1 << 62).then_some(value)
    }

    fn number(&mut self) -> Option<u64> {
        self.number_in(10)
    }

    fn signed_number(&mut self) -> Option<()> {
        self.eat(b"n");
        self.number().map(drop)
    }

    /// A number, if there is one, and `_`.
    fn index(&mut self) -> Option<()> {
        if self.peek()?.is_ascii_digit() {
            self.number()?;
        }
        self.need(b"_")
    }

    fn mangled_name(&mut self) -> Option<()> {
        self.need(b"_Z")?;
        self.encoding()?;
        while self.eat(b".") {
            self.clone_suffix()?;
        }
        Some(())
    }

    /// `.isra.0`, behind its dot.
    fn clone_suffix(&mut self) -> Option<()> {
        if self.eat_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'$' | b'_')) == 0 {
            return None;
        }
        loop {
            let before = self.rest;
            if !self.eat(b".") || self.number().is_none() {
                self.rest = before;
                return Some(());
            }
        }
    }

    fn encoding(&mut self) -> Option<()> {
        self.nested(|parser| {
            if let Some(b'T' | b'G') = parser.peek() {
                return parser.special_name();
            }
            parser.name()?;
            while !matches!(parser.peek(), None | Some(b'E' | b'.')) {
                parser.r#type()?;
            }
            Some(())
        })
    }

    fn special_name(&mut self) -> Option<()> {
        let kind = self.next_two();
        self.rest = self.rest.get(2..)?;
        match &kind {
            b"TV" | b"TT" | b"TI" | b"TS" | b"TF" => self.r#type(),
            b"Tc" => {
                self.call_offset()?;
                self.call_offset()?;
                self.encoding()
            }
            b"Th" => {
                self.signed_number()?;
                self.need(b"_")?;
                self.encoding()
            }
            b"Tv" => {
                self.v_offset()?;
                self.encoding()
            }
            b"TC" => {
                self.r#type()?;
                self.number()?;
                self.need(b"_")?;
                self.r#type()
            }
            b"TH" | b"TW" | b"GV" => self.name(),
            b"GR" => {
                self.name()?;
                if !self.eat(b"_") {
                    self.number_in(36)?;
                    self.need(b"_")?;
                }
                Some(())
            }
            b"GT" => {
                self.rest = self.rest.get(1..)?;
                self.encoding()
            }
            _ => None,
        }
    }

    fn call_offset(&mut self) -> Option<()> {
        if self.eat(b"h") {
            self.signed_number()?;
            return self.need(b"_");
        }
        self.need(b"v")?;
        self.v_offset()
    }

    fn v_offset(&mut self) -> Option<()> {
        self.signed_number()?;
        self.need(b"_")?;
        self.signed_number()?;
        self.need(b"_")
    }

    fn name(&mut self) -> Option<()> {
        self.nested(|parser| match parser.peek()? {
            b'N' => parser.nested_name(),
            b'Z' => parser.local_name(),
            b'S' if &parser.next_two() != b"St" => {
                parser.substitution()?;
                parser.template_args()
            }
            _ => {
                parser.eat(b"St");
                parser.unqualified_name()?;
                if parser.peek() == Some(b'I') {
                    parser.substitutable();
                    parser.template_args()?;
                }
                Some(())
            }
        })
    }

    fn nested_name(&mut self) -> Option<()> {
        self.need(b"N")?;
        if !self.eat(b"H") {
            self.cv_qualifiers();
            let _ = self.eat(b"R") || self.eat(b"O");
        }
        let mut is_first = true;
        let mut is_whole = false;
        loop {
            let mut is_member = false;
            let first = self.peek()?;
            is_whole = match first {
                b'E' => break,
                b'S' => {
                    self.substitution()?;
                    (is_first, is_whole) = (false, false);
                    continue;
                }
                b'T' => {
                    self.template_param()?;
                    false
                }
                b'D' if matches!(&self.next_two(), b"Dt" | b"DT") => {
                    self.decltype()?;
                    false
                }
                b'I' if !is_first => {
                    self.template_args()?;
                    true
                }
                _ => {
                    self.unqualified_name()?;
                    // the name of a data member, in which a closure is
                    is_member = self.peek() == Some(b'M');
                    if is_member && !matches!(first, b'0'..=b'9' | b'L') {
                        return None;
                    }
                    !is_member
                }
            };
            is_first = false;
            // the last part is the name itself
            if self.peek() != Some(b'E') {
                self.substitutable();
            }
            if is_member {
                self.need(b"M")?;
            }
        }
        if is_whole { self.need(b"E") } else { None }
    }

    fn local_name(&mut self) -> Option<()> {
        self.need(b"Z")?;
        self.encoding()?;
        self.need(b"E")?;
        if self.eat(b"s") {
            self.discriminator();
            return Some(());
        }
        if self.eat(b"d") {
            self.index()?;
            return self.name();
        }
        self.name()?;
        self.discriminator();
        Some(())
    }

    /// Is left where it is if it is none.
    fn discriminator(&mut self) {
        let before = self.rest;
        let long = self.eat(b"__");
        let found = if long {
            self.number().filter(|number| *number >= 10).and_then(|_| self.need(b"_"))
        } else {
            let digit = self.eat(b"_") && self.peek().is_some_and(|byte| byte.is_ascii_digit());
            if digit {
                self.rest = self.rest.get(1..).unwrap_or_default();
            }
            digit.then_some(())
        };
        if found.is_none() {
            self.rest = before;
        }
    }

    fn unqualified_name(&mut self) -> Option<()> {
        match self.peek()? {
            b'0'..=b'9' => self.source_name()?,
            b'L' => {
                self.need(b"L")?;
                self.source_name()?;
                self.discriminator();
            }
            b'C' => {
                self.need(b"C")?;
                let inherits = self.eat(b"I");
                if !matches!(self.peek()?, b'1'..=b'4') {
                    return None;
                }
                self.rest = self.rest.get(1..)?;
                if inherits {
                    self.r#type()?;
                }
            }
            b'D' => {
                if !matches!(&self.next_two(), b"D0" | b"D1" | b"D2" | b"D4") {
                    return None;
                }
                self.rest = self.rest.get(2..)?;
            }
            b'U' if self.eat(b"Ul") => self.lambda()?,
            b'U' => {
                self.need(b"Ut")?;
                self.index()?;
            }
            _ => {
                self.eat(b"on");
                self.operator_name()?;
            }
        }
        while self.eat(b"B") {
            self.source_name()?;
        }
        Some(())
    }

    fn source_name(&mut self) -> Option<()> {
        let length = usize::try_from(self.number()?).ok().filter(|length| *length > 0)?;
        let (name, rest) = self.rest.split_at_checked(length)?;
        let known = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'$' | b'_' | b'.');
        self.rest = rest;
        name.iter().all(known).then_some(())
    }

    /// A closure behind `Ul`.
    fn lambda(&mut self) -> Option<()> {
        self.nested(|parser| {
            if !parser.eat(b"v") {
                parser.types()?;
            }
            parser.need(b"E")?;
            parser.index()
        })
    }

    /// One type and more, up to `E`.
    fn types(&mut self) -> Option<()> {
        self.r#type()?;
        while self.peek()? != b'E' && !matches!(&self.next_two(), b"RE" | b"OE") {
            self.r#type()?;
        }
        Some(())
    }

    /// Any operator; `cv` is a conversion.
    fn operator_name(&mut self) -> Option<()> {
        if self.eat(b"cv") {
            let before = core::mem::replace(&mut self.in_conversion, true);
            self.r#type()?;
            self.in_conversion = before;
            return Some(());
        }
        self.operator().map(drop)
    }

    /// An operator with the number of its operands.
    fn operator(&mut self) -> Option<u8> {
        let token = self.next_two();
        if let Some((_, operands)) = OPERATORS.iter().find(|(known, _)| **known == token) {
            self.rest = self.rest.get(2..)?;
            return Some(*operands);
        }
        if self.eat(b"li") {
            self.source_name()?;
            return Some(1);
        }
        self.need(b"v")?;
        let operands = self.peek().filter(u8::is_ascii_digit)?.checked_sub(b'0')?;
        self.rest = self.rest.get(1..)?;
        self.source_name()?;
        Some(operands)
    }

    fn cv_qualifiers(&mut self) -> bool {
        let before = self.rest.len();
        let _ = (self.eat(b"r"), self.eat(b"V"), self.eat(b"K"));
        self.rest.len() < before
    }

    fn substitution(&mut self) -> Option<()> {
        self.need(b"S")?;
        if let Some(b't' | b'a' | b'b' | b's' | b'i' | b'o' | b'd') = self.peek() {
            self.rest = self.rest.get(1..)?;
            return Some(());
        }
        let index = if self.peek()? == b'_' { 0 } else { self.number_in(36)?.checked_add(1)? };
        self.need(b"_")?;
        (index < self.substitutions).then_some(())
    }

    fn template_param(&mut self) -> Option<()> {
        self.need(b"T")?;
        self.index()
    }

    fn decltype(&mut self) -> Option<()> {
        self.need(b"D")?;
        let _ = self.eat(b"t") || self.eat(b"T");
        self.expression()?;
        self.need(b"E")
    }

    fn template_args(&mut self) -> Option<()> {
        self.nested(|parser| {
            parser.need(b"I")?;
            parser.template_arg()?;
            while !parser.eat(b"E") {
                parser.template_arg()?;
            }
            Some(())
        })
    }

    fn template_arg(&mut self) -> Option<()> {
        self.nested(|parser| match parser.peek()? {
            b'X' => {
                parser.need(b"X")?;
                parser.expression()?;
                parser.need(b"E")
            }
            b'L' => parser.primary(),
            b'J' | b'I' => {
                parser.rest = parser.rest.get(1..)?;
                while !parser.eat(b"E") {
                    parser.template_arg()?;
                }
                Some(())
            }
            _ => parser.r#type(),
        })
    }

    fn r#type(&mut self) -> Option<()> {
        self.nested(|parser| {
            if parser.is_unnamed_type()? {
                parser.substitutable();
            }
            Some(())
        })
    }

    /// Whether a later `S_` can name the type.
    fn is_unnamed_type(&mut self) -> Option<bool> {
        let [first, second] = self.next_two();
        match self.peek()? {
            b'a'..=b'j' | b'l'..=b'o' | b's' | b't' | b'v'..=b'z' => {
                self.rest = self.rest.get(1..)?;
                return Some(false);
            }
            b'D' => return self.d_type(second),
            b'u' => {
                self.need(b"u")?;
                self.source_name()?;
                return Some(false);
            }
            b'U' => {
                self.need(b"U")?;
                self.source_name()?;
                if self.peek() == Some(b'I') {
                    self.template_args()?;
                }
                self.r#type()?;
            }
            b'r' | b'V' | b'K' => {
                self.cv_qualifiers();
                if matches!(&self.next_two(), [b'F', _] | b"Do" | b"DO" | b"Dx") {
                    self.function_type()?;
                } else {
                    self.r#type()?;
                }
            }
            b'F' => self.function_type()?,
            b'S' if second != b't' => {
                self.substitution()?;
                if self.peek() != Some(b'I') {
                    return Some(false);
                }
                self.template_args()?;
            }
            b'0'..=b'9' | b'N' | b'Z' | b'S' => self.name()?,
            b'A' => {
                self.need(b"A")?;
                match self.peek()? {
                    b'0'..=b'9' => self.number().map(drop)?,
                    b'_' => {}
                    _ => self.expression()?,
                }
                self.need(b"_")?;
                self.r#type()?;
            }
            b'M' => {
                self.need(b"M")?;
                self.r#type()?;
                self.r#type()?;
            }
            b'T' if matches!(second, b's' | b'u' | b'e') => {
                self.rest = self.rest.get(2..)?;
                self.name()?;
            }
            b'T' => self.type_of_param()?,
            // complex; `C1` and `CI1` are constructors
            b'C' if second.is_ascii_digit() || second == b'I' => return None,
            b'P' | b'R' | b'O' | b'C' | b'G' => {
                self.need(&[first])?;
                self.r#type()?;
            }
            _ => return None,
        }
        Some(true)
    }

    /// A type that begins with `D`.
    fn d_type(&mut self, second: u8) -> Option<bool> {
        match second {
            b'd' | b'e' | b'f' | b'h' | b'i' | b's' | b'u' | b'a' | b'c' | b'n' => {
                self.rest = self.rest.get(2..)?;
                return Some(false);
            }
            b'F' | b'B' | b'U' => {
                self.rest = self.rest.get(2..)?;
                let is_b16 = second == b'F' && self.eat(b"16b");
                if !is_b16 {
                    self.number()?;
                    let is_extended = second == b'F' && self.eat(b"x");
                    if !is_extended {
                        self.need(b"_")?;
                    }
                }
                return Some(false);
            }
            b't' | b'T' => self.decltype()?,
            b'p' => {
                self.need(b"Dp")?;
                self.r#type()?;
            }
            b'v' => {
                self.need(b"Dv")?;
                match self.peek()? {
                    b'0'..=b'9' => self.number().map(drop)?,
                    _ => self.expression()?,
                }
                self.need(b"_")?;
                self.r#type()?;
            }
            b'o' | b'O' | b'x' => self.function_type()?,
            _ => return None,
        }
        Some(true)
    }

    /// `T_`, with arguments if it is a template.
    fn type_of_param(&mut self) -> Option<()> {
        self.template_param()?;
        if self.peek() != Some(b'I') {
            return Some(());
        }
        if self.in_conversion {
            self.lookaheads = self.lookaheads.checked_add(1).filter(|count| *count <= LOOKAHEADS)?;
            let before = (self.rest, self.substitutions);
            self.template_args()?;
            let is_template = self.peek() == Some(b'I');
            (self.rest, self.substitutions) = before;
            if !is_template {
                return Some(());
            }
        }
        self.substitutable();
        self.template_args()
    }

    fn function_type(&mut self) -> Option<()> {
        self.cv_qualifiers();
        if self.eat(b"DO") {
            self.expression()?;
            self.need(b"E")?;
        } else {
            self.eat(b"Do");
        }
        self.eat(b"Dx");
        self.need(b"F")?;
        self.eat(b"Y");
        self.types()?;
        let _ = self.eat(b"R") || self.eat(b"O");
        self.need(b"E")
    }

    fn expressions(&mut self, end: &[u8]) -> Option<()> {
        while !self.eat(end) {
            self.expression()?;
        }
        Some(())
    }

    fn expression(&mut self) -> Option<()> {
        self.nested(Self::expression_here)
    }

    fn expression_here(&mut self) -> Option<()> {
        let token = self.next_two();
        if self.eat(b"pp_") || self.eat(b"mm_") {
            return self.expression();
        }
        match &token {
            [b'L', _] => return self.primary(),
            [b'T', _] => return self.template_param(),
            [b'0'..=b'9', _] | b"on" | b"dn" | b"sr" => return self.unresolved_name(),
            b"fp" => return self.function_param(),
            b"fL" if self.rest.get(2)?.is_ascii_digit() => return self.function_param(),
            b"gs" => {
                self.need(b"gs")?;
                return match &self.next_two() {
                    b"nw" | b"na" | b"dl" | b"da" => self.new_or_delete(),
                    b"sr" => {
                        self.need(b"sr")?;
                        self.qualifier_levels()?;
                        self.base_unresolved_name()
                    }
                    _ => self.base_unresolved_name(),
                };
            }
            b"nw" | b"na" | b"dl" | b"da" => return self.new_or_delete(),
            _ => {}
        }
        match &token {
            b"cl" | b"cv" | b"tl" | b"il" | b"dc" | b"sc" | b"cc" | b"rc" | b"ti" | b"te" | b"st" | b"sz" | b"at"
            | b"az" | b"nx" | b"so" | b"dt" | b"pt" | b"ds" | b"sZ" | b"sP" | b"sp" | b"fl" | b"fr" | b"fL" | b"fR"
            | b"tw" | b"tr" => self.rest = self.rest.get(2..)?,
            _ => {
                let operands = self.operator().filter(|operands| (1..=3).contains(operands))?;
                return (0..operands).try_for_each(|_| self.expression());
            }
        }
        match &token {
            b"cl" => {
                self.expression()?;
                self.expressions(b"E")
            }
            b"cv" => {
                self.r#type()?;
                if self.eat(b"_") { self.expressions(b"E") } else { self.expression() }
            }
            b"tl" => {
                self.r#type()?;
                self.expressions(b"E")
            }
            b"il" => self.expressions(b"E"),
            b"dc" | b"sc" | b"cc" | b"rc" => {
                self.r#type()?;
                self.expression()
            }
            b"ti" | b"st" | b"at" => self.r#type(),
            b"so" => {
                self.r#type()?;
                self.expression()?;
                if self.peek()? != b'E' {
                    self.signed_number()?;
                }
                self.need(b"E")
            }
            b"dt" | b"pt" => {
                self.expression()?;
                self.unqualified_name()?;
                self.template_args_or_none()
            }
            b"ds" => {
                self.expression()?;
                self.expression()
            }
            b"sZ" if self.peek()? == b'T' => self.template_param(),
            b"sZ" => self.function_param(),
            b"sP" => {
                while !self.eat(b"E") {
                    self.template_arg()?;
                }
                Some(())
            }
            b"fl" | b"fr" | b"fL" | b"fR" => {
                let folded = OPERATORS.iter().find(|(known, _)| **known == self.next_two());
                folded.filter(|(_, operands)| *operands == 2)?;
                self.rest = self.rest.get(2..)?;
                self.expression()?;
                if matches!(&token, b"fL" | b"fR") { self.expression() } else { Some(()) }
            }
            b"tr" => Some(()),
            // te, sz, az, nx, sp, tw
            _ => self.expression(),
        }
    }

    fn new_or_delete(&mut self) -> Option<()> {
        let token = self.next_two();
        self.rest = self.rest.get(2..)?;
        if matches!(&token, b"dl" | b"da") {
            return self.expression();
        }
        self.expressions(b"_")?;
        self.r#type()?;
        if self.eat(b"pi") { self.expressions(b"E") } else { self.need(b"E") }
    }

    fn function_param(&mut self) -> Option<()> {
        self.need(b"f")?;
        if self.eat(b"L") {
            self.number()?;
        }
        self.need(b"p")?;
        self.cv_qualifiers();
        if self.eat(b"T") { Some(()) } else { self.index() }
    }

    /// A literal, or the name of a function or variable.
    fn primary(&mut self) -> Option<()> {
        self.nested(|parser| {
            parser.need(b"L")?;
            if parser.next_two() == *b"_Z" {
                parser.mangled_name()?;
            } else {
                parser.r#type()?;
                parser.eat_while(|byte| byte != b'E');
            }
            parser.need(b"E")
        })
    }

    fn unresolved_name(&mut self) -> Option<()> {
        if !self.eat(b"sr") {
            return self.base_unresolved_name();
        }
        if self.eat(b"N") {
            self.unresolved_type()?;
            self.qualifier_levels()?;
        } else if self.peek()?.is_ascii_digit() {
            self.qualifier_levels()?;
        } else {
            self.unresolved_type()?;
        }
        self.base_unresolved_name()
    }

    fn unresolved_type(&mut self) -> Option<()> {
        match self.peek()? {
            b'T' => {
                self.template_param()?;
                self.template_args_or_none()?;
            }
            b'D' if matches!(&self.next_two(), b"Dt" | b"DT") => self.decltype()?,
            _ => return self.substitution(),
        }
        self.substitutable();
        Some(())
    }

    /// One and more, with the `E` behind them.
    fn qualifier_levels(&mut self) -> Option<()> {
        self.simple_id()?;
        while !self.eat(b"E") {
            self.simple_id()?;
        }
        Some(())
    }

    fn base_unresolved_name(&mut self) -> Option<()> {
        if self.eat(b"on") {
            self.operator_name()?;
            return self.template_args_or_none();
        }
        if self.eat(b"dn") && !self.peek()?.is_ascii_digit() {
            return self.unresolved_type();
        }
        self.simple_id()
    }

    fn simple_id(&mut self) -> Option<()> {
        self.source_name()?;
        self.template_args_or_none()
    }

    fn template_args_or_none(&mut self) -> Option<()> {
        if self.peek() == Some(b'I') { self.template_args() } else { Some(()) }
    }
}
