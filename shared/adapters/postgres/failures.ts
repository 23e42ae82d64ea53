import { DatabaseError } from 'pg';

/** Classes of SQLSTATE in which a later attempt may succeed: https://www.postgresql.org/docs/15/errcodes-appendix.html */
const busyClasses: ReadonlySet<string> = new Set(['08', '40', '53', '57']);

/**
 * Those of other classes: a unique key that was inserted at the same time (after which the attempt finds it), a lock that was not
 * available in time, a transaction that was idle for too long, and a standby, which may be promoted: it writes nothing (25006), and has no
 * unlogged tables (0A000).
 */
const busyCodes: ReadonlySet<string> = new Set(['23505', '55P03', '25P03', '25006', '0A000']);

/** A commit is on the disk of the server, which was told not to wait for its standby: the commit is lost if that is promoted. */
export class NotReplicated extends Error {}

/** Tells whether an attempt that failed with this error is worth repeating: the server is away, overloaded, contended, or read-only. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return isConnectionLost(error);
  const { code = '' } = error;
  return busyClasses.has(code.slice(0, 2)) || busyCodes.has(code);
}

/**
 * Tells whether the server has not answered, so that it may have carried out what it was sent. A pooler that has lost the server says so in its
 * place, with 08P01.
 */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof DatabaseError) return /^(?:08|57P)/.test(error.code ?? '');
  if (error instanceof NotReplicated) return true;
  if (!(error instanceof Error)) return false;
  // Those of Node.js have codes; `pg` tells of lost connections and of time-outs by these messages.
  return (
    /^E[A-Z_]+$/.test((error as NodeJS.ErrnoException).code ?? '') ||
    /^(?:Connection terminated|Query read timeout|timeout expired|Client (?:was closed|has encountered))/.test(
      error.message,
    )
  );
}
