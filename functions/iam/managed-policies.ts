import { parseIdentityPolicy } from '../../shared/access/identity-rights.ts';
import type { Carrier, CarrierKind, Directory, ManagedPolicy } from '../../shared/accounts/directory.ts';
import { aPolicy, aVersion, entities, policies, versions } from '../../shared/documents/iam.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { oneOf, optional, otherwise, text } from '../../shared/protocol/query-api/parameters.ts';
import { iamAction } from './iam-action.ts';
import {
  arnText,
  byName,
  documentText,
  path,
  pathPrefix,
  policyName,
  readTags,
  tags,
  versionForm,
  versionId,
} from './inputs.ts';
import { byPolicy, listing } from './listings.ts';
import { quotas, sizeOf } from './quotas.ts';
import { alreadyExists, deleteConflict, limitExceeded, tooLong } from './refusals.ts';
import { arnIn, shownDocument, shownPolicy } from './shown.ts';
import { below, boundsOfPolicy, existingPolicy, ownPolicy } from './subjects.ts';

const allPolicies = listing('ListPolicies', byPolicy);

const itsVersions = listing('ListPolicyVersions', {
  placeOf: (id: string) => id,
  form: versionForm,
  // The newest first.
  rank: (id) => String(1e9 - Number(id.slice(1))).padStart(10, '0'),
});

const itsEntities = listing('ListEntitiesForPolicy', {
  placeOf: ({ kind, name }: Carrier) => `${kind} ${name}`,
  form: /^(?:user|group|role) [\w+=,.@-]+$/,
  // As the answer has them: groups, users, roles.
  rank: (place) => `${'gur'.indexOf(place.charAt(0))} ${place.toLowerCase()} ${place}`,
});

const flag = otherwise('false', oneOf('true', 'false'));

const createPolicy = iamAction({
  name: 'CreatePolicy',
  parameters: {
    PolicyName: policyName,
    Path: path,
    PolicyDocument: documentText,
    Description: optional(text({ most: 1000 })),
    Tags: tags,
  },
  about: ({ PolicyName, Path }, { directory }) => ({
    arn: arnIn(directory, 'policy', PolicyName, Path),
    it: true as const,
  }),
  // What nobody has yet widens nobody's rights.
  bounds: () => [],
  act: async (_, { PolicyName: name, Path, PolicyDocument, Description, Tags }, { directory, identities, clock }) => {
    checkDocument(PolicyDocument, name);
    const all = await directory.policies();
    if (all.some((one) => byName(one) === name.toLowerCase())) throw alreadyExists('policy', name);
    if (all.length >= quotas.PoliciesQuota) throw limitExceeded('PoliciesPerAccount', quotas.PoliciesQuota);
    const key = directory.newKey('policy', name);
    const created = clock.now();
    directory.add(key, {
      id: identities.newId('POL'),
      created,
      updated: created,
      path: Path === '/' ? undefined : Path,
      description: Description,
      tags: readTags(Tags),
      versions: { v1: { text: PolicyDocument, created } },
      default: 'v1',
      last: 1,
    });
    return { Policy: shownPolicy(directory.renewedPolicy(key), []) };
  },
  result: aPolicy,
});

const getPolicy = iamAction({
  name: 'GetPolicy',
  parameters: { PolicyArn: arnText },
  about: ({ PolicyArn }, context) => existingPolicy(PolicyArn, context),
  act: async (it, _, { directory }) => ({ Policy: shownPolicy(it, await everybody(directory)) }),
  result: aPolicy,
});

