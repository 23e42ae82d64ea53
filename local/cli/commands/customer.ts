import type { Command } from 'commander';
import { namePattern } from '../../../shared/access/account-names.ts';
import { family, verb, type Named } from '../command.ts';
import { everyPage } from '../every-page.ts';
import * as operand from '../operands.ts';
import { count, recordReport, tableReport, time } from '../../../shared/command-line/report.ts';
import { statusColumns, statusOf, suspensions } from '../status.ts';
import { argument, command, paged, partOf, suspending } from '../../../functions/admin/command.ts';
import { customer, project, result } from '../../../functions/admin/results.ts';

const named = { customer: argument.text } as const;
const shownCustomer = result.object({ ...customer.shape, projects: result.list(project) });

export const customerCommands = {
  create: command('customer create', 'manage', named, customer, ({ accounts }, { customer: name }) =>
    accounts.createCustomer(name),
  ),
  list: command(
    'customer list',
    'read',
    paged((text) => namePattern.test(text)),
    result.object({ customers: result.list(customer), next: result.optional(result.text) }),
    ({ accounts }, given) => accounts.customerPage(partOf(given)),
  ),
  show: command('customer show', 'read', named, shownCustomer, async ({ accounts }, { customer: name }) => ({
    ...(await accounts.customer(name)),
    projects: await accounts.projects(name),
  })),
  ...suspending('customer', ({ accounts }, name, isSuspended) => accounts.suspendCustomer(name, isSuspended)),
  remove: command('customer remove', 'manage', named, result.nothing, ({ accounts }, { customer: name }) =>
    accounts.removeCustomer(name),
  ),
};

/** Returns `stillage customer`. */
export function commandLine(named: Named): Command {
  return family(named, [
    verb({
      name: 'create',
      does: 'Create a customer',
      operands: [operand.customer],
      examples: ['customer create acme'],
      act: async (ask, [name]) => {
        const made = await ask(customerCommands.create, { customer: name! });
        return {
          data: made,
          text: `created ${made.customer}; next: stillage project create <project>@${made.customer}`,
        };
      },
    }),
    verb({
      name: 'list',
      does: 'List the customers',
      examples: ['customer list', 'customer list --json'],
      act: async (ask) =>
        tableReport(
          await everyPage(ask, customerCommands.list, {}, ({ customers }) => customers),
          [['CUSTOMER', ({ customer }) => customer], ...statusColumns],
          'no customers',
        ),
    }),
    verb({
      name: 'show',
      does: 'Show a customer and its projects',
      operands: [operand.customer],
      examples: ['customer show acme'],
      act: async (ask, [name]) => {
        const shown = await ask(customerCommands.show, { customer: name! });
        const { projects } = shown;
        return recordReport(shown, [
          ['customer', shown.customer],
          ['status', statusOf(shown)],
          ['created', time(shown.created)],
          ['projects', projects.map(({ email }) => email).join(', ') || count(0, 'project')],
        ]);
      },
    }),
    ...suspensions('customer', operand.customer, 'acme', customerCommands),
    verb({
      name: 'remove',
      does: 'Remove a customer without projects',
      operands: [operand.customer],
      examples: ['customer remove acme'],
      act: async (ask, [name]) => {
        await ask(customerCommands.remove, { customer: name! });
        return `removed ${name}`;
      },
    }),
  ]);
}
