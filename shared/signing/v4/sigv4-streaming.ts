import { createHash } from 'node:crypto';
import { S3Error } from '../../errors/s3-error.ts';
import type { SigningContext } from './sigv4.ts';
import { isSignatureOf } from './signing-key.ts';

const emptyHash = createHash('sha256').digest('hex');

/**
 * Verifies the signatures of a body that is signed in chunks. Each signature covers the previous one, so chunks cannot
 * be changed, removed or reordered.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html and …/sigv4-streaming-trailers.html
 */
export class ChunkSignatures {
  readonly #context: SigningContext;
  #previous: string;

  constructor(context: SigningContext) {
    this.#context = context;
    this.#previous = context.seed;
  }

  /**
   * Verifies the next chunk; the last one is empty.
   *
   * @param hash SHA-256 of the chunk's data
   * @throws S3Error SignatureDoesNotMatch
   */
  verifyChunk(signature: string, hash: Uint8Array): void {
    this.#verify(signature, 'PAYLOAD', [emptyHash, Buffer.from(hash).toString('hex')]);
  }

  /**
   * Verifies the trailers, after the last chunk.
   *
   * @param lines `name:value` of all trailers except the signature, as sent, as latin1
   * @throws S3Error SignatureDoesNotMatch
   */
  verifyTrailers(signature: string, lines: readonly string[]): void {
    const text = lines.map((line) => `${line}\n`).join('');
    this.#verify(signature, 'TRAILER', [createHash('sha256').update(text, 'latin1').digest('hex')]);
  }

  #verify(signature: string, kind: 'PAYLOAD' | 'TRAILER', hashes: readonly string[]): void {
    const { key, dialect, timestamp, scope } = this.#context;
    const text = [`${dialect.algorithm}-${kind}`, timestamp, scope, this.#previous, ...hashes].join('\n');
    if (!isSignatureOf(text, key, signature)) {
      throw new S3Error('SignatureDoesNotMatch', {
        message: `The signature of ${kind === 'PAYLOAD' ? 'a chunk' : 'the trailers'} does not match.`,
        details: { StringToSign: text, SignatureProvided: signature },
      });
    }
    this.#previous = signature;
  }
}
