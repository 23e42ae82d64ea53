import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linearize } from './checker.ts';
import { emptyGroup, operationsOf, type Answer, type Group, type Recorded, type Request } from './objects.ts';

/** The number of requests that are printed before the one that cannot be explained. */
const printedRequests = 30;

/** The requests for one group of keys, with their answers. */
export class History {
  readonly name: string;
  readonly keys: readonly string[];
  readonly initial: Group;
  readonly recorded: Recorded[] = [];

  constructor(name: string, versioning: Group['versioning'], keys: readonly string[]) {
    this.name = name;
    this.keys = keys;
    this.initial = emptyGroup(versioning, keys);
  }

  /**
   * Returns a message that explains why the history is not linearizable; nothing if it is.
   * @throws TooManyConfigurations
   */
  check(options: { readonly maxConfigurations?: number } = {}): string | undefined {
    const sorted = this.recorded.toSorted((a, b) => a.began - b.began);
    const operations = sorted.flatMap((recorded) => operationsOf(recorded, this.keys));
    const verdict = linearize(this.initial, operations, options);
    if (verdict.linearizable) return undefined;
    const { operation, pending, states } = verdict;
    const before = operations.filter(({ began }) => began <= operation.ended).slice(-printedRequests);
    return [
      `Nothing explains the answer of ${operation.label}`,
      `in ${this.name}, at one of the states`,
      ...states.slice(0, 10).map((state) => `  ${JSON.stringify(state)}`),
      'with, in progress or unanswered,',
      ...pending.map(({ label }) => `  ${label}`),
      'after',
      ...before.map(({ label }) => `  ${label}`),
    ].join('\n');
  }
}

/** The histories of a run, in one order of time. All clients are in one process, so that a counter can tell the time. */
export class Histories {
  readonly groups: readonly History[];
  /** The requests that {@link brokenEnded} ends. */
  readonly #broken = new Set<Recorded>();
  #now = 0;
  #requests = 0;

  constructor(groups: readonly History[]) {
    this.groups = groups;
  }

  get requests(): number {
    return this.#requests;
  }

  /**
   * Sends a request, and records it.
   * @param groups all groups that it changes
   * @param send returns undefined if the response leaves open whether the request was carried out, and rejects if there is none
   * @returns the answer, if there was one
   */
  async record(
    groups: readonly History[],
    request: Request,
    send: () => Promise<Answer | undefined>,
  ): Promise<Answer | undefined> {
    this.#requests += 1;
    const number = this.#requests;
    const began = this.#tick();
    let answer: Answer | undefined;
    let isBroken = true;
    try {
      answer = await send();
      isBroken = false;
    } finally {
      const ended = answer === undefined ? Infinity : this.#tick();
      for (const { recorded } of groups) {
        const one: Recorded = { number, request, began, ended, answer };
        recorded.push(one);
        if (isBroken) this.#broken.add(one);
      }
    }
    return answer;
  }

  /**
   * Ends the requests without any response: the processes are gone that had them, and what they sent has been carried out. The sooner they
   * end, the fewer of them the check has to try in every order.
   */
  brokenEnded(): void {
    const now = this.#tick();
    for (const one of this.#broken) one.ended = Math.min(one.ended, now);
    this.#broken.clear();
  }

  /** Ends all unanswered requests: no process is left that could still carry them out. */
  processEnded(): void {
    const now = this.#tick();
    for (const { recorded } of this.groups) {
      for (const one of recorded) if (one.ended === Infinity) one.ended = now;
    }
    this.#broken.clear();
  }

  /** @throws Error about the shortest history that is not linearizable; all histories are in a file that it names */
  async expectLinearizable(run: string): Promise<void> {
    const failed = this.groups
      .map((group) => ({ group, message: group.check() }))
      .filter(({ message }) => message !== undefined)
      .sort((a, b) => a.group.recorded.length - b.group.recorded.length);
    const [first] = failed;
    if (first === undefined) return;
    const file = join(tmpdir(), `stillage-histories-${run.replaceAll(/\W+/g, '-')}-${process.pid}.json`);
    await writeFile(file, JSON.stringify(this.groups, undefined, 1));
    throw new Error(`${run}: ${failed.length} histories are not linearizable; all are in ${file}\n${first.message}`);
  }

  #tick(): number {
    this.#now += 1;
    return this.#now;
  }
}
