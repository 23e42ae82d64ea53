import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { alice, startService } from '../support/server.ts';
import { signed, type Key } from '../support/signer.ts';

/** A request of a piece of work; path and query are escaped already. */
export interface Sent {
  readonly method: 'PUT' | 'GET' | 'HEAD' | 'POST';
  readonly path: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

/** A server that takes part. */
export interface Contestant {
  readonly name: string;
  readonly url: string;
  /** Whether it understands more than PUT, GET and HEAD of objects. */
  readonly isStore: boolean;
  /** Sends a request and answers its body, of which only texts are kept. @throws Error for a status of 300 or more */
  send(sent: Sent): Promise<string>;
  /** Begins with new connections: a server may be closing those that were idle for long. */
  reconnect(): void;
  /** Milliseconds of processor time that its processes have used, if that can be seen. */
  processorTime(): number | undefined;
  stop(): Promise<void>;
}

/** The service as a user starts it. */
export async function stillage(): Promise<Contestant> {
  const service = await startService();
  return {
    ...contestant('Stillage', service.url, alice, [service.pid]),
    stop: async () => {
      await service.stop();
    },
  };
}

/** A store that runs already. @param pids of its processes, if they run on this machine and their processor time is to be shown */
export function running(url: string, key: Key, pids: readonly number[]): Contestant {
  return { ...contestant(new URL(url).host, url, key, pids), stop: () => Promise.resolve() };
}

/** The least a store must do: see bare-server. */
export async function bare(): Promise<Contestant> {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-bench-'));
  const child = spawn(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'bare-server.ts'), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', (text: string) => resolve(/http:\S+/.exec(text)![0]));
    child.once('exit', () => reject(new Error('the bare server ended')));
  });
  return {
    ...contestant('bare node:http', url, undefined, [child.pid!]),
    stop: async () => {
      child.kill();
      await new Promise((resolve) => child.once('close', resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function contestant(
  name: string,
  url: string,
  key: Key | undefined,
  pids: readonly number[],
): Omit<Contestant, 'stop'> {
  let agent = new Agent({ keepAlive: true });
  const { hostname, port, host } = new URL(url);
  const headersOf = ({ method, path, query = '', headers = {} }: Sent): Record<string, string> => {
    if (key === undefined) return { ...headers };
    const all = signed(host, { method, path, query, headers }, { key, payloadHash: 'UNSIGNED-PAYLOAD' }).headers;
    return Object.fromEntries(all);
  };
  return {
    name,
    url,
    isStore: key !== undefined,
    send: (sent) =>
      new Promise((resolve, reject) => {
        const { method, path, query, body } = sent;
        const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
        const target = query === undefined ? path : `${path}?${query}`;
        const options = { agent, hostname, port, method, path: target, headers: { ...headersOf(sent), ...length } };
        const outgoing = request(options, (answer) => {
          const isText = answer.headers['content-type']?.includes('xml') === true;
          let text = '';
          if (isText) answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
          else answer.resume();
          answer.on('error', reject).on('end', () => {
            if (answer.statusCode! < 300) resolve(text || (answer.headers.etag ?? ''));
            else reject(new Error(`${method} ${target}: ${answer.statusCode} ${text}`));
          });
        });
        outgoing.on('error', reject).end(body);
      }),
    reconnect: () => {
      agent.destroy();
      agent = new Agent({ keepAlive: true });
    },
    processorTime: () => {
      const times = pids.map(processorTimeOf).filter((time) => time !== undefined);
      return times.length === 0 ? undefined : times.reduce((a, b) => a + b);
    },
  };
}

/** Of a process and all its threads, where /proc tells: in hundredths of a second. */
function processorTimeOf(pid: number): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return undefined;
  }
}
