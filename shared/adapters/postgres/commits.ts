import type { Client } from 'pg';
import { NotReplicated } from './failures.ts';

/** Notices that are none of a problem have this SQLSTATE. */
const success = '00000';

/**
 * Waits for statements that commit. Whoever ends a backend, or cancels what it does, ends its wait for the synchronous standby as well: the
 * commit stays, and only a warning tells.
 * https://www.postgresql.org/docs/15/warm-standby.html#SYNCHRONOUS-REPLICATION-HA
 * @throws NotReplicated, and as the statements do
 */
export async function committed<Result>(client: Client, statements: () => Promise<Result>): Promise<Result> {
  let warning: string | undefined;
  const note = (notice: { readonly code: string | undefined; readonly message: string | undefined }): void => {
    if (notice.code !== success) warning = notice.message ?? notice.code;
  };
  client.on('notice', note);
  try {
    const result = await statements();
    if (warning !== undefined) throw new NotReplicated(warning);
    return result;
  } finally {
    client.off('notice', note);
  }
}
