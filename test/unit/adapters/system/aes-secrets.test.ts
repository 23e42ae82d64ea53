import { createDecipheriv } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { AesSecrets } from '../../../../shared/adapters/system/aes-secrets.ts';

const key = new Uint8Array(32).fill(7);
const secrets = new AesSecrets(key);
const plain = Buffer.from('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY');

describe('a sealed secret', () => {
  it('opens with the same key and context', async () => {
    const sealed = await secrets.seal(plain, 'AKALICE');
    expect(Buffer.from(await new AesSecrets(key).open(sealed, 'AKALICE'))).toEqual(plain);
  });

  it('is written as documented', async () => {
    const sealed = await secrets.seal(plain, 'AKALICE');
    expect(sealed[0]).toBe(1);
    expect(sealed).toHaveLength(1 + 12 + 16 + plain.length);
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 13));
    decipher.setAAD(Buffer.from('AKALICE')).setAuthTag(sealed.subarray(13, 29));
    expect(Buffer.concat([decipher.update(sealed.subarray(29)), decipher.final()])).toEqual(plain);
  });

  it('is another one each time', async () => {
    expect(await secrets.seal(plain, 'a')).not.toEqual(await secrets.seal(plain, 'a'));
  });

  it('opens with nothing else', async () => {
    const sealed = await secrets.seal(plain, 'AKALICE');
    const otherKey = new AesSecrets(new Uint8Array(32).fill(8));
    await expect(otherKey.open(sealed, 'AKALICE')).rejects.toThrow('not sealed with this key');
    await expect(secrets.open(sealed, 'AKBOB')).rejects.toThrow('not sealed with this key');
    await expect(secrets.open(sealed.subarray(0, 20), 'AKALICE')).rejects.toThrow('not a sealed secret');
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = sealed.map((byte, index) => (index === at ? byte ^ 1 : byte));
      await expect(secrets.open(changed, 'AKALICE')).rejects.toThrow();
    }
  });
});
