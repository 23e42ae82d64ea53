import type { Command } from 'commander';
import { option, startOption } from '../../../shared/command-line/option.ts';
import { count, recordReport, time, type Report } from '../../../shared/command-line/report.ts';
import { sizeText } from '../../../shared/command-line/sizes.ts';
import type { StartOptions } from '../../../shared/command-line/start-options.ts';
import { UsageError } from '../../../shared/errors/operator-error.ts';
import { printable } from '../../../shared/telemetry/log.ts';
import type { Migrated, MigrationProgress } from '../../server/migration/migrate.ts';
import { plainVerb, type Named } from '../command.ts';
import { sparingly } from '../progress.ts';

interface MigrateOptions extends Pick<StartOptions, 'data' | 'table' | 'blobs' | 'keyFile'> {
  readonly back?: boolean;
}

/** Returns `stillage migrate`. It exits with 1 if something is damaged, so that the migration is not finished. */
export function commandLine(named: Named): Command {
  return plainVerb<MigrateOptions>({
    ...named,
    options: [
      startOption('data', 'data directory; with --back it is created, and must be missing or empty'),
      startOption('table', 'table in PostgreSQL; without --back it must be empty'),
      startOption('blobs', 'bucket in an S3 for the bytes of objects; without --back it must be empty'),
      startOption('keyFile', 'file with the key, which stays the same; created as a copy if missing'),
      option('--back', 'copy to the data directory'),
    ],
    examples: [
      'migrate --table postgres://stillage@db/stillage --blobs s3://blobs --key-file master.key',
      'migrate --back --data ./copy --table postgres://s@db/s --blobs s3://blobs --key-file key',
    ],
    act: (_, options) => act(options),
  });
}

async function act({ data, table, blobs, keyFile, back = false }: MigrateOptions): Promise<Report> {
  if (table === undefined || blobs === undefined || keyFile === undefined) {
    throw new UsageError('--table, --blobs and --key-file are needed together');
  }
  // Only who uses many machines has the client of PostgreSQL, and the SDK, in the program.
  const { migratePlaces } = await import('../../server/migration/migrate-places.ts');
  let done: MigrationProgress | undefined;
  const tell = sparingly(() => progressText(done!));
  const began = Date.now();
  const migrated = await migratePlaces(
    { data, table, blobs, keyFile, back },
    {
      onProgress: (progress) => {
        done = progress;
        tell();
      },
      onDamage: ({ where, what }) => process.stderr.write(`damaged  ${printable(`${where}: ${what}`)}\n`),
    },
  );
  if (migrated.finished === undefined) process.exitCode = 1;
  return reportOf(migrated, Date.now() - began, back ? data : 'the table');
}

function progressText({ phase, blobs, bytes, blobsBefore, items, compared }: MigrationProgress): string {
  switch (phase) {
    case 'blobs':
      return `${count(blobs, 'blob')} copied, ${sizeText(bytes)}; ${blobsBefore.toLocaleString('en')} were there`;
    case 'items':
      return `${count(items, 'item')} copied`;
    case 'verification':
      return `${count(compared, 'item')} compared`;
  }
}

function reportOf(migrated: Migrated, took: number, to: string): Report {
  const { blobs, bytes, blobsBefore, items, digest, finished, isEarlier, damaged, examples } = migrated;
  if (isEarlier) {
    const text = `finished before, at ${time(finished!)}; nothing was copied`;
    return { data: { finished, isEarlier, message: text }, text };
  }
  return recordReport({ blobs, bytes, blobsBefore, items, digest, finished, isEarlier, damaged, examples, took }, [
    ['blobs', `${count(blobs, 'blob')} copied, ${sizeText(bytes)}, each as its store verifies it`],
    ['before', blobsBefore === 0 ? undefined : `${count(blobsBefore, 'blob')} copied by earlier runs`],
    ['items', finished === undefined ? undefined : `${count(items, 'item')} copied, and the same in both tables`],
    ['damaged', damaged === 0 ? undefined : count(damaged, 'thing')],
    [
      'next',
      finished === undefined
        ? 'not finished: restore what is damaged, or remove it through the service, and run the same command again'
        : `start the service on ${to}, and never again on what was migrated`,
    ],
  ]);
}
