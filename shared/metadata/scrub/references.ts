/** The names under which a scrub remembers what it saw mentioned. */
export const reference = {
  /** By a living version: content as the version names it, `b…` or `m…`. */
  content: (content: string): string => `c ${content}`,
  details: (id: string): string => `d ${id}`,
  /** A living version that has content. */
  instance: (instance: string): string => `i ${instance}`,
  /** By a manifest or a part. */
  blob: (ref: string): string => `b ${ref}`,
  /** By a living version: a thing as `thingsOf` names it, content or details. */
  thing: (thing: string): string =>
    thing.startsWith('d') ? reference.details(thing.slice(1)) : reference.content(thing),
  /** In the queue of what is to be freed: content, `d` and the id of details, or `u`, and what let go of it. */
  queued: (thing: string, instance?: string): string => `q ${thing}${instance === undefined ? '' : `/${instance}`}`,
} as const;
