import type { Actor, Fault, Footprint, Spot, Time, Way } from './actor.ts';
import { added, chained, hashOf, hashOfValue, nothing, type Hash } from './fingerprint.ts';
import type { LateWrite, ModelTable } from './model-table.ts';

/** A world that the scheduler moves. Everything in it follows from the choices. */
export interface World {
  readonly actors: readonly Actor[];
  readonly table: ModelTable;
  readonly time: Time;
  /** Writes that nobody waits for any more and that may still arrive. */
  readonly late: LateWrite[];
  /** How often each thing may still go wrong. */
  readonly stock: Record<Fault, number>;
  /** Who may crash. */
  readonly mayCrash: (actor: Actor) => boolean;
  /** Set if what one actor asks for at once is answered in that order: it is others that matter. */
  readonly inOrder?: boolean;
  /** By how much time may jump while accesses to the table are under way. */
  readonly stalls: readonly number[];
  /** How long an access to the table takes at most, in milliseconds. */
  readonly latency: number;
  /** Whatever else belongs to the state. */
  rest(): Hash;
  /** What is wrong already, whatever comes. */
  wrong(): string | undefined;
  /** Judges an end. @returns what is wrong */
  check(): Promise<string | undefined>;
}

/** One of the things that may happen next. */
interface Choice {
  /** The same wherever in a play it is to be had. */
  readonly id: string;
  readonly label: () => string;
  /** Of whom it is. */
  readonly actor: Actor | undefined;
  /** What it looks at or changes; undefined: everything. */
  readonly footprint: Footprint | undefined;
  readonly costs?: Fault | undefined;
  readonly take: () => void;
}

/** Whether two choices lead to the same state in either order, and neither takes the other away. */
function independent(a: Choice, b: Choice): boolean {
  if (a.actor === b.actor || a.footprint === undefined || b.footprint === undefined) return false;
  if (a.costs !== undefined && b.costs !== undefined) return false;
  return (
    !meet(a.footprint.writes, b.footprint.writes) &&
    !meet(a.footprint.writes, b.footprint.reads) &&
    !meet(a.footprint.reads, b.footprint.writes)
  );
}

function meet(a: readonly Spot[], b: readonly Spot[]): boolean {
  return a.some(({ pk, sk }) =>
    b.some((other) => other.pk === pk && (sk === undefined || other.sk === undefined || other.sk === sk)),
  );
}

/** What an exploration found. */
export interface Exploration {
  /** Different states seen, and different ends among them. */
  readonly states: number;
  readonly ends: number;
  /** How often the scenario was played from its beginning. */
  readonly plays: number;
  /** False: there is more to see than the limit allowed. */
  readonly complete: boolean;
  readonly failure: Failure | undefined;
}

export interface Failure {
  readonly what: string;
  /** What happened, step by step. */
  readonly trace: readonly string[];
}

