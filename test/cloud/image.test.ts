import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../infra/bundles/operation-descriptions.ts';
import { temporaryDirectory } from '../infra/synthesis.ts';
import { run } from '../support/programs/programs.ts';

/*
 * Tests the image without building it: the files that the Dockerfile copies are put into a directory, in the same two stages, and its
 * command is started there by an unprivileged user. Only the packages are not installed anew.
 */

interface Copy {
  readonly stage: string | undefined;
  readonly sources: readonly string[];
  readonly to: string;
}

interface Stage {
  readonly name: string | undefined;
  readonly copies: readonly Copy[];
  readonly instructions: ReadonlyMap<string, string>;
}

function stagesOf(dockerfile: string): Stage[] {
  const lines = dockerfile
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const stages: { name: string | undefined; copies: Copy[]; instructions: Map<string, string> }[] = [];
  for (const line of lines) {
    const [, instruction = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (instruction === 'FROM')
      stages.push({ name: / AS (\w+)$/.exec(rest)?.[1], copies: [], instructions: new Map() });
    const stage = stages.at(-1)!;
    stage.instructions.set(instruction, rest);
    if (instruction !== 'COPY') continue;
    const [, from, paths = ''] = /^(?:--from=(\w+) )?(.*)$/.exec(rest) ?? [];
    const names = paths.split(' ');
    stage.copies.push({ stage: from, sources: names.slice(0, -1), to: names.at(-1)! });
  }
  return stages;
}

/** Copies the files of a stage into a directory. */
async function unpack({ copies }: Stage, directory: string, other?: string): Promise<void> {
  for (const { stage, sources, to } of copies) {
    for (const source of sources) {
      const from = stage === undefined ? join(root, source) : join(other!, source.replace(/^\/app\//, ''));
      const target = to.endsWith('/') ? join(directory, to, from.split('/').at(-1)!) : join(directory, to);
      if (from.endsWith('node_modules')) continue;
      await mkdir(dirname(target), { recursive: true });
      await cp(from, target, { recursive: true });
    }
  }
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
}

/** The user `nobody`, which only root can switch to. */
const nobody = process.getuid?.() === 0 ? 65_534 : undefined;

const stages = stagesOf(await readFile(join(root, 'Dockerfile'), 'utf8'));
const [build, final] = stages as [Stage, Stage];
const json = (instruction: string): string[] => JSON.parse(final.instructions.get(instruction)!) as string[];
const children: ChildProcess[] = [];
let directory: string;

/** Starts the command of `docker run` with these arguments. */
function start(command: readonly string[], environment: Readonly<Record<string, string>>): ChildProcess {
  const [program, ...args] = [...json('ENTRYPOINT'), ...command];
  expect(program).toBe('node');
  const child = spawn(process.execPath, args, {
    cwd: join(directory, 'app'),
    env: { NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(nobody !== undefined && { uid: nobody, gid: nobody }),
  });
  children.push(child);
  return child;
}

/** Waits for output that matches. */
async function said(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let text = '';
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', (more: string) => {
        text += more;
        const found = pattern.exec(text);
        if (found) resolve(found);
      });
    }
    child.once('exit', (code) => reject(new Error(`it ended with ${String(code)}: ${text}`)));
  });
}

beforeAll(async () => {
  directory = await temporaryDirectory();
  await chmod(directory, 0o755);
  const [built, app, data] = ['build', 'app', 'data'].map((name) => join(directory, name)) as [string, string, string];
  await unpack(build, built);
  const [, programs] = /node bin\/build\.mjs ([\w -]+) &&/.exec(build.instructions.get('RUN')!)!;
  await run(process.execPath, ['bin/build.mjs', ...programs!.split(' ')], { cwd: built });
  await unpack(final, app, built);
  await mkdir(data);
  if (nobody !== undefined) await chown(data, nobody, nobody);
});
afterAll(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await rm(directory, { recursive: true, force: true });
});

describe('the image', () => {
  it('holds what it needs and nothing else, and lets nobody be root', async () => {
    expect(stages).toHaveLength(2);
    expect(final.instructions.get('USER')).toBe('node');
    expect(final.instructions.get('EXPOSE')).toBe('9000');
    // Without it the service goes on, and computes the digests of large uploads in the thread that serves.
    await stat(join(directory, 'app/dist/digest-thread.mjs'));
    await expect(stat(join(directory, 'app/functions'))).rejects.toThrow('ENOENT');
    await expect(stat(join(directory, 'app/test'))).rejects.toThrow('ENOENT');
    const ignored = (await readFile(join(root, '.dockerignore'), 'utf8')).split('\n');
    expect(ignored).toContain('*');
    const own = stages.flatMap(({ copies }) => copies).filter(({ stage }) => stage === undefined);
    for (const source of own.flatMap(({ sources }) => sources)) expect(ignored).toContain(`!${source.split('/')[0]}`);
  });

  it('runs the whole service on one machine, says that it is well, and stops when it is told to', async () => {
    const command = json('CMD').map((word) => (word === '/data' ? join(directory, 'data') : word));
    const at = command.indexOf('--port');
    const child = start(command.with(at + 1, '0'), {});
    const [, port] = await said(child, /listening on http:\/\/0\.0\.0\.0:(\d+)/);
    const [, ...check] = JSON.parse(final.instructions.get('HEALTHCHECK')!.replace(/^.*?CMD /, '')) as string[];
    const checked = async (): Promise<number | null> => {
      const args = check.map((word) => word.replace(':9000/', `:${port}/`));
      return (await run(process.execPath, args, { codes: [0, 1] })).code;
    };
    expect(await checked()).toBe(0);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(await checked()).toBe(1);
  });

  it('runs the byte lane, which says what it is not told', async () => {
    const child = start(['bin/byte-lane.mjs'], {});
    const ended = once(child, 'exit');
    await said(child, /STILLAGE_TABLE is missing/);
    expect(await ended).toEqual([1, null]);
  });
});
