import type { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { checkKeyId, keyIdPattern, userNameParts, userNamePattern } from '../../../shared/access/account-names.ts';
import type { KeyRecord } from '../../../shared/accounts/account-items.ts';
import type { NewKey } from '../../../shared/accounts/key-administration.ts';
import { second } from '../../../shared/ports/durations.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { family, verb, type Named } from '../command.ts';
import { everyPage } from '../every-page.ts';
import * as operand from '../operands.ts';
import { option } from '../../../shared/command-line/option.ts';
import { checked, path } from '../../../shared/command-line/option-values.ts';
import { duration } from '../../../shared/command-line/durations.ts';
import { recordReport, tableReport, time, type Report } from '../../../shared/command-line/report.ts';
import { statusColumns, suspensions } from '../status.ts';
import {
  argument,
  checkPlace,
  command,
  optional,
  paged,
  partOf,
  present,
  suspending,
} from '../../../functions/admin/command.ts';
import { key, newKey, result } from '../../../functions/admin/results.ts';

const named = { key: argument.text } as const;

export const keyCommands = {
  create: command(
    'key create',
    'manage',
    {
      user: argument.text,
      id: optional(argument.text),
      // Ids are random unless given; still accepted from older clients.
      random: optional(argument.flag),
      secret: optional(argument.text),
    },
    newKey,
    ({ keys }, { user, id, secret }) => keys.createKey(user, present({ id, secret })),
  ),
  list: command(
    'key list',
    'read',
    { of: argument.text, ...paged(isPlaceOfKeys) },
    result.object({ keys: result.list(key), next: result.optional(result.text) }),
    ({ keys }, { of, ...given }) => {
      // `shop:ci@acme` has the places `ci:…`. A name of no user is refused when it is looked up.
      const user = userNameParts(of)?.user;
      checkPlace('key list', user === undefined || (given.after?.startsWith(`${user}:`) ?? true));
      return keys.keyPage(of, partOf(given));
    },
  ),
  show: command('key show', 'read', named, key, ({ keys }, given) => keys.key(given.key)),
  rotate: command(
    'key rotate',
    'manage',
    { ...named, overlapSeconds: optional(argument.number) },
    result.object({ ...newKey.shape, formerUntil: result.optional(result.time) }),
    ({ keys }, { key: id, overlapSeconds: seconds }) =>
      keys.rotateKey(id, seconds === undefined ? undefined : seconds * 1000),
  ),
  ...suspending('key', ({ keys }, name, isSuspended) => keys.suspendKey(name, isSuspended)),
  remove: command('key remove', 'manage', named, result.nothing, ({ keys }, given) => keys.removeKey(given.key)),
};

/** `user:id`: names of users have no colon, ids may. */
function isPlaceOfKeys(text: string): boolean {
  const [user = '', ...id] = text.split(':');
  return userNamePattern.test(user) && keyIdPattern.test(id.join(':'));
}

/** Returns `stillage key`. */
export function commandLine(named: Named): Command {
  return family(named, [
    verb<{ id?: string; secretFile?: string }>({
      name: 'create',
      does: 'Create an access key and print its secret',
      operands: [operand.user],
      options: [
        // The default now; accepted from scripts that still use it.
        option('--random', '').conflicts('id').hideHelp(),
        option('--id <id>', 'access key id; some clients accept letters and digits only', checked(checkKeyId)),
        option('--secret-file <file>', 'read the secret from a file; -: standard input', path).default(
          undefined,
          'a random one',
        ),
      ],
      examples: ['key create shop:ci@acme', 'key create shop:ci@acme --id shop:ci@acme --json'],
      act: async (ask, [user], { id, secretFile }) => {
        const secret = secretFile === undefined ? undefined : readSecret(secretFile);
        return newKeyReport(await ask(keyCommands.create, { user: user!, id, secret }));
      },
    }),
    verb({
      name: 'list',
      does: 'List the keys of a user, or of all users of a project',
      operands: [operand.userOrProject],
      examples: ['key list shop:ci@acme', 'key list shop@acme --json'],
      act: async (ask, [of]) =>
        tableReport(
          await everyPage(ask, keyCommands.list, { of: of! }, ({ keys }) => keys),
          [
            ['KEY', ({ accessKeyId }) => accessKeyId],
            ['USER', ({ user }) => user],
            ['LAST USED', ({ used }) => (used === undefined ? '-' : time(used.at))],
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
      operands: [operand.key],
      examples: ['key show STILYOUS4EQOCTROTQOJ'],
      act: async (ask, [id]) => {
        const key = await ask(keyCommands.show, { key: id! });
        return recordReport(key, [
          ['key', key.accessKeyId],
          ['user', key.user],
          ['status', keyStatus(key, Date.now())],
          ['created', time(key.created)],
          [
            'last used',
            key.used === undefined ? 'never, as far as is known' : `${time(key.used.at)}, for ${key.used.service}`,
          ],
          ['ends', key.until === undefined ? 'never' : time(key.until)],
        ]);
      },
    }),
    verb<{ overlap?: number }>({
      name: 'rotate',
      does: 'Create another key for the user of a key; the old one stays valid until it is removed, or for --overlap',
      operands: [operand.key],
      options: [
        option('--overlap <time>', 'how long the old key stays valid: 0, 90s, 30m, 24h, 7d', duration).default(
          undefined,
          'until it is removed',
        ),
      ],
      examples: ['key rotate STILYOUS4EQOCTROTQOJ', 'key rotate STILYOUS4EQOCTROTQOJ --overlap 24h'],
      act: async (ask, [id], { overlap }) => {
        const made = await ask(keyCommands.rotate, {
          key: id!,
          overlapSeconds: overlap === undefined ? undefined : overlap / second,
        });
        const { formerUntil } = made;
        const former =
          formerUntil === undefined
            ? `stays valid until it is removed: stillage key remove ${id}`
            : `is valid until ${time(formerUntil)}`;
        return newKeyReport(made, `The old key, ${id}, ${former}`);
      },
    }),
    ...suspensions('key', operand.key, 'STILYOUS4EQOCTROTQOJ', keyCommands),
    verb({
      name: 'remove',
      does: 'Remove a key',
      operands: [operand.key],
      examples: ['key remove STILYOUS4EQOCTROTQOJ'],
      act: async (ask, [id]) => {
        await ask(keyCommands.remove, { key: id! });
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
