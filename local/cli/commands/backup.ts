import { constants, setPriority } from 'node:os';
import type { Command } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import type { BackupRecord, BackupSummary, Unread } from '../../../shared/backup/backup-record.ts';
import { pruneBackups, type Keep, type Pruned } from '../../../shared/backup/prune-backups.ts';
import { changePassphrase } from '../../../shared/backup/repository-key.ts';
import type { Repository } from '../../../shared/backup/repository.ts';
import { verifyBackups, type BackupFinding, type Verified } from '../../../shared/backup/verify-backups.ts';
import { option } from '../../../shared/command-line/option.ts';
import { countTo, path } from '../../../shared/command-line/option-values.ts';
import { count, recordReport, tableReport, time, type Report } from '../../../shared/command-line/report.ts';
import { sizeText } from '../../../shared/command-line/sizes.ts';
import { OperatorError, UsageError } from '../../../shared/errors/operator-error.ts';
import { printable } from '../../../shared/telemetry/log.ts';
import { createBackup, type BackupProgress } from '../../server/backup/create-backup.ts';
import {
  openRepository,
  readPassphrase,
  refuseNested,
  target,
  withLock,
  withTarget,
  type TargetOptions,
} from '../backup-target.ts';
import { family, localVerb, plainVerb, type Named } from '../command.ts';
import type { Deps } from '../data-deps.ts';
import { sparingly } from '../progress.ts';
import { passphraseOption } from '../settings.ts';

/** Returns `stillage backup`. */
export function commandLine(named: Named): Command {
  return family(named, [createCommand(), listCommand(), verifyCommand(), pruneCommand(), passphraseCommand()]);
}

function createCommand(): Command {
  return localVerb<TargetOptions & { readonly data: string }>({
    name: 'create',
    does: 'Add a backup of one moment to a target, also while the service runs',
    operands: [target],
    options: [passphraseOption()],
    examples: ['backup create /mnt/backups --passphrase-file backup.key', 'backup create /mnt/backups --json'],
    act: (deps, [name], options) => withTarget(name!, (opened) => create(deps, opened, options)),
  });
}

async function create(
  deps: Deps,
  opened: Parameters<Parameters<typeof withTarget>[1]>[0],
  options: TargetOptions & { readonly data: string },
): Promise<Report> {
  await refuseNested(opened, options.data);
  const repository = await openRepository(opened, options, { create: true });
  yieldToService();
  let progress: BackupProgress = { items: 0, blobs: 0, of: 0, added: 0 };
  const tell = sparingly(() => progressText(progress));
  const record = await withLock(opened, 'add', (lock) =>
    createBackup({
      ...{ data: options.data, opened: deps, clock: deps.clock, randomness: deps.randomness },
      ...{ repository, lock, program: packageJson.version },
      onUnread: ({ where, what }: Unread) => process.stderr.write(`unread  ${printable(`${where}: ${what}`)}\n`),
      onProgress: (now) => {
        progress = now;
        tell();
      },
    }),
  );
  if (record.unread > 0) process.exitCode = 1;
  return createdReport(record);
}

/** Lets the service go first, where processors are short. */
function yieldToService(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A container may forbid it.
  }
}

function progressText({ items, blobs, of, added }: BackupProgress): string {
  const read =
    of === 0 ? `${count(items, 'item')} read` : `${blobs.toLocaleString('en')} of ${count(of, 'new blob')} read`;
  return `${read}, ${sizeText(added)} written`;
}

function createdReport(record: BackupRecord): Report {
  const { id, items, blobs, size, added, took, unread } = summaryOf(record);
  return recordReport(summaryOf(record), [
    ['backup', id],
    ['holds', `${count(items, 'item')} and ${count(blobs, 'blob')}, in ${sizeText(size)}`],
    ['written', `${sizeText(added)} in ${(took / 1000).toFixed(1)} s`],
    [
      'unread',
      unread === 0
        ? undefined
        : `${count(unread, 'thing')} damaged or missing in the data directory: run stillage scrub --content`,
    ],
  ]);
}

function summaryOf({ packs: _, files: __, examples: ___, ...summary }: BackupRecord): BackupSummary {
  return summary;
}

function listCommand(): Command {
  return plainVerb<TargetOptions>({
    name: 'list',
    does: 'List the backups in a target, oldest first',
    operands: [target],
    options: [passphraseOption()],
    examples: ['backup list /mnt/backups', 'backup list /mnt/backups --json'],
    act: ([name], options) =>
      withTarget(name!, async (opened) => {
        const listed = await listedBackups(await openRepository(opened, options));
        return tableReport(
          listed,
          [
            ['BACKUP', ({ id }) => id],
            ['TIME', (one) => ('at' in one ? time(one.at) : '-')],
            ['ITEMS', (one) => ('at' in one ? one.items.toLocaleString('en') : '-')],
            ['BLOBS', (one) => ('at' in one ? one.blobs.toLocaleString('en') : '-')],
            ['SIZE', (one) => ('at' in one ? sizeText(one.size) : '-')],
            ['ADDED', (one) => ('at' in one ? sizeText(one.added) : '-')],
            ['STATE', stateOf],
          ],
          'no backups',
        );
      }),
  });
}

type Listed = BackupSummary | { readonly id: string; readonly damage: string };

function stateOf(one: Listed): string {
  if ('damage' in one) return one.damage;
  return one.unread === 0 ? 'whole' : `${count(one.unread, 'thing')} could not be read`;
}

