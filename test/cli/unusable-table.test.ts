import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mayProcessNamespace, noProcessNamespace, processNamespace } from '../support/programs/process-namespace.ts';
import { runProgram, type Run } from '../support/programs/program.ts';
import { startService } from '../support/programs/server.ts';

/** Another user than that of the tests, if that is root. */
const stranger = 65_534;
const isRoot = process.getuid?.() === 0;

let folder: string;
let data: string;
let lockFile: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-unusable-'));
  await chmod(folder, 0o711);
});
afterAll(() => rm(folder, { recursive: true }));

beforeEach(async () => {
  data = await mkdtemp(join(folder, 'data-'));
  lockFile = join(data, 'table', 'lock.mdb');
  const service = await startService({ data });
  expect(await service.stop()).toBe(0);
});

const commands = [['customer', 'list'], ['compact'], ['start', '--port', '0']] as const;

async function expectRefused(reason: RegExp, options: { readonly as?: number } = {}): Promise<void> {
  for (const command of commands) {
    const { code, signal, stderr } = await runProgram([...command, '--data', data], options);
    expect([command, signal, code, stderr]).toEqual([command, null, 1, expect.stringMatching(reason)]);
  }
}

describe('lock.mdb', () => {
  it('that is a directory is refused in one line', async () => {
    await rm(lockFile);
    await mkdir(lockFile);
    await expectRefused(/^stillage: --data: cannot use \S+: \S+lock\.mdb is not a file: move it away\n$/);
  });

  it('that this user may not write is refused in one line', async () => {
    const reason = /^stillage: --data: cannot use [^\n]+ permission denied, access '\S+lock\.mdb'[^\n]+\n$/;
    if (isRoot) await giveAway(data);
    await chmod(lockFile, 0);
    await expectRefused(reason, isRoot ? { as: stranger } : {});
  });
});

/** Gives a directory and everything in it to the stranger. */
async function giveAway(path: string): Promise<void> {
  await chown(path, stranger, stranger);
  if (!(await stat(path)).isDirectory()) return;
  for (const name of await readdir(path)) await giveAway(join(path, name));
}

it('what root runs leaves the files of the table to their owner', async (context) => {
  if (!isRoot) context.skip('only root can give files away');
  await giveAway(data);
  await rm(lockFile);
  for (const command of commands.slice(0, 2)) {
    expect((await runProgram([...command, '--data', data])).stderr).toBe('');
    for (const name of ['data.mdb', 'lock.mdb']) {
      expect([command, name, (await stat(join(data, 'table', name))).uid]).toEqual([command, name, stranger]);
    }
  }
  expect((await runProgram(['customer', 'list', '--data', data], { as: stranger })).code).toBe(0);
});

it('a command whose process id another container uses says so in one line', async (context) => {
  if (!mayProcessNamespace) context.skip(noProcessNamespace);
  const service = await startService({ data, under: processNamespace });
  try {
    const { code, stderr } = await runInNamespace(['customer', 'list', '--data', data]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^stillage: --data: cannot use \S+: a process of another container, with the same [^\n]+\n$/,
      ),
    ]);
    expect((await runProgram(['customer', 'list', '--data', data])).code).toBe(0);
  } finally {
    await service.stop();
  }
});

async function runInNamespace(args: readonly string[]): Promise<Pick<Run, 'code' | 'stderr'>> {
  const [command, ...options] = processNamespace;
  const child = spawn(command, [...options, process.execPath, 'bin/stillage.cjs', ...args], {
    cwd: join(import.meta.dirname, '../..'),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}
