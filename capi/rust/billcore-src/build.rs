//! Compiles the C libraries, as CMake does, into one archive. The sources are in this crate, or in the checkout that
//! contains this crate. The lists of the source files are read from the files of CMake.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::{env, fs};

use cc::Build;

type Result<T> = std::result::Result<T, String>;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=DOCS_RS");
    // rustdoc links nothing.
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    if let Err(error) = compile() {
        println!("cargo::error={}", error.trim_end().replace('\n', ": "));
        exit(1);
    }
}

fn compile() -> Result<()> {
    let client = env::var_os("CARGO_FEATURE_CLIENT").is_some();
    let tree = Tree::find()?;
    check_tools(&tree, client)?;

    let yyjson = tree.third_party("yyjson")?;
    let mut c = build(false);
    let mut core = build(true);
    c.file(yyjson.join("yyjson.c"));
    core.include(tree.root.join("core/include")).include(tree.root.join("core/src")).include(&yyjson);
    core.define("NANOARROW_DLL", "").define("BILLCORE_VERSION", VERSION);
    let mut capi = build(true); // some headers of capi/src and core/src have the same name
    capi.include(tree.root.join("capi/include")).include(tree.root.join("capi/src"));
    capi.include(tree.root.join("core/include")).include(tree.root.join("core/src"));
    capi.define("BILLCORE_PROJECT_VERSION", VERSION);
    let mut in_core = vec!["billcore_webhook"];
    let mut in_capi = vec!["billcore_c_webhook_shims"];
    let mut objects = run(&c)?;
    if client {
        let nanoarrow = tree.third_party("nanoarrow")?;
        let configured = tree.configure_nanoarrow(&nanoarrow)?;
        core.include(&nanoarrow).include(&configured);
        in_core.extend(["billcore_client", "billcore_arrow_batch"]);
        in_capi.push("billcore_c_client_shims");
        objects.extend(compile_nanoarrow(&nanoarrow, &configured)?);
    }
    objects.extend(run(core.files(tree.joined("core", &in_core)?))?);
    objects.extend(run(capi.files(tree.joined("capi", &in_capi)?))?);
    println!("cargo::metadata=include={}", tree.root.join("capi/include").display());
    let mut archive = Build::new();
    archive.cpp(true).objects(objects); // names the C++ runtime as well
    archive.try_compile("billcore").map_err(|error| error.to_string())
}

const VERSION: &str = concat!("\"", env!("CARGO_PKG_VERSION"), "\"");

/// The options that all files share. The profile dev compiles C++ optimised too: this takes a quarter longer, and the code is
/// not the user's, who would pay for it in each call and debugs something else.
fn build(cpp: bool) -> Build {
    let mut build = Build::new();
    build.cpp(cpp).std(if cpp { "c++20" } else { "c11" }).flag("-fvisibility=hidden").define("NDEBUG", None);
    build.debug(false).warnings(false);
    if cpp {
        build.flag("-fvisibility-inlines-hidden");
    }
    if env::var("OPT_LEVEL").is_ok_and(|level| level == "0") {
        build.opt_level(2);
    }
    // Without a folder of their own, the headers are in the compiler's search path.
    for variable in ["DEP_OPENSSL_INCLUDE", "DEP_CURL_INCLUDE", "DEP_Z_INCLUDE"] {
        println!("cargo::rerun-if-env-changed={variable}");
        for folder in env::split_paths(&env::var_os(variable).unwrap_or_default()).filter(|path| path.is_dir()) {
            build.include(folder);
        }
    }
    build
}

fn run(build: &Build) -> Result<Vec<PathBuf>> {
    let failed = "the C++ of billcore could not be compiled: the messages of the compiler are below";
    build.try_compile_intermediates().map_err(|error| {
        println!("{error}");
        failed.to_owned()
    })
}

fn compile_nanoarrow(source: &Path, configured: &Path) -> Result<Vec<PathBuf>> {
    let mut common = build(false);
    common.flag("-fexceptions").include(source).include(configured).define("NANOARROW_DLL", "");
    let mut utils = common.clone();
    // As core/cmake/nanoarrow.cmake does.
    for function in ["malloc", "realloc", "free"] {
        utils.define(function, format!("billcore_arrow_{function}").as_str());
    }
    let folder = source.join("nanoarrow/common");
    for entry in fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?.flatten() {
        let file = entry.path();
        if file.ends_with("utils.c") {
            utils.file(file);
        } else if file.extension().is_some_and(|extension| extension == "c") {
            common.file(file);
        }
    }
    let mut objects = run(&common)?;
    objects.extend(run(&utils)?);
    Ok(objects)
}

/// Fails if there is no compiler for C++20, or if the system's libraries are older than CMake requires.
fn check_tools(tree: &Tree, client: bool) -> Result<()> {
    let compiler = build(true).try_get_compiler().map_err(|error| error.to_string())?;
    let name = compiler.path().display().to_string();
    if compiler.to_command().arg("--version").output().is_err() {
        return Err(format!("there is no C++ compiler '{name}': install one, such as the package g++, or set CXX"));
    }
    if !build(true).is_flag_supported("-std=c++20").unwrap_or(false) {
        return Err(format!("{name} does not know C++20: install GCC 12 or Clang 14, or newer, and set CXX"));
    }
    let mut checks = vec![(
        "OpenSSL",
        "OpenSSL ",
        "openssl/opensslv.h",
        "OPENSSL_VERSION_MAJOR OPENSSL_VERSION_MINOR",
        "vendored-openssl",
    )];
    if client {
        checks.push((
            "libcurl",
            "CURL ",
            "curl/curlver.h",
            "LIBCURL_VERSION_MAJOR LIBCURL_VERSION_MINOR",
            "vendored-curl",
        ));
    }
    for (library, package, header, macros, feature) in checks {
        let oldest = tree.required(package)?;
        let found = expand(header, macros);
        if found.is_none_or(|found| found < oldest) {
            let found = found.map_or("none".to_owned(), |(major, minor)| format!("{major}.{minor}"));
            let (major, minor) = oldest;
            return Err(format!(
                "billcore needs {library} {major}.{minor} or newer with its headers, and found {found}: install its \
                 development package, or use the feature {feature}"
            ));
        }
    }
    Ok(())
}

