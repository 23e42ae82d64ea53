/** What Node.js calls a full disk, a quota of the file system that is used up, and no handles left, of the process or of the machine. */
const codes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);
/** LMDB's: the map, the readers or the transaction is full. http://www.lmdb.tech/doc/group__errors.html */
const engineCodes: ReadonlySet<unknown> = new Set([-30792, -30790, -30788]);

/** Whether an error, or what caused it, is that the machine has run out of something. That is worth trying again later. */
export function isExhausted(error: unknown): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < 8; one = one.cause, depth += 1) {
    const { code } = one as { code?: unknown };
    if (codes.has(code) || engineCodes.has(code)) return true;
  }
  return false;
}
