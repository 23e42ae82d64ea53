import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { environment } from './programs.ts';
import { freePort } from '../runs/free-port.ts';

/*
 * An engine for containers, as far as testcontainers asks: it answers as the documentation of Docker's engine says
 * (https://docs.docker.com/reference/api/engine/version/v1.44/), and for the process of a container it starts the program of this clone, with the
 * variables of the container and the command of the Dockerfile. What an image isolates is not isolated here.
 */

/** The used fields of the body of `POST /containers/create`. */
interface CreatedContainer {
  readonly Image: string;
  readonly Env?: readonly string[];
  readonly ExposedPorts?: Readonly<Record<string, object>>;
  readonly HostConfig?: { readonly PortBindings?: Readonly<Record<string, readonly object[]>> };
}

interface Container {
  readonly id: string;
  readonly created: CreatedContainer;
  readonly port: number;
  process?: ChildProcess;
}

export interface ContainerEngine {
  /** `unix:///tmp/…/engine.sock` */
  readonly host: string;
  /** All that were created. */
  readonly created: readonly CreatedContainer[];
  /** The number of containers left. */
  readonly left: number;
  close(): Promise<void>;
}

interface Reply {
  readonly status: number;
  readonly body?: unknown;
}

const noSuchContainer: Reply = { status: 404, body: { message: 'No such container' } };

/** @param image the one image that the engine has */
export async function startContainerEngine(folder: string, image: string): Promise<ContainerEngine> {
  const containers = new Map<string, Container>();
  const created: CreatedContainer[] = [];
  const stop = async ({ process: child }: Container): Promise<void> => {
    if (!child || child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };

  const answer = async (request: IncomingMessage): Promise<Reply> => {
    const { pathname } = new URL(request.url!, 'http://engine');
    const call = `${request.method} ${pathname.replace(/^\/v[\d.]+/, '')}`;
    if (call === 'GET /info')
      return { status: 200, body: { OperatingSystem: 'Linux', ServerVersion: '28.0.0', Labels: [] } };
    if (call === 'GET /_ping') return { status: 200, body: 'OK' };
    if (call === 'GET /containers/json') return { status: 200, body: [] };
    const asked = /^GET \/images\/(.*)\/json$/.exec(call)?.[1];
    if (asked !== undefined) {
      const isThere = decodeURIComponent(asked) === image;
      return isThere
        ? { status: 200, body: { Id: `sha256:${'1'.repeat(64)}`, Config: {} } }
        : { status: 404, body: { message: 'No such image' } };
    }
    if (call === 'POST /containers/create') {
      const wanted = JSON.parse(await text(request)) as CreatedContainer;
      if (wanted.Image !== image) return { status: 404, body: { message: `No such image: ${wanted.Image}` } };
      const id = String(created.push(wanted)).padStart(64, 'a');
      containers.set(id, { id, created: wanted, port: await freePort() });
      return { status: 201, body: { Id: id, Warnings: [] } };
    }
    const [, method, id = '', action = ''] = /^(\w+) \/containers\/(\w+)(?:\/(\w+))?$/.exec(call) ?? [];
    const container = containers.get(id);
    if (!container) return noSuchContainer;
    switch (`${method} ${action}`) {
      case 'POST start':
        container.process = run(container);
        return { status: 204 };
      case 'GET json':
        return { status: 200, body: inspected(container) };
      case 'POST stop':
        await stop(container);
        return { status: 204 };
      case 'DELETE ':
        await stop(container);
        containers.delete(id);
        return { status: 204 };
      default:
        return { status: 501, body: { message: `the tests' engine does not know ${call}` } };
    }
  };

  const server = createServer((request, response) => {
    answer(request).then(
      ({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
      },
      (error: Error) => response.writeHead(500).end(JSON.stringify({ message: error.message })),
    );
  });
  const path = join(folder, 'engine.sock');
  server.listen(path);
  await once(server, 'listening');
  return {
    host: `unix://${path}`,
    created,
    get left() {
      return containers.size;
    },
    close: async () => {
      for (const container of containers.values()) await stop(container);
      await closed(server);
    },
  };
}

/** The process of a container: the port of the container is one of the machine. */
function run({ created, port }: Container): ChildProcess {
  const env = Object.fromEntries((created.Env ?? []).map((one) => one.split(/=(.*)/s).slice(0, 2) as [string, string]));
  const command = ['bin/stillage.cjs', 'start', '--host', '127.0.0.1', '--port', String(port), '--data', '/data'];
  const root = join(import.meta.dirname, '../../..');
  return spawn(process.execPath, command, { cwd: root, env: environment(env), stdio: 'ignore' });
}

function inspected({ id, created, port, process: child }: Container): object {
  const isRunning = child !== undefined && child.exitCode === null;
  const ports = Object.keys(created.ExposedPorts ?? {}).map(
    (exposed) => [exposed, [{ HostIp: '0.0.0.0', HostPort: String(port) }]] as const,
  );
  return {
    Id: id,
    Name: '/stillage',
    Config: { Image: created.Image, Labels: {}, Hostname: id.slice(0, 12) },
    State: {
      Status: isRunning ? 'running' : 'exited',
      Running: isRunning,
      StartedAt: new Date().toISOString(),
      FinishedAt: '0001-01-01T00:00:00Z',
    },
    HostConfig: { PortBindings: created.HostConfig?.PortBindings ?? {} },
    NetworkSettings: { Ports: Object.fromEntries(ports), Networks: {} },
  };
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
