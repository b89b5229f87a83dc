use nodeb_sim::scenario::Record;
use nodeb_sim::{Control, Scenario, run, scenario};

fn read(text: &str) -> Scenario {
    scenario::from_toml(text, "settled.toml", &[]).unwrap()
}

/// A phone leaves while idle; measuring the bandwidth applies deferred handovers earlier.
#[test]
fn handover_resets_snoop_agent_before_it_acts() {
    let quiet = read(
        "duration = '60 s'\nsnoop = {}\nwired.delay = '50 ms'\n[radio.hsdpa]\nt1 = '10 ms'\n\
         handover = { hysteresis_db = 1, time_to_trigger = '20 ms', interruption = '0 ms' }\n\
         cell.shadowing.sigma_db = 8\n[[users]]\ncount = 4\n\
         traffic.on_off = { burst.constant.value = '6 kB', pause.constant.value = '2 s' }\n\
         ue.channel.cell = { position_m = [400, 0], movement = 'straight', speed = '120 km/h' }\n",
    );
    let measured = Scenario { record: Record { bandwidth: true, ..Record::default() }, ..quiet.clone() };
    for seed in 1..=8 {
        let [quiet, measured] = [&quiet, &measured].map(|scenario| {
            let result = run(scenario, seed, 0, &Control::default()).unwrap();
            format!("{:?}", (result.flows, result.bearers, result.links, result.snoops))
        });
        assert_eq!(quiet, measured, "seed {seed}");
    }
}

/// Utilization counts only the phone's own failed blocks, so it is at most 1.
#[test]
fn failed_blocks_of_a_neighbour_are_not_charged() {
    let two = read(
        "duration = '20 s'\nwired = { rate = '5 Mbps', delay = '20 ms' }\n[radio.wcdma]\n\
         other_cells = 'map'\nselection = 'per_user'\n[[users]]\nname = 'good'\n\
         traffic.ftp.size = '30 kB'\n[[users]]\nname = 'bad'\nstart = '777 ms'\n\
         traffic.ftp.size = '2 MB'\n",
    );
    for seed in [1, 2] {
        let result = run(&two, seed, 0, &Control::default()).unwrap();
        let good = &result.flows[0];
        assert!(good.utilization > 0.1 && good.utilization <= 1.0, "{good:?}");
    }
}
