import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openSession, Sessions, type Session } from '../../../shared/access/session-tokens.ts';
import { AesSecrets } from '../../../shared/adapters/system/aes-secrets.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';

const secrets = new AesSecrets(randomBytes(32));
const sessions = new Sessions({ secrets, randomness: new CryptoRandomness() });
const session: Session = {
  kind: 'federated',
  parent: 'AKPARENT',
  issued: 1,
  expires: 1000,
  name: 'guest',
  policies: ['{}'],
};
const ofRole: Session = {
  kind: 'role',
  role: { project: 'one', name: 'deploy', id: 'ROLE' },
  issued: 1,
  expires: 1000,
  name: 'ci',
  policies: undefined,
};
const refused = (code: string) => expect.objectContaining({ code }) as Error;

describe('a session token', () => {
  it('is opened with its key, until its time', async () => {
    const role = await sessions.begin(ofRole);
    expect(await openSession(secrets, role, 999)).toEqual({ session: ofRole, secret: role.secretAccessKey });
    const made = await sessions.begin(session);
    expect(await openSession(secrets, made, 999)).toEqual({ session, secret: made.secretAccessKey });
    await expect(openSession(secrets, made, 1000)).rejects.toEqual(refused('ExpiredToken'));
  });

  it('is of no use to another key, deployment or purpose', async () => {
    const [made, other] = await Promise.all([sessions.begin(session), sessions.begin(session)]);
    const { sessionToken } = made;
    const invalid = refused('InvalidToken');
    const elsewhere = new AesSecrets(randomBytes(32));
    const sealed = Buffer.from(await secrets.seal(Buffer.from('secret'), made.accessKeyId)).toString('base64url');
    await expect(openSession(secrets, { ...other, sessionToken }, 0)).rejects.toEqual(invalid);
    await expect(openSession(elsewhere, made, 0)).rejects.toEqual(invalid);
    await expect(openSession(secrets, { ...made, sessionToken: sealed }, 0)).rejects.toEqual(invalid);
    await expect(openSession(secrets, { ...made, sessionToken: 'x'.repeat(5000) }, 0)).rejects.toEqual(invalid);
  });

  it('is at most 4 KB long', async () => {
    const policies = (bytes: number): Session => ({ ...session, policies: [randomBytes(bytes).toString('base64')] });
    expect((await sessions.begin(policies(1500))).sessionToken.length).toBeLessThan(4096);
    await expect(sessions.begin(policies(4000))).rejects.toEqual(refused('PackedPolicyTooLarge'));
  });
});
