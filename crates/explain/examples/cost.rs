//! One replication of a scenario file, or the explanation of its first transfer, whose instructions can be counted:
//! `cost run FILE`, `cost explain FILE`.

use nodeb_explain::explain;
use nodeb_sim::{Control, run, scenario};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, file] = &arguments[..] else { panic!("cost run|explain FILE") };
    let text = std::fs::read_to_string(file).expect("a scenario file");
    let scenario = scenario::from_toml(&text, file, &[]).expect("a scenario");
    let control = Control::default();
    let tables = if what == "run" {
        run(&scenario, 1, 0, &control).expect("a result").tables(0, &scenario)
    } else {
        let path = explain(&scenario, 1, 0, &control, (0, 0)).expect("a path");
        vec![path.transfer(), path.spans()]
    };
    println!("{} tables", tables.len());
}
