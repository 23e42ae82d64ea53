import { argument, command, optional, present } from './command.ts';

const which = { key: argument.text } as const;

export const keyCommands = {
  'key create': command(
    {
      user: argument.text,
      id: optional(argument.text),
      // Ids are random unless one is given: accepted from those who ask for it all the same.
      random: optional(argument.flag),
      secret: optional(argument.text),
    },
    ({ keys }, { user, id, secret }) => keys.createKey(user, present({ id, secret })),
  ),
  'key list': command({ of: argument.text }, ({ keys }, { of }) => keys.keys(of)),
  'key show': command(which, ({ keys }, { key }) => keys.key(key)),
  'key rotate': command(
    { ...which, overlapSeconds: optional(argument.number) },
    ({ keys }, { key, overlapSeconds: seconds }) =>
      keys.rotateKey(key, seconds === undefined ? undefined : seconds * 1000),
  ),
  'key suspend': command(which, ({ keys }, { key }) => keys.suspendKey(key, true)),
  'key resume': command(which, ({ keys }, { key }) => keys.suspendKey(key, false)),
  'key remove': command(which, ({ keys }, { key }) => keys.removeKey(key)),
  /** A key with its secret, and what a client must know besides. */
  env: command(which, async ({ accounts, keys, settings: { endpoint, region } }, given) => {
    const key = await keys.secretOf(given.key);
    const { id } = await accounts.project(key.project);
    return { ...key, project: id, endpoint, region };
  }),
};
