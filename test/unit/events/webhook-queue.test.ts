import { describe, expect, it } from 'vitest';
import { EphemeralTable } from '../../../shared/adapters/ephemeral/ephemeral-table.ts';
import { EventBacklog } from '../../../shared/events/backlog.ts';
import { bytesOf, EventQueue } from '../../../shared/events/event-queue.ts';
import { WebhookQueue } from '../../../shared/events/webhook-queue.ts';
import { WebhookTargets } from '../../../shared/events/webhook-targets.ts';
import { day, hour, minute, second } from '../../../shared/ports/durations.ts';
import type { CallOutcome, WebhookCall } from '../../../shared/ports/webhook-caller.ts';
import { RateLimit } from '../../../shared/protocol/rate-limit.ts';
import { eventKey } from '../../../shared/storage/table/keys/event-keys.ts';
import { VirtualTime } from '../../support/runs/virtual-time.ts';
import { CountedBytes, openSecrets } from '../../support/storage/fixed-deps.ts';

const delivered: CallOutcome = { outcome: 'answered', status: 204 };
const broken: CallOutcome = { outcome: 'answered', status: 500 };

/** The queue of one webhook, in virtual time. */
class World {
  readonly clock = new VirtualTime();
  readonly table = new EphemeralTable();
  readonly backlog = new EventBacklog();
  readonly deps = { table: this.table, clock: this.clock, randomness: new CountedBytes(), secrets: openSecrets };
  readonly webhooks = new WebhookTargets(this.deps);
  readonly queue = new EventQueue(this.deps);
  /** The subjects and numbers of what was delivered, and the times of all calls. */
  readonly delivered: string[] = [];
  readonly calls: { readonly at: number; readonly events: readonly string[] }[] = [];
  answer: (events: readonly string[], call: WebhookCall) => CallOutcome = () => delivered;
  pace: (project: string) => number = () => 0;
  #id = '';
  #position = 0;

  static async make(batch = 1): Promise<World> {
    const world = new World();
    await world.webhooks.add('p', 'hook', { url: 'https://hooks.example', batch, format: 's3' }, 10);
    world.#id = (await world.webhooks.find('p', 'hook'))!.id;
    return world;
  }

