import type { ChecksumAlgorithm } from '../../checksums/algorithms.ts';
import { parseDigest, printDigest } from '../../checksums/digest-value.ts';
import { startDigest, type DigestAlgorithm, type RunningDigest } from '../../checksums/running-digest.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { RequestMessage } from '../../http/message.ts';
import { EventLoopBudget } from '../../ports/event-loop.ts';
import { AwsChunkedDecoder, type Frame } from '../../signing/v4/aws-chunked.ts';
import type { PayloadHash } from '../../signing/v4/payload-hash.ts';
import type { SigningContext } from '../../signing/v4/sigv4.ts';
import { ChunkSignatures } from '../../signing/v4/sigv4-streaming.ts';
import { announcedLength, readAnnouncedBody, type AnnouncedBody, type AnnouncedTrailer } from './announced-body.ts';
import { startBodyDigests, type BodyDigests, type DigestThreads, type DigestValues } from './body-digests.ts';
import type { Payload, PayloadDigests } from './payload.ts';

/** An operation's requirements for its body. */
export interface BodyWants {
  /** True to compute MD5 and, if the client sent no checksum, CRC64NVME. For operations that stream. */
  readonly digestBody: boolean;
  /**
   * The subject of x-amz-checksum-* headers, the body or the resulting object: completing a multipart upload sends
   * the object's checksum, which does not apply to the document in the body. Default: `body`.
   */
  readonly checksumsDescribe?: 'body' | 'object';
}

/** A body with the fields that describe it: a request, or a form with its file. */
export type SentBody = Pick<RequestMessage, 'fields' | 'body'>;

/** The algorithm for objects without a checksum from the client. */
const ownChecksum: ChecksumAlgorithm = 'CRC64NVME';
/** The steps of an {@link EventLoopBudget} that the framing of a chunk takes, whatever its size. */
const stepsPerFrame = 5;

/**
 * The body of a request, verified against everything the request says about it. Checks nothing before the first
 * `next()`, because authorisation comes first; invalid headers are reported then, before the first byte is read.
 */
export class VerifiedBody implements Payload {
  readonly length: number | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
  #digests: PayloadDigests | undefined;

  readonly #threads: DigestThreads | undefined;

  /**
   * @param context the start of the chain of chunk signatures; undefined if the request is not signed
   * @param threads compute digests of large bodies
   */
  constructor(
    request: SentBody,
    hash: PayloadHash,
    wants: BodyWants,
    {
      context,
      threads,
    }: { readonly context?: SigningContext | undefined; readonly threads?: DigestThreads | undefined } = {},
  ) {
    this.#threads = threads;
    this.length = announcedLength(request.fields, hash);
    let begun = false;
    this.bytes = {
      [Symbol.asyncIterator]: () => {
        if (begun) throw new Error('A request body can be read only once.');
        begun = true;
        return this.#read(request, hash, wants, context);
      },
    };
  }

