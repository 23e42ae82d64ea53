import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import type { Provider } from '../../../shared/accounts/directory.ts';
import type { WebReader } from '../../../shared/ports/web-reader.ts';
import { ProviderKeys } from '../../../shared/signing/web-identity/provider-keys.ts';
import { verifiedIdentity, type WebIdentity } from '../../../functions/sts/web-identity.ts';
import { SetClock } from '../storage/fixed-deps.ts';

/** A key of a provider, and how it is published. */
interface ProviderKey {
  readonly privateKey: KeyObject;
  readonly published: Readonly<Record<string, unknown>>;
}

/** Makes a key for ES256. */
export function newKey(kid: string): ProviderKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey, published: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' } };
}

/** An identity provider without a network, whose documents say what a test wants. */
export class IdentityProvider {
  static readonly issuer = 'https://id.example.com';
  readonly clock = new SetClock();
  readonly key = newKey('one');
  /** The key set, as text. */
  published = JSON.stringify({ keys: [this.key.published] });
  /** Reads its documents. */
  readonly reader: WebReader = {
    read: async (url) =>
      url.endsWith('/.well-known/openid-configuration')
        ? JSON.stringify({ issuer: IdentityProvider.issuer, jwks_uri: `${IdentityProvider.issuer}/keys` })
        : this.published,
  };
  readonly #keys = new ProviderKeys({ clock: this.clock, reader: this.reader });
  readonly #provider: Provider = {
    kind: 'provider',
    key: { pk: '', sk: '' },
    item: {},
    name: 'id.example.com',
    arn: 'arn:aws:iam::123456789012:oidc-provider/id.example.com',
    created: 0,
    tags: [],
    clients: ['shop'],
    thumbprints: [],
  };

  /** Claims that are right. */
  claims(more: object = {}): object {
    const iat = Math.floor(this.clock.now() / 1000);
    return { iss: IdentityProvider.issuer, aud: 'shop', sub: 'job', iat, exp: iat + 3600, ...more };
  }

  /** Signs what may be no JSON. */
  token(payload: string, header: object = {}, { privateKey } = this.key): string {
    const head = JSON.stringify({ alg: 'ES256', kid: 'one', ...header });
    const signed = [head, payload].map((text) => Buffer.from(text).toString('base64url')).join('.');
    const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }

  /** @throws S3Error as STS does for a token */
  verify(token: string): Promise<WebIdentity> {
    const account = {
      provider: async (arn: string) => (arn === this.#provider.arn ? this.#provider : undefined),
      providerArn: (name: string) => `arn:aws:iam::123456789012:oidc-provider/${name}`,
    };
    return verifiedIdentity(token, account, { clock: this.clock, providerKeys: this.#keys });
  }
}
