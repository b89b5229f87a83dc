//! In one program: each further one would compile the simulated world again.

mod classes;
mod defaults;
#[path = "support/effective.rs"]
mod effective;
mod fairness;
mod fingerprints;
mod fuzz_like;
mod golden;
mod idle;
mod linux_tcp;
mod live;
#[path = "properties/main.rs"]
mod properties;
mod proxies;
mod queues;
mod settled;
mod traffic;
mod uploads;

/// It would need a line above.
#[test]
fn every_file_of_tests_is_compiled() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let name = entry.expect("a file").file_name().into_string().expect("UTF-8");
        if let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "all") {
            assert!(
                include_str!("all.rs").contains(&format!("mod {module};")),
                "{name} has no line in all.rs"
            );
        }
    }
}
