import { startStillage } from '../../../local/package/index.ts';

/*
 * A program with an embedded service, for tests that examine its process: `node --import tsx test/support/programs/embedded-session.ts <data>`. It
 * prints its log and its URL, stops at the end of its standard input, and reports how the stop went.
 */

const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const credentials = { accessKeyId: 'AKALICE', secretAccessKey: 'alice-secret-key/+=' };
const stillage = await startStillage({
  port: 0,
  data: process.argv[2]!,
  credentials,
  buckets: ['bucket'],
  log: ({ level, message, error }) => say({ level, message, error: (error as Error | undefined)?.message }),
});
say({ endpoint: stillage.endpoint });
process.stdin.resume().once('end', () => {
  stillage.stop().then(
    () => say({ stopped: true }),
    (error: Error) => say({ stopped: false, error: error.message }),
  );
});
