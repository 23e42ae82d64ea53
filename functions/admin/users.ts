import { parsePrivilege } from '../../shared/metadata/accounts/administration.ts';
import { argument, command, optional } from './command.ts';

const which = { user: argument.text } as const;
const privilegeOfUser = { user: argument.text, privilege: argument.text } as const;

export const userCommands = {
  'user create': command({ ...which, without: optional(argument.texts) }, ({ accounts }, { user, without = [] }) =>
    accounts.createUser(user, without.map(parsePrivilege)),
  ),
  'user list': command({ project: argument.text }, ({ accounts }, { project }) => accounts.users(project)),
  'user show': command(which, async ({ accounts, keys }, given) => {
    const user = await accounts.user(given.user);
    return { ...user, keys: (await keys.keys(given.user)).map(({ accessKeyId }) => accessKeyId) };
  }),
  'user grant': command(privilegeOfUser, ({ accounts }, { user, privilege }) =>
    accounts.setPrivilege(user, parsePrivilege(privilege), true),
  ),
  'user revoke': command(privilegeOfUser, ({ accounts }, { user, privilege }) =>
    accounts.setPrivilege(user, parsePrivilege(privilege), false),
  ),
  'user suspend': command(which, ({ accounts }, { user }) => accounts.suspendUser(user, true)),
  'user resume': command(which, ({ accounts }, { user }) => accounts.suspendUser(user, false)),
  'user remove': command(which, ({ accounts }, { user }) => accounts.removeUser(user)),
};
