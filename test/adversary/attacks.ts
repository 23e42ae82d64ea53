import { createHash } from 'node:crypto';
import { routes, type Route } from '../../shared/protocol/operation-table.ts';
import type { Random } from '../linearizability/random.ts';
import { requestBytes } from '../support/clients/raw-client.ts';
import { bob } from '../support/programs/server.ts';
import { anonymous, signed, type Unsigned } from '../support/clients/signer.ts';

/** What an adversary may send in one attack: bytes, and requests and connections at the same time. */
const budget = { bytes: 256 * 1024, connections: 16, requests: 1000 } as const;

const callers = ['anonymous', 'tenant'] as const;
/** Buckets: one that everybody may read and list, one of another project, and the tenant's own. */
const targets = ['public', 'private', 'own'] as const;
const framings = [
  ...(['nothing', 'content-length', 'chunks', 'tiny chunks', 'aws-chunked', 'tiny aws-chunked', 'form'] as const),
  ...(['document', 'expect', 'HTTP/1.0', 'many fields', 'long fields', 'piecemeal'] as const),
] as const;
const leavings = [
  ...(['reads all', 'reads nothing', 'reads slowly', 'half-closes', 'resets at once'] as const),
  ...(['resets in a response', 'stays idle'] as const),
] as const;

/** One way to use a budget. */
export interface Attack {
  readonly caller: (typeof callers)[number];
  readonly target: (typeof targets)[number];
  readonly route: Target;
  readonly framing: (typeof framings)[number];
  readonly leaving: (typeof leavings)[number];
  readonly connections: number;
  /** The requests that each connection sends at once. */
  readonly pipelined: number;
}

/** A route of the API, or a file that another listener serves. */
type Target = Route | { readonly on: 'console' | 'metrics'; readonly method: string; readonly path: string };

/** Every choice, by its name. New operations are among the routes by themselves. */
const choices = {
  caller: callers,
  target: targets,
  route: [
    ...routes,
    ...['/', '/config.json', '/none'].map((path) => ({ on: 'console', method: 'GET', path }) as const),
    ...['/metrics', '/none'].map((path) => ({ on: 'metrics', method: 'GET', path }) as const),
  ] satisfies readonly Target[],
  framing: framings,
  leaving: leavings,
  connections: [1, 4, budget.connections],
  pipelined: [1, 16, budget.requests],
} as const satisfies { readonly [Name in keyof Attack]: readonly Attack[Name][] };

/** The routes whose requests take much work, and others that have most to say: chosen as often as all others together. */
const rich = choices.route.filter(
  (route) =>
    ['console', 'metrics', 'internal', 'website'].includes(route.on) ||
    ('operation' in route && /Object|Part|Multipart|^ListBuckets$/.test(route.operation)),
);

function oneOf<Name extends keyof Attack>(name: Name, random: Random): Attack[Name] {
  if (name === 'route' && random.next() < 0.5) return random.oneOf(rich) as Attack[Name];
  // A body uses up the budget, so that others have many more requests.
  if (name === 'framing' && random.next() < 0.3) return 'nothing' as Attack[Name];
  return random.oneOf<unknown>(choices[name]) as Attack[Name];
}

/** Returns a random attack. */
export function attackOf(random: Random): Attack {
  const names = Object.keys(choices) as (keyof Attack)[];
  return Object.fromEntries(names.map((name) => [name, oneOf(name, random)])) as unknown as Attack;
}

/** Returns an attack that differs in one choice, or more. */
export function neighbourOf(attack: Attack, random: Random): Attack {
  const name = random.oneOf(Object.keys(choices) as (keyof Attack)[]);
  const changed = { ...attack, [name]: oneOf(name, random) };
  return random.next() < 0.3 ? neighbourOf(changed, random) : changed;
}

/** Returns whether an attack may change anything. */
export function mayWrite({ caller, target, route }: Attack): boolean {
  return caller === 'tenant' && target === 'own' && 'operation' in route;
}

/** Describes an attack in a few words. */
export function wordsOf({ caller, target, route, framing, leaving, connections, pipelined }: Attack): string {
  const what = 'operation' in route ? route.operation : `${route.on} ${route.path}`;
  const times = `${connections} × ${pipelined}`;
  return `${what} by ${caller}, bucket ${target}, ${framing}, ${times}, ${leaving}`;
}

/** The services that are attacked, and what they keep for it. */
export interface Victim {
  readonly host: string;
  readonly hosts: { readonly console: string; readonly metrics: string };
  /** A public link, as a path. */
  readonly link: string;
  /** An open upload of each bucket. */
  readonly uploads: Readonly<Record<Attack['target'], string>>;
}

