import { Option, type Command } from 'commander';
import { bucketCountOf, ownsNoBucket } from '../../../../shared/metadata/bucket-count.ts';
import { family, verb } from './command.ts';
import { count, recordReport, tableReport, time } from './report.ts';
import { statusColumns, statusOf, suspensions } from './status.ts';

const which = [['<project>', 'project@customer, or its canonical id']] as const;

/** `stillage project` */
export function projectFamily(): Command {
  return family('project', 'projects: they own buckets and objects', [
    verb<{ id?: string; displayName?: string }>({
      name: 'create',
      does: 'create a project of a customer',
      operands: [['<project>', 'project@customer']],
      options: [
        new Option('--id <id>', 'its canonical id, shown as the owner of what it has (default: a new UUID)'),
        new Option('--display-name <name>', 'its name in answers (default: the name of the project)'),
      ],
      examples: ['project create shop@acme', 'project create shop@acme --display-name "The shop"'],
      act: async ({ accounts }, [name], { id, displayName }) => {
        const project = await accounts.createProject(name!, {
          ...(id !== undefined && { id }),
          ...(displayName !== undefined && { displayName }),
        });
        const [short, customer] = project.email.split('@');
        const next = `stillage user create ${short}:<user>@${customer}`;
        return { data: project, text: `created ${project.email} with the id ${project.id}; now: ${next}` };
      },
    }),
    verb({
      name: 'list',
      does: 'list the projects, of a customer or all',
      operands: [['[customer]', 'name of the customer']],
      examples: ['project list', 'project list acme --json'],
      act: async ({ accounts }, [customer]) => {
        if (customer !== undefined) await accounts.customer(customer);
        return tableReport(
          await accounts.projects(customer),
          [['PROJECT', ({ email }) => email], ['ID', ({ id }) => id], ...statusColumns],
          'no projects',
        );
      },
    }),
    verb({
      name: 'show',
      does: 'show a project and its users',
      operands: which,
      examples: ['project show shop@acme'],
      act: async ({ accounts, table }, [name]) => {
        const project = await accounts.project(name!);
        const users = (await accounts.users(project.id)).map(({ user }) => user);
        const buckets = await bucketCountOf(table, project.id);
        return recordReport({ ...project, users, buckets }, [
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
    ...suspensions('project', '<project>', 'shop@acme', ({ accounts }, name, suspended) =>
      accounts.suspendProject(name, suspended),
    ),
    verb({
      name: 'remove',
      does: 'remove a project without users and buckets',
      operands: which,
      examples: ['project remove shop@acme'],
      act: async ({ accounts }, [name]) => {
        await accounts.removeProject(name!, ownsNoBucket);
        return `removed ${name}`;
      },
    }),
  ]);
}
