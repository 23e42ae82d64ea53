/** The names under which a scrub remembers the references it has seen. */
export const reference = {
  /** Content that an existing version refers to, as the version names it: `b…` or `m…`. */
  content: (content: string): string => `c ${content}`,
  details: (id: string): string => `d ${id}`,
  /** An existing version that has content. */
  instance: (instance: string): string => `i ${instance}`,
  /** A blob that the manifest of an existing version, or a part of an open upload, refers to. */
  blob: (ref: string): string => `b ${ref}`,
  /** A blob that a manifest or a part of anything else refers to, until it is freed. */
  releasedBlob: (ref: string): string => `r ${ref}`,
  /** Content or details that an existing version refers to, as `thingsOf` names them. */
  thing: (thing: string): string =>
    thing.startsWith('d') ? reference.details(thing.slice(1)) : reference.content(thing),
  /**
   * An entry of the release queue: content, `d` and the id of details, or `u`; `instance` is the version or upload that
   * released it.
   */
  queued: (thing: string, instance?: string): string => `q ${thing}${instance === undefined ? '' : `/${instance}`}`,
} as const;
