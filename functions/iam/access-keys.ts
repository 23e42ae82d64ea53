import { keys, lastUse, newKey } from '../../shared/documents/iam.ts';
import type { Carrier, Directory } from '../../shared/accounts/directory.ts';
import { oneOf, optional } from '../../shared/protocol/query-api/parameters.ts';
import { iamAction } from './iam-action.ts';
import { keyId, userName } from './inputs.ts';
import { listing } from './listings.ts';
import { quotas } from './quotas.ts';
import { limitExceeded, noSuch } from './refusals.ts';
import { boundsOf, changedUserOrCaller, existing, userOrCaller } from './subjects.ts';

const createAccessKey = iamAction({
  name: 'CreateAccessKey',
  parameters: { UserName: optional(userName) },
  about: ({ UserName }, context) => changedUserOrCaller(UserName, context),
  bounds: (it, _, context) => boundsOf(it, context),
  act: async (it, _, { directory, identities }) => {
    const limit = quotas.AccessKeysPerUserQuota;
    if ((await directory.keys(it.name)).length >= limit) throw limitExceeded('AccessKeysPerUser', limit);
    const { id, secretAccessKey, item } = await identities.newKey(directory.account, it.name);
    directory.addKey(id, item);
    return {
      AccessKey: {
        UserName: it.name,
        AccessKeyId: id,
        Status: 'Active',
        SecretAccessKey: secretAccessKey,
        CreateDate: item.created,
      },
    };
  },
  result: newKey,
});

/** The oldest first. */
const itsKeys = listing('ListAccessKeys', {
  placeOf: ({ id, created }: { id: string; created: number }) => `${String(created).padStart(16, '0')}/${id}`,
  form: /^\d{16}\/[\x21-\x7e]+$/,
});

const listAccessKeys = iamAction({
  name: 'ListAccessKeys',
  parameters: { UserName: optional(userName), ...itsKeys.parameters },
  about: ({ UserName }, context) => userOrCaller(UserName, context),
  act: async (it, input, { directory }) => {
    const { items, ...page } = itsKeys.page(await directory.keys(it.name), input);
    return {
      ...page,
      items: items.map(({ id, created, isActive }) => ({
        UserName: it.name,
        AccessKeyId: id,
        Status: isActive ? 'Active' : 'Inactive',
        CreateDate: created,
      })),
    };
  },
  result: keys,
});

const updateAccessKey = iamAction({
  name: 'UpdateAccessKey',
  parameters: { UserName: optional(userName), AccessKeyId: keyId, Status: oneOf('Active', 'Inactive') },
  about: ({ UserName }, context) => changedUserOrCaller(UserName, context),
  bounds: (it, _, context) => boundsOf(it, context),
  act: async (it, { AccessKeyId, Status }, { directory }) => {
    const key = await keyOf(it, AccessKeyId, directory);
    directory.changeKey(key, { inactive: Status === 'Inactive' ? true : undefined });
  },
});

const deleteAccessKey = iamAction({
  name: 'DeleteAccessKey',
  parameters: { UserName: optional(userName), AccessKeyId: keyId },
  about: ({ UserName }, context) => changedUserOrCaller(UserName, context),
  bounds: (it, _, context) => boundsOf(it, context),
  act: async (it, { AccessKeyId }, { directory }) =>
    directory.removeKey(await keyOf(it, AccessKeyId, directory), it.name),
});

const getAccessKeyLastUsed = iamAction({
  name: 'GetAccessKeyLastUsed',
  parameters: { AccessKeyId: keyId },
  about: async ({ AccessKeyId }, context) => {
    const owner = await context.directory.ownerOf(AccessKeyId);
    if (owner === undefined || owner === context.directory.account.root)
      return { arn: '*', it: undefined, missing: () => noSuch('access key', AccessKeyId) };
    return existing('user', owner, context);
  },
  act: async ({ name }, { AccessKeyId }, { lastUses, region }) => {
    const use = await lastUses.of(AccessKeyId);
    const AccessKeyLastUsed = use
      ? { LastUsedDate: use.at, ServiceName: use.service, Region: region }
      : { ServiceName: 'N/A', Region: 'N/A' };
    return { UserName: name, AccessKeyLastUsed };
  },
  result: lastUse,
});

/** @throws S3Error NoSuchEntity */
async function keyOf(user: Carrier, id: string, directory: Directory) {
  const found = (await directory.keys(user.name)).find((key) => key.id === id);
  if (found === undefined) throw noSuch('access key', id);
  return found;
}

export const accessKeyActions = [
  createAccessKey,
  listAccessKeys,
  updateAccessKey,
  deleteAccessKey,
  getAccessKeyLastUsed,
];
