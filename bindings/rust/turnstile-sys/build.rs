//! Finds the library, or compiles the one that the crate brings:
//!
//! 1. in $TURNSTILE_LIB_DIR, where that is set;
//! 2. else out of `vendor/`, which the packed crate has (`./dev crate`), with a C compiler alone;
//! 3. else where pkg-config says.
//!
//! The compiler is $CC_TARGET, $CC or `cc`, the archiver $AR or `ar`; CFLAGS are added.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

fn main() {
    for name in ["TURNSTILE_LIB_DIR", "PKG_CONFIG_PATH", "CC", "AR", "CFLAGS"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    if let Ok(folder) = env::var("TURNSTILE_LIB_DIR") {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rustc-link-lib=dylib=turnstile");
    } else if Path::new("vendor/turnstile.c").is_file() {
        compile(Path::new("vendor"));
    } else {
        find();
    }
}

/// What pkg-config says of an installed library.
fn find() {
    let output = Command::new("pkg-config").args(["--libs", "turnstile"]).output();
    let flags = match output {
        Ok(o) if o.status.success() => String::from_utf8_lossy(&o.stdout).into_owned(),
        _ => panic!(
            "turnstile is not installed (pkg-config does not know it): \
             install it, or set TURNSTILE_LIB_DIR"
        ),
    };
    for flag in flags.split_whitespace() {
        if let Some(folder) = flag.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(library) = flag.strip_prefix("-l") {
            // of a static library what it needs, too
            println!("cargo:rustc-link-lib={library}");
        }
    }
}

/// The sources of the crate as a static library.
fn compile(vendor: &Path) {
    println!("cargo:rerun-if-changed={}", vendor.display());
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let target = env::var("TARGET").unwrap_or_default();
    let parts = vendor.join("vendor");
    let mut common: Vec<String> =
        ["-fPIC", "-DPCRE2_STATIC", "-w"].iter().map(|f| f.to_string()).collect();
    common.push(format!("-O{}", env::var("OPT_LEVEL").unwrap_or_else(|_| "2".into())));
    common.push(format!("-I{}", parts.join("include").display()));
    common.extend(env::var("CFLAGS").unwrap_or_default().split_whitespace().map(|f| f.to_string()));
    let mut objects = vec![out.join("turnstile.o")];
    let own = ["-std=c11", "-DNDEBUG"];
    run(&compiler(&target), &common, &own, &vendor.join("turnstile.c"), &objects[0]);
    let within = format!("-I{}", parts.join("pcre2").display());
    let of_parts =
        ["-DHAVE_CONFIG_H", "-DPCRE2_CODE_UNIT_WIDTH=8", "-DSUPPORT_UNICODE", within.as_str()];
    for part in ["pcre2", "yajl"] {
        let folder = fs::read_dir(parts.join(part)).expect("vendor/vendor has its folders");
        let mut sources: Vec<PathBuf> = folder.filter_map(|e| e.ok().map(|e| e.path())).collect();
        sources.sort();
        for source in sources.iter().filter(|s| s.extension().map_or(false, |e| e == "c")) {
            let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            objects.push(out.join(format!("{part}-{name}.o")));
            run(&compiler(&target), &common, &of_parts, source, &objects[objects.len() - 1]);
        }
    }
    let archiver = env::var("AR").unwrap_or_else(|_| "ar".into());
    let library = out.join("libturnstile_vendored.a");
    let _ = fs::remove_file(&library); // ar would add to it
    let done = Command::new(&archiver).arg("crs").arg(&library).args(&objects).status();
    assert!(matches!(done, Ok(s) if s.success()), "{archiver} failed: set AR to an archiver");
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=turnstile_vendored");
    if target.contains("windows") {
        println!("cargo:rustc-link-lib=advapi32");
    } else {
        println!("cargo:rustc-link-lib=m");
    }
}

fn compiler(target: &str) -> String {
    env::var(format!("CC_{}", target.replace('-', "_")))
        .or_else(|_| env::var("CC"))
        .unwrap_or_else(|_| if target.contains("windows") { "gcc".into() } else { "cc".into() })
}

fn run(compiler: &str, common: &[String], more: &[&str], source: &Path, object: &Path) {
    let mut words = compiler.split_whitespace();
    let program = words.next().unwrap_or("cc");
    let mut command = Command::new(program);
    command.args(words).args(common).args(more).arg("-c").arg(source).arg("-o").arg(object);
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{command:?} ended with {status}"),
        Err(error) => panic!("{program}: {error}: install a C compiler, or set CC to yours"),
    }
}
