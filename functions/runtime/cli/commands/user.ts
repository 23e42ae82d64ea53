import { Option, type Command } from 'commander';
import { family, verb } from '../command.ts';
import { count, recordReport, tableReport, time } from '../../command-line/report.ts';
import { statusColumns, statusOf, suspensions } from '../status.ts';

const which = ['<user>', 'project:user@customer'] as const;

/** Returns `stillage user`. */
export function userFamily(): Command {
  return family('user', 'Manage users of projects', [
    verb<{ without?: readonly string[] }>({
      name: 'create',
      does: 'Create a user of a project',
      operands: [which],
      options: [
        new Option('--without <privilege...>', 'privileges not to grant: monitoring').default(
          undefined,
          'all are granted',
        ),
      ],
      examples: ['user create shop:ci@acme', 'user create shop:ci@acme --without monitoring'],
      act: async (ask, [name], { without }) => {
        const user = await ask('user create', { user: name!, without });
        return { data: user, text: `created ${user.user}; next: stillage key create ${user.user}` };
      },
    }),
    verb({
      name: 'list',
      does: 'List the users of a project',
      operands: [['<project>', 'project@customer, or its canonical user id']],
      examples: ['user list shop@acme'],
      act: async (ask, [project]) =>
        tableReport(
          await ask('user list', { project: project! }),
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
      operands: [which],
      examples: ['user show shop:ci@acme'],
      act: async (ask, [name]) => {
        const user = await ask('user show', { user: name! });
        return recordReport(user, [
          ['user', user.user],
          ['project id', user.project.id],
          ['status', statusOf(user)],
          ['created', time(user.created)],
          ['privileges', user.privileges.join(', ') || 'none'],
          ['keys', user.keys.join(', ') || count(0, 'key')],
        ]);
      },
    }),
    ...privilegeVerbs(),
    ...suspensions('user', '<user>', 'shop:ci@acme', (ask, user, verb) => ask(`user ${verb}`, { user })),
    verb({
      name: 'remove',
      does: 'Remove a user and their keys; objects stay with the project',
      operands: [which],
      examples: ['user remove shop:ci@acme'],
      act: async (ask, [name]) => {
        await ask('user remove', { user: name! });
        return `removed ${name}`;
      },
    }),
  ]);
}

function privilegeVerbs(): readonly Command[] {
  const change = (name: 'grant' | 'revoke', does: string): Command =>
    verb({
      name,
      does,
      operands: [which, ['<privilege>', 'monitoring']],
      examples: [`user ${name} shop:ci@acme monitoring`],
      act: async (ask, [user, privilege]) => {
        await ask(`user ${name}`, { user: user!, privilege: privilege! });
        return name === 'grant'
          ? `${user} has the privilege ${privilege}`
          : `${user} no longer has the privilege ${privilege}`;
      },
    });
  return [change('grant', 'Grant a privilege that was revoked'), change('revoke', 'Revoke a privilege of a user')];
}
