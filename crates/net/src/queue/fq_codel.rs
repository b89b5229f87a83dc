//! FQ-CoDel (RFC 8290): flows are hashed to queues, each with a CoDel of its own, and served by
//! deficit round robin; queues that have just become active are served first.

use nodeb_base::params;
use std::collections::VecDeque;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Stream;
use nodeb_base::units::{Duration, Rate, Size, Time};
use rand_core::Rng;

use super::codel::{Control, check_times};
use super::{DropLog, Queue, QueueParams, TimedFifo};

params! {
    /// Parameters of an FQ-CoDel queue.
    pub struct FqCodel {
        // The defaults: RFC 8290, section 5.2; the quantum is a full-sized Ethernet frame's.
        /// Packets of all flows that may wait; beyond, the flow with most bytes loses packets.
        pub limit: NonZeroU32 = const { NonZeroU32::new(10_240).unwrap() },
        /// Queues to which flows are hashed.
        pub flows: NonZeroU32 = const { NonZeroU32::new(1024).unwrap() },
        /// Bytes that a queue may send in its turn.
        pub quantum: Size = Size(1514),
        /// Standing delay that is acceptable in each queue.
        pub target: Duration = Duration::from_millis(5),
        /// Time for which the delay must have stood before a packet is dropped.
        pub interval: Duration = Duration::from_millis(100),
        /// Marks packets of transports that understand it, instead of dropping them.
        pub ecn: bool = true,
    }
}

impl Checked for FqCodel {
    fn check(&self, check: &mut Check) {
        check_times(check, self.target, self.interval);
        check.at_most("flows", self.flows.get(), 65_536);
        check.require((1..=1_000_000_000).contains(&self.quantum.0), "quantum", || {
            "expected from 1 B to 1 GB, such as \"1514 B\"".to_owned()
        });
    }
}

/// Most packets that one overflow drops (RFC 8290, section 4.1).
const MAX_SHED: usize = 64;
/// Slot of the hash table that no flow has used yet.
const UNUSED: u32 = u32::MAX;

/// The queue of the flows that hash to one slot.
#[derive(Debug)]
struct FlowQueue {
    fifo: TimedFifo,
    control: Control,
    /// Bytes that it may still send in this turn.
    credit: i64,
    /// Whether it stands in one of the two lists.
    listed: bool,
}

impl QueueParams for FqCodel {
    fn build(&self, _rate: Rate, stream: Stream) -> Box<dyn Queue> {
        Box::new(FlowQueues::new(self, stream))
    }

    fn marks(&self) -> bool {
        self.ecn
    }
}

/// An FQ-CoDel queue.
#[derive(Debug)]
pub struct FlowQueues {
    params: FqCodel,
    /// Random odd factor of the hash, so that which flows collide differs between runs.
    salt: u64,
    /// From slot to queue; a queue is made when its slot is first used.
    slots: Vec<u32>,
    queues: Vec<FlowQueue>,
    /// Queues that have just become active, and those that have had their first turn.
    fresh: VecDeque<u32>,
    seasoned: VecDeque<u32>,
    packets: usize,
    bytes: u64,
}

impl FlowQueues {
    /// Empty queues.
    pub fn new(params: &FqCodel, mut stream: Stream) -> Self {
        Self {
            params: params.clone(),
            salt: stream.next_u64() | 1,
            slots: vec![UNUSED; params.flows.get() as usize],
            queues: Vec::new(),
            fresh: VecDeque::new(),
            seasoned: VecDeque::new(),
            packets: 0,
            bytes: 0,
        }
    }

    /// The slot of a flow: multiply-shift hashing (Dietzfelbinger et al., J. Algorithms 25, 1997).
    fn slot(&self, flow: u32) -> usize {
        let hash = (u64::from(flow) + 1).wrapping_mul(self.salt) >> 32;
        ((hash * self.slots.len() as u64) >> 32) as usize
    }

    /// The queue of a flow.
    fn queue_of(&mut self, flow: u32) -> u32 {
        let slot = self.slot(flow);
        if self.slots[slot] == UNUSED {
            self.slots[slot] = self.queues.len() as u32;
            let FqCodel { target, interval, ecn, .. } = self.params;
            let control = Control::new(target, interval, ecn);
            self.queues.push(FlowQueue { fifo: TimedFifo::default(), control, credit: 0, listed: false });
        }
        self.slots[slot]
    }

    /// Drops half the packets of the queue with most bytes, from its head (RFC 8290, section
    /// 4.1); says whether it was the arrival alone, which queue `arrival` ends with.
    fn shed(&mut self, arrival: u32, drops: &mut DropLog) -> bool {
        let sizes = self.queues.iter().enumerate().map(|(i, queue)| (queue.fifo.bytes(), i));
        let fattest = sizes.max_by_key(|&(bytes, i)| (bytes, std::cmp::Reverse(i)));
        let Some((_, fattest)) = fattest else { return false };
        let fifo = &mut self.queues[fattest].fifo;
        let alone = fattest == arrival as usize && fifo.len() == 1;
        for _ in 0..(fifo.len() / 2).clamp(1, MAX_SHED) {
            let Some((_, packet)) = fifo.pop() else { break };
            self.packets -= 1;
            self.bytes -= u64::from(packet.size);
            if alone { drops.refuse_overflow() } else { drops.discard_overflow(packet) }
        }
        alone
    }

