//! Finds the library: in $TURNSTILE_LIB_DIR, else where pkg-config says.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::{env, process::Command};

fn main() {
    println!("cargo:rerun-if-env-changed=TURNSTILE_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if let Ok(folder) = env::var("TURNSTILE_LIB_DIR") {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rustc-link-lib=dylib=turnstile");
    } else {
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
}