/** All microtasks run before the event loop turns: then every actor waits for the table or the clock, or is done. */
function quiescence(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** One play of a scenario: a path from its beginning through the choices. */
class Play {
  readonly world: World;
  readonly #trace: (() => string)[] = [];
  #ticks = 0;

  constructor(world: World) {
    this.world = world;
  }

  /** What happened so far. */
  get trace(): readonly string[] {
    return this.#trace.map((label) => label());
  }

  get ended(): boolean {
    return this.world.actors.every(({ done, crashed }) => done || crashed);
  }

  async take({ label, take, actor }: Choice): Promise<void> {
    this.#ticks += 1;
    this.#trace.push(label);
    const began = actor?.started === false;
    take();
    await quiescence();
    // Until its first access nobody can tell that an actor has begun: so it begins as late as it can.
    const first = began && actor.waiting.length === 1 ? actor.waiting[0] : undefined;
    if (first && first.wakeAt === undefined) {
      const ways = this.#affordable(first.ways());
      if (ways.length === 1) {
        const [way] = ways;
        this.#trace.push(() => first.label() + way!.name);
        way!.take();
        await quiescence();
      }
    }
  }

  choices(): readonly Choice[] {
    const { actors, late, table } = this.world;
    const choices: Choice[] = [];
    for (const actor of actors) {
      if (!actor.started) {
        const id = `${actor.name} begins`;
        choices.push({ id, label: () => id, actor, footprint: undefined, take: () => this.#begin(actor) });
      }
      if (!actor.started || actor.done || actor.crashed) continue;
      const accesses = actor.waiting.filter(({ wakeAt }) => wakeAt === undefined);
      for (const step of this.world.inOrder === true ? accesses.slice(0, 1) : accesses) {
        for (const way of this.#affordable(step.ways(), actor)) {
          choices.push({
            ...{ id: `${actor.name} ${step.number}${way.name}`, actor, footprint: step.footprint(), costs: way.costs },
            label: () => step.label() + way.name,
            take: () => this.#pay(way),
          });
        }
      }
    }
    choices.push(...this.#passages());
    for (const write of late) {
      const arrives = (): void => {
        late.splice(late.indexOf(write), 1);
        const failed = table.failures(write.changes, write.conditions);
        if (failed.length === 0) table.apply(write.changes, write.by);
      };
      const id = `a late write of ${write.by} arrives`;
      choices.push({ id, label: () => id, actor: undefined, footprint: undefined, take: arrives });
    }
    return choices;
  }

  /** What the state is: two plays that show the same go on alike. */
  fingerprint(): string {
    const { actors, table, time, late, stock } = this.world;
    let hash = chained(table.hash, this.world.rest());
    hash = chained(hash, hashOf(`${time.now} ${Object.values(stock).join()}`));
    for (const actor of actors) hash = chained(hash, this.#stateOf(actor));
    hash = chained(
      hash,
      late.reduce((bag, write) => added(bag, hashOfValue(write)), nothing),
    );
    const order = actors.map((a) =>
      actors.map((b) => (a.done && b.started && a.endedAt < b.startedAt ? 1 : 0)).join(''),
    );
    hash = chained(hash, hashOf(order.join()));
    return `${hash.high.toString(36)}.${hash.low.toString(36)}`;
  }

  /** Once an actor is done only its answer counts. */
  #stateOf(actor: Actor): Hash {
    if (actor.done) return chained(hashOf('done'), hashOfValue(actor.result));
    if (actor.crashed) return hashOf('crashed');
    return chained(hashOf(actor.started ? 'running' : 'to come'), actor.seen);
  }

  #begin(actor: Actor): void {
    actor.startedAt = this.#ticks;
    void actor.run().then((result) => {
      actor.result = result;
      actor.endedAt = this.#ticks;
    });
  }

  #affordable(ways: readonly Way[], actor?: Actor): readonly Way[] {
    const { stock, mayCrash } = this.world;
    return ways.filter(
      ({ costs }) =>
        costs === undefined || (stock[costs] > 0 && (costs !== 'crash' || (actor !== undefined && mayCrash(actor)))),
    );
  }

  #pay(way: Way): void {
    if (way.costs) this.world.stock[way.costs] -= 1;
    way.take();
  }

  /**
   * How time can pass. Ordinarily only when everybody sleeps, and then whoever sleeps shortest wakes; beyond that it costs a stall, and
   * no access to the table may become older than accesses get.
   */
  #passages(): readonly Choice[] {
    const { actors, time, stalls, stock, latency } = this.world;
    const steps = actors
      .filter(({ crashed }) => !crashed)
      .flatMap((actor) => actor.waiting.map((step) => ({ actor, step })));
    const accesses = steps.filter(({ step }) => step.wakeAt === undefined);
    const sleeps = steps.filter(({ step }) => step.wakeAt !== undefined);
    const firstWake = Math.min(...sleeps.map(({ step }) => step.wakeAt!));
    const oldest = Math.min(...accesses.map(({ step }) => step.since));
    const wakes = sleeps
      .filter(({ step }) => step.wakeAt === firstWake)
      .map(({ actor, step }) => ({ label: step.label, actor, way: step.ways()[0]! }));
    const all = { footprint: undefined } as const;
    if (accesses.length === 0) {
      return wakes.map(({ label, actor, way }) => ({ ...all, id: label(), label, actor, take: () => way.take() }));
    }
    if (stock.stall === 0) return [];
    const early = firstWake <= oldest + latency ? wakes : [];
    const jumps = stalls.filter((jump) => time.now + jump <= Math.min(oldest + latency, firstWake));
    return [
      ...early.map(({ label, actor, way }): Choice => {
        const id = `${label()} early`;
        const take = (): void => this.#pay({ name: '', costs: 'stall', take: () => void way.take() });
        return { ...all, id, label: () => id, actor, costs: 'stall', take };
      }),
      ...jumps.map((jump): Choice => {
        const id = `${jump} ms pass`;
        const take = (): void => this.#pay({ name: '', costs: 'stall', take: () => void (time.now += jump) });
        return { ...all, id, label: () => id, actor: undefined, costs: 'stall', take };
      }),
    ];
  }
}

