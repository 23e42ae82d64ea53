import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { AwsChunkedDecoder } from '../../../../shared/signing/v4/aws-chunked.ts';
import { S3Error } from '../../../../shared/errors/s3-error.ts';
import { runs } from '../../../support/runs/runs.ts';
import { frame, frameSigned } from '../reference-signer.ts';

interface Decoded {
  data: string;
  chunks: { length: number; signature: string | undefined }[];
  trailers: readonly string[] | undefined;
  trailerSignature: string | undefined;
}

function decode(...pieces: (string | Uint8Array)[]): Decoded {
  const decoder = new AwsChunkedDecoder();
  const data: Buffer[] = [];
  const decoded: Decoded = { data: '', chunks: [], trailers: undefined, trailerSignature: undefined };
  let length = 0;
  for (const piece of pieces) {
    for (const one of decoder.decode(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)) {
      if (one.kind === 'data') {
        expect(one.bytes.length).toBeGreaterThan(0);
        length += one.bytes.length;
        data.push(Buffer.from(one.bytes));
      } else if (one.kind === 'chunk-end') {
        decoded.chunks.push({ length, signature: one.signature });
        length = 0;
      } else {
        decoded.trailers = one.lines;
        decoded.trailerSignature = one.signature;
      }
    }
  }
  decoder.end();
  decoded.data = Buffer.concat(data).toString('latin1');
  return decoded;
}

/** Splits the bytes at `cuts`; some pieces are empty. */
function cut(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const bounds = [0, ...cuts.filter((at) => at < bytes.length).sort((a, b) => a - b), bytes.length];
  return bounds.slice(1).map((end, at) => bytes.subarray(bounds[at], end));
}

function codeOf(...pieces: (string | Uint8Array)[]): string {
  try {
    decode(...pieces);
  } catch (error) {
    if (error instanceof S3Error) return error.code;
    throw error;
  }
  return 'accepted';
}

const seed = 'a'.repeat(64);
const signature = 'b'.repeat(64);

