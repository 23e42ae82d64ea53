import type { Command } from 'commander';
import { checkPolicy, checkPolicyName } from '../../../shared/accounts/user-policies.ts';
import { checked } from '../../../shared/command-line/option-values.ts';
import { family, verb, type Named } from '../command.ts';
import * as operand from '../operands.ts';
import { tableReport } from '../../../shared/command-line/report.ts';
import { argument, command } from '../../../functions/admin/command.ts';
import { result } from '../../../functions/admin/results.ts';

const named = { user: argument.text } as const;
const ofUser = { user: argument.text, policy: argument.text } as const;

const attached = result.list(result.object({ policy: result.text, kind: result.enum(['managed', 'inline']) }));

export const policyCommands = {
  list: command('policy list', 'read', named, attached, ({ policies }, { user }) => policies.policies(user)),
  show: command('policy show', 'read', ofUser, result.text, ({ policies }, { user, policy }) =>
    policies.policy(user, policy),
  ),
  put: command(
    'policy put',
    'manage',
    { ...ofUser, document: argument.text },
    result.nothing,
    ({ policies }, { user, policy, document }) => policies.put(user, policy, document),
  ),
  remove: command('policy remove', 'manage', ofUser, result.nothing, ({ policies }, { user, policy }) =>
    policies.remove(user, policy),
  ),
  attach: command('policy attach', 'manage', ofUser, result.nothing, ({ policies }, { user, policy }) =>
    policies.attach(user, policy),
  ),
  detach: command('policy detach', 'manage', ofUser, result.nothing, ({ policies }, { user, policy }) =>
    policies.detach(user, policy),
  ),
};

const managed = (): operand.Operand => ['<policy>', 'name or ARN of a managed policy', operand.word];
const inline = (): operand.Operand => ['<policy>', 'name of the policy', checked(checkPolicyName)];

/** Returns `stillage policy`. */
export function commandLine(named: Named): Command {
  return family(named, [
    verb({
      name: 'list',
      does: 'List the policies of a user',
      operands: [operand.user],
      examples: ['policy list shop:ci@acme'],
      act: async (ask, [user]) =>
        tableReport(
          await ask(policyCommands.list, { user: user! }),
          [
            ['POLICY', ({ policy }) => policy],
            ['KIND', ({ kind }) => kind],
          ],
          'no policies: the user may do nothing',
        ),
    }),
    verb({
      name: 'show',
      does: 'Show a policy of a user',
      operands: [operand.user, ['<policy>', 'name of the policy', operand.word]],
      examples: ['policy show shop:ci@acme access'],
      act: async (ask, [user, policy]) => {
        const text = await ask(policyCommands.show, { user: user!, policy: policy! });
        return { data: JSON.parse(text) as unknown, text };
      },
    }),
    verb({
      name: 'put',
      does: 'Give a user a policy of their own, in place of the one of that name',
      operands: [operand.user, inline(), ['<document>', 'the policy, in JSON', checked(checkPolicy)]],
      examples: ['policy put shop:ci@acme uploads "$(cat policy.json)"'],
      act: async (ask, [user, policy, document]) => {
        await ask(policyCommands.put, { user: user!, policy: policy!, document: document! });
        return `${user} has the policy ${policy}`;
      },
    }),
    verb({
      name: 'remove',
      does: 'Remove a policy of a user',
      operands: [operand.user, inline()],
      examples: ['policy remove shop:ci@acme uploads'],
      act: async (ask, [user, policy]) => {
        await ask(policyCommands.remove, { user: user!, policy: policy! });
        return `${user} no longer has the policy ${policy}`;
      },
    }),
    verb({
      name: 'attach',
      does: 'Attach a managed policy to a user',
      operands: [operand.user, managed()],
      examples: ['policy attach shop:ci@acme AmazonS3ReadOnlyAccess'],
      act: async (ask, [user, policy]) => {
        await ask(policyCommands.attach, { user: user!, policy: policy! });
        return `${user} has the policy ${policy}`;
      },
    }),
    verb({
      name: 'detach',
      does: 'Detach a managed policy from a user',
      operands: [operand.user, managed()],
      examples: ['policy detach shop:ci@acme FullAccess'],
      act: async (ask, [user, policy]) => {
        await ask(policyCommands.detach, { user: user!, policy: policy! });
        return `${user} no longer has the policy ${policy}`;
      },
    }),
  ]);
}
