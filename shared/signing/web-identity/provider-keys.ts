import { S3Error } from '../../errors/s3-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { WebReader } from '../../ports/web-reader.ts';

/** The public keys of an identity provider, as it publishes them: https://www.rfc-editor.org/rfc/rfc7517#section-5 */
export interface KeySet {
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

interface Known {
  readonly readAt: number;
  readonly found: Promise<KeySet | undefined>;
}

/** For how long keys are used without asking again, in milliseconds: a key that a provider takes back is refused after it. */
const cacheTime = 5 * 60_000;
/** The time before a provider is asked again, for a key that it did not have or because it did not answer. */
const pause = 15_000;
const maxKnown = 1000;

/**
 * The keys of identity providers. Strangers can have any provider of any project asked, so each is asked once in a while, whatever is sent.
 * https://openid.net/specs/openid-connect-discovery-1_0.html
 */
export class ProviderKeys {
  readonly #reader: WebReader;
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor({ reader, clock }: { readonly reader: WebReader; readonly clock: Clock }) {
    this.#reader = reader;
    this.#clock = clock;
  }

  /**
   * Returns the keys of a provider.
   * @param issuer its URL
   * @param lacking the keys that lacked one: they are read again, if that was some time ago
   * @throws S3Error IDPCommunicationError
   */
  async of(issuer: string, lacking?: KeySet): Promise<KeySet> {
    const known = this.#known.get(issuer);
    const found = known && (await known.found);
    const time = found === undefined || found === lacking ? pause : cacheTime;
    const isFresh = known !== undefined && Math.abs(this.#clock.now() - known.readAt) < time;
    const keys = isFresh ? found : await this.#readAnew(issuer, known);
    if (keys === undefined) throw new S3Error('IDPCommunicationError');
    return keys;
  }

  #readAnew(issuer: string, before: Known | undefined): Promise<KeySet | undefined> {
    const current = this.#known.get(issuer);
    // Others may have asked meanwhile.
    if (current !== undefined && current !== before) return current.found;
    if (this.#known.size >= maxKnown) this.#known.clear();
    const found = this.#read(issuer);
    this.#known.set(issuer, { readAt: this.#clock.now(), found });
    found.catch(() => this.#known.delete(issuer));
    return found;
  }

  async #read(issuer: string): Promise<KeySet | undefined> {
    const separator = issuer.endsWith('/') ? '' : '/';
    const about = await this.#document(`${issuer}${separator}.well-known/openid-configuration`);
    const address = about?.['jwks_uri'];
    if (about?.['issuer'] !== issuer || typeof address !== 'string') return undefined;
    const keys = (await this.#document(address))?.['keys'];
    return Array.isArray(keys) && keys.every(isObject) ? { keys } : undefined;
  }

  async #document(url: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    // Also where a host is permitted that speaks no TLS.
    const text = url.startsWith('https://') ? await this.#reader.read(url) : undefined;
    try {
      const json: unknown = JSON.parse(text ?? '');
      return isObject(json) ? json : undefined;
    } catch {
      return undefined;
    }
  }
}

function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
