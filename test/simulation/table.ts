import { TableBusy } from '../../shared/ports/key-value-table.ts';
import type {
  Attributes,
  Change,
  Condition,
  Item,
  ItemKey,
  KeyValueTable,
  QueryOptions,
  QueryPage,
  ScanOptions,
  WriteOutcome,
} from '../../shared/ports/key-value-table.ts';
import { currentRequest } from './current-request.ts';
import type { Adversity } from './faults.ts';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';
import type { TableState, Writer } from './table-state.ts';

/** The longest time that plain reads see the items of a transaction as they were, in milliseconds, unless it is acknowledged before. */
export const longestHidden = 40;

/** The parts of the simulation on which a process's table or blob store depends. */
export interface World {
  readonly scheduler: Scheduler;
  readonly adversity: Adversity;
}

/**
 * A process's access to the table: every call takes time, and may fail in every way that the port allows.
 *
 * Where conditions are not free, it is like DynamoDB: pages are short, transactions become visible to plain reads item by item, stale reads are
 * stale, and a put without conditions may be carried out twice.
 */
export class SimulatedTable implements KeyValueTable {
  readonly freeChecks: boolean;
  readonly #state: TableState;
  readonly #process: SimulatedProcess;
  readonly #world: World;

  constructor(state: TableState, process: SimulatedProcess, world: World, { freeChecks }: { freeChecks: boolean }) {
    this.#state = state;
    this.#process = process;
    this.#world = world;
    this.freeChecks = freeChecks;
  }

  get(key: ItemKey): Promise<Attributes | undefined> {
    return this.#call(`get ${key.pk} ${key.sk}`, () => this.#state.shown(key));
  }

  getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]> {
    return this.#call(`getTogether ${keys[0]!.pk}`, () => this.#state.together(keys));
  }

  query(pk: string, options: QueryOptions = {}): Promise<QueryPage> {
    const { random } = this.#world.scheduler;
    return this.#call(`query ${pk}`, () => {
      const maxItems = this.freeChecks ? 2000 : 1 + random.below(50);
      return this.#state.query(pk, options, maxItems, () => (this.freeChecks ? 0 : random.next() ** 4 * 5000));
    });
  }

  async *scan({ prefixes = [''] }: ScanOptions = {}): AsyncIterable<Item> {
    const partitions = await this.#call('scan', () => this.#state.partitions(prefixes));
    for (const pk of partitions) {
      for (let after: string | undefined, more = true; more;) {
        const page = await this.query(pk, { ...(after !== undefined && { after }) });
        yield* page.items;
        after = page.items.at(-1)?.key.sk;
        more = page.more;
      }
    }
  }

  async write(changes: readonly Change[], conditions: readonly Condition[] = []): Promise<WriteOutcome> {
    const { scheduler, adversity } = this.#world;
    const { random } = scheduler;
    const by: Writer = { process: this.#process.name, request: currentRequest() };
    const label = `write ${[...changes, ...conditions].map(({ key }) => `${key.pk} ${key.sk}`).join(', ')}`;
    const write = (): WriteOutcome => this.#state.write(changes, conditions, by, () => this.#hiddenFor());
    const isUnconditional = changes.length === 1 && conditions.length === 0 && changes[0]!.expect === undefined;
    const { lost } = adversity.now;
    const fate = random.next();
    if (fate < lost) {
      if (fate < lost / 2) await this.#call(`${label}, lost`, write);
      else await this.#call(`${label}, lost before`, () => undefined);
      return { outcome: 'unknown' };
    }
    if (isUnconditional && !this.freeChecks && random.next() < lost) await this.#call(`${label}, once more`, write);
    const outcome = await this.#call(label, () => this.#told(write()));
    this.#state.show(changes.map(({ key }) => key));
    return outcome;
  }

  async close(): Promise<void> {
    // The items stay.
  }

  /** Returns an outcome as an adapter reports it: without images where the engine need not return them. */
  #told(outcome: WriteOutcome): WriteOutcome {
    if (this.freeChecks || this.#world.scheduler.random.next() < 0.5) return outcome;
    if (outcome.outcome === 'written' && outcome.old.length > 1) return { ...outcome, old: [] };
    if (outcome.outcome !== 'conflict') return outcome;
    return { ...outcome, failed: outcome.failed.map(({ key }) => ({ key, item: undefined })) };
  }

  #hiddenFor(): number {
    return this.freeChecks ? 0 : this.#world.scheduler.random.next() * longestHidden;
  }

  #call<Result>(label: string, effect: () => Result): Promise<Result> {
    const { scheduler, adversity } = this.#world;
    const { busy, latency } = adversity.now;
    const isBusy = scheduler.random.next() < busy;
    const act = (): Result => {
      if (isBusy) throw new TableBusy();
      return effect();
    };
    return scheduler.call(this.#process, `${this.#process.name}: ${label}${isBusy ? ', busy' : ''}`, latency, act);
  }
}
