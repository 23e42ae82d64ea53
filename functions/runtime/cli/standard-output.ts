/**
 * Makes the program exit silently once its output is no longer read, as with `stillage usage | head -1`. Node ignores SIGPIPE, and
 * would exit with the stack of an EPIPE: https://nodejs.org/api/process.html#signal-events
 */
export function endWithReader(): void {
  process.stdout.off('error', endOnBrokenPipe).on('error', endOnBrokenPipe);
}

/** Makes the program continue when its output is no longer read: a service must not stop because its log is not collected. */
export function outliveReader(): void {
  process.stdout.off('error', endOnBrokenPipe).on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

function endOnBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
}
