import type { Command } from 'commander';
import * as z from 'zod/mini';
import { checkName } from '../../../shared/access/account-names.ts';
import { scopes, type OperatorRecord, type Scope } from '../../../shared/accounts/operators.ts';
import { duration } from '../../../shared/command-line/durations.ts';
import { option } from '../../../shared/command-line/option.ts';
import { checked, list, read } from '../../../shared/command-line/option-values.ts';
import { tableReport, time, type Column } from '../../../shared/command-line/report.ts';
import { second } from '../../../shared/ports/durations.ts';
import { argument, command, optional, Refusal } from '../../../functions/admin/command.ts';
import { result } from '../../../functions/admin/results.ts';
import { family, verb, type Named } from '../command.ts';
import type { Operand } from '../operands.ts';

const columns: readonly Column<OperatorRecord>[] = [
  ['OPERATOR', (one) => one.operator],
  ['SCOPES', (one) => one.scopes.join(',')],
  ['CREATED', (one) => time(one.created)],
  ['EXPIRES', ({ until }) => (until === undefined ? 'never' : time(until))],
  ['LAST USED', ({ used }) => (used === undefined ? 'never' : time(used))],
];

const { text, time: moment, optional: maybe, list: many } = result;
const record = {
  ...{ operator: text, scopes: many(result.enum(scopes)), created: moment },
  ...{ until: maybe(moment), used: maybe(moment) },
};

/**
 * Commands of who has the machine, or may invoke the function of a deployment. The API of operators does not have them: a token that could make
 * tokens would outlive its removal.
 */
export const operatorCommands = {
  /** Makes an operator. @param lifetime milliseconds until the token expires */
  create: command(
    'operator create',
    'manage',
    { operator: argument.text, scopes: argument.texts, lifetime: optional(argument.number) },
    result.object({ ...record, token: text }),
    ({ operators }, { operator: name, scopes: asked, lifetime: milliseconds }) => {
      const granted = scopes.filter((one) => asked.includes(one));
      if (granted.length === 0 || granted.length < new Set(asked).size)
        throw new Refusal(`operator create: scopes must be some of ${scopes.join(', ')}`);
      return operators.create(name, granted, milliseconds);
    },
  ),
  list: command(
    'operator list',
    'read',
    {},
    result.object({ operators: many(result.object(record)) }),
    async (deps) => ({
      operators: await deps.operators.all(),
    }),
  ),
  remove: command('operator remove', 'manage', { operator: argument.text }, result.nothing, (deps, given) =>
    deps.operators.remove(given.operator),
  ),
};

/** Returns `stillage operator`. */
export function commandLine(named: Named): Command {
  const operator: Operand = ['<operator>', 'name of the operator', checked((name) => checkName('operator', name))];
  const scope = list(
    read((text, refuse) =>
      scopes.some((one) => one === text) ? text : refuse(`Must be one of ${scopes.join(', ')}.`),
    ),
  );
  const lifetime = duration.check(z.minimum(second, 'Must be at least 1s.'));
  return family(named, [
    verb<{ scope?: readonly Scope[]; lifetime?: number }>({
      name: 'create',
      does: 'Create an operator and print the token, which is shown only once',
      operands: [operator],
      options: [
        option('--scope <scope>', `what the operator may do: ${scopes.join(', ')} (repeatable)`, scope).default(
          undefined,
          'read',
        ),
        option('--lifetime <time>', 'time until the token expires: 12h, 90d', lifetime).default(undefined, 'never'),
      ],
      examples: [
        'operator create billing --scope bill --lifetime 90d',
        'operator create platform --scope manage > platform.token',
      ],
      isOverHttp: false,
      act: async (ask, [name], { scope: granted = ['read'], lifetime: milliseconds }) => {
        const made = await ask(operatorCommands.create, { operator: name!, scopes: granted, lifetime: milliseconds });
        return { data: made, text: made.token };
      },
    }),
    verb({
      name: 'list',
      does: 'List the operators, without their tokens',
      examples: ['operator list', 'operator list --json'],
      isOverHttp: false,
      act: async (ask) => tableReport((await ask(operatorCommands.list, {})).operators, columns, 'no operators'),
    }),
    verb({
      name: 'remove',
      does: 'Remove an operator, whose token is refused from then on',
      operands: [operator],
      examples: ['operator remove billing'],
      isOverHttp: false,
      act: async (ask, [name]) => {
        await ask(operatorCommands.remove, { operator: name! });
        return `removed ${name}`;
      },
    }),
  ]);
}
