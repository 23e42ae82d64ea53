import type { Command } from 'commander';
import { verb } from '../command.ts';
import * as operand from '../operands.ts';
import { sparingly } from '../progress.ts';
import { count, tableReport, time } from '../../../shared/command-line/report.ts';
import { keyPrefix } from '../../../shared/command-line/option-values.ts';
import { option } from '../../../shared/command-line/option.ts';
import { second } from '../../../shared/ports/durations.ts';
import { lockTime } from '../../../shared/storage/table/lock-clock.ts';
import { isLocked } from '../../../shared/storage/versions/object-lock.ts';
import { versionIdOf, type Version } from '../../../shared/storage/versions/versions.ts';
import { argument, command, optional, type Ask, type ResultOf } from '../../../functions/admin/command.ts';
import { locked, result } from '../../../functions/admin/results.ts';

/** Keys and versions that a call reads. */
const keyPage = 200;
const versionPage = 1000;

/**
 * Returns the locked versions of a page of keys, in the order of ListObjectVersions. `next` is where to go on: after a key or, with
 * `olderThan`, at its versions older than that instance.
 */
export const listLocks = command(
  'bucket locks',
  'read',
  {
    bucket: argument.text,
    prefix: optional(argument.text),
    after: optional(argument.word),
    olderThan: optional(argument.word),
  },
  result.object({
    locked: result.list(locked),
    keys: result.count,
    next: result.optional(result.object({ after: result.text, olderThan: result.optional(result.text) })),
  }),
  async ({ buckets, objects, table, clock }, { bucket: name, prefix = '', after, olderThan }) => {
    const bucket = await buckets.load(name);
    const now = await lockTime(table, clock.now());
    const start = after === undefined ? {} : olderThan === undefined ? { after } : { from: after };
    const { entries, more } = await objects.scan(bucket, { prefix, limit: keyPage, ...start });
    const found: ReturnType<typeof shown>[] = [];
    let left = versionPage;
    for (const [keys, { key, currentVersion }] of entries.entries()) {
      const below = key === after ? olderThan : undefined;
      const versions = await objects.versions(bucket, key, currentVersion, left, below);
      found.push(...versions.filter((version) => isLocked(version, now)).map((version) => shown(key, version)));
      left -= versions.length;
      const last = versions.at(-1);
      if (left === 0 && last) return { locked: found, keys, next: { after: key, olderThan: last.instance } };
    }
    return { locked: found, keys: entries.length, ...(more && { next: { after: entries.at(-1)!.key } }) };
  },
);

function shown(key: string, version: Version) {
  const { retention, legalHold } = version;
  return {
    ...{ key, versionId: versionIdOf(version), hold: legalHold === 'ON' },
    ...(retention && { mode: retention.mode, until: retention.until * second }),
  };
}

type Locked = ResultOf<typeof listLocks>['locked'][number];

/** Returns all locked versions of the keys with a prefix, and tells how far it is. */
async function locksOf(ask: Ask, bucket: string, prefix: string | undefined): Promise<readonly Locked[]> {
  const all: Locked[] = [];
  let keys = 0;
  const tell = sparingly(() => `${bucket}: ${count(keys, 'key')} read, ${count(all.length, 'locked version')}`);
  let next: ResultOf<typeof listLocks>['next'];
  do {
    const page: ResultOf<typeof listLocks> = await ask(listLocks, { bucket, ...next, ...(prefix && { prefix }) });
    all.push(...page.locked);
    keys += page.keys;
    ({ next } = page);
    tell();
  } while (next !== undefined);
  return all;
}

/** Returns `stillage bucket locks`. */
export function locksVerb(): Command {
  return verb<{ readonly prefix?: string }>({
    name: 'locks',
    does: 'List the versions under a retention period or a legal hold',
    operands: [operand.bucket],
    options: [option('--prefix <prefix>', 'only of keys that begin with it', keyPrefix).default(undefined, 'all keys')],
    examples: ['bucket locks backups', 'bucket locks backups --prefix 2030/ --json'],
    act: async (ask, [bucket], { prefix }) =>
      tableReport(
        await locksOf(ask, bucket!, prefix),
        [
          ['KEY', ({ key }) => key],
          ['VERSION', ({ versionId }) => versionId],
          ['MODE', ({ mode }) => mode ?? '-'],
          ['UNTIL', ({ until }) => (until === undefined ? '-' : time(until))],
          ['HOLD', ({ hold }) => (hold ? 'ON' : '-')],
        ],
        'no locked versions',
      ),
  });
}
