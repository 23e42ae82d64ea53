import { Option, type Command } from 'commander';
import { family, verb } from '../command.ts';
import { count, recordReport, tableReport, time } from '../../command-line/report.ts';
import { statusColumns, statusOf, suspensions } from '../status.ts';

const which = [['<project>', 'project@customer, or its canonical user id']] as const;

/** Returns `stillage project`. */
export function projectFamily(): Command {
  return family('project', 'Manage projects, which own buckets and objects', [
    verb<{ id?: string; displayName?: string }>({
      name: 'create',
      does: 'Create a project of a customer',
      operands: [['<project>', 'project@customer']],
      options: [
        new Option('--id <id>', 'canonical user id, shown as the owner of buckets and objects').default(
          undefined,
          'a UUID',
        ),
        new Option('--display-name <name>', 'display name of the owner').default(undefined, 'the name of the project'),
      ],
      examples: ['project create shop@acme', 'project create shop@acme --display-name "The shop"'],
      act: async (ask, [name], { id, displayName }) => {
        const project = await ask('project create', { project: name!, id, displayName });
        const [short, customer] = project.email.split('@');
        const next = `stillage user create ${short}:<user>@${customer}`;
        return { data: project, text: `created ${project.email} with the id ${project.id}; next: ${next}` };
      },
    }),
    verb({
      name: 'list',
      does: 'List the projects of a customer, or all projects',
      operands: [['[customer]', 'name of the customer']],
      examples: ['project list', 'project list acme --json'],
      act: async (ask, [customer]) =>
        tableReport(
          await ask('project list', { customer }),
          [['PROJECT', ({ email }) => email], ['ID', ({ id }) => id], ...statusColumns],
          'no projects',
        ),
    }),
    verb({
      name: 'show',
      does: 'Show a project and its users',
      operands: which,
      examples: ['project show shop@acme'],
      act: async (ask, [name]) => {
        const project = await ask('project show', { project: name! });
        const { users, buckets } = project;
        return recordReport(project, [
          ['project', project.email],
          ['id', project.id],
          ['display name', project.displayName],
          ['status', statusOf(project)],
          ['created', time(project.created)],
          ['users', users.join(', ') || count(0, 'user')],
          ['buckets', `${buckets} of ${project.bucketQuota ?? 'the default'}`],
        ]);
      },
    }),
    ...suspensions('project', '<project>', 'shop@acme', (ask, project, verb) => ask(`project ${verb}`, { project })),
    verb({
      name: 'remove',
      does: 'Remove a project without users and buckets',
      operands: which,
      examples: ['project remove shop@acme'],
      act: async (ask, [name]) => {
        await ask('project remove', { project: name! });
        return `removed ${name}`;
      },
    }),
  ]);
}
