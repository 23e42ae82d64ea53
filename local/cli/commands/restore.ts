import type { Command } from 'commander';
import { backupAt, type RestoreProgress } from '../../../shared/backup/restore-backup.ts';
import { option } from '../../../shared/command-line/option.ts';
import { read } from '../../../shared/command-line/option-values.ts';
import { count, recordReport, time } from '../../../shared/command-line/report.ts';
import { sizeText } from '../../../shared/command-line/sizes.ts';
import { restoreData } from '../../server/backup/restore-data.ts';
import { openRepository, refuseNested, target, withTarget, type TargetOptions } from '../backup-target.ts';
import { dataOption, plainVerb, type Named } from '../command.ts';
import { sparingly } from '../progress.ts';
import { passphraseOption } from '../settings.ts';

interface RestoreOptions extends TargetOptions {
  readonly data: string;
  readonly to?: number;
}

/** Returns `stillage restore`. */
export function commandLine(named: Named): Command {
  const data = dataOption();
  data.description = 'data directory to create; it must be missing or empty';
  return plainVerb<RestoreOptions>({
    ...named,
    operands: [target],
    options: [
      passphraseOption(),
      option('--to <time>', 'restore the newest backup of that time or before', instant).default(
        undefined,
        'the newest',
      ),
      data,
    ],
    examples: [
      'restore /mnt/backups --passphrase-file backup.key --data /var/lib/stillage',
      'restore /mnt/backups --to 2026-11-28T15:20:00Z --data ./restored --json',
    ],
    act: ([name], options) =>
      withTarget(name!, async (opened) => {
        await refuseNested(opened, options.data);
        const repository = await openRepository(opened, options);
        const record = await backupAt(repository, options.to);
        let done: RestoreProgress = { packs: 0, of: 0, bytes: 0 };
        const tell = sparingly(
          () => `${done.packs} of ${count(done.of, 'pack')} read, ${sizeText(done.bytes)} of blobs written`,
        );
        const began = Date.now();
        await restoreData(repository, record, options.data, (now) => {
          done = now;
          tell();
        });
        if (record.unread > 0) process.exitCode = 1;
        const { id, at, items, blobs, unread } = record;
        const took = Date.now() - began;
        return recordReport({ id, at, items, blobs, unread, bytes: done.bytes, took, data: options.data }, [
          ['restored', `${id}, of ${time(at)}`],
          ['holds', `${count(items, 'item')} and ${count(blobs, 'blob')}`],
          ['into', options.data],
          ['unread', unread === 0 ? undefined : `${count(unread, 'thing')} could not be read when it was made`],
          ['next', `stillage scrub --content --data ${options.data}, then start the service on it`],
        ]);
      }),
  });
}

/** A time in ISO 8601, in milliseconds since the epoch. */
const instant = read((text, refuse) => {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text);
  const at = isTime ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? refuse('Must be a time such as 2026-11-28T15:20:00Z.') : at;
});
