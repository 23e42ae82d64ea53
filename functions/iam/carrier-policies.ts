import { parseIdentityPolicy } from '../../shared/access/identity-rights.ts';
import type { CarrierKind } from '../../shared/accounts/directory.ts';
import { attachedPolicies, inlinePolicy, policyNames } from '../../shared/documents/iam.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { called } from '../../shared/protocol/query-api/parameters.ts';
import { iamAction, type ActionName, type IamContext } from './iam-action.ts';
import { arnText, documentText, nameText, pathPrefix, policyName } from './inputs.ts';
import { byItself, byPolicy, listing } from './listings.ts';
import { quotas, sizeOf } from './quotas.ts';
import { limitExceeded, noSuchPolicy, tooLong } from './refusals.ts';
import { shownDocument } from './shown.ts';
import { bounded, boundsOf, existing } from './subjects.ts';

type Kind = 'User' | 'Group' | 'Role';

/** The actions on the policies of one kind of carrier, which are the same for each. */
export function carrierPolicyActions(Kind: Kind, longestName: number) {
  const kind = Kind.toLowerCase() as CarrierKind;
  const of = { name: called(`${Kind}Name`, nameText(longestName)) };
  const named = (action: `${string}_${string}`): ActionName => action.replace('_', Kind) as ActionName;
  const inlined = listing(named('List_Policies'), byItself);
  const allAttached = listing(named('ListAttached_Policies'), byPolicy);
  const maxSize = quotas[`${Kind}PolicySizeQuota`];
  const maxAttached = quotas[`AttachedPoliciesPer${Kind}Quota`];

  const put = iamAction({
    name: named('Put_Policy'),
    parameters: { ...of, PolicyName: policyName, PolicyDocument: documentText },
    about: ({ name }, context) => bounded(kind, name, context),
    bounds: (it, _, context) => boundsOf(it, context),
    act: (it, { PolicyName, PolicyDocument }, { directory }) => {
      parseIdentityPolicy(PolicyDocument);
      const inline = { ...it.inline, [PolicyName]: PolicyDocument };
      if (sizeOf(...Object.values(inline)) > maxSize) throw tooLong(maxSize, `${kind} ${it.name}`);
      directory.change(it, { inline });
    },
  });

  const get = iamAction({
    name: named('Get_Policy'),
    parameters: { ...of, PolicyName: policyName },
    about: ({ name }, context) => existing(kind, name, context),
    act: (it, { PolicyName }) => {
      if (!Object.hasOwn(it.inline, PolicyName)) throw noInline(kind, PolicyName);
      return { name: it.name, PolicyName, PolicyDocument: shownDocument(it.inline[PolicyName]!) };
    },
    result: inlinePolicy(`${Kind}Name`),
  });

  const list = iamAction({
    name: named('List_Policies'),
    parameters: { ...of, ...inlined.parameters },
    about: ({ name }, context) => existing(kind, name, context),
    act: (it, input) => inlined.page(Object.keys(it.inline), input),
    result: policyNames,
  });

  const remove = iamAction({
    name: named('Delete_Policy'),
    parameters: { ...of, PolicyName: policyName },
    about: ({ name }, context) => bounded(kind, name, context),
    bounds: (it, _, context) => boundsOf(it, context),
    act: (it, { PolicyName }, { directory }) => {
      if (!Object.hasOwn(it.inline, PolicyName)) throw noInline(kind, PolicyName);
      const { [PolicyName]: _, ...inline } = it.inline;
      directory.change(it, { inline });
    },
  });

  const withPolicy = (name: string, arn: string, context: IamContext) =>
    bounded(kind, name, context, { 'iam:policyarn': arn });

  const attach = iamAction({
    name: named('Attach_Policy'),
    parameters: { ...of, PolicyArn: arnText },
    about: ({ name, PolicyArn }, context) => withPolicy(name, PolicyArn, context),
    bounds: (it, _, context) => boundsOf(it, context),
    act: async (it, { PolicyArn: arn }, { directory }) => {
      const policy = await directory.policy({ arn });
      if (policy === undefined) throw noSuchPolicy(arn);
      const attached = [...new Set([...it.attached, policy.ref])];
      if (attached.length > maxAttached) throw limitExceeded(`PoliciesPer${Kind}`, maxAttached);
      directory.change(it, { attached });
    },
  });

  const detach = iamAction({
    name: named('Detach_Policy'),
    parameters: { ...of, PolicyArn: arnText },
    about: ({ name, PolicyArn }, context) => withPolicy(name, PolicyArn, context),
    bounds: (it, _, context) => boundsOf(it, context),
    act: async (it, { PolicyArn: arn }, { directory }) => {
      const policy = await directory.policy({ arn });
      if (policy === undefined || !it.attached.includes(policy.ref)) throw noSuchPolicy(arn);
      directory.change(it, { attached: it.attached.filter((ref) => ref !== policy.ref) });
    },
  });

  const listAttached = iamAction({
    name: named('ListAttached_Policies'),
    parameters: { ...of, PathPrefix: pathPrefix, ...allAttached.parameters },
    about: ({ name }, context) => existing(kind, name, context),
    act: async (it, input, { directory }) => {
      const found = await Promise.all(it.attached.map((ref) => directory.policy({ ref })));
      const below = found.flatMap((one) => (one?.path.startsWith(input.PathPrefix) ? [one] : []));
      const { items, ...page } = allAttached.page(below, input);
      return { ...page, items: items.map(({ name, arn }) => ({ PolicyName: name, PolicyArn: arn })) };
    },
    result: attachedPolicies,
  });

  return [put, get, list, remove, attach, detach, listAttached];
}

function noInline(kind: CarrierKind, name: string): S3Error {
  return new S3Error('NoSuchEntity', { message: `The ${kind} policy with name ${name} cannot be found.` });
}
