import type { Clock } from '../ports/clock.ts';
import { hour, minute, second } from '../ports/durations.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { CallOutcome, WebhookCaller } from '../ports/webhook-caller.ts';
import { queuePrefix } from '../storage/table/keys/event-keys.ts';
import { bestEffort } from '../storage/table/settled.ts';
import type { EventBacklog } from './backlog.ts';
import type { EventQueue, FullEvent, QueuedEvent } from './event-queue.ts';
import { webhookMessage } from './webhook-message.ts';
import type { Webhook, WebhookTargets } from './webhook-targets.ts';

/** The dependencies of deliveries. */
export interface DeliveryDeps {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly webhooks: WebhookTargets;
  readonly queue: EventQueue;
  readonly backlog: EventBacklog;
  readonly caller: WebhookCaller;
  /** Counts a call of the webhooks of a project, if it may be made now. @returns 0, or the milliseconds to wait */
  readonly pace: (project: string) => number;
  /** How long a delivery is tried, in milliseconds. */
  readonly retryTime: number;
}

/** The calls of one webhook at a time. */
const concurrentCalls = 16;
/** The events of one webhook in memory, without their records. */
const windowSize = 256;
/** The objects of which events have failed, and none of others has succeeded since, when a webhook counts as down. */
const patience = 3;
const firstWait = second;
/** Between two attempts to deliver an event, and between two calls of a webhook that is down. */
const longestWait = hour;
const longestPause = 5 * minute;

/** The events of one object that are in memory, in order. */
interface Lane {
  readonly subject: string;
  events: readonly QueuedEvent[];
  /** Where those begin that were left out, as the lane does not move; and the last of them. */
  leftOut: { from: string; last: string } | undefined;
  isBusy: boolean;
  failures: number;
  retryAt: number;
}

type Stream = keyof typeof queuePrefix;
const streams = Object.keys(queuePrefix) as readonly Stream[];

/**
 * Delivers the events of one webhook: those of an object one after the other, those of others at the same time. An event that cannot be
 * delivered holds up those of its object alone; if nothing can be delivered, the webhook is called less and less often.
 */
export class WebhookQueue {
  readonly #deps: DeliveryDeps;
  readonly #id: string;
  readonly #stopping: AbortSignal;
  readonly #lanes = new Map<string, Lane>();
  /** The last place of each stream that was read. */
  readonly #cursors: Record<Stream, string> = { events: '', replayed: '' };
  #loaded = 0;
  #calls = 0;
  /** The objects of which events have failed since the last success. */
  readonly #failing = new Set<string>();
  /** The failures since the webhook counts as down. */
  #failures = 0;
  #lastFailure = '';
  #pausedUntil = 0;
  #mayHaveMore = true;
  /** Ends the wait for something to do. */
  #waiting = new AbortController();

