import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { dialectOf } from '../../../../shared/signing/v4/credential-scope.ts';
import type { SigningContext } from '../../../../shared/signing/v4/sigv4.ts';
import { ChunkSignatures } from '../../../../shared/signing/v4/sigv4-streaming.ts';
import { signingKey } from '../../../../shared/signing/v4/signing-key.ts';

const dialect = dialectOf('AWS4-HMAC-SHA256')!;
const secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const hash = (data: Uint8Array) => createHash('sha256').update(data).digest();

function context(seed: string): SigningContext {
  return {
    key: signingKey(secret, { dialect, date: '20130524', region: 'us-east-1', service: 's3' }),
    dialect,
    timestamp: '20130524T000000Z',
    scope: '20130524/us-east-1/s3/aws4_request',
    seed,
  };
}

const chunks = [hash(Buffer.alloc(65536, 'a')), hash(Buffer.alloc(1024, 'a')), hash(Buffer.alloc(0))] as const;

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html#example-signature-calculations-streaming */
const example = {
  seed: '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
  signatures: [
    'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648',
    '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497',
    'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9',
  ],
} as const;

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html#example-signature-calculations-trailing-header */
const trailerExample = {
  seed: '106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e',
  signatures: [
    'b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2',
    '1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7',
    '2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992',
  ],
  trailer: 'x-amz-checksum-crc32c:sOO8/Q==',
  trailerSignature: 'd81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435',
} as const;

describe('ChunkSignatures', () => {
  it.each([example, trailerExample])('follows the example from %j', ({ seed, signatures }) => {
    const chain = new ChunkSignatures(context(seed));
    signatures.forEach((signature, at) => chain.verifyChunk(signature, chunks[at]!));
  });

  it('follows the example of a trailer', () => {
    const chain = new ChunkSignatures(context(trailerExample.seed));
    trailerExample.signatures.forEach((signature, at) => chain.verifyChunk(signature, chunks[at]!));
    chain.verifyTrailers(trailerExample.trailerSignature, [trailerExample.trailer]);
  });

  it.each([
    ['other data', example.signatures[0], chunks[1], example.seed],
    ['another seed', example.signatures[0], chunks[0], '0'.repeat(64)],
    ['the signature of a later chunk', example.signatures[1], chunks[1], example.seed],
    ['a signature in upper case', example.signatures[0].toUpperCase(), chunks[0], example.seed],
    ['a short signature', example.signatures[0].slice(2), chunks[0], example.seed],
    ['no signature', '', chunks[0], example.seed],
  ])('refuses %s', (_, signature, data, seed) => {
    const chain = new ChunkSignatures(context(seed));
    expect(() => chain.verifyChunk(signature, data)).toThrow(
      expect.objectContaining({ code: 'SignatureDoesNotMatch' }) as Error,
    );
  });

  it('refuses changed, added and missing trailers', () => {
    for (const lines of [[], [trailerExample.trailer, 'a:b'], [trailerExample.trailer.replace('sO', 'sP')]]) {
      const chain = new ChunkSignatures(context(trailerExample.seed));
      trailerExample.signatures.forEach((signature, at) => chain.verifyChunk(signature, chunks[at]!));
      expect(() => chain.verifyTrailers(trailerExample.trailerSignature, lines)).toThrow(
        expect.objectContaining({ code: 'SignatureDoesNotMatch' }) as Error,
      );
    }
  });
});
