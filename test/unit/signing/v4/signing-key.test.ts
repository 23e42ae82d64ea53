import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isSignatureOf } from '../../../../shared/signing/v4/signing-key.ts';

describe('isSignatureOf', () => {
  const hmac = (key: Uint8Array, text: string): string =>
    createHmac('sha256', key).update(text, 'latin1').digest('hex');

  it('computes the HMAC of keys and texts of every length, whatever their bytes', () => {
    const keyLengths = [0, 1, 31, 32, 33, 63, 64, 65, 200];
    const textLengths = [0, 1, 55, 56, 63, 64, 65, 143, 1023, 1024, 1025, 5000];
    for (const keyLength of keyLengths) {
      for (const textLength of textLengths) {
        const key = randomBytes(keyLength);
        const text = randomBytes(textLength).toString('latin1');
        const signature = hmac(key, text);
        const other = signature.startsWith('0') ? `1${signature.slice(1)}` : `0${signature.slice(1)}`;
        const found = [isSignatureOf(text, key, signature), isSignatureOf(text, key, other)];
        expect([keyLength, textLength, ...found]).toEqual([keyLength, textLength, true, false]);
      }
    }
  });

  it('confuses no text with one that was longer before', () => {
    const key = randomBytes(32);
    for (const text of ['a'.repeat(1000), 'a', 'b'.repeat(500), '']) {
      expect(isSignatureOf(text, key, hmac(key, text))).toBe(true);
    }
  });

  it('takes nothing but 64 digits in lower case', () => {
    const key = randomBytes(32);
    const signature = hmac(key, 'text');
    for (const wrong of ['', signature.toUpperCase(), `${signature}0`, signature.slice(1), ` ${signature}`]) {
      expect(isSignatureOf('text', key, wrong)).toBe(false);
    }
  });
});