describe('AwsChunkedDecoder', () => {
  it('takes frames, signatures and trailers apart', () => {
    expect(
      decode(
        `5;chunk-signature=${signature}\r\nhello\r\n0;chunk-signature=${seed}\r\na:b\r\nx-amz-trailer-signature:${signature}\r\n\r\n`,
      ),
    ).toEqual({
      data: 'hello',
      chunks: [
        { length: 5, signature },
        { length: 0, signature: seed },
      ],
      trailers: ['a:b'],
      trailerSignature: signature,
    });
  });

  it('understands trailers that end in a line feed and a CRLF', () => {
    const wire = `0\r\nx-amz-checksum-crc32:AAAAAA==\n\r\nx-amz-trailer-signature:${signature}\r\n\r\n`;
    expect(decode(wire)).toMatchObject({ trailers: ['x-amz-checksum-crc32:AAAAAA=='], trailerSignature: signature });
    expect(decode('0\r\na:1\nb:2\n\r\n\r\n')).toMatchObject({ trailers: ['a:1', 'b:2'] });
  });

  it('finds nothing in an empty chunk', () => {
    expect(decode('0\r\n\r\n')).toMatchObject({ data: '', chunks: [{ length: 0 }], trailers: [] });
  });

  it('takes sizes in either case and with leading zeros', () => {
    expect(decode('A\r\n0123456789\r\n00b\r\n0123456789a\r\n000\r\n\r\n').data).toBe('01234567890123456789a');
  });

  it('passes data that looks like framing', () => {
    expect(decode('9\r\n0\r\n\r\n\r\n\r\n\r\n0\r\n\r\n').data).toBe('0\r\n\r\n\r\n\r\n');
  });

  it('passes views of what it was given', () => {
    const piece = Buffer.from('5\r\nhello\r\n0\r\n\r\n');
    const [first] = new AwsChunkedDecoder().decode(piece);
    expect(first).toMatchObject({ kind: 'data' });
    expect(first?.kind === 'data' && first.bytes.buffer).toBe(piece.buffer);
  });

  it('does not wait for the end of a chunk', () => {
    const decoder = new AwsChunkedDecoder();
    expect([...decoder.decode(Buffer.from('fffffff\r\nabc'))]).toEqual([{ kind: 'data', bytes: Buffer.from('abc') }]);
    expect([...decoder.decode(Buffer.from('def'))]).toEqual([{ kind: 'data', bytes: Buffer.from('def') }]);
  });

  it('reads the same whatever the pieces are', () => {
    const chunk = fc.uint8Array({ minLength: 1, maxLength: 40 });
    const trailer = fc.stringMatching(/^[a-z-]{1,8}:[ -~]{0,12}$/).filter((line) => !line.startsWith('x-amz-trailer'));
    fc.assert(
      fc.property(
        fc.array(chunk, { maxLength: 6 }),
        fc.option(fc.array(trailer, { maxLength: 3 }), { nil: undefined }),
        fc.boolean(),
        fc.boolean(),
        fc.array(fc.nat(900), { maxLength: 12 }),
        (chunks, trailers, signed, lineFeeds, cuts) => {
          const body = { chunks, ...(trailers && { trailers }), lineFeeds: lineFeeds && (trailers?.length ?? 0) > 0 };
          const wire = signed ? frameSigned(body, seed) : frame(body);
          const whole = decode(wire);
          expect(whole.data).toBe(Buffer.concat(chunks).toString('latin1'));
          expect(whole.chunks.map(({ length }) => length)).toEqual([...chunks.map(({ length }) => length), 0]);
          expect(whole.trailers).toEqual(trailers ?? []);
          expect(decode(...cut(wire, cuts))).toEqual(whole);
          expect(decode(...[...wire].map((byte) => Uint8Array.of(byte)))).toEqual(whole);
        },
      ),
    );
  });

  it('never ends well before the end', () => {
    const wire = frameSigned({ chunks: ['hello', 'world'], trailers: ['a:b'] }, seed);
    for (let length = 0; length < wire.length; length++)
      expect(codeOf(wire.subarray(0, length))).toBe('IncompleteBody');
    expect(codeOf(wire)).toBe('accepted');
  });

  it('throws S3 errors only, whatever it is fed', () => {
    const junk = fc.array(
      fc.oneof(
        fc.constantFrom('\r\n', '\n', '\r', '0', '5', ';chunk-signature=', signature, ':', 'a', '0\r\n', '\r\n\r\n'),
        fc.string({ maxLength: 5 }),
      ),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(junk, fc.array(fc.nat(200)), (words, cuts) => {
        const bytes = Buffer.from(words.join(''), 'latin1');
        expect(codeOf(...cut(bytes, cuts))).toBe(codeOf(bytes));
      }),
      { numRuns: runs(1000) },
    );
  });

  it.each([
    ['nothing', ''],
    ['a size of 2^63', '8000000000000000\r\n'],
    ['a size of 2^64 + 5', '10000000000000005\r\nhello\r\n0\r\n\r\n'],
    ['a size beyond what can be counted', 'fffffffffffffff\r\n'],
    ['a negative size', '-5\r\nhello\r\n0\r\n\r\n'],
    ['a size with a plus', '+5\r\nhello\r\n0\r\n\r\n'],
    ['a size with 0x', '0x5\r\nhello\r\n0\r\n\r\n'],
    ['a size with blanks', ' 5 \r\nhello\r\n0\r\n\r\n'],
    ['no size', '\r\nhello\r\n0\r\n\r\n'],
    ['an unknown extension', '5;a=b\r\nhello\r\n0\r\n\r\n'],
    ['a short signature', `5;chunk-signature=${signature.slice(1)}\r\nhello\r\n0\r\n\r\n`],
    ['two signatures', `5;chunk-signature=${signature};chunk-signature=${signature}\r\nhello\r\n0\r\n\r\n`],
    ['a bare line feed after the size', '5\nhello\r\n0\r\n\r\n'],
    ['a bare line feed after the data', '5\r\nhello\n0\r\n\r\n'],
    ['a bare carriage return after the data', '5\r\nhello\r0\r\n\r\n'],
    ['no CRLF after the data', '5\r\nhello0\r\n\r\n'],
    ['data longer than the size', '4\r\nhello\r\n0\r\n\r\n'],
    ['data shorter than the size', '6\r\nhello\r\n0\r\n\r\n'],
    ['no last chunk', '5\r\nhello\r\n'],
    ['no line at the end', '5\r\nhello\r\n0\r\n'],
    ['bytes after the end', '5\r\nhello\r\n0\r\n\r\nx'],
    ['a second end', '0\r\n\r\n0\r\n\r\n'],
    ['a size line of a megabyte', '0'.repeat(1024 * 1024)],
    ['a size line of 1,025 bytes', `${'0'.repeat(1022)}5\r\nhello\r\n0\r\n\r\n`],
  ])('answers IncompleteBody to %s', (_, wire) => {
    expect(codeOf(wire)).toBe('IncompleteBody');
    expect(codeOf(...[...Buffer.from(wire.slice(0, 3000), 'latin1')].map((byte) => Uint8Array.of(byte)))).toBe(
      'IncompleteBody',
    );
  });

  it('takes a size line of 1,024 bytes', () => {
    expect(codeOf(`${'0'.repeat(1021)}5\r\nhello\r\n0\r\n\r\n`)).toBe('accepted');
  });

  it('takes 16 KiB of trailers and no more', () => {
    const trailers = (bytes: number) => `0\r\na:${'b'.repeat(bytes - 'a:\r\n\r\n'.length)}\r\n\r\n`;
    expect(codeOf(trailers(16 * 1024))).toBe('accepted');
    expect(codeOf(trailers(16 * 1024 + 1))).toBe('MalformedTrailerError');
    expect(codeOf(`0\r\n${'a:b\r\n'.repeat(4000)}\r\n`)).toBe('MalformedTrailerError');
    expect(codeOf(`0\r\n${'\n'.repeat(20_000)}`)).toBe('MalformedTrailerError');
  });

  it('does not go through what it has of a line at each line feed in it', () => {
    const charCodeAt = vi.spyOn(String.prototype, 'charCodeAt');
    try {
      expect(codeOf(`0\r\na:${'\n'.repeat(10_000)}`)).toBe('IncompleteBody');
      const lengths = charCodeAt.mock.contexts.map((text) => (text as string).length);
      expect(lengths.filter((length) => length > 100)).toEqual([]);
    } finally {
      charCodeAt.mockRestore();
    }
  });

  it.each([
    ['without a colon', 'abc'],
    ['without a name', ':abc'],
    ['with a blank in its name', 'a b:c'],
    ['folded', 'a:b\r\n c:d'],
    ['after the signature', `x-amz-trailer-signature:${signature}\r\na:b`],
    ['that is only a line feed', '\n'],
  ])('answers MalformedTrailerError to a trailer %s', (_, trailer) => {
    expect(codeOf(`0\r\n${trailer}\r\n\r\n`)).toBe('MalformedTrailerError');
  });
});
