/**
 * The codes of Node.js for a full disk, an exhausted file system quota, a read-only file system, no file handles left in the process or
 * the machine, and no memory.
 */
const codes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE', 'ENFILE', 'ENOMEM']);
/** The codes of LMDB for a full map, reader table or transaction. http://www.lmdb.tech/doc/group__errors.html */
const engineCodes: ReadonlySet<unknown> = new Set([-30792, -30790, -30788]);

/**
 * Tells whether an error or its cause is that the machine has run out of a resource, or does not let it be written, which makes a later
 * attempt worthwhile.
 */
export function isExhausted(error: unknown): boolean {
  return isNoMemory(error) || hasCode(error, (code) => codes.has(code) || engineCodes.has(code));
}

/** Tells whether V8 could not allocate the memory of a buffer, for which its error has no code. */
function isNoMemory(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('allocation failed');
}

/** Tells whether an error or its cause is a full disk, or an exhausted quota of the file system. */
export function isDiskFull(error: unknown): boolean {
  return hasCode(error, (code) => code === 'ENOSPC' || code === 'EDQUOT');
}

function hasCode(error: unknown, isIt: (code: unknown) => boolean): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < 8; one = one.cause, depth += 1) {
    if (isIt((one as { code?: unknown }).code)) return true;
  }
  return false;
}