  constructor(deps: DeliveryDeps, webhookId: string, stopping: AbortSignal) {
    this.#deps = deps;
    this.#id = webhookId;
    this.#stopping = stopping;
    stopping.addEventListener('abort', () => this.#waiting.abort(), { once: true });
  }

  /** When the oldest event in memory came into the queue. */
  get oldest(): number | undefined {
    const times = [...this.#lanes.values()].flatMap(({ events: [first] }) => first?.at ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Whether events may have come that it has not read. */
  get isWanted(): boolean {
    return this.#mayHaveMore;
  }

  /** Tells that there are more events. */
  wake(): void {
    this.#mayHaveMore = true;
    this.#waiting.abort();
  }

  /** Delivers until the queue is empty, or the service stops. */
  async run(): Promise<void> {
    try {
      await this.#deliver();
    } finally {
      await this.#idle();
    }
  }

  async #deliver(): Promise<void> {
    while (!this.#stopping.aborted) {
      const webhook = await this.#deps.webhooks.byId(this.#id);
      if (webhook === undefined) {
        await this.#idle();
        await this.#discard();
        return;
      }
      this.#waiting = new AbortController();
      await this.#load(webhook);
      // If nothing can be delivered, none of those that are as old could be.
      while (this.#isDown && (await this.#giveUpOld(webhook, this.#lanes.values()))) await this.#load(webhook);
      this.#callAll(webhook);
      if (this.#calls === 0 && this.#lanes.size === 0 && !this.#mayHaveMore) return;
      if (this.#mayHaveMore && this.#loaded < windowSize) continue;
      await this.#wait();
    }
  }

  /** The webhook is gone, and so are its events. */
  async #discard(): Promise<void> {
    const { webhooks, queue, backlog } = this.#deps;
    this.#mayHaveMore = false;
    const project = await webhooks.projectOf(this.#id);
    await queue.discard(this.#id, (event) => {
      if (project !== undefined) backlog.remove(project, event.bytes);
    });
  }

  /** Waits until no call is left. */
  async #idle(): Promise<void> {
    while (this.#calls > 0) {
      this.#waiting = new AbortController();
      await this.#deps.clock.sleep(second, this.#waiting.signal);
    }
  }

  async #wait(): Promise<void> {
    if (this.#stopping.aborted) return;
    const now = this.#deps.clock.now();
    const times = [...this.#lanes.values()].filter(({ isBusy }) => !isBusy).map(({ retryAt }) => retryAt);
    const isFull = this.#calls >= this.#width;
    const due = this.#isDown ? this.#pausedUntil : Math.max(this.#pausedUntil, Math.min(...times));
    const next = times.length === 0 || isFull ? now + longestWait : due;
    await this.#deps.clock.sleep(Math.max(1, next - now), this.#waiting.signal);
  }

  /** Reads what follows, as far as there is room. */
  async #load(webhook: Webhook): Promise<void> {
    const { queue, backlog } = this.#deps;
    if (!this.#mayHaveMore || this.#loaded >= windowSize) return;
    // What comes during the reads is told again.
    this.#mayHaveMore = false;
    for (const stream of streams) {
      for (let more = true; more;) {
        const room = windowSize - this.#loaded;
        if (room <= 0) {
          this.#mayHaveMore = true;
          return;
        }
        const page = await queue.after(this.#id, stream, this.#cursors[stream], room);
        for (const event of page.events) {
          this.#cursors[stream] = event.place;
          if (stream === 'replayed') backlog.add(webhook.project, event.bytes);
          this.#place(event);
        }
        more = page.more;
      }
    }
  }

  #place(event: QueuedEvent): void {
    const { subject, place } = event;
    const lane = this.#lanes.get(subject);
    if (lane === undefined) {
      const fresh = { subject, events: [event], leftOut: undefined, isBusy: false, failures: 0, retryAt: 0 };
      this.#lanes.set(subject, fresh);
    } else if (lane.failures > 0 || lane.leftOut) {
      this.#leaveOut(lane, place);
      return;
    } else lane.events = [...lane.events, event];
    this.#loaded += 1;
  }

  #leaveOut(lane: Lane, place: string): void {
    const { from, last } = lane.leftOut ?? { from: place, last: place };
    lane.leftOut = { from: place < from ? place : from, last: place > last ? place : last };
  }

  get #isDown(): boolean {
    return this.#failing.size >= patience;
  }

  get #width(): number {
    return this.#isDown ? 1 : concurrentCalls;
  }

  #callAll(webhook: Webhook): void {
    const now = this.#deps.clock.now();
    if (now < this.#pausedUntil) return;
    const isDown = this.#isDown;
    const free = [...this.#lanes.values()].filter(({ isBusy, retryAt }) => !isBusy && (isDown || retryAt <= now));
    // A webhook that is down is not asked the same again and again.
    const ready = isDown ? free.toSorted((a, b) => a.retryAt - b.retryAt) : free;
    for (let at = 0; at < ready.length && this.#calls < this.#width;) {
      const wait = this.#deps.pace(webhook.project);
      if (wait > 0) {
        this.#pausedUntil = now + wait;
        return;
      }
      const taken: { lane: Lane; events: readonly QueuedEvent[] }[] = [];
      for (let room = webhook.batch; room > 0 && at < ready.length; at += 1) {
        const lane = ready[at]!;
        // What has failed is sent alone, so that it does not fail others.
        if (lane.failures > 0 && taken.length > 0) break;
        if (lane.failures > 0) room = 1;
        const events = lane.events.slice(0, room);
        lane.isBusy = true;
        taken.push({ lane, events });
        room -= events.length;
      }
      void this.#call(webhook, taken);
    }
  }

  async #call(
    webhook: Webhook,
    taken: readonly { readonly lane: Lane; readonly events: readonly QueuedEvent[] }[],
  ): Promise<void> {
    this.#calls += 1;
    const events = taken.flatMap((each) => each.events);
    const lanes = taken.map(({ lane }) => lane);
    try {
      const { webhooks, queue, caller, backlog } = this.#deps;
      const full = await queue.full(this.#id, events);
      if (full.length > 0) {
        const secret = await webhooks.secretOf(webhook);
        const outcome = await caller.call({ ...webhookMessage(webhook, full), url: webhook.url, secret });
        if (outcome.outcome !== 'answered' || outcome.status < 200 || outcome.status >= 300) {
          await this.#failed(webhook, lanes, { outcome, full });
          return;
        }
        await queue.remove(this.#id, events);
        backlog.delivered += events.length;
        this.#succeeded();
      }
      for (const { lane, events: its } of taken) await this.#advance(webhook, lane, its);
    } catch {
      // The table is busy, or the service stops. What was delivered already is delivered again.
      for (const lane of lanes) this.#delay(lane);
    } finally {
      for (const lane of lanes) lane.isBusy = false;
      this.#calls -= 1;
      this.#waiting.abort();
    }
  }

  #succeeded(): void {
    // Those that failed while nothing could be delivered need not wait any longer.
    if (this.#isDown) for (const lane of this.#lanes.values()) lane.retryAt = 0;
    this.#failing.clear();
    this.#failures = 0;
    this.#pausedUntil = 0;
  }

  async #failed(
    webhook: Webhook,
    lanes: readonly Lane[],
    { outcome, full }: { readonly outcome: CallOutcome; readonly full: readonly FullEvent[] },
  ): Promise<void> {
    const { clock, backlog, queue } = this.#deps;
    backlog.failures[outcome.outcome] += 1;
    for (const lane of lanes) {
      this.#delay(lane);
      this.#failing.add(lane.subject);
    }
    const now = clock.now();
    if (this.#isDown) {
      this.#failures += 1;
      this.#pausedUntil = now + Math.min(this.#backoff(this.#failures), longestPause);
    }
    if (outcome.outcome === 'answered' && outcome.retryAfter !== undefined) {
      this.#pausedUntil = Math.max(this.#pausedUntil, now + Math.min(outcome.retryAfter, longestWait));
    }
    this.#lastFailure = outcome.outcome === 'answered' ? `the host answered ${outcome.status}` : outcome.reason;
    const next = Math.max(this.#pausedUntil, ...lanes.map(({ retryAt }) => retryAt));
    await bestEffort(queue.note(this.#id, full, { reason: this.#lastFailure, next }));
    await this.#giveUpOld(webhook, lanes, new Set(lanes));
  }

  /**
   * Gives up what has been tried for long enough, of objects of which nothing is being sent.
   * @param own those that are busy for the caller alone
   * @returns whether there was anything
   */
  async #giveUpOld(webhook: Webhook, lanes: Iterable<Lane>, own: ReadonlySet<Lane> = new Set()): Promise<boolean> {
    const { queue, clock, backlog, retryTime } = this.#deps;
    const now = clock.now();
    let isAny = false;
    for (const lane of [...lanes]) {
      const young = lane.events.findIndex(({ at }) => at > now - retryTime);
      const old = young === -1 ? lane.events : lane.events.slice(0, young);
      if ((lane.isBusy && !own.has(lane)) || old.length === 0) continue;
      isAny = true;
      lane.isBusy = true;
      try {
        await queue.giveUp(webhook, old, { reason: this.#lastFailure, now });
        backlog.givenUp += old.length;
        await this.#advance(webhook, lane, old);
      } finally {
        lane.isBusy = own.has(lane);
      }
    }
    return isAny;
  }

  #delay(lane: Lane): void {
    lane.failures += 1;
    lane.retryAt = this.#deps.clock.now() + this.#backoff(lane.failures);
    const [, ...rest] = lane.events;
    for (const { place } of rest) this.#leaveOut(lane, place);
    this.#loaded -= rest.length;
    lane.events = lane.events.slice(0, 1);
  }

  /** Continues with the next event of an object. @param done its first events in memory, which are out of the queue */
  async #advance(webhook: Webhook, lane: Lane, done: readonly QueuedEvent[]): Promise<void> {
    for (const { bytes } of done) this.#deps.backlog.remove(webhook.project, bytes);
    lane.events = lane.events.slice(done.length);
    this.#loaded -= done.length;
    lane.failures = 0;
    lane.retryAt = 0;
    if (lane.events.length === 0 && lane.leftOut) await this.#readLeftOut(lane);
    // Behind the others, whose turn it is.
    this.#lanes.delete(lane.subject);
    if (lane.events.length > 0) this.#lanes.set(lane.subject, lane);
  }

  /** Reads the next event of an object among those that were left out. Others may be left out meanwhile. */
  async #readLeftOut(lane: Lane): Promise<void> {
    while (lane.leftOut) {
      const known = lane.leftOut;
      for await (const event of this.#deps.queue.from(this.#id, known.from)) {
        if (event.subject !== lane.subject || !this.#isRead(event.place)) continue;
        lane.events = [event];
        this.#loaded += 1;
        // The first place after this one. If others were left out meanwhile, one may be before it that was passed.
        if (lane.leftOut === known) {
          const { last } = known;
          lane.leftOut = last > event.place ? { from: `${event.place}!`, last } : undefined;
        }
        return;
      }
      if (lane.leftOut === known) lane.leftOut = undefined;
    }
  }

  #isRead(place: string): boolean {
    return streams.some((stream) => place.startsWith(queuePrefix[stream]) && place <= this.#cursors[stream]);
  }

  /** Returns a wait that grows with the number of failures, partly random. */
  #backoff(failures: number): number {
    const whole = Math.min(firstWait * 2 ** Math.min(failures - 1, 30), longestWait);
    return whole * (0.5 + this.#deps.randomness.bytes(1)[0]! / 512);
  }
}
