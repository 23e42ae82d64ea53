import type { Command } from 'commander';
import * as z from 'zod/mini';
import { userNamePattern } from '../../../shared/access/account-names.ts';
import { parsePrivilege } from '../../../shared/accounts/administration.ts';
import { checkPolicy } from '../../../shared/accounts/user-policies.ts';
import { accesses, shortPolicy, type Access } from '../../../shared/documents/short-policy.ts';
import { UsageError } from '../../../shared/errors/operator-error.ts';
import { checkBucketName } from '../../../shared/http/bucket-name.ts';
import { option } from '../../../shared/command-line/option.ts';
import { checked, keyPrefix } from '../../../shared/command-line/option-values.ts';
import { family, verb, type Named } from '../command.ts';
import { everyPage } from '../every-page.ts';
import * as operand from '../operands.ts';
import { count, recordReport, tableReport, time } from '../../../shared/command-line/report.ts';
import { statusColumns, statusOf, suspensions } from '../status.ts';
import { argument, command, optional, paged, partOf, suspending } from '../../../functions/admin/command.ts';
import * as results from '../../../functions/admin/results.ts';

const named = { user: argument.text } as const;
const { result } = results;
const shownUser = result.object({
  ...results.user.shape,
  policies: result.list(result.text),
  keys: result.list(result.text),
});
const privilegeOfUser = { user: argument.text, privilege: argument.text } as const;

export const userCommands = {
  create: command(
    'user create',
    'manage',
    { ...named, without: optional(argument.texts), policy: optional(argument.text) },
    results.user,
    ({ accounts }, { user, without = [], policy }) =>
      accounts.createUser(user, without.map(parsePrivilege), policy && checkPolicy(policy)),
  ),
  list: command(
    'user list',
    'read',
    { project: argument.text, ...paged((text) => userNamePattern.test(text)) },
    result.object({ users: result.list(results.user), next: result.optional(result.text) }),
    ({ accounts }, { project, ...given }) => accounts.userPage(project, partOf(given)),
  ),
  show: command('user show', 'read', named, shownUser, async ({ accounts, keys, policies }, given) => {
    const user = await accounts.user(given.user);
    const held = (await policies.policies(given.user)).map(({ policy }) => policy);
    return { ...user, policies: held, keys: (await keys.keys(given.user)).map(({ accessKeyId }) => accessKeyId) };
  }),
  grant: command('user grant', 'manage', privilegeOfUser, result.nothing, ({ accounts }, { user, privilege }) =>
    accounts.setPrivilege(user, parsePrivilege(privilege), true),
  ),
  revoke: command('user revoke', 'manage', privilegeOfUser, result.nothing, ({ accounts }, { user, privilege }) =>
    accounts.setPrivilege(user, parsePrivilege(privilege), false),
  ),
  ...suspending('user', ({ accounts }, name, isSuspended) => accounts.suspendUser(name, isSuspended)),
  remove: command('user remove', 'manage', named, result.nothing, ({ accounts }, { user }) =>
    accounts.removeUser(user),
  ),
};

/** Returns `stillage user`. */
export function commandLine(named: Named): Command {
  const privileges = z.pipe(
    checked(parsePrivilege),
    z.transform((privilege) => [privilege]),
  );
  return family(named, [
    verb<{ without?: readonly string[]; bucket?: string; prefix?: string; access?: Access }>({
      name: 'create',
      does: 'Create a user of a project',
      operands: [operand.user],
      options: [
        option('--without <privilege...>', 'privileges not to grant: monitoring', privileges).default(
          undefined,
          'all are granted',
        ),
        option('--bucket <bucket>', 'the only bucket that the user may use', checked(bucketName)).default(
          undefined,
          'all of the project',
        ),
        option(
          '--prefix <prefix>',
          'the beginning of the keys that the user may use, with --bucket',
          keyPrefix,
        ).default(undefined, 'all keys'),
        option('--access <access>', 'what the user may do there, with --bucket')
          .choices(accesses)
          .default(undefined, 'read'),
      ],
      examples: [
        'user create shop:ci@acme',
        'user create shop:ci@acme --without monitoring',
        'user create shop:ci@acme --bucket photos --prefix 2026/ --access read-write',
      ],
      act: async (ask, [name], { without, ...of }) => {
        const policy = policyOf(of);
        const user = await ask(userCommands.create, { user: name!, without, policy });
        const next = `created ${user.user}; next: stillage key create ${user.user}`;
        if (policy === undefined) return { data: user, text: next };
        return { data: { ...user, policy: JSON.parse(policy) as unknown }, text: `${policy}\n${next}` };
      },
    }),
    verb({
      name: 'list',
      does: 'List the users of a project',
      operands: [operand.project],
      examples: ['user list shop@acme'],
      act: async (ask, [project]) =>
        tableReport(
          await everyPage(ask, userCommands.list, { project: project! }, ({ users }) => users),
          [
            ['USER', ({ user }) => user],
            ['PRIVILEGES', ({ privileges }) => privileges.join(',') || '-'],
            ...statusColumns,
          ],
          'no users',
        ),
    }),
    verb({
      name: 'show',
      does: 'Show a user and their keys',
      operands: [operand.user],
      examples: ['user show shop:ci@acme'],
      act: async (ask, [name]) => {
        const user = await ask(userCommands.show, { user: name! });
        return recordReport(user, [
          ['user', user.user],
          ['project id', user.project.id],
          ['status', statusOf(user)],
          ['created', time(user.created)],
          ['privileges', user.privileges.join(', ') || 'none'],
          ['policies', user.policies.join(', ') || 'none'],
          ['keys', user.keys.join(', ') || count(0, 'key')],
        ]);
      },
    }),
    ...privilegeVerbs(),
    ...suspensions('user', operand.user, 'shop:ci@acme', userCommands),
    verb({
      name: 'remove',
      does: 'Remove a user and their keys; objects stay with the project',
      operands: [operand.user],
      examples: ['user remove shop:ci@acme'],
      act: async (ask, [name]) => {
        await ask(userCommands.remove, { user: name! });
        return `removed ${name}`;
      },
    }),
  ]);
}

/** Returns the policy that the options of a short form stand for. @throws UsageError */
function policyOf(of: { bucket?: string; prefix?: string; access?: Access }): string | undefined {
  if (of.bucket !== undefined) return shortPolicy(of.bucket, of.prefix ?? '', of.access ?? 'read');
  if (of.prefix === undefined && of.access === undefined) return undefined;
  throw new UsageError('--prefix and --access need --bucket');
}

function bucketName(text: string): string {
  checkBucketName(text);
  return text;
}

function privilegeVerbs(): readonly Command[] {
  const change = (name: 'grant' | 'revoke', does: string): Command =>
    verb({
      name,
      does,
      operands: [operand.user, ['<privilege>', 'monitoring', checked(parsePrivilege)]],
      examples: [`user ${name} shop:ci@acme monitoring`],
      act: async (ask, [user, privilege]) => {
        await ask(userCommands[name], { user: user!, privilege: privilege! });
        return name === 'grant'
          ? `${user} has the privilege ${privilege}`
          : `${user} no longer has the privilege ${privilege}`;
      },
    });
  return [change('grant', 'Grant a privilege that was revoked'), change('revoke', 'Revoke a privilege of a user')];
}
