/** Something that is to happen. */
export interface SimulatedEvent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly label: string;
  readonly act: () => void;
  /** True if code continues that has to run before the next event. */
  readonly resumes: boolean;
}

interface Entry {
  readonly event: SimulatedEvent;
  readonly number: number;
}

/** Events in the order of their times; those of the same moment in the order in which they were added (a binary heap). */
export class EventQueue {
  readonly #heap: Entry[] = [];
  #count = 0;

  add(event: SimulatedEvent): void {
    const heap = this.#heap;
    const entry = { event, number: (this.#count += 1) };
    let at = heap.length;
    for (let parent = (at - 1) >> 1; at > 0 && isBefore(entry, heap[parent]!); parent = (at - 1) >> 1) {
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  /** Removes and returns the earliest event; undefined if the queue is empty. */
  next(): SimulatedEvent | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || first === last) return first?.event;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      if (left >= heap.length) break;
      const child = right < heap.length && isBefore(heap[right]!, heap[left]!) ? right : left;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first.event;
  }
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.event.at < other.event.at || (one.event.at === other.event.at && one.number < other.number);
}