  digests(): PayloadDigests {
    if (this.#digests === undefined) throw new Error('The request body was not read to its end.');
    return this.#digests;
  }

  async *#read(
    { fields, body }: SentBody,
    hash: PayloadHash,
    wants: BodyWants,
    context: SigningContext | undefined,
  ): AsyncGenerator<Uint8Array> {
    const announced = readAnnouncedBody(fields, hash, wants.checksumsDescribe ?? 'body');
    const wire = new WireMeter(announced.wireLength, hash);
    const content = new ContentMeter(announced, wants.digestBody);
    const chunks = announced.chunks && new ChunkVerifier(hash, announced.chunks.trailer, context);
    // Without framing, the bytes as sent are the content.
    const both = new Set([...content.algorithms, ...(chunks === undefined ? wire.algorithms : [])]);
    const digests = await startBodyDigests([...both], this.length, this.#threads);
    const budget = new EventLoopBudget();
    let wireDigests: BodyDigests | undefined;
    try {
      wireDigests = chunks && (await startBodyDigests(wire.algorithms, undefined, undefined));
      for await (const piece of body ?? []) {
        wire.pass(piece);
        if (chunks === undefined) {
          content.pass(piece);
          const wait = digests.update(piece);
          if (wait !== undefined) await wait;
          yield piece;
        } else {
          void wireDigests?.update(piece);
          for (const frame of chunks.decode(piece)) {
            const turn = budget.spend(stepsPerFrame);
            if (turn !== undefined) await turn;
            content.pass(frame);
            const wait = digests.update(frame);
            if (wait !== undefined) await wait;
            yield frame;
          }
        }
      }
      if (!isBareNothing(announced, wire.size)) chunks?.end();
      wire.checkLength();
      const values = await digests.end();
      wire.end(wireDigests === undefined ? values : await wireDigests.end());
      this.#digests = content.end(values, chunks?.trailer);
    } finally {
      digests.abandon();
    }
  }
}

/** Tells whether an empty body lacks even the last chunk, as sent by some clients for an empty object. */
function isBareNothing({ chunks }: AnnouncedBody, wireSize: number): boolean {
  return wireSize === 0 && chunks?.decodedLength === 0 && chunks.trailer === undefined;
}

/** Counts the bytes as sent, and checks their digest. */
class WireMeter {
  size = 0;
  readonly #length: number | undefined;
  readonly #expected: string | undefined;

  constructor(length: number | undefined, hash: PayloadHash) {
    this.#length = length;
    this.#expected = hash.kind === 'digest' ? hash.sha256 : undefined;
  }

