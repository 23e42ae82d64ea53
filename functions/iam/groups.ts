import { aGroup, groups, groupWithUsers } from '../../shared/documents/iam.ts';
import type { Carrier, Directory } from '../../shared/accounts/directory.ts';
import { optional } from '../../shared/protocol/query-api/parameters.ts';
import { iamAction } from './iam-action.ts';
import { byName, nameText, path, pathPrefix, userName } from './inputs.ts';
import { byItsName, listing } from './listings.ts';
import { quotas } from './quotas.ts';
import { alreadyExists, deleteConflict, limitExceeded, noSuch } from './refusals.ts';
import { arnIn, listedUser, shownGroup } from './shown.ts';
import { below, boundsOf, existing } from './subjects.ts';

const groupName = nameText(128);
const members = listing('GetGroup', byItsName);
const allGroups = listing('ListGroups', byItsName);
const groupsOfUser = listing('ListGroupsForUser', byItsName);

const createGroup = iamAction({
  name: 'CreateGroup',
  parameters: { GroupName: groupName, Path: path },
  about: ({ GroupName, Path }, { directory }) => ({
    arn: arnIn(directory, 'group', GroupName, Path),
    it: true as const,
  }),
  // It has no members yet.
  bounds: () => [],
  act: async (_, { GroupName: name, Path }, { directory, identities, clock }) => {
    const all = await directory.carriers('group');
    if (all.some((one) => byName(one) === name.toLowerCase())) throw alreadyExists('group', name);
    if (all.length >= quotas.GroupsQuota) throw limitExceeded('GroupsPerAccount', quotas.GroupsQuota);
    const id = identities.newId('GRP');
    const key = directory.newKey('group', id);
    const shownPath = Path === '/' ? undefined : Path;
    directory.add(key, { id, name, path: shownPath, created: clock.now(), attached: [], inline: {} });
    return { Group: shownGroup(directory.renewed('group', key), directory) };
  },
  result: aGroup,
});

const getGroup = iamAction({
  name: 'GetGroup',
  parameters: { GroupName: groupName, ...members.parameters },
  about: ({ GroupName }, context) => existing('group', GroupName, context),
  act: async (it, input, { directory }) => {
    const { items, ...page } = members.page(await membersOf(it, directory), input);
    return { Group: shownGroup(it, directory), ...page, items: items.map((one) => listedUser(one, directory)) };
  },
  result: groupWithUsers,
});

const listGroups = iamAction({
  name: 'ListGroups',
  parameters: { PathPrefix: pathPrefix, ...allGroups.parameters },
  about: ({ PathPrefix }, context) => below('group', PathPrefix, context),
  act: async (_, input, { directory }) => {
    const all = (await directory.carriers('group')).filter((one) => one.path.startsWith(input.PathPrefix));
    const { items, ...page } = allGroups.page(all, input);
    return { ...page, items: items.map((one) => shownGroup(one, directory)) };
  },
  result: groups,
});

const updateGroup = iamAction({
  name: 'UpdateGroup',
  parameters: { GroupName: groupName, NewGroupName: optional(groupName), NewPath: optional(path) },
  about: async ({ GroupName, NewGroupName, NewPath }, context) => {
    const subject = await existing('group', GroupName, context);
    const target = arnIn(context.directory, 'group', NewGroupName ?? GroupName, NewPath ?? subject.it?.path);
    return { ...subject, target };
  },
  bounds: (it, _, context) => boundsOf(it, context),
  act: async (it, { NewGroupName: name = it.name, NewPath = it.path }, { directory }) => {
    const others = (await directory.carriers('group')).filter((one) => one.id !== it.id);
    if (others.some((one) => byName(one) === name.toLowerCase())) throw alreadyExists('group', name);
    directory.change(it, { name, path: NewPath === '/' ? undefined : NewPath });
  },
});

const deleteGroup = iamAction({
  name: 'DeleteGroup',
  parameters: { GroupName: groupName },
  about: ({ GroupName }, context) => existing('group', GroupName, context),
  bounds: (it, _, context) => boundsOf(it, context),
  act: async (it, _, { directory }) => {
    if ((await membersOf(it, directory)).length > 0)
      throw deleteConflict('Cannot delete entity, must remove users from group first.');
    if (Object.keys(it.inline).length > 0) throw deleteConflict('Cannot delete entity, must delete policies first.');
    if (it.attached.length > 0) throw deleteConflict('Cannot delete entity, must detach all policies first.');
    directory.remove(it);
  },
});

const addUserToGroup = iamAction({
  name: 'AddUserToGroup',
  parameters: { GroupName: groupName, UserName: userName },
  about: ({ GroupName }, context) => existing('group', GroupName, context),
  bounds: async (_, { UserName }, { directory }) => [(await directory.carrier('user', UserName))?.boundary],
  act: async (it, { UserName }, { directory }) => {
    const user = await member(UserName, directory);
    const its = [...new Set([...user.groups, it.id])];
    const limit = quotas.GroupsPerUserQuota;
    if (its.length > limit) throw limitExceeded('GroupsPerUser', limit);
    directory.change(user, { groups: its });
  },
});

const removeUserFromGroup = iamAction({
  name: 'RemoveUserFromGroup',
  parameters: { GroupName: groupName, UserName: userName },
  about: ({ GroupName }, context) => existing('group', GroupName, context),
  bounds: async (_, { UserName }, { directory }) => [(await directory.carrier('user', UserName))?.boundary],
  act: async (it, { UserName }, { directory }) => {
    const user = await member(UserName, directory);
    if (!user.groups.includes(it.id)) throw noSuch('user', UserName);
    directory.change(user, { groups: user.groups.filter((id) => id !== it.id) });
  },
});

const listGroupsForUser = iamAction({
  name: 'ListGroupsForUser',
  parameters: { UserName: userName, ...groupsOfUser.parameters },
  about: ({ UserName }, context) => existing('user', UserName, context),
  act: async (it, input, { directory }) => {
    const its = (await directory.carriers('group')).filter(({ id }) => it.groups.includes(id));
    const { items, ...page } = groupsOfUser.page(its, input);
    return { ...page, items: items.map((one) => shownGroup(one, directory)) };
  },
  result: groups,
});

async function membersOf({ id }: Carrier, directory: Directory): Promise<readonly Carrier[]> {
  return (await directory.carriers('user')).filter((user) => user.groups.includes(id));
}

/** @throws S3Error NoSuchEntity */
async function member(name: string, directory: Directory): Promise<Carrier> {
  const found = await directory.carrier('user', name);
  if (found === undefined || directory.isRoot(found)) throw noSuch('user', name);
  return found;
}

export const groupActions = [
  createGroup,
  getGroup,
  listGroups,
  updateGroup,
  deleteGroup,
  addUserToGroup,
  removeUserFromGroup,
  listGroupsForUser,
];
