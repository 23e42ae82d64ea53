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

function endOnBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
}
