//! Finds the C libraries with pkg-config, unless the feature `vendored` compiles them.

use std::env;
use std::path::Path;
use std::process::exit;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=DOCS_RS");
    // docs.rs has no libbillcore, and rustdoc links nothing.
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    if env::var_os("CARGO_FEATURE_VENDORED").is_some() {
        if let Ok(folder) = env::var("DEP_BILLCORE_SRC_INCLUDE") {
            println!("cargo::metadata=include={folder}");
        }
        return;
    }
    let archives = env::var_os("CARGO_FEATURE_STATIC").is_some();
    let half = if env::var_os("CARGO_FEATURE_CLIENT").is_some() { "billcore" } else { "billcore-webhook" };
    let name = if archives { format!("{half}-static") } else { half.to_owned() };
    // Every patch release of the same minor release: a patch release adds no functions, and before 1.0 a minor release may
    // remove some. The crate `billcore` checks the version again when a program runs, because the loader may find
    // another shared library.
    let (major, minor) = (number("CARGO_PKG_VERSION_MAJOR"), number("CARGO_PKG_VERSION_MINOR"));
    let (first, next) = (format!("{major}.{minor}.0"), format!("{major}.{}.0", minor + 1));
    let mut config = pkg_config::Config::new();
    let found = config.range_version(first.as_str()..next.as_str()).cargo_metadata(!archives).probe(&name);
    let library = found.unwrap_or_else(|error| {
        println!("{error}");
        println!(
            "cargo::error=pkg-config did not find {name} {major}.{minor}: enable the feature `vendored` of the crate billcore \
             to compile it into the program, or install it and set PKG_CONFIG_PATH to the folder of {name}.pc"
        );
        exit(1);
    });
    if archives {
        // `static` makes the linker use the archive: by default the linker prefers a shared library in the same folder.
        for file in &library.link_files {
            let (Some(folder), Some(name)) = (file.parent(), archive_name(file)) else { continue };
            println!("cargo::rustc-link-search=native={}", folder.display());
            println!("cargo::rustc-link-lib=static={name}");
            println!("cargo::rerun-if-changed={}", file.display());
        }
        for folder in &library.link_paths {
            println!("cargo::rustc-link-search=native={}", folder.display());
        }
        for name in &library.libs {
            println!("cargo::rustc-link-lib={name}");
        }
    }
    for folder in &library.include_paths {
        println!("cargo::metadata=include={}", folder.display());
    }
}

/// A part of the version of this crate.
fn number(variable: &str) -> u32 {
    env::var(variable).ok().and_then(|part| part.parse().ok()).expect("cargo sets the version of a crate")
}

fn archive_name(file: &Path) -> Option<&str> {
    file.file_name()?.to_str()?.strip_prefix("lib")?.strip_suffix(".a")
}
