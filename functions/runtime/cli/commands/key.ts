import { InvalidArgumentError, Option, type Command } from 'commander';
import { readFileSync } from 'node:fs';
import type { KeyRecord } from '../../../../shared/metadata/accounts/account-items.ts';
import type { NewKey } from '../../../../shared/metadata/accounts/key-administration.ts';
import { OperatorError } from '../../operator-error.ts';
import { family, verb } from '../command.ts';
import { recordReport, tableReport, time, type Report } from '../report.ts';
import { statusColumns, suspensions } from '../status.ts';

const which = ['<key id>', 'id of the access key'] as const;

/** `stillage key` */
export function keyFamily(): Command {
  return family('key', 'access keys of users: a user may have several', [
    verb<{ id?: string; secretFile?: string }>({
      name: 'create',
      does: 'create an access key; its id is 20 random letters and digits, unless --id says another',
      operands: [['<user>', 'project:user@customer']],
      options: [
        // The rule now; accepted from scripts that still say it.
        new Option('--random').conflicts('id').hideHelp(),
        new Option(
          '--id <id>',
          'this id, such as the name of the user; some clients cannot use ids with other characters than letters and digits',
        ),
        new Option('--secret-file <file>', 'take the secret from a file, - is standard input (default: a random one)'),
      ],
      examples: ['key create shop:ci@acme', 'key create shop:ci@acme --id shop:ci@acme --json'],
      act: async (ask, [user], { id, secretFile }) => {
        const secret = secretFile === undefined ? undefined : readSecret(secretFile);
        return newKeyReport(await ask('key create', { user: user!, id, secret }));
      },
    }),
    verb({
      name: 'list',
      does: 'list the keys of a user, or of all users of a project',
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
      does: 'show a key, but for its secret (see: stillage env)',
      operands: [which],
      examples: ['key show STILYOUS4EQOCTROTQOJ'],
      act: async (ask, [id]) => {
        const key = await ask('key show', { key: id! });
        return recordReport(key, [
          ['key', key.accessKeyId],
          ['user', key.user],
          ['status', keyStatus(key, Date.now())],
          ['created', time(key.created)],
          ['ends', key.until === undefined ? 'when it is removed' : time(key.until)],
        ]);
      },
    }),
    verb<{ overlap?: number }>({
      name: 'rotate',
      does: 'give the user of a key another one; the former stays good until it is removed, unless --overlap says for how long',
      operands: [which],
      options: [
        new Option(
          '--overlap <time>',
          'how long the former stays good: 0, 90s, 30m, 24h, 7d (default: until it is removed)',
        ).argParser(duration),
      ],
      examples: ['key rotate STILYOUS4EQOCTROTQOJ', 'key rotate STILYOUS4EQOCTROTQOJ --overlap 24h'],
      act: async (ask, [id], { overlap }) => {
        const made = await ask('key rotate', { key: id!, overlapSeconds: overlap });
        const { formerUntil } = made;
        const former =
          formerUntil === undefined
            ? `stays good until it is removed: stillage key remove ${id}`
            : `is good until ${time(formerUntil)}`;
        return newKeyReport(made, `The former key, ${id}, ${former}`);
      },
    }),
    ...suspensions('key', '<key id>', 'STILYOUS4EQOCTROTQOJ', (ask, key, verb) => ask(`key ${verb}`, { key })),
    verb({
      name: 'remove',
      does: 'remove a key',
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

/** One line break at the end is the editor's. Never from the command line, where others on the machine can read it. */
function readSecret(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    throw new OperatorError(`--secret-file: cannot read ${file}: ${(cause as Error).message}`);
  }
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds of `90s`, `30m`, `24h`, `7d`, and `0`. */
function duration(text: string): number {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (text === '0') return 0;
  if (number === undefined) throw new InvalidArgumentError('A time is a number with s, m, h or d: 24h.');
  return Number(number) * units[unit!]!;
}
