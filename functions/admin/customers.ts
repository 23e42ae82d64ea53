import { argument, command } from './command.ts';

const which = { customer: argument.text } as const;

export const customerCommands = {
  'customer create': command(which, ({ accounts }, { customer }) => accounts.createCustomer(customer)),
  'customer list': command({}, ({ accounts }) => accounts.customers()),
  'customer show': command(which, async ({ accounts }, { customer }) => ({
    ...(await accounts.customer(customer)),
    projects: await accounts.projects(customer),
  })),
  'customer suspend': command(which, ({ accounts }, { customer }) => accounts.suspendCustomer(customer, true)),
  'customer resume': command(which, ({ accounts }, { customer }) => accounts.suspendCustomer(customer, false)),
  'customer remove': command(which, ({ accounts }, { customer }) => accounts.removeCustomer(customer)),
};
