import { existingPrincipals, parseTrustPolicy } from '../../shared/access/policies/policy.ts';
import type { Carrier, Directory } from '../../shared/accounts/directory.ts';
import { decodeRole, trustAttributes } from '../../shared/accounts/role-items.ts';
import { aRole, emptyList, emptyResult, roles } from '../../shared/documents/iam.ts';
import { number, optional, otherwise, text } from '../../shared/protocol/query-api/parameters.ts';
import { iamAction, type IamContext } from './iam-action.ts';
import { arnText, byName, documentText, nameText, path, pathPrefix, readTags, tags } from './inputs.ts';
import { byItsName, byNothing, listing } from './listings.ts';
import { quotas, sizeOf } from './quotas.ts';
import { alreadyExists, deleteConflict, limitExceeded, noSuchPolicy } from './refusals.ts';
import { arnIn, shownBoundary, shownDocument, shownTags } from './shown.ts';
import { below, boundsOf, existing } from './subjects.ts';

const roleName = nameText(64);
const description = text({ most: 1000, form: /^[\t\n\r\x20-\x7e\xa1-\xff]*$/ });
const hour = 3600;
const allRoles = listing('ListRoles', byItsName);
const instanceProfiles = listing('ListInstanceProfilesForRole', byNothing);
const maxSession = number({ least: hour, most: 12 * hour });

/** @throws S3Error MalformedPolicy, LimitExceeded */
async function readTrust(document: string, { projects }: IamContext) {
  const policy = parseTrustPolicy(document);
  const limit = quotas.AssumeRolePolicySizeQuota;
  if (sizeOf(document) > limit) throw limitExceeded('ACLSizePerRole', limit);
  return trustAttributes(document, await existingPrincipals(policy, projects));
}

const createRole = iamAction({
  name: 'CreateRole',
  parameters: {
    RoleName: roleName,
    Path: path,
    AssumeRolePolicyDocument: documentText,
    Description: optional(description),
    MaxSessionDuration: otherwise(hour, maxSession),
    PermissionsBoundary: optional(arnText),
    Tags: tags,
  },
  about: ({ RoleName, Path, PermissionsBoundary }, { directory }) => ({
    arn: arnIn(directory, 'role', RoleName, Path),
    it: true as const,
    facts: { 'iam:permissionsboundary': PermissionsBoundary },
  }),
  bounds: async (_, { PermissionsBoundary: arn }, { directory }) => [
    arn === undefined ? undefined : (await directory.policy({ arn }))?.ref,
  ],
  act: async (_, input, context) => {
    const { directory, identities, clock } = context;
    const { RoleName: name, Path, PermissionsBoundary: arn } = input;
    const boundary = arn === undefined ? undefined : await directory.policy({ arn });
    if (arn !== undefined && boundary === undefined) throw noSuchPolicy(arn);
    const trust = await readTrust(input.AssumeRolePolicyDocument, context);
    const all = await directory.carriers('role');
    if (all.some((one) => byName(one) === name.toLowerCase())) throw alreadyExists('role', name);
    if (all.length >= quotas.RolesQuota) throw limitExceeded('RolesPerAccount', quotas.RolesQuota);
    const key = directory.newKey('role', name);
    directory.add(key, {
      id: identities.newId('ROL'),
      created: clock.now(),
      path: Path === '/' ? undefined : Path,
      description: input.Description,
      maxSession: input.MaxSessionDuration,
      tags: readTags(input.Tags),
      attached: [],
      inline: {},
      boundary: boundary?.ref,
      ...trust,
    });
    return { Role: await shownRole(directory.renewed('role', key), directory) };
  },
  result: aRole,
});

const getRole = iamAction({
  name: 'GetRole',
  parameters: { RoleName: roleName },
  about: ({ RoleName }, context) => existing('role', RoleName, context),
  act: async (it, _, { directory, lastUses, region }) => {
    const use = await lastUses.of(it.id);
    const RoleLastUsed = use ? { LastUsedDate: use.at, Region: region } : {};
    return { Role: { ...(await shownRole(it, directory)), RoleLastUsed } };
  },
  result: aRole,
});

