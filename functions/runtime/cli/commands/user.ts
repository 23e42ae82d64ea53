import { Option, type Command } from 'commander';
import { family, verb } from '../command.ts';
import { count, recordReport, tableReport, time } from '../report.ts';
import { statusColumns, statusOf, suspensions } from '../status.ts';

const which = ['<user>', 'project:user@customer'] as const;

/** `stillage user` */
export function userFamily(): Command {
  return family('user', 'users: each may do everything with what their project owns', [
    verb<{ without?: readonly string[] }>({
      name: 'create',
      does: 'create a user of a project',
      operands: [which],
      options: [new Option('--without <privilege...>', 'privileges that the user lacks: monitoring')],
      examples: ['user create shop:ci@acme', 'user create shop:ci@acme --without monitoring'],
      act: async (ask, [name], { without }) => {
        const user = await ask('user create', { user: name!, without });
        return { data: user, text: `created ${user.user}; now: stillage key create ${user.user}` };
      },
    }),
    verb({
      name: 'list',
      does: 'list the users of a project',
      operands: [['<project>', 'project@customer, or its canonical id']],
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
      does: 'show a user and their keys',
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
      does: 'remove a user and their keys; what they wrote belongs to the project and stays',
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
        return `${user} has ${name === 'grant' ? '' : 'not '}the privilege ${privilege}`;
      },
    });
  return [
    change('grant', 'give a user a privilege; every user has all, unless they were revoked'),
    change('revoke', 'take a privilege from a user'),
  ];
}
