import { signal } from '@preact/signals';
import { AdminClient, type Operator, type Scope } from './admin-client.ts';

/** An operator who is signed in. It lives in the memory of the page alone: nothing of it is stored. */
interface OperatorSession extends Operator {
  readonly client: AdminClient;
}

/** Why the session ended. */
type SignedOut = 'idle' | 'rejected' | 'asked';

const minutes = 60_000;
/** Without a movement for so long, one is signed out: a shared screen stays one's own. */
const idleLimit = 30 * minutes;

export const session = signal<OperatorSession | undefined>(undefined);
export const signedOut = signal<SignedOut | undefined>(undefined);

/** Signs in. @throws S3Failure if the service refuses the token */
export async function signIn(token: string): Promise<void> {
  const client: AdminClient = new AdminClient(token, () => {
    if (session.peek()?.client === client) signOut('rejected');
  });
  const operator = await client.whose();
  signedOut.value = undefined;
  session.value = { ...operator, client };
}

/** Forgets the token. */
export function signOut(why: SignedOut): void {
  session.value = undefined;
  signedOut.value = why;
}

/** Returns whether the operator may do what needs a scope. */
export function may(scope: Scope): boolean {
  const scopes = session.value?.scopes ?? [];
  return scopes.includes(scope) || scopes.includes('manage');
}

/** Signs out who does nothing for a while. Call once. */
export function watchIdleness(): void {
  let used = Date.now();
  const touch = (): void => void (used = Date.now());
  for (const event of ['pointerdown', 'keydown', 'wheel', 'touchstart'])
    addEventListener(event, touch, { passive: true });
  setInterval(() => {
    if (session.peek() !== undefined && Date.now() - used > idleLimit) signOut('idle');
  }, minutes / 2);
}