const listPolicies = iamAction({
  name: 'ListPolicies',
  parameters: {
    Scope: otherwise('All', oneOf('All', 'AWS', 'Local')),
    OnlyAttached: flag,
    PathPrefix: pathPrefix,
    PolicyUsageFilter: optional(oneOf('PermissionsPolicy', 'PermissionsBoundary')),
    ...allPolicies.parameters,
  },
  about: ({ PathPrefix }, context) => below('policy', PathPrefix, context),
  act: async (_, input, { directory }) => {
    const { Scope, OnlyAttached, PathPrefix, PolicyUsageFilter } = input;
    const carriers = await everybody(directory);
    const all = [
      ...(Scope === 'Local' ? [] : directory.sharedPolicies()),
      ...(Scope === 'AWS' ? [] : await directory.policies()),
    ];
    const isAsked = ({ path: its, ref }: ManagedPolicy): boolean => {
      const isAttached = carriers.some(({ attached }) => attached.includes(ref));
      const isBoundary = carriers.some(({ boundary }) => boundary === ref);
      if (!its.startsWith(PathPrefix)) return false;
      if (PolicyUsageFilter !== undefined) return PolicyUsageFilter === 'PermissionsPolicy' ? isAttached : isBoundary;
      return OnlyAttached === 'false' || isAttached;
    };
    const { items, ...page } = allPolicies.page(all.filter(isAsked), input);
    return {
      ...page,
      items: items.map((one) => ({ ...shownPolicy(one, carriers), Description: undefined, Tags: undefined })),
    };
  },
  result: policies,
});

const deletePolicy = iamAction({
  name: 'DeletePolicy',
  parameters: { PolicyArn: arnText },
  about: ({ PolicyArn }, context) => ownPolicy(PolicyArn, context),
  bounds: (it, _, context) => boundsOfPolicy(it, context),
  act: async (it, _, { directory }) => {
    const { attached, bounded } = await directory.usersOf(it);
    if (attached.length + bounded.length > 0) throw deleteConflict('Cannot delete a policy attached to entities.');
    if (Object.keys(it.versions).length > 1)
      throw deleteConflict(
        "This policy has more than one version. Before you delete a policy, you must delete the policy's versions.",
      );
    directory.remove(it);
  },
});

const createPolicyVersion = iamAction({
  name: 'CreatePolicyVersion',
  parameters: { PolicyArn: arnText, PolicyDocument: documentText, SetAsDefault: flag },
  about: ({ PolicyArn }, context) => ownPolicy(PolicyArn, context),
  bounds: (it, _, context) => boundsOfPolicy(it, context),
  act: (it, { PolicyDocument, SetAsDefault }, { directory, clock }) => {
    checkDocument(PolicyDocument, it.name);
    const limit = quotas.VersionsPerPolicyQuota;
    if (Object.keys(it.versions).length >= limit)
      throw new S3Error('LimitExceeded', {
        message: `A managed policy can have up to ${limit} versions. Before you create a new version, you must delete an existing version.`,
      });
    const last = (it.item['last'] as number) + 1;
    const id = `v${last}`;
    const created = clock.now();
    directory.change(it, {
      versions: { ...it.versions, [id]: { text: PolicyDocument, created } },
      last,
      updated: created,
      ...(SetAsDefault === 'true' && { default: id }),
    });
    return { PolicyVersion: { VersionId: id, IsDefaultVersion: SetAsDefault === 'true', CreateDate: created } };
  },
  result: aVersion,
});

const getPolicyVersion = iamAction({
  name: 'GetPolicyVersion',
  parameters: { PolicyArn: arnText, VersionId: versionId },
  about: ({ PolicyArn }, context) => existingPolicy(PolicyArn, context),
  act: (it, { VersionId: id }) => ({
    PolicyVersion: { Document: shownDocument(versionOf(it, id).text), ...shownVersion(it, id) },
  }),
  result: aVersion,
});

const listPolicyVersions = iamAction({
  name: 'ListPolicyVersions',
  parameters: { PolicyArn: arnText, ...itsVersions.parameters },
  about: ({ PolicyArn }, context) => existingPolicy(PolicyArn, context),
  act: (it, input) => {
    const { items, ...page } = itsVersions.page(Object.keys(it.versions), input);
    return { ...page, items: items.map((id) => shownVersion(it, id)) };
  },
  result: versions,
});

