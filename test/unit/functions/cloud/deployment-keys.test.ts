import { describe, expect, it } from 'vitest';
import { deploymentKeys } from '../../../../functions/cloud/deployment-keys.ts';

const secret = 'a'.repeat(64);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('the keys of a deployment', () => {
  // openssl kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt key:aaaa… -kdfopt info:'stillage sealing' HKDF
  // Were they to change, no sealed access key could be opened any more.
  it('never change', () => {
    const { sealing, tokens } = deploymentKeys(secret);
    expect(hex(sealing)).toBe('f370a7b7b56e3f7ec988524a311b0be16536d545efe90cc28f38f96b2521e1bd');
    expect(hex(tokens)).toBe('5d839ea76c22b4e8c2d5df03826528d095e1ab4bab936fdff56834ea73c9e2f8');
  });

  it('differ with the secret', () => {
    expect(deploymentKeys('b'.repeat(64)).sealing).not.toEqual(deploymentKeys(secret).sealing);
  });

  it('need a secret of some length', () => {
    expect(() => deploymentKeys('short')).toThrow('too short');
    expect(() => deploymentKeys('')).toThrow('too short');
  });
});