/** A path that is to be played, and what need not be tried behind it because another path leads to the same. */
interface Open {
  readonly path: readonly number[];
  readonly asleep: ReadonlySet<string>;
}

/**
 * Plays every schedule of a scenario, each from its beginning, up to those that lead into a state seen before. Of choices that have
 * nothing in common only one order is tried: those that would only bring the other order are asleep (Godefroid's sleep sets; with a
 * state, what was asleep when it was seen is kept, and tried if it is met again awake).
 * @param build makes the world as it is at the beginning, the same each time
 */
export async function explore(build: () => World, limit = 100_000): Promise<Exploration> {
  const seen = new Map<string, ReadonlySet<string>>();
  const open: Open[] = [{ path: [], asleep: new Set() }];
  let ends = 0;
  let plays = 0;
  const result = (complete: boolean, failure?: Failure): Exploration => ({
    ...{ states: seen.size, ends, plays, complete, failure },
  });
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    plays += 1;
    const play = new Play(build());
    const { world } = play;
    for (const index of next.path) await play.take(play.choices()[index]!);
    for (let { path, asleep } = next; ;) {
      const wrong = world.wrong();
      if (wrong !== undefined) return result(false, { what: wrong, trace: play.trace });
      const print = play.fingerprint();
      const before = seen.get(print);
      seen.set(print, before === undefined ? asleep : new Set([...before].filter((id) => asleep.has(id))));
      if (seen.size > limit) return result(false);
      const choices = play.choices();
      if (before === undefined && play.ended) {
        ends += 1;
        const verdict = await judge(build, path, choices.length > 0 ? undefined : play);
        if (verdict !== undefined) return result(false, { what: verdict, trace: play.trace });
      } else if (choices.length === 0 && !play.ended) {
        return result(false, { what: 'nobody can go on', trace: play.trace });
      }
      const isOpen = ({ id }: Choice): boolean => !asleep.has(id) && (before === undefined || before.has(id));
      const sleepers = choices.filter(({ id }) => asleep.has(id));
      const branches = choices.flatMap((choice, index) => {
        if (!isOpen(choice)) return [];
        const branch = { choice, index, asleep: sleepers.filter((other) => independent(other, choice)) };
        sleepers.push(choice);
        return [branch];
      });
      const [first, ...others] = branches.map(({ choice, index, asleep: still }) => ({
        ...{ choice, path: [...path, index], asleep: new Set(still.map(({ id }) => id)) },
      }));
      open.push(...others.reverse());
      if (first === undefined) break;
      ({ path, asleep } = first);
      await play.take(first.choice);
    }
  }
  return result(true);
}

/** Judging an end spends the world: where the play goes on behind it, another one is judged. */
async function judge(build: () => World, path: readonly number[], last: Play | undefined): Promise<string | undefined> {
  if (last) return last.world.check();
  const again = new Play(build());
  for (const index of path) await again.take(again.choices()[index]!);
  return again.world.check();
}