const setDefaultPolicyVersion = iamAction({
  name: 'SetDefaultPolicyVersion',
  parameters: { PolicyArn: arnText, VersionId: versionId },
  about: ({ PolicyArn }, context) => ownPolicy(PolicyArn, context),
  bounds: (it, _, context) => boundsOfPolicy(it, context),
  act: (it, { VersionId }, { directory, clock }) => {
    versionOf(it, VersionId);
    directory.change(it, { default: VersionId, updated: clock.now() });
  },
});

const deletePolicyVersion = iamAction({
  name: 'DeletePolicyVersion',
  parameters: { PolicyArn: arnText, VersionId: versionId },
  about: ({ PolicyArn }, context) => ownPolicy(PolicyArn, context),
  bounds: (it, _, context) => boundsOfPolicy(it, context),
  act: (it, { VersionId }, { directory }) => {
    versionOf(it, VersionId);
    if (VersionId === it.inForce) throw deleteConflict('Cannot delete the default version of a policy.');
    const { [VersionId]: _, ...others } = it.versions;
    directory.change(it, { versions: others });
  },
});

const listEntitiesForPolicy = iamAction({
  name: 'ListEntitiesForPolicy',
  parameters: {
    PolicyArn: arnText,
    EntityFilter: optional(oneOf('User', 'Role', 'Group', 'LocalManagedPolicy', 'AWSManagedPolicy')),
    PathPrefix: pathPrefix,
    PolicyUsageFilter: otherwise('PermissionsPolicy', oneOf('PermissionsPolicy', 'PermissionsBoundary')),
    ...itsEntities.parameters,
  },
  about: ({ PolicyArn }, context) => existingPolicy(PolicyArn, context),
  act: async (it, input, { directory }) => {
    const { attached, bounded } = await directory.usersOf(it);
    const found = (input.PolicyUsageFilter === 'PermissionsBoundary' ? bounded : attached).filter(
      ({ kind, path: its }) =>
        its.startsWith(input.PathPrefix) &&
        (input.EntityFilter === undefined || input.EntityFilter.toLowerCase() === kind),
    );
    const { items, ...page } = itsEntities.page(found, input);
    const ofKind = (wanted: CarrierKind) =>
      items.filter(({ kind }) => kind === wanted).map(({ name, id }) => ({ name, id }));
    return { ...page, PolicyGroups: ofKind('group'), PolicyUsers: ofKind('user'), PolicyRoles: ofKind('role') };
  },
  result: entities,
});

/** @throws S3Error MalformedPolicy, LimitExceeded */
function checkDocument(document: string, name: string): void {
  parseIdentityPolicy(document);
  const limit = quotas.PolicySizeQuota;
  if (sizeOf(document) > limit) throw tooLong(limit, `policy ${name}`);
}

/** @throws S3Error NoSuchEntity */
function versionOf({ arn, versions: all }: ManagedPolicy, id: string) {
  if (Object.hasOwn(all, id)) return all[id]!;
  throw new S3Error('NoSuchEntity', { message: `Policy ${arn} version ${id} does not exist or is not attachable.` });
}

function shownVersion(it: ManagedPolicy, id: string) {
  return { VersionId: id, IsDefaultVersion: id === it.inForce, CreateDate: it.versions[id]!.created };
}

/** Returns all users, groups and roles. */
async function everybody(directory: Directory): Promise<readonly Carrier[]> {
  const kinds = ['user', 'group', 'role'] as const;
  return (await Promise.all(kinds.map((kind) => directory.carriers(kind)))).flat();
}

export const managedPolicyActions = [
  createPolicy,
  getPolicy,
  listPolicies,
  deletePolicy,
  createPolicyVersion,
  getPolicyVersion,
  listPolicyVersions,
  setDefaultPolicyVersion,
  deletePolicyVersion,
  listEntitiesForPolicy,
];
