import { isIP } from 'node:net';
import { createHmac } from 'node:crypto';
import { lookup as lookUp, type LookupAddress } from 'node:dns';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import ipaddr from 'ipaddr.js';
import type { Delivery, Notification, Notifier } from '../../ports/notifier.ts';

export interface WebhookOptions {
  /** Targets with any address, as `host:port` in lower case. */
  readonly allowed: ReadonlySet<string>;
  /** The time-out of one attempt in milliseconds, including name resolution. */
  readonly timeout?: number;
  /** Milliseconds before the first retry; doubled before each further one. */
  readonly pause?: number;
  /** Certificates (PEM) to trust instead of the well-known authorities. */
  readonly authority?: string;
  /** Aborting it breaks off pending calls, and {@link Webhooks.send} rejects, since their outcome is unknown. */
  readonly stopping?: AbortSignal;
  /** Resolves a name to all its addresses. */
  readonly resolve?: (name: string) => Promise<readonly LookupAddress[]>;
}

/** The outcome of one attempt. */
type Attempt =
  | { readonly end: Delivery }
  /** Another attempt may succeed. */
  | { readonly again: string };

const retries = 3;
/** Small, since nothing matters in a response but its status. */
const maxHeaderBytes = 8 * 1024;
const resolveAll = promisify(lookUp);

/**
 * Calls webhooks. Users choose the host names, so a name is resolved once and refused unless all its addresses are
 * public, and the connection goes to the addresses that were checked. Follows no redirects and uses no proxy.
 * https://cheatsheetseries.owasp.org/cheatsheets/Server_Side_Request_Forgery_Prevention_Cheat_Sheet.html
 */
export class Webhooks implements Notifier {
  readonly #allowed: ReadonlySet<string>;
  readonly #timeout: number;
  readonly #pause: number;
  readonly #authority: string | undefined;
  readonly #stopping: AbortSignal;
  readonly #resolve: (name: string) => Promise<readonly LookupAddress[]>;

  constructor({ allowed, timeout = 5000, pause = 1000, authority, stopping, resolve }: WebhookOptions) {
    this.#authority = authority;
    this.#stopping = stopping ?? new AbortController().signal;
    this.#allowed = allowed;
    this.#timeout = timeout;
    this.#pause = pause;
    this.#resolve = resolve ?? ((name) => resolveAll(name, { all: true, verbatim: true }));
  }

  async send(notification: Notification): Promise<Delivery> {
    let reason = '';
    for (let attempt = 0; attempt <= retries; attempt += 1) {
      if (attempt > 0) await sleep(this.#pause * 2 ** (attempt - 1), undefined, { signal: this.#stopping });
      const result = await this.#attempt(notification);
      this.#stopping.throwIfAborted();
      if ('end' in result) return result.end;
      reason = result.again;
    }
    return { outcome: 'failed', reason };
  }

  async #attempt(notification: Notification): Promise<Attempt> {
    const url = URL.canParse(notification.target) ? new URL(notification.target) : undefined;
    if (url?.protocol !== 'https:') return { end: { outcome: 'refused', reason: 'only https URLs are called' } };
    const deadline = AbortSignal.any([AbortSignal.timeout(this.#timeout), this.#stopping]);
    let addresses: readonly LookupAddress[];
    try {
      addresses = await within(deadline, this.#resolve(url.hostname.replace(/^\[|\]$/g, '')));
    } catch {
      return { again: 'the host name could not be resolved' };
    }
    if (addresses.length === 0) return { again: 'the host name could not be resolved' };
    if (!this.#isAllowed(url) && !addresses.every(({ address }) => isPublicAddress(address))) {
      return { end: { outcome: 'refused', reason: 'the address of the host is not public' } };
    }
    return this.#post(url, addresses, notification, deadline);
  }

  #isAllowed({ hostname, port }: URL): boolean {
    return this.#allowed.has(`${hostname}:${port === '' ? '443' : port}`);
  }

  /** Sends one request to checked addresses. The certificate must be for the host name. */
  #post(url: URL, pinned: readonly LookupAddress[], notification: Notification, signal: AbortSignal): Promise<Attempt> {
    const body = Buffer.from(notification.body);
    // Not the global agent, which the environment may configure to use a proxy.
    const agent = new Agent({ keepAlive: false, ...(this.#authority !== undefined && { ca: this.#authority }) });
    const headers = {
      'content-type': 'application/json',
      'content-length': body.byteLength,
      'user-agent': 'Stillage',
      'x-stillage-delivery': notification.id,
      ...(notification.secret !== undefined && {
        'x-stillage-signature': webhookSignature(notification.secret, Math.floor(Date.now() / 1000), notification.body),
      }),
    };
    return new Promise((resolve) => {
      const call = request(url, {
        method: 'POST',
        headers,
        agent,
        signal,
        maxHeaderSize: maxHeaderBytes,
        lookup: (_, options, found) => {
          if (options.all) found(null, [...pinned]);
          else found(null, pinned[0]!.address, pinned[0]!.family);
        },
      });
      call.once('response', (response) => {
        const status = response.statusCode ?? 0;
        // The rest of the response is not needed.
        response.destroy();
        resolve(judge(status));
      });
      call.once('error', () => {
        const slow = signal.aborted;
        resolve({ again: slow ? 'the host did not answer in time' : 'the host could not be reached' });
      });
      call.end(body);
    });
  }
}

/** Returns the value of `X-Stillage-Signature`. @param time Unix time in seconds */
export function webhookSignature(secret: string, time: number, body: string): string {
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;
}

function judge(status: number): Attempt {
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
