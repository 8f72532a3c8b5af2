//! Tests that billcore-sys has the same sizes, offsets, constants and function names as the installed header. The types
//! of the functions are compared during the build: see build.rs.

use std::collections::BTreeSet;

use billcore_sys as sys;

include!(concat!(env!("OUT_DIR"), "/layout.rs"));

#[test]
fn sizes_offsets_and_constants_are_those_of_c() {
    // SAFETY: build.rs generates both arrays with these lengths.
    let (constants, sizes) = unsafe { (layout_constants, layout_sizes) };
    for ((name, rust), c) in CONSTANTS.iter().zip(constants) {
        assert_eq!(*rust, c, "{name}");
    }
    for ((name, rust), c) in SIZES.iter().zip(sizes) {
        assert_eq!(*rust, c, "{name}");
    }
    assert!(CONSTANTS.len() > 50 && SIZES.len() > 20, "{} {}", CONSTANTS.len(), SIZES.len());
}

/// billcore-sys declares every exported function, except that of billcore/arrow.h and the private one.
#[test]
fn every_symbol_is_declared() {
    let listed = include_str!("../../../capi/abi/symbols.txt").lines().filter(|line| !line.starts_with('#'));
    let public: BTreeSet<_> = listed
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .filter(|row| !row[0].ends_with("_arrow") && !row[0].contains("_private_"))
        .map(|row| row[0])
        .collect();
    let declared: BTreeSet<_> = FUNCTIONS.into_iter().collect();
    assert_eq!(declared, public);
}