async function listedBackups(repository: Repository): Promise<readonly Listed[]> {
  const listed: Listed[] = [];
  for (const id of await repository.backupIds()) {
    try {
      listed.push(summaryOf(await repository.backup(id)));
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      process.exitCode = 1;
      listed.push({ id, damage: error.message });
    }
  }
  return listed;
}

function verifyCommand(): Command {
  return plainVerb<TargetOptions & { readonly quick?: true }>({
    name: 'verify',
    does: 'Check that every backup in a target can be restored: read and decrypt all of it',
    operands: [target],
    options: [passphraseOption(), option('--quick', 'only check that all files are there')],
    examples: ['backup verify /mnt/backups', 'backup verify /mnt/backups --quick --json'],
    act: ([name], options) =>
      withTarget(name!, async (opened) => {
        const repository = await openRepository(opened, options);
        const findings: BackupFinding[] = [];
        let done = { packs: 0, of: 0, bytes: 0 };
        const tell = sparingly(
          () => `${done.packs} of ${count(done.of, 'pack')} checked, ${sizeText(done.bytes)} read`,
        );
        const verification = {
          onFinding: (finding: BackupFinding) => findings.push(finding),
          onProgress: (now: typeof done) => {
            done = now;
            tell();
          },
        };
        const verified = await withLock(opened, 'add', () =>
          verifyBackups(repository, verification, { quick: options.quick ?? false }),
        );
        if (verified.findings > 0) process.exitCode = 1;
        return verifiedReport(verified, findings);
      }),
  });
}

function verifiedReport(verified: Verified, findings: readonly BackupFinding[]): Report {
  const { backups, packs, bytes } = verified;
  const lines = findings.map(
    ({ where, what, backups: lost }) => `damaged  ${printable(`${where}: ${what}`)}; of ${lost.join(', ')}`,
  );
  const state = findings.length === 0 ? 'sound' : count(findings.length, 'finding');
  const text = `checked ${count(backups, 'backup')} in ${count(packs, 'pack')}, ${sizeText(bytes)} read: ${state}`;
  return { data: { ...verified, findings }, text: [...lines, text].join('\n') };
}

function passphraseCommand(): Command {
  return plainVerb<TargetOptions & { readonly newPassphraseFile: string }>({
    name: 'passphrase',
    does: 'Change the passphrase of the backups in a target',
    operands: [target],
    options: [
      passphraseOption(),
      option('--new-passphrase-file <file>', 'file with the new passphrase', path).makeOptionMandatory(),
    ],
    examples: ['backup passphrase /mnt/backups --passphrase-file backup.key --new-passphrase-file new.key'],
    act: ([name], { passphraseFile, newPassphraseFile }) =>
      withTarget(name!, async (opened) => {
        const [former, next] = [await readPassphrase(passphraseFile), await readPassphrase(newPassphraseFile)];
        await changePassphrase(opened, former, next, new CryptoRandomness());
        return `the backups in ${name} have the new passphrase`;
      }),
  });
}

type PruneOptions = TargetOptions & { readonly dryRun?: true } & Readonly<Partial<Record<`keep${KeepName}`, number>>>;
type KeepName = Capitalize<keyof Keep>;

const keepOptions = {
  last: 'how many of the newest to keep',
  hourly: 'hours of which to keep the newest',
  daily: 'days of which to keep the newest',
  weekly: 'weeks of which to keep the newest',
  monthly: 'months of which to keep the newest',
  yearly: 'years of which to keep the newest',
} as const satisfies Record<keyof Keep, string>;

function pruneCommand(): Command {
  return plainVerb<PruneOptions>({
    name: 'prune',
    does: 'Remove backups that are not to be kept, and what only they need',
    operands: [target],
    options: [
      passphraseOption(),
      ...Object.entries(keepOptions).map(([name, does]) => option(`--keep-${name} <n>`, does, countTo(10_000))),
      option('--dry-run', 'only tell what would be removed'),
    ],
    examples: [
      'backup prune /mnt/backups --keep-daily 7 --keep-weekly 5 --keep-monthly 12',
      'backup prune /mnt/backups --keep-last 3 --dry-run',
    ],
    act: ([name], options) =>
      withTarget(name!, async (opened) => {
        const keep = keepOf(options);
        const repository = await openRepository(opened, options);
        if (options.dryRun) return prunedReport(await pruneBackups(repository, keep, undefined), 'would remove');
        return prunedReport(
          await withLock(opened, 'remove', (lock) => pruneBackups(repository, keep, lock)),
          'removed',
        );
      }),
  });
}

/** @throws UsageError if nothing is to be kept, which is never meant */
function keepOf(options: PruneOptions): Keep {
  const { keepLast, keepHourly, keepDaily, keepWeekly, keepMonthly, keepYearly } = options;
  const given = {
    ...{ last: keepLast, hourly: keepHourly, daily: keepDaily },
    ...{ weekly: keepWeekly, monthly: keepMonthly, yearly: keepYearly },
  };
  const keep = Object.fromEntries(Object.entries(given).filter(([, number]) => number !== undefined));
  if (Object.keys(keep).length > 0) return keep;
  throw new UsageError('say which backups to keep, by --keep-last, --keep-daily or another --keep option');
}

function prunedReport(pruned: Pruned, did: string): Report {
  const { kept, removed, packs, bytes } = pruned;
  return recordReport(pruned, [
    [did, [count(removed.length, 'backup'), ...removed].join('\n  ')],
    ['kept', [count(kept.length, 'backup'), ...kept].join('\n  ')],
    ['freed', `${sizeText(bytes)} in ${count(packs, 'pack')}`],
  ]);
}
