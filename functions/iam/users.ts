import { aUser, users } from '../../shared/documents/iam.ts';
import { optional } from '../../shared/protocol/query-api/parameters.ts';
import { iamAction } from './iam-action.ts';
import { arnText, byName, path, pathPrefix, readTags, tags, userName } from './inputs.ts';
import { byItsName, listing } from './listings.ts';
import { quotas } from './quotas.ts';
import { alreadyExists, deleteConflict, limitExceeded, noSuchPolicy } from './refusals.ts';
import { arnIn, listedUser, shownRoot, shownUser } from './shown.ts';
import { below, boundsOf, existing, userOrCaller } from './subjects.ts';

const createUser = iamAction({
  name: 'CreateUser',
  parameters: { UserName: userName, Path: path, PermissionsBoundary: optional(arnText), Tags: tags },
  about: ({ UserName, Path, PermissionsBoundary }, { directory }) => ({
    arn: arnIn(directory, 'user', UserName, Path),
    it: true as const,
    facts: { 'iam:permissionsboundary': PermissionsBoundary },
  }),
  bounds: async (_, { PermissionsBoundary: arn }, { directory }) => [
    arn === undefined ? undefined : (await directory.policy({ arn }))?.ref,
  ],
  act: async (_, { UserName, Path, PermissionsBoundary: arn, Tags }, { directory, identities, clock }) => {
    const boundary = arn === undefined ? undefined : await directory.policy({ arn });
    if (arn !== undefined && boundary === undefined) throw noSuchPolicy(arn);
    const key = directory.newKey('user', UserName);
    const all = await directory.carriers('user');
    const taken = new Set([...all.map(byName), directory.account.root?.toLowerCase()]);
    if (taken.has(UserName.toLowerCase())) throw alreadyExists('user', UserName);
    if (all.length >= quotas.UsersQuota) throw limitExceeded('UsersPerAccount', quotas.UsersQuota);
    directory.add(key, {
      id: identities.newId('USR'),
      created: clock.now(),
      path: Path === '/' ? undefined : Path,
      tags: readTags(Tags),
      // Nothing, until somebody says so.
      attached: [],
      inline: {},
      boundary: boundary?.ref,
    });
    return { User: await shownUser(directory.renewed('user', key), directory) };
  },
  result: aUser,
});

const getUser = iamAction({
  name: 'GetUser',
  parameters: { UserName: optional(userName) },
  about: ({ UserName }, context) => userOrCaller(UserName, context),
  act: async (it, _, { directory, caller }) => ({
    User: directory.isRoot(it) ? shownRoot(caller, it) : await shownUser(it, directory),
  }),
  result: aUser,
});

const allUsers = listing('ListUsers', byItsName);

const listUsers = iamAction({
  name: 'ListUsers',
  parameters: { PathPrefix: pathPrefix, ...allUsers.parameters },
  about: ({ PathPrefix }, context) => below('user', PathPrefix, context),
  act: async (_, input, { directory }) => {
    const all = (await directory.carriers('user')).filter((one) => one.path.startsWith(input.PathPrefix));
    const { items, ...page } = allUsers.page(all, input);
    return { ...page, items: items.map((one) => listedUser(one, directory)) };
  },
  result: users,
});

const updateUser = iamAction({
  name: 'UpdateUser',
  parameters: { UserName: userName, NewUserName: optional(userName), NewPath: optional(path) },
  about: async ({ UserName, NewUserName, NewPath }, context) => {
    const subject = await existing('user', UserName, context);
    const target = arnIn(context.directory, 'user', NewUserName ?? UserName, NewPath ?? subject.it?.path);
    return { ...subject, target };
  },
  bounds: (it, _, context) => boundsOf(it, context),
  act: async (it, { NewUserName: name = it.name, NewPath: newPath = it.path }, { directory }) => {
    const patch = { path: newPath === '/' ? undefined : newPath };
    if (name === it.name) return directory.change(it, patch);
    const others = [...(await directory.carriers('user')).filter((one) => one.name !== it.name).map(byName)];
    if ([...others, directory.account.root?.toLowerCase()].includes(name.toLowerCase()))
      throw alreadyExists('user', name);
    directory.remove(it);
    // Users of earlier versions have an id that follows from their name, until it is stored.
    directory.add(directory.newKey('user', name), { ...it.item, ...patch, id: it.id });
    for (const key of await directory.keys(it.name)) directory.moveKey(key, it.name, name);
  },
});

const deleteUser = iamAction({
  name: 'DeleteUser',
  parameters: { UserName: userName },
  about: ({ UserName }, context) => existing('user', UserName, context),
  bounds: (it, _, context) => boundsOf(it, context),
  act: async (it, _, { directory }) => {
    if ((await directory.keys(it.name)).length > 0)
      throw deleteConflict('Cannot delete entity, must delete access keys first.');
    if (Object.keys(it.inline).length > 0) throw deleteConflict('Cannot delete entity, must delete policies first.');
    if (it.attached.length > 0) throw deleteConflict('Cannot delete entity, must detach all policies first.');
    if (it.groups.length > 0) throw deleteConflict('Cannot delete entity, must remove users from group first.');
    directory.remove(it);
  },
});

export const userActions = [createUser, getUser, listUsers, updateUser, deleteUser];
