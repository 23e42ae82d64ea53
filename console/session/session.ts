import { signal } from '@preact/signals';
import { listBuckets } from '../s3/buckets.ts';
import { isOfKey, S3Client, type RequestRecord } from '../s3/client.ts';
import { isFailure } from '../s3/failure.ts';
import { importSecret, type SecretKey } from '../s3/secret-key.ts';
import type { Config } from './config.ts';
import { clear, read, update, write } from './store.ts';

/** Somebody who is signed in. */
export interface Session {
  readonly client: S3Client;
  readonly accessKeyId: string;
  /** True: the session survives closing the page. */
  readonly kept: boolean;
}

/** The reason why the session ended. */
export type SignedOut = 'idle' | 'elsewhere' | 'rejected' | 'asked';

interface Kept {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly key: CryptoKey;
  /** The time of the last use, in any tab. */
  readonly used: number;
}

const minutes = 60_000;
/** Without a request or a movement for so long, one is signed out: a shared screen stays one's own. */
const idleLimits = { tab: 30 * minutes, kept: 12 * 60 * minutes } as const;

const maxRecords = 1_000;

export const config = signal<Config | undefined>(undefined);
export const session = signal<Session | undefined>(undefined);
export const signedOut = signal<SignedOut | undefined>(undefined);
/** The requests of this session, the newest first. */
export const activity = signal<readonly RequestRecord[]>([]);

let used = Date.now();
/** Returns true while a transfer runs, during which the session does not become idle. */
let isBusy = (): boolean => false;

/** Signs in with an access key. The secret's text is not kept. @throws S3Failure if the service refuses the key. */
export async function signIn(accessKeyId: string, secret: string, keep: boolean): Promise<void> {
  const key = await importSecret(secret);
  const started = clientOf(accessKeyId, key);
  try {
    await listBuckets(started);
  } catch (error) {
    // A key without the right to list buckets is a key.
    if (!isFailure(error, 'AccessDenied')) throw error;
  }
  const kept = keep && key.kind === 'webcrypto';
  if (kept) await keepKey(accessKeyId, key.key);
  else await clear('session');
  start({ client: started, accessKeyId, kept });
}

/** Takes up the session that was kept on this device, if there is one and it is not too old. */
export async function resume(): Promise<void> {
  const kept = (await read('session', 'kept').catch(() => undefined)) as Kept | undefined;
  if (kept === undefined || kept.endpoint !== config.value!.endpoint) return;
  if (Date.now() - kept.used > idleLimits.kept) {
    await clear('session');
    signedOut.value = 'idle';
    return;
  }
  const key: SecretKey = { kind: 'webcrypto', key: kept.key };
  start({ client: clientOf(kept.accessKeyId, key), accessKeyId: kept.accessKeyId, kept: true });
}

/** Forgets the key, here and in the other tabs. */
export async function signOut(why: SignedOut): Promise<void> {
  const was = session.value;
  if (was !== undefined) retired.add(was.client);
  session.value = undefined;
  signedOut.value = why;
  activity.value = [];
  if (was === undefined || why === 'elsewhere') return;
  if (was.kept) channel?.postMessage('signed out');
  await clear('session');
}

/** Lets the queue of transfers say whether one is running. */
export function watchTransfers(busy: () => boolean): void {
  isBusy = busy;
}

function start(begun: Session): void {
  used = Date.now();
  signedOut.value = undefined;
  session.value = begun;
}

/** Clients of ended sessions, whose late responses are ignored. */
const retired = new WeakSet<S3Client>();

function clientOf(accessKeyId: string, secret: SecretKey): S3Client {
  const { endpoint, region } = config.value!;
  const signer = { endpoint, region, credentials: { accessKeyId, secret } };
  const client: S3Client = new S3Client(signer, {
    record: (record) => {
      if (!retired.has(client)) activity.value = [record, ...activity.value].slice(0, maxRecords);
    },
    rejected: () => void confirmRejection(client),
  });
  return client;
}

let isConfirming = false;

/** Ends the session if its key is refused once more: the first time, something may have changed the request on its way. */
async function confirmRejection(client: S3Client): Promise<void> {
  if (isConfirming || session.value?.client !== client) return;
  isConfirming = true;
  try {
    await client.send({ method: 'GET', query: { account: '' } });
  } catch (error) {
    if (isFailure(error) && isOfKey(error) && session.value.client === client) await signOut('rejected');
  } finally {
    isConfirming = false;
  }
}

async function keepKey(accessKeyId: string, key: CryptoKey): Promise<void> {
  const kept: Kept = { endpoint: config.value!.endpoint, accessKeyId, key, used: Date.now() };
  await write('session', 'kept', kept);
}

/**
 * Shares with other tabs when a kept session was last used: an idle tab must not sign out the user of another one. Does nothing if the
 * session was cleared, or belongs to another key.
 */
async function shareUse(accessKeyId: string): Promise<void> {
  await update('session', 'kept', (value) => {
    const kept = value as Kept | undefined;
    if (kept?.accessKeyId !== accessKeyId || kept.endpoint !== config.value!.endpoint) return undefined;
    used = Math.max(used, kept.used);
    return { ...kept, used };
  });
}

const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('stillage');
channel?.addEventListener('message', () => void signOut('elsewhere'));

/** Signs the user out after a period of inactivity. Call once. */
export function watchIdleness(): void {
  const touch = (): void => void (used = Date.now());
  for (const event of ['pointerdown', 'keydown', 'wheel', 'touchstart'])
    addEventListener(event, touch, { passive: true });
  const check = async (): Promise<void> => {
    const current = session.value;
    if (current === undefined) return;
    if (isBusy()) used = Date.now();
    if (current.kept) await shareUse(current.accessKeyId).catch(() => undefined);
    if (session.value !== current) return;
    if (Date.now() - used > (current.kept ? idleLimits.kept : idleLimits.tab)) await signOut('idle');
  };
  setInterval(() => void check(), minutes / 2);
}
