/**
 * Ends the program without a word once nobody reads its output any more, as with `stillage usage | head -1`. Node ignores SIGPIPE, and
 * would end with the stack of an EPIPE: https://nodejs.org/api/process.html#signal-events
 */
export function endWithReader(): void {
  process.stdout.off('error', endOnBrokenPipe).on('error', endOnBrokenPipe);
}

/** Lets the program go on without the reader of its output: a service must not stop because its log is no longer collected. */
export function outliveReader(): void {
  process.stdout.off('error', endOnBrokenPipe).on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

function endOnBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
}
