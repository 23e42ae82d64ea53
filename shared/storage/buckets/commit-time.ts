/**
 * How long a commit may rely on a bucket as it was read, in milliseconds, where it does not check the bucket itself. A commit that
 * would begin later reads the bucket again; none is tried any more after the end.
 */
export const commitTime = { start: 2000, end: 3500 } as const;

/** How long a request that was sent before the end of its commit may take to arrive, in milliseconds. */
const inTransit = 500;

/**
 * How long a new versioning state settles, in milliseconds from its own commit: those that began under the former state have ended by
 * then.
 */
export const settlingWait = commitTime.end + inTransit;

/**
 * The maximum time for which a bucket is settling, in milliseconds. It counts from before the commit of the change, which may take
 * some seconds, and by the clocks of others.
 */
export const settlingTime = settlingWait + 8000;
