import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Certificates } from './certificates.ts';
import { freePort } from '../runs/free-port.ts';
import { environment } from '../programs/programs.ts';

/** A reverse proxy in front of a service, by its recipe. */
export interface ReverseProxy {
  /** Its ports with and without TLS. The recipes listen with TLS only. */
  readonly ports: { readonly https: number; readonly http: number };
  stop(): Promise<void>;
}

export interface ProxyOptions {
  /** For its files. */
  readonly folder: string;
  readonly certificates: Certificates;
  /** Of the service. */
  readonly port: number;
  /** In the place of `s3.example.com`. */
  readonly domain: string;
}

const recipes = join(import.meta.dirname, '../../../docs/recipes');

/** nginx with docs/recipes/nginx.conf. */
export async function startNginx({ folder, certificates, port, domain }: ProxyOptions): Promise<ReverseProxy> {
  const ports = { https: await freePort(), http: await freePort() };
  const server = await recipe('nginx.conf', [
    ['listen 443 ssl http2;', `listen 127.0.0.1:${ports.https} ssl http2; listen 127.0.0.1:${ports.http};`],
    ['listen [::]:443 ssl http2;', ''],
    ['server_name s3.example.com *.s3.example.com;', `server_name ${domain} *.${domain} 127.0.0.1;`],
    ['/etc/ssl/stillage/fullchain.pem', certificates.certificate],
    ['/etc/ssl/stillage/key.pem', certificates.key],
    ['127.0.0.1:9000', `127.0.0.1:${port}`],
  ]);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const file = join(folder, 'nginx.conf');
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  await writeFile(
    file,
    `daemon off; ${user} worker_processes 1; pid ${join(folder, 'nginx.pid')}; error_log ${join(folder, 'nginx.log')};
events { worker_connections 512; }
http { access_log off; ${temporary.join(' ')}
${server}}
`,
  );
  return started('nginx', ['-p', folder, '-c', file], ports, {});
}

/** Caddy with docs/recipes/Caddyfile. */
export async function startCaddy({ folder, certificates, port, domain }: ProxyOptions): Promise<ReverseProxy> {
  const ports = { https: await freePort(), http: await freePort() };
  const hosts = [domain, `*.${domain}`, '127.0.0.1'];
  const sites = Object.entries(ports).flatMap(([scheme, at]) => hosts.map((host) => `${scheme}://${host}:${at}`));
  const text = await recipe('Caddyfile', [
    ['\ns3.example.com, *.s3.example.com {', `\n${sites.join(', ')} {`],
    ['127.0.0.1:9000', `127.0.0.1:${port}`],
  ]);
  // The same site with a certificate, and without one.
  const [, before, block] = /^([\s\S]*?)\n(http[\s\S]*)$/.exec(text)!;
  const secured = block!.replace(
    /^[^{]*\{/,
    (head) => `${only(head, 'https')}\n\ttls ${certificates.certificate} ${certificates.key}`,
  );
  const plain = block!.replace(/^[^{]*\{/, (head) => only(head, 'http'));
  const file = join(folder, 'Caddyfile');
  await writeFile(file, `{\n\tadmin off\n\tauto_https off\n\tgrace_period 2s\n}\n${before}\n${secured}\n${plain}`);
  await mkdir(join(folder, 'caddy'), { recursive: true });
  const home = { XDG_DATA_HOME: join(folder, 'caddy'), XDG_CONFIG_HOME: join(folder, 'caddy'), HOME: folder };
  return started('caddy', ['run', '--adapter', 'caddyfile', '--config', file], ports, home);
}

/** haproxy with docs/recipes/haproxy.cfg. */
export async function startHaproxy({ folder, certificates, port }: ProxyOptions): Promise<ReverseProxy> {
  const ports = { https: await freePort(), http: await freePort() };
  const both = join(folder, 'fullchain-and-key.pem');
  const parts = await Promise.all([certificates.certificate, certificates.key].map((path) => readFile(path, 'utf8')));
  await writeFile(both, parts.join('\n'), { mode: 0o600 });
  const text = await recipe('haproxy.cfg', [
    ['bind :443 ssl', `bind 127.0.0.1:${ports.http}\n    bind 127.0.0.1:${ports.https} ssl`],
    ['/etc/ssl/stillage/fullchain-and-key.pem', both],
    ['127.0.0.1:9000', `127.0.0.1:${port}`],
  ]);
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, text);
  return started('haproxy', ['-db', '-q', '-f', file], ports, {});
}

/** Of the head of a site's block, the addresses of one scheme. */
function only(head: string, scheme: string): string {
  const addresses = head
    .replace('{', '')
    .split(',')
    .map((one) => one.trim());
  return `${addresses.filter((one) => one.startsWith(`${scheme}://`)).join(', ')} {`;
}

/** The text of a recipe with other names, each of which must be in it. */
async function recipe(name: string, replacements: readonly (readonly [string, string])[]): Promise<string> {
  let text = await readFile(join(recipes, name), 'utf8');
  for (const [given, other] of replacements) {
    // Comments mention the service's options.
    const lines = text.split('\n');
    const isThere = lines.some((line) => !line.trim().startsWith('#') && `\n${line}`.includes(given));
    if (!isThere) throw new Error(`${name} has no ${given}`);
    text = text.replaceAll(given, other);
  }
  return text;
}

async function started(
  program: string,
  args: readonly string[],
  ports: ReverseProxy['ports'],
  env: Readonly<Record<string, string>>,
): Promise<ReverseProxy> {
  const child = spawn(program, args, { env: environment(env), stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  for (let looks = 0; !(await isListening(ports.http)) || !(await isListening(ports.https)); looks += 1) {
    if (child.exitCode !== null || looks > 200) throw new Error(`${program} does not listen: ${said}`);
    await sleep(50);
  }
  return {
    ports,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy().destroyed));
    socket.once('error', () => resolve(false));
  });
}
