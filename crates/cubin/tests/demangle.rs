//! Names in readable form, and names made to hurt.
#![cfg(feature = "demangle")]
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a panic here is a failing test"
)]

use std::time::{Duration, Instant};

use cubin::{DEMANGLE_INPUT_LIMIT, DEMANGLE_OUTPUT_LIMIT, demangle};

#[test]
fn names_read_as_c_filt_prints_them() {
    for (mangled, readable) in [
        ("_Z6k_tmplIfEvPT_i", "void k_tmpl<float>(float*, int)"),
        ("_ZN2ns4k_nsEPi", "ns::k_ns(int*)"),
        ("_ZN12_GLOBAL__N_14copyIN3c104HalfEEEvPT_l", "void (anonymous namespace)::copy<c10::Half>(c10::Half*, long)"),
    ] {
        assert_eq!(demangle(mangled.as_bytes()).as_deref(), Some(readable));
    }
}

#[test]
fn expressions_in_template_arguments_are_read() {
    // mangled by g++ 14; the text is that of c++filt
    for (mangled, readable) in [
        (
            "_Z3addILi3ELi4EEv3IntIXplT_T0_EES0_IXmimlT_T0_Li1EEES0_IXngT_EES0_IXqultT_T0_T_T0_EE4BoolIXgtT_T0_EE",
            "void add<3, 4>(Int<(3)+(4)>, Int<((3)*(4))-(1)>, Int<-(3)>, Int<((3)<(4))?(3) : (4)>, Bool<((3)>(4))>)",
        ),
        (
            "_Z3addILi3ELi4EEv4BoolIXaanteqT_T0_ooneT0_Li3EleT_Li2EEE3IntIXorlsT_Li2ErsT0_Li1EEES2_IXrmT_Li2EEE",
            "void add<3, 4>(Bool<(!((3)==(4)))&&(((4)!=(3))||((3)<=(2)))>, Int<((3)<<(2))|((4)>>(1))>, Int<(3)%(2)>)",
        ),
        ("_Z4callIPFiiiEEDTclfp_Li1ELi2EEET_", "decltype ({parm#1}(1, 2)) call<int (*)(int, int)>(int (*)(int, int))"),
        ("_Z3delI1SEDTdlfp_EPT_", "decltype (delete {parm#1}) del<S>(S*)"),
        ("_Z4foldIJilEEDTfrplfp_EDpT_", "decltype (({parm#1}+...)) fold<int, long>(int, long)"),
        ("_ZN4ConvcvT_IiEEv", "Conv::operator int<int>()"),
        ("_ZN4ConvcvT_IiEI2W1EEv", "Conv::operator int<int><W1>()"),
        ("_ZNK4ConvcvPKcEv", "Conv::operator char const*() const"),
        ("_Z2avIXadL_ZN1S1xEEEEvv", "void av<&S::x>()"),
        ("_Z1fIXaaLb1ELb0EEEvv", "void f<(true)&&(false)>()"),
        ("_Z1fIiEv1bIXsr3std7is_sameIT_iEE5valueEE", "void f<int>(b<std::is_same<int, int>::value>)"),
        ("_ZN1aIiEC2ERKS0_", "a<int>::a(a<int> const&)"),
        ("_ZNK2Fn1kMUliE_clEi", "Fn::k::{lambda(int)#1}::operator()(int) const"),
        ("_ZZ1fvENKUliE0_clEi.constprop.0", "f()::{lambda(int)#2}::operator()(int) const [clone .constprop.0]"),
    ] {
        assert_eq!(demangle(mangled.as_bytes()).as_deref(), Some(readable), "{mangled}");
    }
}

#[test]
fn names_that_are_not_mangled_stay_as_they_are() {
    for name in [&b"k_one"[..], b"", b"_Z", b"_ZN", b"triton_poi_fused_0", b"_Z6k_tmplIfEvPT_i\xff", b"$k$_Z6helperf"] {
        assert_eq!(demangle(name), None, "{}", String::from_utf8_lossy(name));
    }
}

#[test]
fn hostile_names_end_in_bounded_time() {
    let deep = |open: &str, count: usize| format!("_Z1f{}i", open.repeat(count));
    // pointers to pointers, and templates in templates
    for open in ["P", "N1aI", "1aI", "F", "DpT_", "XadL_Z", "sZ", "dt", "U8__vector"] {
        for count in [1, 100, 127, 128, 129, 1000, 30_000] {
            let _ = demangle(deep(open, count).as_bytes());
        }
    }
    // each parameter names the last two: the text doubles
    let mut doubling = "_Z1f1aI1bE".to_owned();
    for number in 0..60 {
        let id = |n: u32| {
            if n == 0 {
                "S_".to_owned()
            } else {
                format!("S{}_", char::from_digit(n % 36, 36).unwrap().to_ascii_uppercase())
            }
        };
        doubling.push_str(&format!("1cI{}{}E", id(number), id(number + 1)));
    }
    assert!(demangle(doubling.as_bytes()).is_none_or(|text| text.len() <= DEMANGLE_OUTPUT_LIMIT));
    let long = format!("_Z{0}{1}v", DEMANGLE_INPUT_LIMIT, "x".repeat(DEMANGLE_INPUT_LIMIT));
    assert_eq!(demangle(long.as_bytes()), None);
}

/// The time that any name may take. The usual one takes some microseconds.
const SOON: Duration = Duration::from_millis(50);

/// The text of a name, which must come soon. Another process may take the processor away, but not three times.
fn soon(name: &str) -> Option<String> {
    for _ in 0..3 {
        let start = Instant::now();
        let text = demangle(name.as_bytes());
        if start.elapsed() < SOON {
            return text;
        }
    }
    panic!("{name} takes more than {SOON:?}");
}

