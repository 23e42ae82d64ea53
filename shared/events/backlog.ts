import type { CallOutcome } from '../ports/webhook-caller.ts';

/** What waits of a project, and what has become of its events since the process started. */
interface Held {
  bytes: number;
  events: number;
}

/** The reasons for which deliveries fail. */
type FailureReason = CallOutcome['outcome'];

/** Counts the events that wait, by project, and what becomes of them. One process follows the feed and delivers, so it knows of all. */
export class EventBacklog {
  readonly #held = new Map<string, Held>();
  readonly failures: Record<FailureReason, number> = { refused: 0, unreachable: 0, answered: 0 };
  delivered = 0;
  givenUp = 0;
  dropped = 0;

  /** Tells whether a project may have so many bytes more. */
  admits(project: string, bytes: number, limit: number): boolean {
    return (this.#held.get(project)?.bytes ?? 0) + bytes <= limit;
  }

  add(project: string, bytes: number): void {
    const held = this.#held.get(project) ?? { bytes: 0, events: 0 };
    held.bytes += bytes;
    held.events += 1;
    this.#held.set(project, held);
  }

  remove(project: string, bytes: number): void {
    const held = this.#held.get(project);
    if (held === undefined) return;
    // Another process may have added it.
    held.bytes = Math.max(0, held.bytes - bytes);
    held.events -= 1;
    if (held.events <= 0) this.#held.delete(project);
  }

  get total(): Readonly<Held> {
    let [bytes, events] = [0, 0];
    for (const held of this.#held.values()) {
      bytes += held.bytes;
      events += held.events;
    }
    return { bytes, events };
  }
}
