import type { Command } from 'commander';
import { checkCanonicalId, checkDisplayName, namePattern } from '../../../shared/access/account-names.ts';
import { option } from '../../../shared/command-line/option.ts';
import { checked } from '../../../shared/command-line/option-values.ts';
import { family, verb, type Named } from '../command.ts';
import { everyPage } from '../every-page.ts';
import * as operand from '../operands.ts';
import { count, recordReport, tableReport, time, type Report } from '../../../shared/command-line/report.ts';
import { keyCommands } from './key.ts';
import { userCommands } from './user.ts';
import {
  bucketsOf,
  confirm,
  contentsOf,
  contentsText,
  emptyAndRemove,
  refuseUnasked,
  yesOption,
  type ConfirmedOptions,
} from '../emptying.ts';
import { statusColumns, statusOf, suspensions } from '../status.ts';
import { bucketCountOf, ownsNoBucket } from '../../../shared/storage/buckets/bucket-reads.ts';
import {
  argument,
  checkPlace,
  command,
  optional,
  paged,
  partOf,
  present,
  type Ask,
  suspending,
} from '../../../functions/admin/command.ts';
import * as results from '../../../functions/admin/results.ts';

const named = { project: argument.text } as const;
const { result } = results;
const shownProject = result.object({
  ...results.project.shape,
  users: result.list(result.text),
  buckets: result.count,
});

export const projectCommands = {
  create: command(
    'project create',
    'manage',
    { ...named, id: optional(argument.text), displayName: optional(argument.text) },
    results.project,
    ({ accounts }, { project, ...given }) => accounts.createProject(project, present(given)),
  ),
  list: command(
    'project list',
    'read',
    { customer: optional(argument.text), ...paged(isPlaceOfProjects) },
    result.object({ projects: result.list(results.project), next: result.optional(result.text) }),
    async ({ accounts }, { customer, ...given }) => {
      if (customer === undefined) return accounts.projectPage(partOf(given));
      checkPlace('project list', given.after?.endsWith(`@${customer}`) ?? true);
      await accounts.customer(customer);
      return accounts.projectPage(partOf(given), customer);
    },
  ),
  show: command('project show', 'read', named, shownProject, async ({ accounts, table }, given) => {
    const project = await accounts.project(given.project);
    const users = (await accounts.users(project.id)).map(({ user }) => user);
    return { ...project, users, buckets: await bucketCountOf(table, project.id) };
  }),
  ...suspending('project', ({ accounts }, name, isSuspended) => accounts.suspendProject(name, isSuspended)),
  root: command('project root', 'manage', { user: argument.text }, result.nothing, ({ accounts }, { user }) =>
    accounts.setRoot(user),
  ),
  remove: command('project remove', 'manage', named, result.nothing, async ({ accounts, webhooks }, { project }) => {
    const { id } = await accounts.project(project);
    await accounts.removeProject(project, ownsNoBucket);
    for (const { name } of await webhooks.of(id)) await webhooks.remove(id, name);
  }),
};

/** `project@customer` or, for the beginning of a customer's, `@customer`. */
function isPlaceOfProjects(text: string): boolean {
  const [project, customer, ...others] = text.split('@');
  const isProject = project === '' || namePattern.test(project!);
  return isProject && customer !== undefined && namePattern.test(customer) && others.length === 0;
}

