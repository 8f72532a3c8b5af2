//! Finds the C libraries with pkg-config and checks that they have exactly the version of this crate.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=DOCS_RS");
    // docs.rs has no libbillcore, and rustdoc links nothing.
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    let archives = env::var_os("CARGO_FEATURE_STATIC").is_some();
    let half = if env::var_os("CARGO_FEATURE_CLIENT").is_some() { "billcore" } else { "billcore-webhook" };
    let name = if archives { format!("{half}-static") } else { half.to_owned() };
    let version = env!("CARGO_PKG_VERSION");
    let found = pkg_config::Config::new().exactly_version(version).cargo_metadata(!archives).probe(&name);
    let library = found.unwrap_or_else(|error| {
        panic!(
            "billcore {version} was not found: install it, and set PKG_CONFIG_PATH to the folder of {name}.pc\n{error}"
        )
    });
    if archives {
        // `static` makes the linker use the archive: by default the linker prefers a shared library in the same folder.
        for file in &library.link_files {
            let (Some(folder), Some(name)) = (file.parent(), archive_name(file)) else { continue };
            println!("cargo:rustc-link-search=native={}", folder.display());
            println!("cargo:rustc-link-lib=static={name}");
            println!("cargo:rerun-if-changed={}", file.display());
        }
        for folder in &library.link_paths {
            println!("cargo:rustc-link-search=native={}", folder.display());
        }
        for name in &library.libs {
            println!("cargo:rustc-link-lib={name}");
        }
    }
    for folder in &library.include_paths {
        println!("cargo:include={}", folder.display());
    }
}

fn archive_name(file: &Path) -> Option<&str> {
    file.file_name()?.to_str()?.strip_prefix("lib")?.strip_suffix(".a")
}