/// All that a production can begin with, and what ends one.
const TOKENS: [&str; 74] = [
    "na", "nw", "dl", "da", "gs", "cl", "cv", "cvT_I", "dn", "on", "sr", "srN", "pl", "nt", "ad", "qu", "ss", "li1a",
    "st", "sz", "sZ", "sP", "sp", "so", "dt", "pt", "tl", "il", "fl", "fL", "fp", "fp_", "pp", "pp_", "tw", "tr",
    "v11a", "1a", "2bc", "C1", "CI1", "D1", "Dt", "DO", "Dv", "Dp", "DB", "N", "NK", "St", "Sa", "S_", "S0_", "T_",
    "Ts", "I", "J", "X", "L", "L_Z", "Li0E", "Z", "Ul", "Ut_", "F", "A", "M", "P", "U1a", "i", "v", "_", "E", "B1t",
];

/// Where the tokens stand: types, template arguments, an expression, parts of a nested name, a name.
const PLACES: [&str; 5] = ["_Z1f", "_Z1fI", "_Z1aIX", "_ZN1a", "_Z"];

#[test]
fn work_does_not_double_with_each_level() {
    assert_eq!(soon(&format!("_Z1aIX{}a", "na".repeat(40))), None);
    for (open, close) in [
        ("na", ""),
        ("naLi1E_i", ""),
        ("gsnw", "_iE"),
        ("LA", "_iE"),
        ("LN1aI", "EEE"),
        ("cvT_I", "E"),
        ("N1acvT_I", "EE"),
        ("CI11aI", "E"),
        ("N1aCI1", "E"),
        ("DtLA", "E"),
        ("UlcvPZ", "E_"),
        ("StcvM", ""),
        // a member's name behind arguments or an operator is none
        ("N1aIXdl", "EEME"),
        ("N1aIXdl", "EEplM1bE"),
    ] {
        for place in PLACES {
            for depth in [1, 2, 3, 10, 20, 40, 64] {
                soon(&format!("{place}{}", open.repeat(depth)));
                soon(&format!("{place}{}i{}", open.repeat(depth), close.repeat(depth)));
                soon(&format!("{place}{}i{}S999_", open.repeat(depth), close.repeat(depth)));
            }
        }
    }
}

#[test]
fn nested_tokens_end_in_bounded_time() {
    for first in TOKENS {
        for second in TOKENS {
            for place in PLACES {
                for count in [8, 64] {
                    soon(&format!("{place}{}", [first, second].concat().repeat(count)));
                }
            }
            for third in TOKENS {
                soon(&format!("_Z1aIX{}i", [first, second, third].concat().repeat(64)));
            }
        }
    }
}

/// Numbers without order, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

#[test]
fn random_names_end_in_bounded_time() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for _ in 0..200_000 {
        let mut name = PLACES[random.below(PLACES.len())].to_owned();
        let length = random.below(300);
        while name.len() < length {
            name.push_str(TOKENS[random.below(TOKENS.len())]);
        }
        soon(&name);
    }
}

/// A type or an expression, mostly well-formed, so that the demangler itself has work.
fn production(random: &mut Random, depth: usize, is_type: bool) -> String {
    let types = [
        "P.",
        "K.",
        "1aI.E",
        "N1a1bI.EE",
        "F..E",
        "A,_.",
        "M..",
        "T_I.E",
        "Dt,E",
        "KDO,EF.RE",
        "Dv,_.",
        "S_",
        "NS_1bE",
        "SaI.E",
        "Z1cE1d",
        "1aIX,EE",
        "1aIL.5EE",
        "N1acv.E",
        "N1aUl.E_E",
        "N1acvT_I.EE",
        "1aIL_Z1fI.Ev.EE",
        "1aIJ..EE",
        "U1a.",
    ];
    let expressions = [
        "na,_.E",
        "nw_.pi,E",
        "dl,",
        "da,",
        "gsna,_.E",
        "pl,,",
        "cl,,E",
        "cv.,",
        "L.7E",
        "L_Z1f.E",
        "oncv.",
        "srT_I.E1x",
        "sr1aI.EE1y",
        "dt,1a",
        "st.",
        "sPI.EE",
        "flpl,",
        "fRan,,",
        "dn1aI.E",
        "so.,E",
        "qu,,,",
        "nt,",
        "Li1E",
        "fp_",
    ];
    if depth == 0 {
        return if is_type { "i" } else { "T_" }.to_owned();
    }
    let rules: &[&str] = if is_type { &types } else { &expressions };
    let rule = rules[random.below(rules.len())];
    let part = |byte: char| match byte {
        '.' => production(random, depth - 1, true),
        ',' => production(random, depth - 1, false),
        other => other.to_string(),
    };
    rule.chars().map(part).collect()
}

#[test]
fn well_formed_names_end_in_bounded_time() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut shown = 0;
    for _ in 0..50_000 {
        let depth = 2 + random.below(12);
        let is_type = random.below(2) == 0;
        let body = production(&mut random, depth, is_type);
        let name = if is_type { format!("_Z1fI1zEv{body}") } else { format!("_Z1fI1zEv1aIX{body}EE") };
        shown += usize::from(soon(&name).is_some());
        // the same, damaged somewhere
        let at = 2 + random.below(name.len() - 2);
        let (start, end) = name.split_at(at);
        soon(start);
        soon(&format!("{start}S999_{end}"));
    }
    assert!(shown > 10_000, "{shown} of 50,000 are well-formed and can be shown");
}
