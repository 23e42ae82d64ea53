import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { S3Error } from '../errors/s3-error.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { Secrets } from '../ports/secrets.ts';

/**
 * What a temporary key stands for. It is stored nowhere but in its token, which the client sends with each request: sealed, so that nobody
 * else can make one, read the secret in it, or use it with another key.
 */
export type Session = SessionOfUser | SessionOfRole;

interface Temporary {
  /** In milliseconds since the epoch. */
  readonly issued: number;
  readonly expires: number;
  /** Its policies. Undefined: it may what the user or the role may. Empty: nothing. */
  readonly policies?: readonly string[] | undefined;
}

/** A user's own, or of whom the user gave it to. */
export interface SessionOfUser extends Temporary {
  /** `session`: all rights of the user. `federated`: those of the user that its policy allows as well. */
  readonly kind: 'session' | 'federated';
  /** The id of the permanent access key that it was made with, and ends with. */
  readonly parent: string;
  /** The name of whom the user gave it to. */
  readonly name?: string | undefined;
}

/** A role that somebody has assumed. */
export interface SessionOfRole extends Temporary {
  readonly kind: 'role';
  /** It ends with this role: not a later one of the same name. */
  readonly role: { readonly project: string; readonly name: string; readonly id: string };
  /** The name of the session. */
  readonly name: string;
}

/** A new temporary key. */
export interface TemporaryKey {
  readonly accessKeyId: string;
  readonly sessionToken: string;
  readonly secretAccessKey: string;
  /** The size of what its policies take, in percent of the maximum. */
  readonly packedSize: number;
}

/** The maximum length of a token. It is sent in a header, which clients, proxies and the service limit. */
const maximumToken = 4096;
/** The names of a session's properties in a token. */
interface Packed {
  readonly k: Session['kind'];
  /** Of a role none: earlier versions know no roles, and find no such key. */
  readonly p: string;
  readonly r?: SessionOfRole['role'] | undefined;
  readonly i: number;
  readonly e: number;
  readonly n?: string | undefined;
  readonly l?: readonly string[] | undefined;
  readonly s: string;
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Makes temporary keys. */
export class Sessions {
  readonly #secrets: Secrets;
  readonly #randomness: Randomness;

  constructor({ secrets, randomness }: { readonly secrets: Secrets; readonly randomness: Randomness }) {
    this.#secrets = secrets;
    this.#randomness = randomness;
  }

  /** @throws S3Error PackedPolicyTooLarge */
  async begin(session: Session): Promise<TemporaryKey> {
    const { kind, issued, expires, name, policies } = session;
    const of = session.kind === 'role' ? { p: '', r: session.role } : { p: session.parent };
    const accessKeyId = `ASIA${Array.from(this.#randomness.bytes(16), (byte) => letters[byte & 31]).join('')}`;
    const secretAccessKey = Buffer.from(this.#randomness.bytes(30)).toString('base64');
    const packed: Packed = { k: kind, ...of, i: issued, e: expires, n: name, l: policies, s: secretAccessKey };
    const sealed = await this.#secrets.seal(deflateRawSync(JSON.stringify(packed)), contextOf(accessKeyId));
    const sessionToken = Buffer.from(sealed).toString('base64url');
    if (sessionToken.length > maximumToken) throw new S3Error('PackedPolicyTooLarge');
    const packedSize = Math.ceil((100 * sessionToken.length) / maximumToken);
    return { accessKeyId, secretAccessKey, sessionToken, packedSize };
  }
}

/**
 * Returns the session of a temporary key, and the key's secret.
 * @param now milliseconds since the epoch
 * @throws S3Error InvalidToken (of another key, or not made here), ExpiredToken
 */
export async function openSession(
  secrets: Secrets,
  { accessKeyId, sessionToken }: { readonly accessKeyId: string; readonly sessionToken: string },
  now: number,
): Promise<{ readonly session: Session; readonly secret: string }> {
  if (sessionToken.length > maximumToken || !/^[\w-]+$/.test(sessionToken)) return refuseToken();
  const opened = secrets.open(Buffer.from(sessionToken, 'base64url'), contextOf(accessKeyId));
  const packed = JSON.parse(inflateRawSync(await opened.catch(refuseToken)).toString()) as Packed;
  if (packed.e <= now) throw new S3Error('ExpiredToken');
  const { k: kind, p: parent, r: role, i: issued, e: expires, n: name, l: policies, s: secret } = packed;
  if (kind !== 'role') return { session: { kind, parent, issued, expires, name, policies }, secret };
  return { session: { kind, role: role!, issued, expires, name: name!, policies }, secret };
}

/** @throws S3Error InvalidToken */
export function refuseToken(): never {
  throw new S3Error('InvalidToken');
}

/** Tells tokens from other sealed secrets, and those of each key apart. */
function contextOf(accessKeyId: string): string {
  return `session token of ${accessKeyId}`;
}
