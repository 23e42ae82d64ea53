// Runs a server for tests as a test file does: node emulator-host.mjs <kind> <module> <directory>. It takes commands on standard input, one a
// line, and answers each with a line: `start`, `stop`, and `reset`, which restores one empty bucket named `bench`.
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [kind, module, directory] = process.argv.slice(2);
const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

/** Returns a starter: takes a port, and returns the port and what stops and resets the server. */
const starters = {
  ephemeral: ({ startStillage }) => stillage(startStillage, { ephemeral: true }),
  durable: ({ startStillage }) => stillage(startStillage, { data: directory }),
  s3rver:
    ({ default: S3rver }) =>
    async (port) => {
      const options = { port, address: '127.0.0.1', silent: true, directory, configureBuckets: [{ name: 'bench' }] };
      const server = new S3rver(options);
      const address = await server.run();
      return {
        port: address.port,
        stop: () => server.close(),
        // It removes the buckets, and creates those it was started with only when asked.
        reset: async () => {
          server.reset();
          await server.configureBuckets();
        },
      };
    },
};

function stillage(startStillage, options) {
  return async (port) => {
    const handle = await startStillage({ port, credentials, buckets: ['bench'], ...options });
    return { port: Number(new URL(handle.endpoint).port), stop: () => handle.stop(), reset: () => handle.reset() };
  };
}

const start = starters[kind](await import(pathToFileURL(module).href));
let server;
let port = 0;
const commands = {
  start: async () => {
    server = await start(port);
    ({ port } = server);
    return `listening on http://127.0.0.1:${port}`;
  },
  stop: async () => {
    await server.stop();
    return 'stopped';
  },
  reset: async () => {
    const before = performance.now();
    await server.reset();
    return `reset in ${performance.now() - before} ms`;
  },
};
console.log(await commands.start());
for await (const line of createInterface({ input: process.stdin })) console.log(await commands[line]());
process.exit();
