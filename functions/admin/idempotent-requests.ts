import type { Clock } from '../../shared/ports/clock.ts';
import { day } from '../../shared/ports/durations.ts';
import type { Attributes, KeyValueTable } from '../../shared/ports/key-value-table.ts';
import type { Secrets } from '../../shared/ports/secrets.ts';
import { accountKey } from '../../shared/storage/table/keys/account-keys.ts';
import { bestEffort, settled } from '../../shared/storage/table/settled.ts';

/** The answer to a request, which repetitions get again. */
export interface Done {
  readonly status: number;
  readonly body?: string | undefined;
}

/** A request that its sender may repeat. */
interface Repeatable {
  readonly operator: string;
  /** Its `Idempotency-Key`. */
  readonly key: string;
  /** A digest of what is asked for. */
  readonly asked: string;
}

/** What became of a request. `another`: the key was used for something else. `unfinished`: nobody knows the answer yet, or ever will. */
type Outcome =
  { readonly outcome: 'done' | 'repeated'; readonly done: Done } | { readonly outcome: 'another' | 'unfinished' };

/** How long a key is known. */
const kept = day;
/** Answers with more characters are not kept. No command that changes something has one. */
const maxAnswer = 64 * 1024;
/** Keys that a request with a new one looks at, to forget what is too old. */
const forgotten = 100;

/**
 * Requests that are carried out once, however often they are sent with the same key within a day. Answers may hold secrets, and are kept
 * encrypted.
 */
export class IdempotentRequests {
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #secrets: Secrets;

  constructor(deps: { table: KeyValueTable; clock: Clock; secrets: Secrets }) {
    this.#table = deps.table;
    this.#clock = deps.clock;
    this.#secrets = deps.secrets;
  }

  /** Carries out a request unless it was before. If `run` rejects, nothing is kept, and a repetition tries again. */
  async once({ operator, key, asked }: Repeatable, run: () => Promise<Done>): Promise<Outcome> {
    const item = accountKey.idempotentRequest(operator, key);
    await this.#forget(item.pk);
    const begun = { asked, at: this.#clock.now() };
    const isNew = await settled(this.#table.write([{ key: item, put: begun, expect: { is: 'absent' } }]));
    if (!isNew) return this.#known(item.pk, item.sk, asked);
    let done: Done;
    try {
      done = await run();
    } catch (error) {
      await bestEffort(this.#table.write([{ key: item, delete: true }]));
      throw error;
    }
    const text = JSON.stringify(done);
    if (text.length <= maxAnswer) {
      const answer = await this.#secrets.seal(Buffer.from(text), contextOf(item.pk, item.sk));
      await bestEffort(this.#table.write([{ key: item, put: { ...begun, answer } }]));
    }
    return { outcome: 'done', done };
  }

  async #known(pk: string, sk: string, asked: string): Promise<Outcome> {
    const found: Attributes = (await this.#table.get({ pk, sk })) ?? {};
    if (found['asked'] !== asked) return { outcome: 'another' };
    if (found['answer'] === undefined) return { outcome: 'unfinished' };
    const text = await this.#secrets.open(found['answer'] as Uint8Array, contextOf(pk, sk));
    return { outcome: 'repeated', done: JSON.parse(Buffer.from(text).toString()) as Done };
  }

  async #forget(pk: string): Promise<void> {
    const { items } = await this.#table.query(pk, { limit: forgotten });
    const old = items.filter(({ attributes }) => (attributes['at'] as number) <= this.#clock.now() - kept);
    for (const { key } of old) await bestEffort(this.#table.write([{ key, delete: true }]));
  }
}

function contextOf(pk: string, sk: string): string {
  return `${pk} ${sk}`;
}
