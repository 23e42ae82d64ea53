import { describe, expect, it } from 'vitest';
import { sniff } from '../../../../console/preview/sniff.ts';

const text = 'Grüße aus Köln, für alle\nin Übersee';

describe('text', () => {
  it('is found in UTF-8, Latin-1 and UTF-16, with and without a byte order mark', () => {
    expect(sniff(Buffer.from(text))).toEqual({ kind: 'text', encoding: 'utf-8' });
    expect(sniff(Buffer.from(text, 'latin1'))).toEqual({ kind: 'text', encoding: 'windows-1252' });
    for (const start of ['', '\ufeff']) {
      const bytes = Buffer.from(start + text, 'utf16le');
      expect(sniff(bytes)).toEqual({ kind: 'text', encoding: 'utf-16le' });
      expect(sniff(Buffer.from(bytes).swap16())).toEqual({ kind: 'text', encoding: 'utf-16be' });
    }
    expect(sniff(Buffer.from('{"größe": 1}', 'utf16le'))).toEqual({ kind: 'json', encoding: 'utf-16le' });
    expect(sniff(Buffer.from('größe;zahl\na;1\n', 'latin1'))).toEqual({ kind: 'csv', encoding: 'windows-1252' });
  });

  it('may be cut in the middle of a character', () => {
    expect(sniff(Buffer.from('a ü').subarray(0, 3))).toEqual({ kind: 'text', encoding: 'utf-8' });
    expect(sniff(Buffer.from('wide', 'utf16le').subarray(0, 7))).toEqual({ kind: 'text', encoding: 'utf-16le' });
  });

  it('is not found in other data', () => {
    const noise = Uint8Array.from({ length: 4_096 }, (_, at) => (at * at * 31 + at * 7 + 13) % 256);
    for (const bytes of [
      [0, 1, 2, 3],
      [0xff, 0xfe, 0, 0xdc],
      [0xc0, 0xc1, 0xf5, 0xff],
      [...noise],
      Array(64).fill(0),
    ]) {
      expect(sniff(Uint8Array.from(bytes))).toEqual({ kind: 'none' });
    }
  });
});