const listRoles = iamAction({
  name: 'ListRoles',
  parameters: { PathPrefix: pathPrefix, ...allRoles.parameters },
  about: ({ PathPrefix }, context) => below('role', PathPrefix, context),
  act: async (_, input, { directory }) => {
    const all = (await directory.carriers('role')).filter((one) => one.path.startsWith(input.PathPrefix));
    const { items, ...page } = allRoles.page(all, input);
    return { ...page, items: items.map((one) => listedRole(one, directory)) };
  },
  result: roles,
});

const updateRole = iamAction({
  name: 'UpdateRole',
  parameters: {
    RoleName: roleName,
    Description: optional(description),
    MaxSessionDuration: optional(maxSession),
  },
  about: ({ RoleName }, context) => existing('role', RoleName, context),
  bounds: (it, _, context) => boundsOf(it, context),
  act: (it, { Description, MaxSessionDuration }, { directory }) => {
    directory.change(it, {
      ...(Description !== undefined && { description: Description }),
      ...(MaxSessionDuration !== undefined && { maxSession: MaxSessionDuration }),
    });
    return {};
  },
  result: emptyResult,
});

/** What UpdateRole replaces. */
const updateRoleDescription = iamAction({
  name: 'UpdateRoleDescription',
  parameters: { RoleName: roleName, Description: description },
  about: ({ RoleName }, context) => existing('role', RoleName, context),
  bounds: (it, _, context) => boundsOf(it, context),
  act: async (it, { Description }, { directory }) => {
    directory.change(it, { description: Description });
    return { Role: await shownRole(directory.renewed('role', it.key), directory) };
  },
  result: aRole,
});

const updateAssumeRolePolicy = iamAction({
  name: 'UpdateAssumeRolePolicy',
  parameters: { RoleName: roleName, PolicyDocument: documentText },
  about: ({ RoleName }, context) => existing('role', RoleName, context),
  bounds: (it, _, context) => boundsOf(it, context),
  act: async (it, { PolicyDocument }, context) => {
    context.directory.change(it, await readTrust(PolicyDocument, context));
  },
});

const deleteRole = iamAction({
  name: 'DeleteRole',
  parameters: { RoleName: roleName },
  about: ({ RoleName }, context) => existing('role', RoleName, context),
  bounds: (it, _, context) => boundsOf(it, context),
  act: (it, _, { directory }) => {
    if (Object.keys(it.inline).length > 0) throw deleteConflict('Cannot delete entity, must delete policies first.');
    if (it.attached.length > 0) throw deleteConflict('Cannot delete entity, must detach all policies first.');
    directory.remove(it);
    directory.forgetUse(it.id);
  },
});

/** There are none: clients look before they delete a role. */
const listInstanceProfilesForRole = iamAction({
  name: 'ListInstanceProfilesForRole',
  parameters: { RoleName: roleName, ...instanceProfiles.parameters },
  about: ({ RoleName }, context) => existing('role', RoleName, context),
  act: (_, input) => instanceProfiles.page([], input),
  result: emptyList('InstanceProfiles'),
});

/** A role as listings have it: without what GetRole alone returns. */
function listedRole(role: Carrier, directory: Directory) {
  const { trust, description, maxSession } = decodeRole(role.item);
  const { name, path: Path, id, created } = role;
  return {
    RoleName: name,
    RoleId: id,
    Path,
    Arn: arnIn(directory, 'role', name, Path),
    CreateDate: created,
    AssumeRolePolicyDocument: shownDocument(trust),
    Description: description,
    MaxSessionDuration: maxSession,
  };
}

async function shownRole(role: Carrier, directory: Directory) {
  return {
    ...listedRole(role, directory),
    PermissionsBoundary: await shownBoundary(role, directory),
    Tags: role.tags.length === 0 ? undefined : shownTags(role.tags),
  };
}

export const roleActions = [
  createRole,
  getRole,
  listRoles,
  updateRole,
  updateRoleDescription,
  updateAssumeRolePolicy,
  deleteRole,
  listInstanceProfilesForRole,
];
