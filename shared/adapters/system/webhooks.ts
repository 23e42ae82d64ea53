import { isIP, type LookupFunction } from 'node:net';
import { createHmac } from 'node:crypto';
import { lookup as lookUp, type LookupAddress } from 'node:dns';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import ipaddr from 'ipaddr.js';
import type { Delivery, Notification, Notifier } from '../../ports/notifier.ts';
import type { WebReader } from '../../ports/web-reader.ts';
import type { CallOutcome, WebhookCall, WebhookCaller, WebhookGuard } from '../../ports/webhook-caller.ts';

export interface WebhookOptions {
  /** Targets with any address, and by http, as `host:port` in lower case. */
  readonly allowed: ReadonlySet<string>;
  /** Tells whether a URL leads to this service itself, which is refused unless it is allowed. */
  readonly isOwn?: (url: URL, addresses: readonly string[]) => boolean;
  /** The time-out of one attempt in milliseconds, including name resolution. */
  readonly timeout?: number;
  /** Milliseconds before the first retry; doubled before each further one. */
  readonly pause?: number;
  /** Certificates (PEM) to trust instead of the well-known authorities. */
  readonly authority?: string;
  /** Aborting it breaks off pending calls, which reject, since their outcome is unknown. */
  readonly stopping?: AbortSignal;
  /** Resolves a name to all its addresses. */
  readonly resolve?: (name: string) => Promise<readonly LookupAddress[]>;
}

/** A host that may be asked, and the addresses to ask it at. */
interface Host {
  readonly url: URL;
  readonly pinned: readonly LookupAddress[];
}

/** The outcome of one attempt. */
type Attempt =
  | { readonly end: Delivery }
  /** Another attempt may succeed. */
  | { readonly again: string };

const retries = 3;
/** Small, since little matters in a response but its status. */
const maxHeaderBytes = 8 * 1024;
/** The longest body of a response after which its connection is used again. */
const maxBodyBytes = 16 * 1024;
/** The longest document that is read. */
const maxDocumentBytes = 128 * 1024;
/** How long a connection may wait for the next message, in milliseconds. */
const idleTime = 4000;
const resolveAll = promisify(lookUp);

/**
 * Calls webhooks, and reads documents. Users choose the host names, so a name is resolved once for each call and refused unless all its addresses are
 * public, and a connection goes to the addresses that were checked. Follows no redirects and uses no proxy.
 * https://cheatsheetseries.owasp.org/cheatsheets/Server_Side_Request_Forgery_Prevention_Cheat_Sheet.html
 */
export class Webhooks implements Notifier, WebhookCaller, WebhookGuard, WebReader {
  readonly #allowed: ReadonlySet<string>;
  readonly #isOwn: (url: URL, addresses: readonly string[]) => boolean;
  readonly #timeout: number;
  readonly #pause: number;
  readonly #stopping: AbortSignal;
  readonly #resolve: (name: string) => Promise<readonly LookupAddress[]>;
  // Not the global agents, which the environment may configure to use a proxy.
  readonly #agent: Agent;
  readonly #httpAgent = new HttpAgent({ keepAlive: true, timeout: idleTime });

  constructor(options: WebhookOptions) {
    const { allowed, isOwn, timeout = 5000, pause = 1000, authority, stopping, resolve } = options;
    this.#agent = new Agent({ keepAlive: true, timeout: idleTime, ...(authority !== undefined && { ca: authority }) });
    this.#stopping = stopping ?? new AbortController().signal;
    this.#allowed = allowed;
    this.#isOwn = isOwn ?? (() => false);
    this.#timeout = timeout;
    this.#pause = pause;
    this.#resolve = resolve ?? ((name) => resolveAll(name, { all: true, verbatim: true }));
  }

  async send({ target: url, body, id, secret }: Notification): Promise<Delivery> {
    let reason = '';
    for (let attempt = 0; attempt <= retries; attempt += 1) {
      if (attempt > 0) await sleep(this.#pause * 2 ** (attempt - 1), undefined, { signal: this.#stopping });
      const result = judge(await this.call({ url, body, id, secret }));
      if ('end' in result) return result.end;
      reason = result.again;
    }
    return { outcome: 'failed', reason };
  }

  async call(call: WebhookCall): Promise<CallOutcome> {
    const outcome = await this.#call(call);
    this.#stopping.throwIfAborted();
    return outcome;
  }

  async read(text: string): Promise<string | undefined> {
    const deadline = this.#deadline();
    const host = await this.#permitted(text, deadline);
    const found = 'outcome' in host ? undefined : await this.#get(host, deadline);
    this.#stopping.throwIfAborted();
    return found;
  }

  async refusal(url: string): Promise<string | undefined> {
    const host = await this.#permitted(url, this.#deadline());
    this.#stopping.throwIfAborted();
    return 'outcome' in host && host.outcome === 'refused' ? host.reason : undefined;
  }

  async #call(call: WebhookCall): Promise<CallOutcome> {
    const deadline = this.#deadline();
    const host = await this.#permitted(call.url, deadline);
    return 'outcome' in host ? host : this.#post(host, call, deadline);
  }

