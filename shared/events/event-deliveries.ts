import { hour, minute } from '../ports/durations.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { queuePrefix } from '../storage/table/keys/event-keys.ts';
import { WebhookQueue, type DeliveryDeps } from './webhook-queue.ts';

/** Webhooks whose queues wait for the table are looked at again after this time. */
const retryTime = minute / 2;

/** Delivers the events of all webhooks, each webhook by itself: one that is slow or dead delays no other. */
export class EventDeliveries {
  readonly #deps: DeliveryDeps & { readonly telemetry: Pick<Telemetry, 'problem'> };
  readonly #stopping = new AbortController();
  readonly #running = new Map<string, { readonly queue: WebhookQueue; readonly ended: Promise<void> }>();
  /** The queues that were counted, of those that were there when the process started. */
  #counting: Promise<void> | undefined;
  #nextExpiry = 0;

  constructor(deps: DeliveryDeps & { readonly telemetry: Pick<Telemetry, 'problem'> }) {
    this.#deps = deps;
  }

  /** When the oldest event that waits came into its queue, of those in memory. */
  get oldest(): number | undefined {
    const times = [...this.#running.values()].flatMap(({ queue }) => queue.oldest ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Counts what a former process has left, before anything is added or delivered. Call it before the first event. */
  count(): Promise<void> {
    return (this.#counting ??= this.#count());
  }

  async #count(): Promise<void> {
    const { webhooks, queue, backlog } = this.#deps;
    for await (const { id, project } of webhooks.all()) {
      for await (const event of queue.from(id)) {
        // Those that are replayed count from when they are read.
        if (event.place.startsWith(queuePrefix.events)) backlog.add(project, event.bytes);
      }
    }
  }

  /** Delivers what waits, of all webhooks, and removes what can no longer be replayed. */
  async sweep(): Promise<void> {
    const { webhooks, queue, clock } = this.#deps;
    await this.count();
    const projects = new Set<string>();
    for await (const { id, project } of webhooks.all()) {
      projects.add(project);
      this.wake(id);
    }
    const now = clock.now();
    if (now < this.#nextExpiry) return;
    this.#nextExpiry = now + hour;
    for (const project of projects) await queue.expireDeadLetters(project, now);
  }

  /** Delivers to a webhook, for which there may be events. */
  wake(id: string): void {
    if (this.#stopping.signal.aborted) return;
    const running = this.#running.get(id);
    if (running) {
      running.queue.wake();
      return;
    }
    const queue = new WebhookQueue(this.#deps, id, this.#stopping.signal);
    const ended = this.#run(id, queue);
    this.#running.set(id, { queue, ended });
  }

  /** Ends deliveries. What was not delivered waits for the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  async #run(id: string, queue: WebhookQueue): Promise<void> {
    // After the entry in the map.
    await Promise.resolve();
    let failed = false;
    try {
      await queue.run();
    } catch (error) {
      failed = true;
      if (!this.#stopping.signal.aborted) {
        this.#deps.telemetry.problem('delivering events failed; trying again', error);
        await this.#deps.clock.sleep(retryTime, this.#stopping.signal);
      }
    } finally {
      this.#running.delete(id);
    }
    if (failed || queue.isWanted) this.wake(id);
  }
}
