//! Names in readable form, and names made to hurt.
#![cfg(feature = "demangle")]
#![allow(clippy::unwrap_used, reason = "a panic here is a failing test")]

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
