import { OperatorError } from '../../../shared/errors/operator-error.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import { second } from '../../../shared/ports/durations.ts';
import { TableBusy, type Change, type Item, type KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import { itemKey, partition } from '../../../shared/storage/table/keys/keys.ts';
import { partitionItems } from '../../../shared/storage/table/pages.ts';
import { bestEffort, settled } from '../../../shared/storage/table/settled.ts';

/** How long a lease counts after it was last renewed, and how often it is. */
const leaseTime = 120 * second;
const renewEvery = 15 * second;

interface LeaseDeps {
  readonly table: KeyValueTable;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/** Returns the time up to which no blob may be removed that was written until then, as a backup runs that may need it; -Infinity: there is none. */
export async function heldUntil(table: KeyValueTable, now: number): Promise<number> {
  let latest = -Infinity;
  for await (const lease of partitionItems(table, partition.backupLeases)) {
    if (endOf(lease) > now) latest = Math.max(latest, (lease.attributes['moment'] as number | undefined) ?? Infinity);
  }
  return latest;
}

/**
 * What keeps the content of a moment while a backup reads it: an item of the table, which ends with the backup or, if that dies, two minutes later.
 * Those who remove blobs look for it once they have decided to, so none is removed that an item referred to when the lease began.
 */
export class BackupLease {
  readonly #deps: LeaseDeps;
  readonly #id: string;
  readonly #ended = new AbortController();
  #renewing: Promise<void> = Promise.resolve();
  #moment: number | undefined;
  #until: number;
  #isLost = false;

  private constructor(deps: LeaseDeps, id: string, until: number) {
    this.#deps = deps;
    this.#id = id;
    this.#until = until;
    this.#renewing = this.#renew();
  }

  /** Begins to hold all blobs. Removes the leases of backups that were killed. */
  static async take(deps: LeaseDeps): Promise<BackupLease> {
    const { table, clock, randomness } = deps;
    for await (const lease of partitionItems(table, partition.backupLeases)) {
      if (endOf(lease) <= clock.now()) await bestEffort(table.write([{ key: lease.key, delete: true }]));
    }
    const id = Buffer.from(randomness.bytes(9)).toString('base64url');
    const until = clock.now() + leaseTime;
    await settled(table.write([{ key: itemKey.backupLease(id), put: { until }, expect: { is: 'absent' } }]));
    return new BackupLease(deps, id, until);
  }

  /** States that the backup needs nothing that was written later, which may be removed from then on. */
  async needsUntil(moment: number): Promise<void> {
    this.#moment = moment;
    await this.#write();
    this.check();
  }

  /** @throws OperatorError if the lease has ended too early, so that something may have been removed */
  check(): void {
    if (!this.#isLost && this.#deps.clock.now() < this.#until) return;
    throw new OperatorError(
      'the lease on the content of the backup has ended, as this process was stopped for too long or the table could not be written: run it again; what is written is used',
    );
  }

  async end(): Promise<void> {
    this.#ended.abort();
    await this.#renewing;
    await bestEffort(this.#deps.table.write([{ key: itemKey.backupLease(this.#id), delete: true }]));
  }

  async #renew(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted && !this.#isLost) {
      await this.#deps.clock.sleep(renewEvery, signal);
      if (!signal.aborted) await this.#write().catch(unlessBusy);
    }
  }

  async #write(): Promise<void> {
    const { table, clock } = this.#deps;
    const now = clock.now();
    if (now >= this.#until) this.#isLost = true;
    if (this.#isLost) return;
    const until = now + leaseTime;
    const put = { until, ...(this.#moment !== undefined && { moment: this.#moment }) };
    const renewed: Change = { key: itemKey.backupLease(this.#id), put, expect: { is: 'present' } };
    if (await settled(table.write([renewed]))) this.#until = until;
    else this.#isLost = true;
  }
}

function endOf({ attributes }: Item): number {
  return attributes['until'] as number;
}

/** A disk that is full may have room again before the lease ends. */
function unlessBusy(error: unknown): void {
  if (!(error instanceof TableBusy)) throw error;
}
