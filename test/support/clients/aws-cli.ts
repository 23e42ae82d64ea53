import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Endpoint } from '../programs/endpoint.ts';
import { environment, expectCode, run, type Outcome, type RunOptions } from '../programs/programs.ts';
import { alice } from '../programs/server.ts';

/** `aws-cli/1.2.3`, if it answers. */
const version = /^aws-cli\/\S+/.exec(spawnSync('aws', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[0];
export const awsInstalled = version !== undefined;
export const howToInstallAws = 'aws is not installed: pip install awscli, or apt-get install awscli';

/** Returns the settings that `aws` and boto3 need for a service. All others have their defaults. */
export function awsEnvironment(endpoint: Endpoint): Record<string, string> {
  return {
    AWS_ACCESS_KEY_ID: alice.accessKeyId,
    AWS_SECRET_ACCESS_KEY: alice.secretAccessKey,
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: endpoint.url,
    AWS_CA_BUNDLE: endpoint.authority.file,
    AWS_CONFIG_FILE: join(endpoint.folder, 'no-such-config'),
    AWS_SHARED_CREDENTIALS_FILE: join(endpoint.folder, 'no-such-credentials'),
  };
}

/**
 * Runs `aws` to its end, as `run('aws', …)` does, in a copy of a process that has loaded it: to load it takes longer than most commands. Where
 * Python does not find the CLI that `aws` is, each command starts the program.
 */
export async function aws(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const host = await (started ??= startHost());
  // A pipe, from which the CLI reads as it comes.
  if (host === undefined || options.input !== undefined) return run('aws', args, options);
  return expectCode('aws', args, await host.run(args, options), options);
}

interface Host {
  run(args: readonly string[], options: RunOptions): Promise<Outcome>;
}

let started: Promise<Host | undefined> | undefined;

/** Returns the process that has loaded the CLI, or undefined if this machine's Python has another than `aws` is, or none. */
async function startHost(): Promise<Host | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'aws-cli-'));
  const socket = join(folder, 'socket');
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const child = spawn('python3', [join(import.meta.dirname, 'aws-cli-host.py'), socket], {
    env: environment(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const loaded = await firstLine(child);
  if (loaded !== version) {
    console.warn(`each command starts the AWS CLI anew: aws is ${version}, and python3 says ${loaded}`);
    child.kill();
    return undefined;
  }
  // Neither keeps the tests from ending: it ends when they have.
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as unknown as { unref(): void }).unref();
  let count = 0;
  return {
    run: async (args, { env, cwd = process.cwd() }) => {
      const [stdout, stderr] = [join(folder, `${(count += 1)}-stdout`), join(folder, `${count}-stderr`)];
      const connection = connect(socket);
      connection.write(`${JSON.stringify({ args, cwd, stdout, stderr, env: environment(env) })}\n`);
      const code = await text(connection);
      const [bytes, said] = await Promise.all([stdout, stderr].map((file) => readFile(file)));
      rmSync(stdout);
      rmSync(stderr);
      return {
        code: code === '' ? null : Number(code),
        bytes: bytes!,
        stdout: bytes!.toString(),
        stderr: said!.toString(),
      };
    },
  };
}

/** Returns the first line that a process writes to its standard output, or the last that it writes as an error if it ends before. */
function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let [out, err] = ['', ''];
    child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk;
      if (out.includes('\n')) resolve(out.split('\n')[0]!);
    });
    child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (err += chunk));
    child.once('error', ({ message }) => resolve(message));
    child.once('close', () => resolve(err.trim().split('\n').at(-1) ?? ''));
  });
}