    /// The queue whose turn it is: the first fresh one, else the first seasoned one, with credit.
    /// Whoever has used up its credit gets a quantum and goes to the end of the seasoned ones.
    fn turn(&mut self) -> Option<(u32, bool)> {
        loop {
            let (index, fresh) = match (self.fresh.front(), self.seasoned.front()) {
                (Some(&index), _) => (index, true),
                (None, Some(&index)) => (index, false),
                (None, None) => return None,
            };
            let queue = &mut self.queues[index as usize];
            if queue.credit > 0 {
                return Some((index, fresh));
            }
            queue.credit += self.params.quantum.0.cast_signed();
            self.leave(fresh);
            self.seasoned.push_back(index);
        }
    }

    fn leave(&mut self, fresh: bool) {
        if fresh {
            self.fresh.pop_front()
        } else {
            self.seasoned.pop_front()
        };
    }
}

impl Queue for FlowQueues {
    fn push(&mut self, now: Time, packet: Packet, drops: &mut DropLog) -> bool {
        let index = self.queue_of(packet.flow_hash);
        let queue = &mut self.queues[index as usize];
        queue.fifo.push(now, packet);
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        if !queue.listed {
            queue.listed = true;
            queue.credit = self.params.quantum.0.cast_signed();
            self.fresh.push_back(index);
        }
        self.packets <= self.params.limit.get() as usize || !self.shed(index, drops)
    }

    fn pop(&mut self, now: Time, drops: &mut DropLog) -> Option<Packet> {
        while let Some((index, fresh)) = self.turn() {
            let queue = &mut self.queues[index as usize];
            let (packets, bytes) = (queue.fifo.len(), queue.fifo.bytes());
            let packet = queue.control.dequeue(now, &mut queue.fifo, drops);
            self.packets -= packets - queue.fifo.len();
            self.bytes -= bytes - queue.fifo.bytes();
            if let Some(packet) = packet {
                queue.credit -= i64::from(packet.size);
                return Some(packet);
            }
            // An empty queue that was fresh waits among the seasoned ones before it may be fresh
            // again; otherwise a sparse flow could shut out all others (RFC 8290, section 4.2).
            queue.listed = fresh;
            self.leave(fresh);
            if fresh {
                self.seasoned.push_back(index);
            }
        }
        None
    }

    fn len(&self) -> usize {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nodeb_base::rng::Streams;

    fn queues(params: &FqCodel) -> FlowQueues {
        FlowQueues::new(params, Streams::new(1, 0).stream("test", 0, "queue"))
    }

    fn segment(flow: u32, size: u32, seq: u64) -> Packet {
        Packet { flow_hash: flow, ..Packet::new(seq, size) }
    }

    #[test]
    fn a_sparse_flow_waits_for_no_bulk() {
        let (mut fq, mut drops) = (queues(&FqCodel::default()), DropLog::default());
        let mut waited = Vec::new();
        let mut came = Time::ZERO;
        // A packet of 1500 B leaves every 12 ms (1 Mbps); the bulk flow keeps 100 waiting.
        for t in 0..2_000u64 {
            let now = Time(t * 12_000_000);
            while fq.len() < 100 {
                fq.push(now, segment(1, 1500, t), &mut drops);
            }
            if t % 10 == 0 {
                fq.push(now, segment(2, 200, t), &mut drops);
                came = now;
            }
            let packet = fq.pop(now, &mut drops).unwrap();
            if packet.flow_hash == 2 {
                waited.push(now.since(came));
            }
        }
        assert_eq!(waited.len(), 200);
        // The first comes when the bulk flow is as fresh: a quantum of that goes first, which is
        // begun with a packet and a little. All others find it seasoned and go at once.
        assert_eq!(waited[0], Duration::from_millis(24));
        assert!(waited[1..].iter().all(|wait| *wait == Duration::ZERO), "{waited:?}");
        assert!(drops.counts.early > 100);
    }

    #[test]
    fn bulk_flows_get_the_same_bytes_whatever_their_packets() {
        let (mut fq, mut drops) = (queues(&FqCodel::default()), DropLog::default());
        for seq in 0..3_000 {
            fq.push(Time::ZERO, segment(1, 1500, seq), &mut drops);
            fq.push(Time::ZERO, segment(2, 300, seq), &mut drops);
        }
        let mut sent = [0u32; 3];
        for _ in 0..2_000 {
            let packet = fq.pop(Time::ZERO, &mut drops).unwrap();
            sent[packet.flow_hash as usize] += packet.size;
        }
        assert!(sent[1].abs_diff(sent[2]) <= 2 * 1514, "{sent:?}");
    }

    #[test]
    fn an_overflow_takes_half_of_the_fattest_flow_from_its_head() {
        let params = FqCodel { limit: 10.try_into().unwrap(), ..FqCodel::default() };
        let (mut fq, mut drops) = (queues(&params), DropLog::default());
        for seq in 0..8 {
            fq.push(Time::ZERO, segment(1, 1500, seq), &mut drops);
        }
        for seq in 0..3 {
            assert!(fq.push(Time::ZERO, segment(2, 40, seq), &mut drops));
        }
        let lost: Vec<_> = drops.take_discarded().map(|(p, _)| (p.flow_hash, p.id.0)).collect();
        assert_eq!(lost, [(1, 0), (1, 1), (1, 2), (1, 3)]);
        assert_eq!((fq.len(), fq.bytes(), drops.counts.overflowed), (7, 4 * 1500 + 3 * 40, 4));
    }

    #[test]
    fn flows_spread_over_the_slots() {
        let fq = queues(&FqCodel::default());
        let slots: std::collections::HashSet<_> = (0..200).map(|flow| fq.slot(flow)).collect();
        assert!(slots.len() > 150 && slots.iter().all(|slot| *slot < 1024), "{}", slots.len());
    }
}