  pass(bytes: Uint8Array): void {
    this.size += bytes.length;
    if (this.#length !== undefined && this.size > this.#length) throw new S3Error('IncompleteBody');
  }

  /** The digests that {@link end} needs. */
  get algorithms(): readonly DigestAlgorithm[] {
    return this.#expected === undefined ? [] : ['SHA256'];
  }

  /** Checks that the body is complete. @throws S3Error IncompleteBody */
  checkLength(): void {
    if (this.#length !== undefined && this.size !== this.#length) throw new S3Error('IncompleteBody');
  }

  /** Checks the digest of all bytes. @throws S3Error XAmzContentSHA256Mismatch */
  end(digests: DigestValues): void {
    if (this.#expected === undefined) return;
    const computed = Buffer.from(digests.get('SHA256')!).toString('hex');
    if (computed !== this.#expected) {
      throw new S3Error('XAmzContentSHA256Mismatch', {
        details: { ClientComputedContentSHA256: this.#expected, S3ComputedContentSHA256: computed },
      });
    }
  }
}

/** Counts the decoded bytes, and checks their digests. */
class ContentMeter {
  /** The digests that {@link end} needs. */
  readonly algorithms: readonly DigestAlgorithm[];
  readonly #announced: AnnouncedBody;
  readonly #checksum: ChecksumAlgorithm | undefined;
  #size = 0;

  constructor(announced: AnnouncedBody, digestBody: boolean) {
    this.#announced = announced;
    const sent = announced.checksum?.algorithm ?? announced.chunks?.trailer?.algorithm;
    this.#checksum = sent ?? (digestBody ? ownChecksum : undefined);
    const md5 = digestBody || announced.md5 ? (['MD5'] as const) : [];
    this.algorithms = this.#checksum === undefined ? md5 : [...md5, this.#checksum];
  }

  pass(bytes: Uint8Array): void {
    this.#size += bytes.length;
    const length = this.#announced.chunks?.decodedLength;
    if (length !== undefined && this.#size > length) throw lengthDiffers(length);
  }

  /**
   * Checks the digests at the end.
   * @param digests of all bytes
   * @param trailer the checksum in the trailer
   * @throws S3Error IncompleteBody, BadDigest
   */
  end(digests: DigestValues, trailer: Uint8Array | undefined): PayloadDigests {
    const length = this.#announced.chunks?.decodedLength;
    if (length !== undefined && this.#size !== length) throw lengthDiffers(length);
    const md5 = digests.get('MD5');
    if (this.#announced.md5 && md5) checkMd5(this.#announced.md5, md5);
    const algorithm = this.#checksum;
    if (algorithm === undefined) return { size: this.#size, md5, checksum: undefined };

    const value = digests.get(algorithm)!;
    const expected = this.#announced.checksum?.value ?? trailer;
    if (expected && Buffer.compare(expected, value) !== 0) {
      throw new S3Error('BadDigest', {
        message: `The ${algorithm} you specified did not match the calculated checksum.`,
      });
    }
    return { size: this.#size, md5, checksum: { algorithm, value, type: 'FULL_OBJECT' } };
  }
}

function lengthDiffers(announced: number): S3Error {
  return new S3Error('IncompleteBody', {
    message: `The decoded body does not have the ${announced} bytes announced by x-amz-decoded-content-length.`,
  });
}

function checkMd5(expected: Uint8Array, computed: Uint8Array): void {
  if (Buffer.compare(expected, computed) === 0) return;
  throw new S3Error('BadDigest', {
    message: 'The Content-MD5 you specified did not match what we received.',
    details: { ExpectedDigest: printDigest(expected), CalculatedDigest: printDigest(computed) },
  });
}

/**
 * Removes the framing and verifies its signatures. Passes a chunk's data on at once and verifies its signature at the
 * end of the chunk.
 */
class ChunkVerifier {
  /** The checksum in the announced trailer, once received. */
  trailer: Uint8Array | undefined;
  readonly #decoder = new AwsChunkedDecoder();
  readonly #announced: AnnouncedTrailer | undefined;
  readonly #signatures: ChunkSignatures | undefined;
  #chunk: RunningDigest | undefined;

  constructor(hash: PayloadHash, trailer: AnnouncedTrailer | undefined, context: SigningContext | undefined) {
    this.#announced = trailer;
    if (hash.kind !== 'chunks' || !hash.signed) return;
    if (context === undefined) throw new Error('Signed chunks follow from a signed request.');
    this.#signatures = new ChunkSignatures(context);
    this.#chunk = startDigest('SHA256');
  }

  /** Yields the data in a piece of the body as sent. */
  *decode(piece: Uint8Array): Generator<Uint8Array> {
    for (const frame of this.#decoder.decode(piece)) {
      if (frame.kind === 'data') {
        this.#chunk?.update(frame.bytes);
        yield frame.bytes;
      } else if (frame.kind === 'chunk-end') {
        this.#endChunk(frame.signature);
      } else {
        this.#takeTrailers(frame);
      }
    }
  }

  end(): void {
    this.#decoder.end();
  }

  #endChunk(signature: string | undefined): void {
    if (!this.#signatures || !this.#chunk) return;
    if (signature === undefined) throw new S3Error('IncompleteBody', { message: 'A chunk has no chunk-signature.' });
    this.#signatures.verifyChunk(signature, this.#chunk.digest());
    this.#chunk = startDigest('SHA256');
  }

  #takeTrailers({ lines, signature }: Extract<Frame, { kind: 'trailers' }>): void {
    if (this.#signatures && (lines.length > 0 || signature !== undefined)) {
      if (signature === undefined) throw malformedTrailer('The trailers have no x-amz-trailer-signature.');
      this.#signatures.verifyTrailers(signature, lines);
    }
    const announced = this.#announced;
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).toLowerCase();
      if (announced === undefined || name !== announced.name) throw malformedTrailer('A trailer was not announced.');
      if (this.trailer) throw malformedTrailer(`The trailer ${name} was sent twice.`);
      this.trailer = parseDigest(announced.algorithm, line.slice(colon + 1).trim());
      if (!this.trailer) throw malformedTrailer(`The value of the trailer ${name} is not valid.`);
    }
    if (announced && !this.trailer) throw malformedTrailer(`The trailer ${announced.name} is missing.`);
  }
}

function malformedTrailer(message: string): S3Error {
  return new S3Error('MalformedTrailerError', { message });
}
