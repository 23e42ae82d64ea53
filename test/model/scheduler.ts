import type { Actor, Fault, Footprint, Spot, Time, Way } from './actor.ts';
import { added, chained, hashOf, hashOfValue, nothing, type Hash } from './fingerprint.ts';
import type { LateWrite, ModelTable } from './model-table.ts';

/** The state that the scheduler advances. It depends only on the choices. */
export interface World {
  readonly actors: readonly Actor[];
  readonly table: ModelTable;
  readonly time: Time;
  /** Writes whose callers no longer wait, and which may still be applied. */
  readonly late: LateWrite[];
  /** The number of faults of each kind that may still occur. */
  readonly stock: Record<Fault, number>;
  /** Whether an actor may crash. */
  readonly mayCrash: (actor: Actor) => boolean;
  /** Whether concurrent accesses of one actor are answered in order, to explore only the orders between actors. */
  readonly inOrder?: boolean;
  /** The milliseconds by which the clock may jump during accesses to the table. */
  readonly stalls: readonly number[];
  /** The maximum duration of an access to the table, in milliseconds. */
  readonly latency: number;
  /** Returns the hash of all other state. */
  rest(): Hash;
  /** Returns a violation that no later step can undo, if there is one. */
  wrong(): string | undefined;
  /**
   * Checks a final state.
   * @returns the violation, if there is one
   */
  check(): Promise<string | undefined>;
}

/** A possible next step. */
interface Choice {
  /** The same at every point of a run at which the choice exists. */
  readonly id: string;
  readonly label: () => string;
  /** The actor whose step it is, if any. */
  readonly actor: Actor | undefined;
  /** The items that it reads and writes; undefined: all. */
  readonly footprint: Footprint | undefined;
  readonly costs?: Fault | undefined;
  readonly take: () => void;
}

/** Whether two choices lead to the same state in either order, and neither disables the other. */
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

/** The result of an exploration. */
export interface Exploration {
  /** The number of distinct states, and of distinct final states among them. */
  readonly states: number;
  readonly ends: number;
  /** The number of runs of the scenario from its beginning. */
  readonly plays: number;
  /** False: the limit was reached before all states were explored. */
  readonly complete: boolean;
  readonly failure: Failure | undefined;
}

export interface Failure {
  readonly what: string;
  /** The steps that led to the failure. */
  readonly trace: readonly string[];
}

/** All microtasks run before the event loop continues: then every actor awaits the table or the clock, or is done. */
function quiescence(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** One run of a scenario: a path from its beginning through the choices. */
class Play {
  readonly world: World;
  readonly #trace: (() => string)[] = [];
  #ticks = 0;

  constructor(world: World) {
    this.world = world;
  }

  /** The steps so far. */
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
    // No other actor can observe the start of an actor before its first access, so the two are one step.
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

  /** Returns the identity of the state: two runs with the same fingerprint continue alike. */
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

  /** Only the answer of a finished actor matters. */
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
   * Returns the ways in which time can advance. Without a stall that is only while all actors sleep, and the earliest sleeper wakes; more
   * uses up a stall, and no access to the table may exceed the maximum duration.
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

/** A path to run, and the choices at its end that another path covers. */
interface Open {
  readonly path: readonly number[];
  readonly asleep: ReadonlySet<string>;
}

/**
 * Runs every schedule of a scenario, each from its beginning, up to a state that was seen before. Of independent choices only one order is
 * tried: those that would only lead to the other order are asleep (Godefroid's sleep sets; the sleep set of a state is kept, and its
 * choices are tried if the state is reached again with them awake).
 * @param build creates the same initial state each time
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

/** The check of a final state changes it, so if the run can continue, a repeated run is checked instead. */
async function judge(build: () => World, path: readonly number[], last: Play | undefined): Promise<string | undefined> {
  if (last) return last.world.check();
  const again = new Play(build());
  for (const index of path) await again.take(again.choices()[index]!);
  return again.world.check();
}
