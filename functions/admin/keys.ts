import { argument, command, optional, present } from './command.ts';

const which = { key: argument.text } as const;

export const keyCommands = {
  'key create': command(
    {
      user: argument.text,
      id: optional(argument.text),
      // Ids are random unless given; still accepted from older clients.
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
  /** Returns a key with its secret and the settings of its client. */
  env: command(which, async ({ accounts, keys, settings: { endpoint, region } }, given) => {
    const key = await keys.secretOf(given.key);
    const { id } = await accounts.project(key.project);
    return { ...key, project: id, endpoint, region };
  }),
};
