import { Option, type Command } from 'commander';
import { readFileSync } from 'node:fs';
import type { KeyRecord } from '../../../../shared/metadata/accounts/account-items.ts';
import type { NewKey } from '../../../../shared/metadata/accounts/key-administration.ts';
import { second } from '../../../../shared/ports/durations.ts';
import { OperatorError } from '../../operator-error.ts';
import { family, verb } from '../command.ts';
import { duration } from '../../command-line/durations.ts';
import { recordReport, tableReport, time, type Report } from '../../command-line/report.ts';
import { statusColumns, suspensions } from '../status.ts';

const which = ['<key id>', 'access key id'] as const;

/** Returns `stillage key`. */
export function keyFamily(): Command {
  return family('key', 'Manage access keys of users', [
    verb<{ id?: string; secretFile?: string }>({
      name: 'create',
      does: 'Create an access key and print its secret',
      operands: [['<user>', 'project:user@customer']],
      options: [
        // The default now; accepted from scripts that still use it.
        new Option('--random').conflicts('id').hideHelp(),
        new Option('--id <id>', 'access key id; some clients accept letters and digits only'),
        new Option('--secret-file <file>', 'read the secret from a file; -: standard input').default(
          undefined,
          'a random one',
        ),
      ],
      examples: ['key create shop:ci@acme', 'key create shop:ci@acme --id shop:ci@acme --json'],
      act: async (ask, [user], { id, secretFile }) => {
        const secret = secretFile === undefined ? undefined : readSecret(secretFile);
        return newKeyReport(await ask('key create', { user: user!, id, secret }));
      },
    }),
    verb({
      name: 'list',
      does: 'List the keys of a user, or of all users of a project',
      operands: [['<user or project>', 'project:user@customer or project@customer']],
      examples: ['key list shop:ci@acme', 'key list shop@acme --json'],
      act: async (ask, [of]) =>
        tableReport(
          await ask('key list', { of: of! }),
          [
            ['KEY', ({ accessKeyId }) => accessKeyId],
            ['USER', ({ user }) => user],
            ['ENDS', ({ until }) => (until === undefined ? '-' : time(until))],
            ['STATUS', (key) => keyStatus(key, Date.now())],
            statusColumns[1]!,
          ],
          'no keys',
        ),
    }),
    verb({
      name: 'show',
      does: 'Show a key without its secret, which stillage env prints',
      operands: [which],
      examples: ['key show STILYOUS4EQOCTROTQOJ'],
      act: async (ask, [id]) => {
        const key = await ask('key show', { key: id! });
        return recordReport(key, [
          ['key', key.accessKeyId],
          ['user', key.user],
          ['status', keyStatus(key, Date.now())],
          ['created', time(key.created)],
          ['ends', key.until === undefined ? 'never' : time(key.until)],
        ]);
      },
    }),
    verb<{ overlap?: number }>({
      name: 'rotate',
      does: 'Create another key for the user of a key; the old one stays valid until it is removed, or for --overlap',
      operands: [which],
      options: [
        new Option('--overlap <time>', 'how long the old key stays valid: 0, 90s, 30m, 24h, 7d')
          .default(undefined, 'until it is removed')
          .argParser(seconds),
      ],
      examples: ['key rotate STILYOUS4EQOCTROTQOJ', 'key rotate STILYOUS4EQOCTROTQOJ --overlap 24h'],
      act: async (ask, [id], { overlap }) => {
        const made = await ask('key rotate', { key: id!, overlapSeconds: overlap });
        const { formerUntil } = made;
        const former =
          formerUntil === undefined
            ? `stays valid until it is removed: stillage key remove ${id}`
            : `is valid until ${time(formerUntil)}`;
        return newKeyReport(made, `The old key, ${id}, ${former}`);
      },
    }),
    ...suspensions('key', '<key id>', 'STILYOUS4EQOCTROTQOJ', (ask, key, verb) => ask(`key ${verb}`, { key })),
    verb({
      name: 'remove',
      does: 'Remove a key',
      operands: [which],
      examples: ['key remove STILYOUS4EQOCTROTQOJ'],
      act: async (ask, [id]) => {
        await ask('key remove', { key: id! });
        return `removed ${id}`;
      },
    }),
  ]);
}

function newKeyReport(key: NewKey, remark?: string): Report {
  const { text } = recordReport(key, [
    ['access key id', key.accessKeyId],
    ['secret access key', key.secretAccessKey],
    ['user', key.user],
  ]);
  return { data: key, text: remark === undefined ? text : `${text}\n\n${remark}` };
}

function keyStatus({ suspended, until }: KeyRecord, now: number): string {
  if (until !== undefined && until <= now) return 'ended';
  return suspended ? 'suspended' : 'active';
}

/** Reads a secret, without the line break that editors append. Command lines can be read by others on the machine. */
function readSecret(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    throw new OperatorError(`--secret-file: cannot read ${file}: ${(cause as Error).message}`);
  }
}

/** Reads a duration such as `24h`. @throws InvalidArgumentError */
function seconds(text: string): number {
  return duration(text) / second;
}
