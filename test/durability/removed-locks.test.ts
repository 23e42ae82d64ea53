import { once } from 'node:events';
import { access, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { runProgram } from '../support/programs/program.ts';
import { startService, type Service } from '../support/programs/server.ts';
import { workersOf } from '../support/programs/worker-processes.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-locks-'));
});
afterAll(() => rm(folder, { recursive: true }));

const socketsOf = async (data: string): Promise<string[]> =>
  (await readdir(data)).filter((name) => name.endsWith('.sock')).map((name) => join(data, name));
const lockFileOf = (data: string): string => join(data, 'table', 'lock.mdb');
const newData = (): Promise<string> => mkdtemp(join(folder, 'data-'));

async function put(service: Service, key: string): Promise<void> {
  const client = new PooledClient(service);
  await client.send({ method: 'PUT', path: '/bucket' });
  expect((await client.send({ method: 'PUT', path: `/bucket/${key}`, body: key })).status).toBe(200);
  client.close();
}

async function expectServed(data: string, args: readonly string[], key: string): Promise<void> {
  const service = await startService({ data, args });
  const client = new PooledClient(service);
  expect((await client.send({ path: `/bucket/${key}` })).body.toString()).toBe(key);
  client.close();
  expect(await service.stop()).toBe(0);
}

/** Removes files while no process of the service can notice, and lets it go on after `meanwhile`. Resolves once it has ended. */
async function endsWithout(
  service: Service,
  files: readonly string[],
  meanwhile: () => Promise<void>,
): Promise<readonly string[]> {
  const ended = once(service.process, 'close');
  const before = service.output.stderr.length;
  service.process.kill('SIGSTOP');
  try {
    for (const file of files) await rm(file);
    await meanwhile();
  } finally {
    service.process.kill('SIGCONT');
  }
  await ended;
  return service.output.stderr.slice(before).trim().split('\n');
}

describe.each([['alone', []] as const, ['with workers', ['--workers', '2']] as const])('a service %s', (_, args) => {
  it('whose socket was removed keeps its directory to itself, and ends with a line', async () => {
    const data = await newData();
    const service = await startService({ data, args });
    await put(service, 'key');
    const lines = await endsWithout(service, await socketsOf(data), async () => {
      const second = await runProgram(['start', '--port', '0', '--data', data]);
      expect([second.code, second.stderr]).toEqual([
        1,
        expect.stringMatching(new RegExp(`^stillage: --data: process ${service.pid} serves [^\n]+\n$`)),
      ]);
      for (const command of ['release', 'compact', 'doctor']) {
        const { code, stderr } = await runProgram([command, '--data', data]);
        expect([command, code, stderr]).toEqual([command, 1, expect.stringMatching(/^stillage: --data: [^\n]+\n$/)]);
      }
    });
    expect(lines).toEqual([
      expect.stringMatching(/^stillage: the socket of the service in \S+ was removed; exiting: /),
    ]);
    await expectServed(data, args, 'key');
  });

  it('whose lock.mdb was removed lets no other process open the table, and ends with a line', async () => {
    const data = await newData();
    const service = await startService({ data, args });
    await put(service, 'key');
    const lines = await endsWithout(service, [lockFileOf(data)], async () => {
      for (const command of [['start', '--port', '0'], ['customer', 'list'], ['release'], ['compact']]) {
        const { code, signal, stderr } = await runProgram([...command, '--data', data]);
        expect([command, signal, code, stderr]).toEqual([
          command,
          null,
          1,
          expect.stringMatching(/^stillage: --data: [^\n]+\n$/),
        ]);
        await expect(access(lockFileOf(data))).rejects.toThrow('ENOENT');
      }
    });
    expect(lines).toEqual([expect.stringMatching(/^stillage: \S+lock\.mdb was removed or replaced; exiting: /)]);
    await expectServed(data, args, 'key');
  });
});

it('a worker that is replaced while lock.mdb is missing opens no table of its own', async () => {
  const data = await newData();
  const service = await startService({ data, args: ['--workers', '2'] });
  const ended = once(service.process, 'close');
  await put(service, 'key');
  const [worker] = await workersOf(service);
  await rm(lockFileOf(data));
  process.kill(worker!, 'SIGKILL');
  await ended;
  expect(service.output.stderr).toMatch(/^stillage: \S+lock\.mdb was removed or replaced; exiting: /m);
  await expect(access(lockFileOf(data))).rejects.toThrow('ENOENT');
  await expectServed(data, [], 'key');
});