  #deadline(): AbortSignal {
    return AbortSignal.any([AbortSignal.timeout(this.#timeout), this.#stopping]);
  }

  /** Returns the host of a URL, with its addresses, if it may be asked. */
  async #permitted(text: string, deadline: AbortSignal): Promise<Host | (CallOutcome & { readonly reason: string })> {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isAllowed = url !== undefined && this.#isAllowed(url);
    if (url?.protocol !== 'https:' && !(isAllowed && url.protocol === 'http:'))
      return { outcome: 'refused', reason: 'only https URLs are called' };
    let pinned: readonly LookupAddress[];
    try {
      pinned = await within(deadline, this.#resolve(url.hostname.replace(/^\[|\]$/g, '')));
    } catch {
      pinned = [];
    }
    if (pinned.length === 0) return { outcome: 'unreachable', reason: 'the host name could not be resolved' };
    const addresses = pinned.map(({ address }) => address);
    if (!isAllowed && !addresses.every(isPublicAddress))
      return { outcome: 'refused', reason: 'the address of the host is not public' };
    if (!isAllowed && this.#isOwn(url, addresses))
      return { outcome: 'refused', reason: 'the host is this service itself' };
    return { url, pinned };
  }

  #isAllowed({ protocol, hostname, port }: URL): boolean {
    const ownPort = protocol === 'http:' ? '80' : '443';
    return this.#allowed.has(`${hostname}:${port === '' ? ownPort : port}`);
  }

  /** Reads one document from checked addresses. */
  #get({ url, pinned }: Host, signal: AbortSignal): Promise<string | undefined> {
    const isSecure = url.protocol === 'https:';
    return new Promise((resolve) => {
      const call = (isSecure ? request : httpRequest)(url, {
        headers: { accept: 'application/json', 'user-agent': 'Stillage' },
        agent: isSecure ? this.#agent : this.#httpAgent,
        signal,
        maxHeaderSize: maxHeaderBytes,
        lookup: lookupOf(pinned),
      });
      call.once('response', (response) => {
        if (response.statusCode === 200) return resolve(textOf(response).catch(() => undefined));
        discard(response);
        resolve(undefined);
      });
      call.once('error', () => resolve(undefined));
      call.end();
    });
  }

  /** Sends one request to checked addresses. The certificate must be for the host name. */
  #post(
    { url, pinned }: Host,
    { body: text, id, secret, contentType = 'application/json' }: WebhookCall,
    signal: AbortSignal,
  ): Promise<CallOutcome> {
    const body = Buffer.from(text);
    const headers = {
      'content-type': contentType,
      'content-length': body.byteLength,
      'user-agent': 'Stillage',
      'x-stillage-delivery': id,
      ...(secret !== undefined && {
        'x-stillage-signature': webhookSignature(secret, Math.floor(Date.now() / 1000), text),
      }),
    };
    const isSecure = url.protocol === 'https:';
    return new Promise((resolve) => {
      const call = (isSecure ? request : httpRequest)(url, {
        method: 'POST',
        headers,
        agent: isSecure ? this.#agent : this.#httpAgent,
        signal,
        maxHeaderSize: maxHeaderBytes,
        lookup: lookupOf(pinned),
      });
      call.once('response', (response) => {
        const { statusCode: status = 0, headers: its } = response;
        discard(response);
        resolve({ outcome: 'answered', status, retryAfter: readRetryAfter(its['retry-after']) });
      });
      call.once('error', () => {
        const reason = signal.aborted ? 'the host did not answer in time' : 'the host could not be reached';
        resolve({ outcome: 'unreachable', reason });
      });
      call.end(body);
    });
  }
}

/** Returns what finds the addresses that were checked, whatever the name stands for meanwhile. */
function lookupOf(pinned: readonly LookupAddress[]): LookupFunction {
  return (_, options, found) => {
    if (options.all) found(null, [...pinned]);
    else found(null, pinned[0]!.address, pinned[0]!.family);
  };
}

/** Returns the text of a short response, or undefined. */
async function textOf(response: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.byteLength;
    if (length > maxDocumentBytes) return undefined;
    chunks.push(chunk);
  }
  return response.complete ? Buffer.concat(chunks).toString() : undefined;
}

/** Reads a short response to its end, so that the connection can be used again, and breaks off a long one. */
function discard(response: IncomingMessage): void {
  let length = 0;
  response.on('error', () => undefined);
  response.on('data', (chunk: Buffer) => {
    length += chunk.byteLength;
    if (length > maxBodyBytes) response.destroy();
  });
}

/** Returns the milliseconds in a Retry-After field, which is a number of seconds or a date. */
function readRetryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const wait = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}

/** Returns the value of `X-Stillage-Signature`. @param time Unix time in seconds */
export function webhookSignature(secret: string, time: number, body: string): string {
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;
}

/** Judges whether another attempt may succeed. */
function judge(call: CallOutcome): Attempt {
  if (call.outcome !== 'answered') {
    return call.outcome === 'refused' ? { end: { outcome: 'refused', reason: call.reason } } : { again: call.reason };
  }
  const { status } = call;
  if (status >= 200 && status < 300) return { end: { outcome: 'delivered' } };
  const reason = `the host answered ${status}`;
  // For any other status, a retry would get the same response.
  const isPassing = status >= 500 || status === 408 || status === 429;
  return isPassing ? { again: reason } : { end: { outcome: 'failed', reason } };
}

function within<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Error('too late'));
    signal.addEventListener('abort', late, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', late));
  });
}

/** Addresses in public ranges at which cloud providers offer services to their own machines. */
const platformAddresses: ReadonlySet<string> = new Set([
  '168.63.129.16', // Azure's wire server
]);

/** The IPv6 addresses that are assigned on the Internet: https://www.iana.org/assignments/ipv6-address-space */
const globalUnicast = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * Tells whether an address is public: not of this machine, a private network, a link or a provider's internal network,
 * not multicast, not a metadata service, not another form of an IPv4 address, and not reserved.
 */
export function isPublicAddress(text: string): boolean {
  // Only link-local addresses have a zone.
  if (isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast' || platformAddresses.has(address.toString())) return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(globalUnicast);
}
