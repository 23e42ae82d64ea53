import { bucketCountOf, ownsNoBucket } from '../../shared/metadata/buckets/bucket-count.ts';
import { argument, command, optional, present } from './command.ts';

const which = { project: argument.text } as const;

export const projectCommands = {
  'project create': command(
    { ...which, id: optional(argument.text), displayName: optional(argument.text) },
    ({ accounts }, { project, ...given }) => accounts.createProject(project, present(given)),
  ),
  'project list': command({ customer: optional(argument.text) }, async ({ accounts }, { customer }) => {
    if (customer !== undefined) await accounts.customer(customer);
    return accounts.projects(customer);
  }),
  'project show': command(which, async ({ accounts, table }, given) => {
    const project = await accounts.project(given.project);
    const users = (await accounts.users(project.id)).map(({ user }) => user);
    return { ...project, users, buckets: await bucketCountOf(table, project.id) };
  }),
  'project suspend': command(which, ({ accounts }, { project }) => accounts.suspendProject(project, true)),
  'project resume': command(which, ({ accounts }, { project }) => accounts.suspendProject(project, false)),
  'project remove': command(which, ({ accounts }, { project }) => accounts.removeProject(project, ownsNoBucket)),
};