/** Returns `stillage project`. */
export function commandLine(named: Named): Command {
  return family(named, [
    verb<{ id?: string; displayName?: string }>({
      name: 'create',
      does: 'Create a project of a customer',
      operands: [operand.newProject],
      options: [
        option(
          '--id <id>',
          'canonical user id, shown as the owner of buckets and objects',
          checked(checkCanonicalId),
        ).default(undefined, 'a UUID'),
        option('--display-name <name>', 'display name of the owner', checked(checkDisplayName)).default(
          undefined,
          'the name of the project',
        ),
      ],
      examples: ['project create shop@acme', 'project create shop@acme --display-name "The shop"'],
      act: async (ask, [name], { id, displayName }) => {
        const project = await ask(projectCommands.create, { project: name!, id, displayName });
        const [short, customer] = project.email.split('@');
        const next = `stillage user create ${short}:<user>@${customer}`;
        return { data: project, text: `created ${project.email} with the id ${project.id}; next: ${next}` };
      },
    }),
    verb({
      name: 'list',
      does: 'List the projects of a customer, or all projects',
      operands: [operand.optionally(operand.customer)],
      examples: ['project list', 'project list acme --json'],
      act: async (ask, [customer]) =>
        tableReport(
          await everyPage(ask, projectCommands.list, { customer }, ({ projects }) => projects),
          [['PROJECT', ({ email }) => email], ['ID', ({ id }) => id], ...statusColumns],
          'no projects',
        ),
    }),
    verb({
      name: 'show',
      does: 'Show a project and its users',
      operands: [operand.project],
      examples: ['project show shop@acme'],
      act: async (ask, [name]) => {
        const project = await ask(projectCommands.show, { project: name! });
        const { users, buckets } = project;
        return recordReport(project, [
          ['project', project.email],
          ['id', project.id],
          ['account number', project.accountNumber],
          ['display name', project.displayName],
          ['status', statusOf(project)],
          ['created', time(project.created)],
          ['root', project.root ?? 'none'],
          ['users', users.join(', ') || count(0, 'user')],
          ['buckets', `${buckets} of ${project.bucketQuota ?? 'the default'}`],
        ]);
      },
    }),
    verb({
      name: 'root',
      does: 'Make a user the root of its project: the one who may do all of IAM',
      operands: [operand.user],
      examples: ['project root shop:admin@acme'],
      act: async (ask, [user]) => {
        await ask(projectCommands.root, { user: user! });
        return `${user} is the root of its project`;
      },
    }),
    ...suspensions('project', operand.project, 'shop@acme', projectCommands),
    verb<ConfirmedOptions & { readonly contents?: true }>({
      name: 'remove',
      does: 'Remove a project without users and buckets or, with --contents, with all that it has',
      operands: [operand.project],
      options: [
        option('--contents', 'remove its buckets with all they hold, its users and their keys first'),
        yesOption(),
      ],
      examples: ['project remove shop@acme', 'project remove shop@acme --contents --yes'],
      act: async (ask, [name], { contents, ...options }) => {
        if (contents) return removeWithContents(ask, name!, options);
        await ask(projectCommands.remove, { project: name! });
        return `removed ${name}`;
      },
    }),
  ]);
}

/**
 * Removes a project with its buckets, users and keys. It is suspended first, so that nobody writes to the buckets. Run again after an
 * interruption, this goes on with what is left.
 */
async function removeWithContents(ask: Ask, name: string, options: ConfirmedOptions): Promise<Report> {
  refuseUnasked(options);
  const { email, users } = await ask(projectCommands.show, { project: name });
  const keys = await everyPage(ask, keyCommands.list, { of: email }, (page) => page.keys);
  const buckets = [];
  for (const { bucket } of await bucketsOf(ask, email)) buckets.push({ bucket, ...(await contentsOf(ask, bucket)) });
  const lines = buckets.map((one) => `  ${one.bucket}: ${contentsText(one)}`);
  const summary = `${email}: ${count(buckets.length, 'bucket')}, ${count(users.length, 'user')}, ${count(keys.length, 'key')}`;
  await confirm(email, [summary, ...lines].join('\n'), options);
  await ask(projectCommands.suspend, { project: email });
  for (const { bucket, id } of buckets) await emptyAndRemove(ask, bucket, id);
  for (const user of users) await ask(userCommands.remove, { user });
  await ask(projectCommands.remove, { project: email });
  const data = { project: email, buckets: buckets.map(({ id: _, ...one }) => one), users, keys: keys.length };
  return { data, text: `removed ${email}` };
}
