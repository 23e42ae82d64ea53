import type { User } from '../access/identity.ts';
import type { Clock } from '../ports/clock.ts';
import { minute } from '../ports/durations.ts';
import type { KeyValueTable } from '../ports/key-value-table.ts';
import { accountKey } from '../storage/table/keys/account-keys.ts';
import { bestEffort } from '../storage/table/settled.ts';

/** What a key was last used for. */
export interface KeyUse {
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** `s3`, `iam`, `sts` or `cloudtrail`. */
  readonly service: string;
}

/** A use, and whose: the id of an access key, or of a role. */
export interface UseOfKey extends KeyUse {
  readonly id: string;
}

/** After a use of a key, a process notes none for so many milliseconds: by as much the last use may be wrong. */
export const useInterval = 15 * minute;
const maxKnown = 10_000;

/** Notes the uses of access keys and roles, of each the first in a while: where they are stored, another write is rare. */
export class KeyUses {
  readonly #clock: Clock;
  readonly #note: (use: UseOfKey, user: User) => void;
  readonly #known = new Map<string, number>();

  /** @param note takes a use, and who it was; neither waits nor throws */
  constructor(deps: { readonly clock: Clock; readonly note: (use: UseOfKey, user: User) => void }) {
    this.#clock = deps.clock;
    this.#note = deps.note;
  }

  /** Takes note of a signed request. Of temporary keys, those of roles count, as in AWS. */
  used(user: User, service: string): void {
    if (user.session !== undefined && user.role === undefined) return;
    const id = user.role ? user.id : user.accessKeyId;
    const at = this.#clock.now();
    const before = this.#known.get(id);
    if (before !== undefined && Math.abs(at - before) < useInterval) return;
    if (this.#known.size >= maxKnown) this.#known.clear();
    this.#known.set(id, at);
    this.#note({ id, at, service }, user);
  }
}

/** The last uses that are stored. */
export class LastUses {
  readonly #table: KeyValueTable;
  #pending = new Map<string, UseOfKey>();

  constructor({ table }: { readonly table: KeyValueTable }) {
    this.#table = table;
  }

  /** Returns the last use of an access key or a role. @param id of it */
  async of(id: string): Promise<KeyUse | undefined> {
    const item = await this.#table.get(accountKey.lastUse(id));
    return item && { at: item['at'] as number, service: item['service'] as string };
  }

  /** Stores a use on {@link flush}. */
  add(use: UseOfKey): void {
    this.#pending.set(use.id, use);
  }

  /**
   * Stores the uses added. Those that could not be stored are lost: there will be others.
   * @throws the table's errors
   */
  async flush(): Promise<void> {
    const uses = [...this.#pending.values()];
    this.#pending = new Map();
    for (const use of uses) await this.put(use);
  }

  /** Stores a use, unless a later one is stored. @throws the table's errors */
  async put({ id, at, service }: UseOfKey): Promise<void> {
    const key = accountKey.lastUse(id);
    const stored = await this.of(id);
    if (stored !== undefined && stored.at >= at) return;
    // A process that was as fast may be before this one by less than the interval: either is right.
    await bestEffort(this.#table.write([{ key, put: { at, service } }]));
  }
}
