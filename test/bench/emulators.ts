import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { buildPackage } from '../../bin/build.mjs';
import { run } from '../support/programs/programs.ts';
import { contestant, type Contestant } from './contestants.ts';

/** A server for tests, in a process of its own. */
export interface Emulator extends Contestant {
  /** Milliseconds from starting its process until it answered a PUT. */
  readonly started: number;
  /** Stops the server and starts it again in the same process. @returns milliseconds until it answered a PUT */
  startAgain?(): Promise<number>;
  /** Restores one empty bucket. @returns milliseconds */
  reset?(): Promise<number>;
}

/** A kind of server; or why it cannot be measured here. */
export type EmulatorKind =
  { readonly name: string; start(): Promise<Emulator> } | { readonly name: string; readonly missing: string };

const root = join(import.meta.dirname, '../..');
// s3rver knows one key; moto accepts any.
const key = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
const probe = { method: 'PUT', path: '/bench/probe', body: 'probe' } as const;

/** The version of s3rver that is installed if no directory with one is named. */
const s3rver = 's3rver@3.7.1';

/**
 * Returns the servers to compare: Stillage as packed, ephemeral and durable, s3rver and moto.
 * @param folder a directory for temporary files
 * @param s3rverProject a directory in which npm has installed s3rver; undefined: it is installed into `folder`
 */
export async function emulatorKinds(
  folder: string,
  s3rverProject: string | undefined,
): Promise<readonly EmulatorKind[]> {
  await buildPackage();
  const module = join(root, 'dist/package/index.mjs');
  return [
    hosted('Stillage, ephemeral', 'ephemeral', module, folder),
    hosted('Stillage, durable', 'durable', module, folder),
    await s3rverKind(folder, s3rverProject),
    await motoKind(),
  ];
}

async function s3rverKind(folder: string, project: string | undefined): Promise<EmulatorKind> {
  try {
    const installed = project ?? (await installS3rver(folder));
    const module = createRequire(join(installed, 'package.json')).resolve('s3rver');
    const { version } = JSON.parse(await readFile(join(module, '../../package.json'), 'utf8')) as { version: string };
    return hosted(`s3rver ${version}`, 's3rver', module, folder);
  } catch (error) {
    const [reason] = (error as Error).message.split('\n');
    return {
      name: 's3rver',
      missing: `${reason}: run \`npm install ${s3rver}\` in a directory and name it by --s3rver`,
    };
  }
}

async function installS3rver(folder: string): Promise<string> {
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', s3rver], { cwd: folder });
  return folder;
}

async function motoKind(): Promise<EmulatorKind> {
  const version = await run('pip', ['show', 'moto']).then(
    ({ stdout }) => /^Version: (\S+)/m.exec(stdout)?.[1],
    () => undefined,
  );
  const isThere = await run('moto_server', ['--help']).then(
    () => true,
    () => false,
  );
  if (!isThere) return { name: 'moto', missing: 'moto_server is not installed: pip install "moto[server]"' };
  const name = version === undefined ? 'moto' : `moto ${version}`;
  return { name, start: () => startMotoServer(name) };
}

/** A server that programs import, in a process that does nothing else, so that it shares no processor time with the client. */
function hosted(name: string, kind: string, module: string, folder: string): EmulatorKind {
  return {
    name,
    start: async () => {
      const directory = await mkdtemp(join(folder, 'data-'));
      const before = performance.now();
      const host = process.execPath;
      const child = spawn(host, [join(import.meta.dirname, 'emulator-host.mjs'), kind, module, directory], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const say = conversation(child, child.stdout);
      const base = contestant(name, addressIn(await say()), key, [child.pid!]);
      await base.send(probe);
      const started = performance.now() - before;
      const command = (text: string): Promise<string> => {
        child.stdin.write(`${text}\n`);
        return say();
      };
      return {
        ...base,
        started,
        startAgain: async () => {
          base.reconnect();
          await command('stop');
          const beforeStart = performance.now();
          await command('start');
          await base.send(probe);
          return performance.now() - beforeStart;
        },
        ...(kind !== 'durable' && { reset: async () => Number(/[\d.]+/.exec(await command('reset'))![0]) }),
        stop: async () => {
          base.reconnect();
          await ended(child);
          await rm(directory, { recursive: true, force: true });
        },
      };
    },
  };
}

async function startMotoServer(name: string): Promise<Emulator> {
  const before = performance.now();
  const child = spawn('moto_server', ['-H', '127.0.0.1', '-p', '0'], { stdio: ['pipe', 'ignore', 'pipe'] });
  const say = conversation(child, child.stderr, /Running on http/);
  const base = contestant(name, addressIn(await say()), key, [child.pid!]);
  const createBucket = (): Promise<string> => base.send({ method: 'PUT', path: '/bench' });
  await createBucket();
  await base.send(probe);
  return {
    ...base,
    started: performance.now() - before,
    // https://docs.getmoto.org/en/latest/docs/server_mode.html#reset-api
    reset: async () => {
      const beforeReset = performance.now();
      await base.send({ method: 'POST', path: '/moto-api/reset' });
      await createBucket();
      return performance.now() - beforeReset;
    },
    stop: async () => {
      base.reconnect();
      await ended(child);
    },
  };
}

type Child = ChildProcessByStdio<Writable, Readable | null, Readable | null>;

/** Returns a function that reads the next line of a process's output. It reads on in between, since a full pipe would block the process. */
function conversation(child: Child, stream: Readable, wanted = /./): () => Promise<string> {
  const lines: string[] = [];
  const waiting: (() => void)[] = [];
  const wake = (): void => waiting.splice(0).forEach((each) => each());
  createInterface(stream).on('line', (line) => {
    if (wanted.test(line)) lines.push(line);
    wake();
  });
  let isOver = false;
  child.once('exit', () => {
    isOver = true;
    wake();
  });
  return async () => {
    while (lines.length === 0) {
      if (isOver) throw new Error(`${child.spawnfile} ended with ${String(child.exitCode)}`);
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    return lines.shift()!;
  };
}

function addressIn(line: string): string {
  return /http:\/\/[\w.]+:\d+/.exec(line)![0];
}

async function ended(child: Child): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
