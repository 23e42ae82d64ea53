import { OperatorError } from '../../../shared/errors/operator-error.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import { migrationKey, staysInPlace } from '../../../shared/storage/table/keys/migration-keys.ts';
import { settled } from '../../../shared/storage/table/settled.ts';

const placeBytes = 12;

/** What a target records of the migration into it. */
export interface MigrationState {
  /** The name of the table that it comes from. */
  readonly source: string;
  readonly began: number;
  /** When all was there, in milliseconds since the epoch; undefined: it is not. */
  readonly finished?: number;
}

/** Returns what a table records of the migration into it; undefined: there was none. */
async function migrationState(table: KeyValueTable): Promise<MigrationState | undefined> {
  return (await table.get(migrationKey.state)) as MigrationState | undefined;
}

/** @throws Error if a migration into the table has not ended, so that it lacks what the source has */
export async function refuseUnfinished(table: KeyValueTable): Promise<void> {
  const state = await migrationState(table);
  if (state === undefined || state.finished !== undefined) return;
  throw new Error('a migration into it has not ended: run stillage migrate again, as before');
}

/** Returns the name of a table, which no other one has. */
export async function placeOf(table: KeyValueTable, randomness: Randomness): Promise<string> {
  const value = Buffer.from(randomness.bytes(placeBytes)).toString('base64url');
  await settled(table.write([{ key: migrationKey.place, put: { value }, expect: { is: 'absent' } }]));
  return (await table.get(migrationKey.place))!['value'] as string;
}

/**
 * Begins a migration in its target, or goes on with it.
 * @param option names the target
 * @returns the state that it finds, undefined if it begins
 * @throws OperatorError if the target has something else, before anything is written
 */
export async function beginMigration(
  target: { readonly table: KeyValueTable; readonly blobs: { list(): AsyncIterable<unknown> } },
  source: string,
  { clock, places }: { readonly clock: Clock; readonly places: { readonly table: string; readonly blobs: string } },
): Promise<MigrationState | undefined> {
  const { table, blobs } = target;
  const state = await migrationState(table);
  if (state?.source === source) return state;
  if (state !== undefined && state.finished === undefined) {
    throw new OperatorError(
      `${places.table} has an unfinished migration of another source: end that one, or name an empty target`,
    );
  }
  for await (const { key } of table.scan()) {
    if (!staysInPlace(key)) throw notEmpty(places.table);
  }
  for await (const _ of blobs.list()) throw notEmpty(places.blobs);
  const put = { source, began: clock.now() };
  if (await settled(table.write([{ key: migrationKey.state, put, expect: { is: 'absent' } }]))) return undefined;
  throw new OperatorError(`${places.table} is being migrated into by another process: wait until it has ended`);
}

/** Records that all is there. */
export async function finishMigration(table: KeyValueTable, clock: Clock): Promise<void> {
  const { source, began } = (await migrationState(table))!;
  const put = { source, began, finished: clock.now() };
  await settled(table.write([{ key: migrationKey.state, put, expect: { is: 'present' } }]));
}

function notEmpty(place: string): OperatorError {
  return new OperatorError(`${place} is not empty: a migration needs an empty target, name another one`);
}
