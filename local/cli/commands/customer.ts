import type { Command } from 'commander';
import { family, verb } from '../command.ts';
import * as operand from '../operands.ts';
import { count, recordReport, tableReport, time } from '../../../shared/command-line/report.ts';
import { statusColumns, statusOf, suspensions } from '../status.ts';
import { argument, command, suspending } from '../../../functions/admin/command.ts';

const named = { customer: argument.text } as const;

export const customerCommands = {
  create: command('customer create', 'manage', named, ({ accounts }, { customer }) =>
    accounts.createCustomer(customer),
  ),
  list: command('customer list', 'read', {}, ({ accounts }) => accounts.customers()),
  show: command('customer show', 'read', named, async ({ accounts }, { customer }) => ({
    ...(await accounts.customer(customer)),
    projects: await accounts.projects(customer),
  })),
  ...suspending('customer', ({ accounts }, name, isSuspended) => accounts.suspendCustomer(name, isSuspended)),
  remove: command('customer remove', 'manage', named, ({ accounts }, { customer }) =>
    accounts.removeCustomer(customer),
  ),
};

/** Returns `stillage customer`. */
export function customerFamily(): Command {
  return family('customer', 'Manage customers, which have projects', [
    verb({
      name: 'create',
      does: 'Create a customer',
      operands: [operand.customer],
      examples: ['customer create acme'],
      act: async (ask, [name]) => {
        const customer = await ask(customerCommands.create, { customer: name! });
        return {
          data: customer,
          text: `created ${customer.customer}; next: stillage project create <project>@${customer.customer}`,
        };
      },
    }),
    verb({
      name: 'list',
      does: 'List the customers',
      examples: ['customer list', 'customer list --json'],
      act: async (ask) =>
        tableReport(
          await ask(customerCommands.list, {}),
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
        const customer = await ask(customerCommands.show, { customer: name! });
        const { projects } = customer;
        return recordReport(customer, [
          ['customer', customer.customer],
          ['status', statusOf(customer)],
          ['created', time(customer.created)],
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