/// The value of two macros of a header; None if the header is missing or has no such macros.
fn expand(header: &str, macros: &str) -> Option<(u32, u32)> {
    let file = out_dir().join("versions.c");
    fs::write(&file, format!("#include <{header}>\n{macros}\n")).ok()?;
    let text = build(false).file(file).try_expand().ok()?;
    let text = String::from_utf8_lossy(&text);
    let mut words =
        text.lines().rev().filter(|line| !line.starts_with('#')).flat_map(|line| line.split_whitespace().rev());
    let minor = words.next()?.parse().ok()?;
    Some((words.next()?.parse().ok()?, minor))
}

fn out_dir() -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"))
}

fn read(path: &Path) -> Result<String> {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The words between `from` and the next closing parenthesis.
fn words<'a>(text: &'a str, from: &str) -> Option<impl Iterator<Item = &'a str> + use<'a>> {
    let (_, rest) = text.split_once(from)?;
    Some(rest.split_once(')')?.0.split_whitespace())
}

/// The sources.
struct Tree {
    root: PathBuf,
}

impl Tree {
    fn find() -> Result<Self> {
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let checkout = here.join("../../..");
        let root = [here, checkout].into_iter().find(|root| root.join("core/CMakeLists.txt").is_file());
        let root =
            root.ok_or("billcore-src was installed without its sources: take the crate billcore-src from a registry")?;
        for folder in ["core/include", "core/src", "capi/include", "capi/src"] {
            println!("cargo::rerun-if-changed={}", root.join(folder).display());
        }
        Ok(Self { root })
    }

    /// Writes a file for each folder with source files of these libraries of CMake, which includes them: most of the time of
    /// a compiler is for the headers, and a joined file reads them once.
    fn joined(&self, part: &str, libraries: &[&str]) -> Result<Vec<PathBuf>> {
        let list = self.root.join(part).join("CMakeLists.txt");
        let text = read(&list)?;
        let mut folders = BTreeMap::<String, String>::new();
        for library in libraries {
            let files = words(&text, &format!("add_library({library} "));
            let files = files.ok_or_else(|| format!("{}: there is no library {library}", list.display()))?;
            for file in files.filter_map(|word| word.strip_prefix("src/")) {
                let (folder, _) = file.split_once('/').unwrap_or_default();
                let _ = writeln!(folders.entry(folder.to_owned()).or_default(), "#include \"{file}\"");
            }
        }
        let write = |(folder, includes)| {
            let file = out_dir().join(format!("{part}_{folder}.cpp"));
            fs::write(&file, includes).map(|()| file).map_err(|error| format!("{part}_{folder}.cpp: {error}"))
        };
        folders.into_iter().map(write).collect()
    }

    /// The oldest release of a package that CMake accepts.
    fn required(&self, package: &str) -> Result<(u32, u32)> {
        let text = read(&self.root.join("core/cmake/dependencies.cmake"))?;
        let version = words(&text, &format!("_billcore_find({package}")).and_then(|mut words| words.next());
        let version = version.and_then(|version| version.split_once('.'));
        let numbers = version.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        numbers.ok_or_else(|| format!("core/cmake/dependencies.cmake requires no {package}"))
    }

    /// The folder of a third-party library: in the crate, or else in the cache of the checkout, as for CMake.
    fn third_party(&self, name: &str) -> Result<PathBuf> {
        let folder = self.root.join("core/third_party").join(name);
        if folder.is_dir() {
            return Ok(folder);
        }
        let output = Command::new("python3").arg(self.root.join("core/cmake/fetch_source.py")).arg(name).output();
        let output = output.map_err(|error| format!("python3 could not fetch {name}: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end()))
    }

    /// Writes nanoarrow_config.h as CMake's `configure_file` does, with the values of core/cmake/nanoarrow.cmake.
    fn configure_nanoarrow(&self, source: &Path) -> Result<PathBuf> {
        let mut header = read(&source.join("nanoarrow/nanoarrow_config.h.in"))?;
        for line in read(&self.root.join("core/cmake/nanoarrow.cmake"))?.lines() {
            let Some((name, value)) = line.strip_prefix("set(NANOARROW_").and_then(|rest| rest.split_once(' ')) else {
                continue;
            };
            header = header.replace(&format!("@NANOARROW_{name}@"), value.trim_end_matches(')').trim_matches('"'));
        }
        let folder = out_dir().join("configured");
        fs::create_dir_all(folder.join("nanoarrow"))
            .and_then(|()| fs::write(folder.join("nanoarrow/nanoarrow_config.h"), header))
            .map_err(|error| format!("nanoarrow_config.h could not be written: {error}"))?;
        Ok(folder)
    }
}
