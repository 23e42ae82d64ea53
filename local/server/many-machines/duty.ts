import { itemKey } from '../../../shared/storage/table/keys/keys.ts';
import { writeToken } from '../../../shared/storage/table/keys/ids.ts';
import { bestEffort } from '../../../shared/storage/table/settled.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import { second } from '../../../shared/ports/durations.ts';
import type { Attributes, Expectation, KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { repeat, type Schedule } from '../schedules/schedule.ts';

const key = itemKey.deployment('duty');
/** How often whoever has the duty says so. */
const beatTime = 2 * second;
/** For how long others must have seen no such word before one of them takes the duty over. */
const silence = 10 * second;

/** Work that one of several servers does for all. */
export interface Work {
  /** Ends it at once, as another server does it already. */
  halt(): void;
}

/**
 * Refuses a table that servers use: while one runs, one of them has the duty, or takes it soon. Takes three seconds if they have ended in order, and
 * longer after one was killed.
 * @throws OperatorError
 */
export async function refuseServed(table: KeyValueTable, clock: Clock): Promise<void> {
  const before = await table.get(key);
  const wait = beatTime + second + (before === undefined ? 0 : silence);
  for (let waited = 0; waited < wait; waited += second) {
    await clock.sleep(second);
    const present = await table.get(key);
    // Nobody leaves it while this looks, unless the server ends.
    if (present === undefined || present['r'] === before?.['r']) continue;
    throw new OperatorError('--table: a server uses the table: stop all of them, and run the same command again');
  }
}

interface Deps {
  readonly table: KeyValueTable;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly telemetry: Telemetry;
}

/**
 * The duty to do what one server does for all that share a table: follow the change feed, and run the schedules. An item of the table names who
 * has it, and changes every two seconds. Who sees it unchanged for ten seconds, by a clock of its own, takes the duty over; clocks of machines
 * are never compared. For some time two servers may do the work, if one of them did not answer for as long: what it does bears that.
 */
export class Duty {
  readonly #deps: Deps;
  readonly #begin: () => Promise<Work>;
  readonly #beats: Schedule;
  /** The last item that was seen, and when. */
  #seen: { readonly token: unknown; readonly at: number } | undefined;
  #token: string | undefined;
  #work: Work | undefined;
  #hasEnded = false;

  /** @param begin starts the work, each time that this server gets the duty */
  constructor(deps: Deps, begin: () => Promise<Work>) {
    this.#deps = deps;
    this.#begin = begin;
    const beat = (): Promise<void> => this.beat();
    this.#beats = repeat(beatTime, deps.clock, beat, deps.telemetry, 'asking for the work of the schedules failed');
  }

  /** Takes the duty if nobody has it, or says that this server still has it. */
  async beat(): Promise<void> {
    const { table, clock, randomness, telemetry } = this.#deps;
    const present = await table.get(key);
    if (this.#hasEnded) return;
    const isOwn = present !== undefined && present['r'] === this.#token;
    if (!isOwn && this.#token !== undefined) this.#lose();
    if (!isOwn && !this.#isFree(present, clock.now())) return;
    const token = writeToken(randomness);
    const expect: Expectation = present
      ? { is: 'equal', attribute: 'r', value: present['r'] as string }
      : { is: 'absent' };
    const { outcome } = await table.write([{ key, put: { r: token }, expect }]);
    // The next beat finds out what has become of one without an answer.
    if (outcome !== 'written') return;
    this.#token = token;
    if (this.#work !== undefined) return;
    telemetry.note('this server follows the changes and runs the schedules');
    this.#work = await this.#begin();
  }

  /** Neither takes the duty nor says that this server has it from now on, so that another will take it soon. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#beats.stop();
  }

  /** Leaves the duty to another server at once. Call it when the work has ended. */
  async release(): Promise<void> {
    await this.end();
    if (this.#token === undefined) return;
    const expect: Expectation = { is: 'equal', attribute: 'r', value: this.#token };
    await bestEffort(this.#deps.table.write([{ key, delete: true, expect }]));
  }

  #isFree(present: Attributes | undefined, now: number): boolean {
    if (present === undefined) return true;
    if (this.#seen?.token !== present['r']) this.#seen = { token: present['r'], at: now };
    return now - this.#seen!.at >= silence;
  }

  #lose(): void {
    this.#deps.telemetry.note('another server follows the changes and runs the schedules now');
    this.#token = undefined;
    this.#work?.halt();
    this.#work = undefined;
  }
}
