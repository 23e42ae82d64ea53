import type { Command } from 'commander';
import * as z from 'zod/mini';
import { checkName } from '../../../shared/access/account-names.ts';
import { Administration } from '../../../shared/accounts/administration.ts';
import { Operators, scopes, type OperatorRecord, type Scope } from '../../../shared/accounts/operators.ts';
import { duration } from '../../../shared/command-line/durations.ts';
import { option } from '../../../shared/command-line/option.ts';
import { checked, list, read } from '../../../shared/command-line/option-values.ts';
import { tableReport, time, type Column } from '../../../shared/command-line/report.ts';
import { second } from '../../../shared/ports/durations.ts';
import { family, localVerb } from '../command.ts';
import type { Deps } from '../data-deps.ts';
import type { Operand } from '../operands.ts';

const operator: Operand = ['<operator>', 'name of the operator', checked((name) => checkName('operator', name))];

const scope = list(
  read((text, refuse) => (scopes.some((one) => one === text) ? text : refuse(`Must be one of ${scopes.join(', ')}.`))),
);

const lifetime = duration.check(z.minimum(second, 'Must be at least 1s.'));

const columns: readonly Column<OperatorRecord>[] = [
  ['OPERATOR', (one) => one.operator],
  ['SCOPES', (one) => one.scopes.join(',')],
  ['CREATED', (one) => time(one.created)],
  ['EXPIRES', ({ until }) => (until === undefined ? 'never' : time(until))],
  ['LAST USED', ({ used }) => (used === undefined ? 'never' : time(used))],
];

/**
 * Returns `stillage operator`. Who may administer over HTTP is decided on the machine alone: a token that could make tokens would outlive its
 * removal.
 */
export function operatorFamily(): Command {
  return family('operator', 'Manage operators, who administer the service over HTTP', [
    localVerb<{ scope?: readonly Scope[]; lifetime?: number }>({
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
      act: async (deps, [name], { scope: granted = ['read'], lifetime: milliseconds }) => {
        const made = await operatorsOf(deps).create(name!, granted, milliseconds);
        return { data: made, text: made.token };
      },
    }),
    localVerb({
      name: 'list',
      does: 'List the operators, without their tokens',
      examples: ['operator list', 'operator list --json'],
      act: async (deps) => tableReport(await operatorsOf(deps).all(), columns, 'no operators'),
    }),
    localVerb({
      name: 'remove',
      does: 'Remove an operator, whose token is refused from then on',
      operands: [operator],
      examples: ['operator remove billing'],
      act: async (deps, [name]) => {
        await operatorsOf(deps).remove(name!);
        return `removed ${name}`;
      },
    }),
  ]);
}

function operatorsOf(deps: Deps): Operators {
  return new Operators(deps, new Administration(deps));
}
