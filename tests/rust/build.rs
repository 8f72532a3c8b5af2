//! Writes a C file that repeats the declarations of billcore-sys, and compiles it against the installed headers, so
//! that the C compiler reports a function whose type differs. tests/layout.rs compares sizes, offsets and constants.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Fields, FnArg, ForeignItem, Item, ReturnType, Type};

#[derive(Default)]
struct Made {
    checks: String,
    constants: Vec<String>,
    functions: Vec<String>,
    /// Sizes, alignments and offsets, each as a C expression and a Rust expression.
    sizes: Vec<(String, String)>,
}

fn main() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let include = env::var_os("DEP_BILLCORE_INCLUDE").expect("billcore-sys says where the headers are");
    println!("cargo:rerun-if-changed={}", Path::new(&include).join("billcore").display());
    let mut made = Made::default();
    for half in ["names", "webhook", "client", "operations"] {
        let source = manifest.join(format!("../../capi/rust/billcore-sys/src/{half}.rs"));
        println!("cargo:rerun-if-changed={}", source.display());
        let text = fs::read_to_string(&source).expect("the bindings can be read");
        for item in syn::parse_file(&text).expect("the bindings are Rust").items {
            read(item, &mut made);
        }
    }
    write_c(&made, &out.join("layout.c"));
    write_rust(&made, &out.join("layout.rs"));
    cc::Build::new()
        .file(out.join("layout.c"))
        .include(include)
        .std("c11")
        .warnings_into_errors(true)
        .extra_warnings(true)
        .flag("-Wno-unused-variable")
        .compile("layout");
}

fn read(item: Item, made: &mut Made) {
    match item {
        Item::Const(one) if c_type(&one.ty, "") == "int32_t" || c_type(&one.ty, "") == "uint32_t" => {
            made.constants.push(one.ident.to_string());
        }
        Item::Type(one) => {
            let (name, of) = (&one.ident, c_type(&one.ty, ""));
            if !of.is_empty() {
                writeln!(made.checks, "_Static_assert(_Generic(({name})0, {of}: 1, default: 0), \"{name}\");").unwrap();
            }
        }
        Item::Struct(one) => {
            let Fields::Named(fields) = one.fields else { return };
            let name = one.ident;
            let names: Vec<_> = fields.named.into_iter().filter_map(|field| field.ident).collect();
            if names.iter().any(|name| name == "_unused") {
                return;
            }
            made.sizes.push((format!("sizeof({name})"), format!("size_of::<sys::{name}>()")));
            made.sizes.push((format!("_Alignof({name})"), format!("align_of::<sys::{name}>()")));
            for field in names {
                let c = format!("offsetof({name}, {field})");
                made.sizes.push((c, format!("std::mem::offset_of!(sys::{name}, {field})")));
            }
        }
        Item::ForeignMod(block) => {
            for item in block.items {
                let ForeignItem::Fn(function) = item else { continue };
                let signature = function.sig;
                let given: Vec<_> = signature
                    .inputs
                    .iter()
                    .map(|argument| match argument {
                        FnArg::Typed(argument) => c_type(&argument.ty, ""),
                        FnArg::Receiver(_) => String::new(),
                    })
                    .collect();
                let given = if given.is_empty() { "void".to_owned() } else { given.join(", ") };
                let result = match &signature.output {
                    ReturnType::Default => "void".to_owned(),
                    ReturnType::Type(_, result) => c_type(result, ""),
                };
                let name = signature.ident.to_string();
                writeln!(made.checks, "static {result} (*const check_{name})({given}) = {name};").unwrap();
                made.functions.push(name);
            }
        }
        _ => {}
    }
}

/// The type in C syntax; empty for a type that does not occur in a checked signature, such as a function pointer.
fn c_type(from: &Type, qualifier: &str) -> String {
    match from {
        Type::Ptr(pointer) => {
            let qualifier = if pointer.const_token.is_some() { "const " } else { "" };
            format!("{}*", c_type(&pointer.elem, qualifier))
        }
        Type::Path(path) => {
            let last = path.path.segments.last().expect("a type has a name");
            if !last.arguments.is_none() {
                return String::new();
            }
            let name = last.ident.to_string();
            let name = match name.as_str() {
                "i32" => "int32_t",
                "u32" => "uint32_t",
                "i64" => "int64_t",
                "u64" => "uint64_t",
                "f64" => "double",
                "usize" => "size_t",
                "c_char" => "char",
                "c_int" => "int",
                "c_void" => "void",
                other => other,
            };
            format!("{qualifier}{name}")
        }
        _ => String::new(),
    }
}

fn write_c(made: &Made, to: &Path) {
    let mut text = String::from("#include <billcore.h>\n#include <stddef.h>\n");
    text += &made.checks;
    let constants: Vec<_> = made.constants.iter().map(|name| format!("(int64_t){name}")).collect();
    let sizes: Vec<_> = made.sizes.iter().map(|(c, _)| c.clone()).collect();
    for (kind, name, rows) in [("int64_t", "constants", constants), ("size_t", "sizes", sizes)] {
        let _ = write!(
            text,
            "extern const {kind} layout_{name}[];\nconst {kind} layout_{name}[] = {{{}}};\n",
            rows.join(", ")
        );
    }
    fs::write(to, text).expect("the C file can be written");
}

fn write_rust(made: &Made, to: &Path) {
    let constants = made.constants.iter().map(|name| format!("({name:?}, sys::{name} as i64)"));
    let sizes = made.sizes.iter().map(|(c, rust)| format!("({c:?}, {rust})"));
    let functions = made.functions.iter().map(|name| format!("{name:?}"));
    let mut text = String::new();
    let rows: [(_, _, Vec<_>); 3] = [
        ("CONSTANTS", "(&str, i64)", constants.collect()),
        ("SIZES", "(&str, usize)", sizes.collect()),
        ("FUNCTIONS", "&str", functions.collect()),
    ];
    for (name, kind, rows) in rows {
        let count = rows.len();
        let _ = writeln!(text, "const {name}: [{kind}; {count}] = [{}];", rows.join(", "));
    }
    let _ = writeln!(
        text,
        "unsafe extern \"C\" {{ static layout_constants: [i64; {}]; static layout_sizes: [usize; {}]; }}",
        made.constants.len(),
        made.sizes.len()
    );
    fs::write(to, text).expect("the Rust file can be written");
}