  async add(...subjects: readonly string[]): Promise<void> {
    for (const subject of subjects) {
      this.#position += 1;
      const event = { subject, record: JSON.stringify(`${subject} ${this.#position}`), at: this.clock.now() };
      await this.queue.write([{ key: eventKey.queued(this.#id, String(this.#position)), put: event }]);
      this.backlog.add('p', bytesOf(event));
    }
  }

  run(
    retryTime: number = day,
    stopping = new AbortController().signal,
  ): WebhookQueue & { readonly ended: Promise<void> } {
    const caller = { call: (call: WebhookCall) => this.#call(call) };
    const queue = new WebhookQueue({ ...this.deps, ...this, caller, retryTime }, this.#id, stopping);
    return Object.assign(queue, { ended: queue.run() });
  }

  async letters(): Promise<string[]> {
    const letters: string[] = [];
    for await (const { record } of this.queue.deadLetters('p')) letters.push(JSON.parse(record) as string);
    return letters;
  }

  async #call(call: WebhookCall): Promise<CallOutcome> {
    const { Records: events } = JSON.parse(call.body) as { Records: string[] };
    this.calls.push({ at: this.clock.now(), events });
    await this.clock.sleep(10);
    const outcome = this.answer(events, call);
    if (outcome.outcome === 'answered' && outcome.status < 300) this.delivered.push(...events);
    return outcome;
  }
}

/** Returns a function that is true now and then, the same at each run. */
function chance(seed: number, percent: number): () => boolean {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % 100 < percent;
  };
}

describe('the queue of a webhook', () => {
  it.each([1, 2, 3, 4, 5].flatMap((seed) => [1, 7].map((batch) => [seed, batch] as const)))(
    'delivers all events, those of each subject in order, however calls fail (seed %i, %i in a message)',
    async (seed, batch) => {
      const world = await World.make(batch);
      const fails = chance(seed, 40);
      world.answer = () => (fails() ? broken : delivered);
      const subjects = ['a', 'b', 'c', 'd', 'e'];
      await world.add(...Array.from({ length: 100 }, (_, at) => subjects[(at * seed) % subjects.length]!));
      const queue = world.run();
      await world.clock.pass(world.clock.sleep(second));
      await world.add(...Array.from({ length: 50 }, (_, at) => subjects[at % subjects.length]!));
      queue.wake();
      await world.clock.pass(queue.ended);
      expect(world.delivered.toSorted()).toHaveLength(150);
      for (const subject of subjects) {
        const numbers = world.delivered.filter((each) => each.startsWith(subject)).map((each) => Number(each.slice(2)));
        expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
      }
      expect(world.backlog.total).toEqual({ bytes: 0, events: 0 });
      expect(await world.letters()).toEqual([]);
    },
  );

  it('calls as often as the project may, and loses nothing meanwhile', async () => {
    const world = await World.make();
    const rates = new RateLimit(5, world.clock);
    world.pace = (project) => rates.take(project);
    await world.add(...Array.from({ length: 25 }, (_, at) => `subject-${at}`));
    const began = world.clock.now();
    const queue = world.run();
    await world.clock.pass(queue.ended);
    expect(world.delivered).toHaveLength(25);
    // Five at once, and then five in each second.
    const within = (seconds: number) => world.calls.filter(({ at }) => at - began < seconds * second).length;
    expect([within(0.1), within(1.1), within(2.1), within(4.1)]).toEqual([5, 10, 15, 25]);
  });

  it('is not held up by a subject that fails, however many events it has', async () => {
    const world = await World.make();
    world.answer = ([event]) => (event!.startsWith('bad') ? broken : delivered);
    await world.add(
      ...Array.from({ length: 1500 }, () => 'bad'),
      ...Array.from({ length: 20 }, (_, at) => `good-${at}`),
    );
    const stopping = new AbortController();
    const queue = world.run(day, stopping.signal);
    for (let round = 0; round < 500 && world.delivered.length < 20; round += 1)
      await world.clock.pass(world.clock.sleep(10));
    expect(world.delivered).toHaveLength(20);
    world.answer = () => delivered;
    await world.clock.pass(queue.ended);
    const numbers = world.delivered.slice(20).map((each) => Number(each.slice('bad '.length)));
    expect(numbers).toEqual(Array.from({ length: 1500 }, (_, at) => at + 1));
  });

  it('waits longer each time, and no longer than an hour, for a day, and then gives up', async () => {
    const world = await World.make();
    world.answer = () => broken;
    await world.add('a');
    const begin = world.clock.now();
    await world.clock.pass(world.run().ended);
    const times = world.calls.map(({ at }) => at - begin);
    const waits = times.slice(1).map((at, index) => at - times[index]!);
    expect(waits[0]).toBeLessThanOrEqual(second + 10);
    expect(Math.max(...waits)).toBeLessThanOrEqual(hour + 10);
    expect(times.length).toBeGreaterThan(30);
    expect(times.at(-1)).toBeGreaterThan(day - 10);
    expect(await world.letters()).toEqual(['a 1']);
    expect(world.backlog.total.events).toBe(0);
  });

  it('calls a webhook that is down once in a while, and delivers all once it is up', async () => {
    const world = await World.make();
    world.answer = () => ({ outcome: 'unreachable', reason: 'down' });
    await world.add(...Array.from({ length: 500 }, (_, at) => `key-${at}`));
    const queue = world.run();
    await world.clock.pass(world.clock.sleep(hour));
    expect(world.calls.length).toBeLessThan(60);
    world.answer = () => delivered;
    await world.clock.pass(world.clock.sleep(6 * minute));
    await world.clock.pass(queue.ended);
    expect(world.delivered).toHaveLength(500);
  });

  it('waits as long as the webhook asks for', async () => {
    const world = await World.make();
    world.answer = () => (world.calls.length === 1 ? { ...broken, retryAfter: 10 * minute } : delivered);
    await world.add('a');
    await world.clock.pass(world.run().ended);
    expect(world.calls[1]!.at - world.calls[0]!.at).toBeGreaterThanOrEqual(10 * minute);
  });

  it('notes why an attempt failed and when the next one is due, which brings nothing back that is gone', async () => {
    const world = await World.make();
    const { id } = (await world.webhooks.find('p', 'hook'))!;
    const noted: unknown[] = [];
    world.answer = () => (world.calls.length === 1 ? { ...broken, retryAfter: 10 * minute } : delivered);
    await world.add('a');
    const { ended } = world.run();
    await world.clock.pass(world.clock.sleep(minute));
    for (const { attempt, place } of (await world.queue.waiting(id, '', 10)).found) noted.push(attempt, place);
    expect(noted[0]).toMatchObject({ reason: 'the host answered 500' });
    expect((noted[0] as { next: number }).next - world.calls[0]!.at).toBeGreaterThanOrEqual(10 * minute);
    await world.clock.pass(ended);
    expect((await world.queue.waiting(id, '', 10)).found).toEqual([]);
    const gone = { place: String(noted[1]), subject: 'a', record: '1', bytes: 2, at: 0 };
    await world.queue.note(id, [gone], { reason: 'r', next: 0 });
    expect((await world.queue.waiting(id, '', 10)).found).toEqual([]);
  });

  it('goes with its webhook', async () => {
    const world = await World.make();
    await world.add('a', 'b');
    await world.webhooks.remove('p', 'hook');
    await world.clock.pass(world.run().ended);
    expect(world.calls).toEqual([]);
    expect(world.backlog.total.events).toBe(0);
  });

  it('delivers what is replayed behind all others', async () => {
    const world = await World.make();
    world.answer = () => broken;
    await world.add('a');
    await world.clock.pass(world.run().ended);
    world.answer = () => delivered;
    for await (const letter of world.queue.deadLetters('p')) {
      const { id } = (await world.webhooks.find('p', 'hook'))!;
      expect(await world.queue.replay('p', id, letter, world.clock.now())).toBe(true);
      expect(await world.queue.replay('p', id, letter, world.clock.now())).toBe(false);
    }
    await world.add('a');
    await world.clock.pass(world.run().ended);
    expect(world.delivered).toEqual(['a 2', 'a 1']);
    expect(world.backlog.total).toEqual({ bytes: 0, events: 0 });
  });
});