/** Returns the bytes that each connection of an attack sends, within its share of the budget. */
export function bytesOf(attack: Attack, victim: Victim): Buffer {
  const { connections, pipelined } = attack;
  const share = Math.floor(budget.bytes / connections);
  const headOnly = requestOf(attack, victim, 0).byteLength;
  const count = Math.max(1, Math.min(pipelined, Math.floor(share / headOnly)));
  const one = requestOf(attack, victim, Math.max(0, Math.floor(share / count) - headOnly));
  return Buffer.concat(Array.from({ length: count }, () => one));
}

/** Returns the requests that an attack sends in all. */
export function requestsOf(attack: Attack, victim: Victim): number {
  const all = bytesOf(attack, victim).toString('latin1');
  return attack.connections * (all.split(/ HTTP\/1\.[01]\r\n/).length - 1);
}

/** @param room for a body with its framing */
function requestOf(attack: Attack, victim: Victim, room: number): Buffer {
  const { caller, framing } = attack;
  const { unsigned, host } = targetOf(attack, victim);
  const { headers = {}, body, payloadHash } = framed(framing, room);
  const request: Unsigned = { ...unsigned, headers: { ...unsigned.headers, ...headers }, ...(body && { body }) };
  const bytes = requestBytes(
    caller === 'anonymous'
      ? anonymous(host, request)
      : signed(host, request, { key: bob, payloadHash: payloadHash ?? 'UNSIGNED-PAYLOAD' }),
  );
  if (framing !== 'HTTP/1.0') return bytes;
  return Buffer.from(
    bytes.toString('latin1').replace('HTTP/1.1\r\n', 'HTTP/1.0\r\nconnection: keep-alive\r\n'),
    'latin1',
  );
}

function targetOf({ route, target }: Attack, victim: Victim): { readonly unsigned: Unsigned; readonly host: string } {
  const { on, method } = route;
  if (on === 'console' || on === 'metrics') return { unsigned: { method, path: route.path }, host: victim.hosts[on] };
  const { query, parameter, header, path } = route as Route;
  const pairs = [query, parameter?.join('='), ...(query === 'uploadId' ? ['partNumber=1'] : [])];
  const name = query === 'uploadId' ? `uploadId=${victim.uploads[target]}` : undefined;
  const unsigned = {
    method,
    path:
      {
        service: '/',
        bucket: `/${target}`,
        object: `/${target}/large`,
        website: '/',
        internal: path?.replace('/_public/*', victim.link),
      }[on] ?? '/',
    query: pairs.flatMap((pair) => (pair === undefined ? [] : [pair === 'uploadId' ? name! : pair])).join('&'),
    headers: header === undefined ? {} : { [header]: header === 'x-amz-copy-source' ? '/public/large' : 'GET' },
  };
  return {
    unsigned,
    host: on === 'website' ? `${target}.website.${victim.host.replace('127.0.0.1', 'localhost')}` : victim.host,
  };
}

interface Framed {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly payloadHash?: string;
}

const streamed = { 'content-encoding': 'aws-chunked' };
const chunked = (size: number, room: number): string => {
  const chunk = `${size.toString(16)}\r\n${'a'.repeat(size)}\r\n`;
  return `${chunk.repeat(Math.floor(Math.max(0, room - 5) / chunk.length))}0\r\n\r\n`;
};

function framed(framing: Attack['framing'], room: number): Framed {
  switch (framing) {
    case 'nothing':
    case 'HTTP/1.0':
      return {};
    case 'content-length':
    case 'piecemeal':
      return { body: 'a'.repeat(room) };
    case 'expect':
      return { body: 'a'.repeat(room), headers: { expect: '100-continue' } };
    case 'chunks':
    case 'tiny chunks':
      return { body: chunked(framing === 'chunks' ? 4096 : 1, room), headers: { 'transfer-encoding': 'chunked' } };
    case 'aws-chunked':
    case 'tiny aws-chunked': {
      const size = framing === 'aws-chunked' ? 4096 : 1;
      const body = chunked(size, room);
      const length = String(size * (body.split('\r\na').length - 1));
      const headers = { ...streamed, 'x-amz-decoded-content-length': length };
      return { body, headers, payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' };
    }
    case 'form': {
      const part = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n';
      const end = part.replace('"a"', '"file"') + '\r\n--b--\r\n';
      const body = part.repeat(Math.floor(Math.max(0, room - end.length) / part.length)) + end;
      return { body, headers: { 'content-type': 'multipart/form-data; boundary=b' } };
    }
    case 'document': {
      const object = '<Object><Key>a</Key></Object>';
      const body = `<Delete>${object.repeat(Math.floor(Math.max(0, room - 17) / object.length))}</Delete>`;
      return { body, headers: { 'content-md5': createHash('md5').update(body).digest('base64') } };
    }
    case 'many fields':
      return { headers: Object.fromEntries(Array.from({ length: 700 }, (_, at) => [`a${at}`, 'b'])) };
    case 'long fields':
      return { headers: { 'user-agent': 'a'.repeat(3500), referer: `http://a/${'b'.repeat(3500)}` } };
  }
}
