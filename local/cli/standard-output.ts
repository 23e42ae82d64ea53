/**
 * Makes the program exit silently once its output is no longer read, as with `stillage usage | head -1`. Node ignores SIGPIPE, and
 * would exit with the stack of an EPIPE: https://nodejs.org/api/process.html#signal-events
 */
export function endWithReader(): void {
  process.stdout.off('error', endOnBrokenPipe).on('error', endOnBrokenPipe);
}

/** Makes the program continue when its output cannot be written, or is no longer read: a log line is never worth the service. */
export function outliveOutput(): void {
  process.stdout.off('error', endOnBrokenPipe);
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/**
 * Keeps the engine of the table from printing the stack of each failed commit: the log or the message of the command tells of it. Before that,
 * the engine prints half a line, which is ended.
 */
export function quietEngine(): void {
  const { error: print } = console;
  console.error = (first: unknown, ...rest: readonly unknown[]) => {
    // Errors of Node.js have codes that are words.
    if (first instanceof Error && typeof (first as { code?: unknown }).code === 'number') process.stderr.write('\n');
    else print(first, ...rest);
  };
}

function endOnBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
}
