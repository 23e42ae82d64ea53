import { parseIdentityPolicy, PreparedRights, type IdentityVerdict } from '../../shared/access/identity-rights.ts';
import type { CarrierKind } from '../../shared/accounts/directory.ts';
import { simulation } from '../../shared/documents/iam.ts';
import { EventLoopBudget } from '../../shared/ports/event-loop.ts';
import { list, otherwise, refused, structure, text } from '../../shared/protocol/query-api/parameters.ts';
import { iamAction } from './iam-action.ts';
import { arnText, documentText } from './inputs.ts';
import { listing } from './listings.ts';
import { invalidInput } from './refusals.ts';
import { existing } from './subjects.ts';

const contextEntry = structure({
  ContextKeyName: text({ least: 5, most: 256 }),
  ContextKeyValues: list(text({ most: 2048 }), 50),
  ContextKeyType: text({ most: 20 }),
});

const actionName = text({ least: 3, most: 128, form: /^[\w-]+:\w+$/ });

const decisions: Readonly<Record<IdentityVerdict, string>> = {
  full: 'allowed',
  allow: 'allowed',
  none: 'implicitDeny',
  limited: 'implicitDeny',
  deny: 'explicitDeny',
};

/** Questions have numbers. */
const answers = listing('SimulatePrincipalPolicy', { placeOf: ({ at }: { at: string }) => at, form: /^\d{5}$/ });

/**
 * Tells what a user, group or role may do by its own policies, with others beside them. Policies of buckets are not asked.
 * https://docs.aws.amazon.com/IAM/latest/APIReference/API_SimulatePrincipalPolicy.html
 */
export const simulatePrincipalPolicy = iamAction({
  name: 'SimulatePrincipalPolicy',
  parameters: {
    PolicySourceArn: arnText,
    ActionNames: list(actionName, 100),
    ResourceArns: otherwise(['*'], list(text({ least: 1, most: 2048 }), 100)),
    PolicyInputList: list(documentText, 10),
    ContextEntries: list(contextEntry, 50),
    PermissionsBoundaryPolicyInputList: refused,
    ResourcePolicy: refused,
    CallerArn: refused,
    ...answers.parameters,
  },
  about: ({ PolicySourceArn: arn }, context) => {
    const [, account, kind, name] = /^arn:aws:iam::(\d{12}):(user|group|role)\/(?:.*\/)?([^/]+)$/.exec(arn) ?? [];
    if (account !== context.directory.account.accountNumber) throw invalidInput(`ARN ${arn} is not valid.`);
    return existing(kind as CarrierKind, name!, context);
  },
  act: async (it, input, { directory }) => {
    const rights = await directory.rightsOf(it);
    const policies = [...rights.policies, ...input.PolicyInputList.map(parseIdentityPolicy)];
    const prepared = new PreparedRights({ ...rights, policies }, new EventLoopBudget());
    const context = new Map(input.ContextEntries.map((one) => [keyOf(one.ContextKeyName), one.ContextKeyValues]));
    const questions = input.ActionNames.flatMap((action) =>
      input.ResourceArns.map((resource) => ({ action, resource })),
    );
    const numbered = questions.map((question, at) => ({ ...question, at: String(at).padStart(5, '0') }));
    const { items, ...page } = answers.page(numbered, input);
    const results = items.map(async ({ action, resource }) => {
      const asked = action.replace(/^(?:s3|stillage):/, '');
      const verdict = await prepared.verdict(asked, () => ({
        action: asked,
        resource,
        conditions: (key) => context.get(key),
      }));
      return { EvalActionName: action, EvalResourceName: resource, EvalDecision: decisions[verdict] };
    });
    return { ...page, items: await Promise.all(results) };
  },
  result: simulation,
});

/** Condition keys are the same whatever their case, the keys of tags in them are not. */
function keyOf(name: string): string {
  return name.replace(/^[^/]*/, (key) => key.toLowerCase());
}
