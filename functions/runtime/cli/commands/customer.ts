import type { Command } from 'commander';
import { family, verb } from '../command.ts';
import { count, recordReport, tableReport, time } from '../../command-line/report.ts';
import { statusColumns, statusOf, suspensions } from '../status.ts';

const which = [['<customer>', 'name of the customer']] as const;

/** Returns `stillage customer`. */
export function customerFamily(): Command {
  return family('customer', 'Manage customers, which have projects', [
    verb({
      name: 'create',
      does: 'Create a customer',
      operands: which,
      examples: ['customer create acme'],
      act: async (ask, [name]) => {
        const customer = await ask('customer create', { customer: name! });
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
          await ask('customer list', {}),
          [['CUSTOMER', ({ customer }) => customer], ...statusColumns],
          'no customers',
        ),
    }),
    verb({
      name: 'show',
      does: 'Show a customer and its projects',
      operands: which,
      examples: ['customer show acme'],
      act: async (ask, [name]) => {
        const customer = await ask('customer show', { customer: name! });
        const { projects } = customer;
        return recordReport(customer, [
          ['customer', customer.customer],
          ['status', statusOf(customer)],
          ['created', time(customer.created)],
          ['projects', projects.map(({ email }) => email).join(', ') || count(0, 'project')],
        ]);
      },
    }),
    ...suspensions('customer', '<customer>', 'acme', (ask, customer, verb) => ask(`customer ${verb}`, { customer })),
    verb({
      name: 'remove',
      does: 'Remove a customer without projects',
      operands: which,
      examples: ['customer remove acme'],
      act: async (ask, [name]) => {
        await ask('customer remove', { customer: name! });
        return `removed ${name}`;
      },
    }),
  ]);
}
