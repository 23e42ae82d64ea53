import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as S3 from '@aws-sdk/client-s3';
import { second } from '../../ports/durations.ts';
import { TargetFailed, type BackupTarget, type S3Place, type TargetFile } from '../../ports/backup-target.ts';

/** The pauses, in seconds, after which a call that failed is tried again, besides the SDK's own attempts: a network may be away for minutes. */
const pauses = [1, 2, 4, 8, 15, 30, 60];
/** The time without a byte after which a connection counts as lost. */
const idleTime = 60 * second;
const connectTime = 10 * second;
/** The number of keys that one request can remove. */
const removedAtOnce = 1000;

/** Backups in a bucket of any S3, with credentials as the SDK finds them: environment, profile, or the machine's role. */
export class S3Target implements BackupTarget {
  readonly name: string;
  readonly #place: S3Place;
  #loaded: Promise<{ readonly sdk: typeof S3; readonly client: S3.S3Client }> | undefined;

  /** @param name how the operator named it */
  constructor(name: string, place: S3Place) {
    this.name = name;
    this.#place = place;
  }

  async put(name: string, bytes: Uint8Array, { ifAbsent }: { readonly ifAbsent?: true } = {}): Promise<boolean> {
    const put = {
      Body: bytes,
      ContentLength: bytes.length,
      ContentMD5: createHash('md5').update(bytes).digest('base64'),
      ...(ifAbsent && { IfNoneMatch: '*' }),
    };
    return this.#calling(
      ({ client, sdk }) =>
        client.send(new sdk.PutObjectCommand({ ...this.#object(name), ...put })).then(
          () => true,
          (error: unknown) => {
            if (ifAbsent && statusOf(error) === 412) return false;
            throw error;
          },
        ),
      'write to',
    );
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    return this.#calling(async ({ client, sdk }) => {
      try {
        const { Body: body } = await client.send(new sdk.GetObjectCommand(this.#object(name)));
        return await body!.transformToByteArray();
      } catch (error) {
        if ((error as Error).name === 'NoSuchKey') return undefined;
        throw error;
      }
    }, 'read');
  }

  async *list(prefix: string): AsyncIterable<TargetFile> {
    const { bucket, prefix: own } = this.#place;
    for (let token: string | undefined, more = true; more;) {
      const page: S3.ListObjectsV2CommandOutput = await this.#calling(
        ({ client, sdk }) =>
          client.send(new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: own + prefix, ContinuationToken: token })),
        'list',
      );
      for (const { Key: key, Size: size, LastModified: at } of page.Contents ?? []) {
        yield { name: key!.slice(own.length), size: size!, writtenAt: at!.getTime() };
      }
      ({ NextContinuationToken: token } = page);
      more = page.IsTruncated === true;
    }
  }

  async remove(names: readonly string[]): Promise<void> {
    for (let at = 0; at < names.length; at += removedAtOnce) {
      const some = names.slice(at, at + removedAtOnce).map((name) => ({ Key: this.#place.prefix + name }));
      const { Errors: errors = [] } = await this.#calling(
        ({ client, sdk }) =>
          client.send(
            new sdk.DeleteObjectsCommand({ Bucket: this.#place.bucket, Delete: { Objects: some, Quiet: true } }),
          ),
        'remove from',
      );
      const [first] = errors;
      if (first) throw new TargetFailed(`cannot remove from ${this.name}: ${first.Code}: ${first.Message}`);
    }
  }

  #object(name: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#place.bucket, Key: this.#place.prefix + name };
  }

  async #calling<Result>(
    call: (loaded: { readonly sdk: typeof S3; readonly client: S3.S3Client }) => Promise<Result>,
    doing: string,
  ): Promise<Result> {
    const loaded = await (this.#loaded ??= this.#load());
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await call(loaded);
      } catch (cause) {
        const pause = mayPass(cause) ? pauses[attempt] : undefined;
        if (pause === undefined) {
          const { name, message } = cause as Error;
          throw new TargetFailed(`cannot ${doing} ${this.name}: ${name}: ${message.split('\n', 1)[0]!}`, { cause });
        }
        await sleep(pause * second);
      }
    }
  }

  async #load(): Promise<{ readonly sdk: typeof S3; readonly client: S3.S3Client }> {
    // The SDK would print warnings about Node.js versions among the program's output.
    process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
    const sdk = await loadSdk();
    const { endpoint, region } = this.#place;
    const client = new sdk.S3Client({
      // Older versions of other S3s know none of the newer checksums. Files have their own.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: connectTime, socketTimeout: idleTime },
      ...(region !== undefined && { region }),
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    });
    return { sdk, client };
  }
}

/** Loads the SDK, which is not installed with the package because most of its users have no other S3. @throws TargetFailed */
async function loadSdk(): Promise<typeof S3> {
  try {
    return await import('@aws-sdk/client-s3');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new TargetFailed(
      'backups in an S3 need the AWS SDK, which is not installed; run: npm install @aws-sdk/client-s3',
    );
  }
}

/** Tells whether an error is that of a network, or of a store that may answer later. */
function mayPass(error: unknown): boolean {
  const status = statusOf(error);
  if (status !== undefined) return status >= 500 || status === 429;
  // Of the system, such as ECONNRESET, or the SDK's own; what it says of credentials has neither.
  const { code, name } = error as NodeJS.ErrnoException;
  return (code !== undefined && /^E[A-Z]+$/.test(code)) || name === 'TimeoutError';
}

/** Returns the status of a response that is an error; undefined for what is none. */
function statusOf(error: unknown): number | undefined {
  return (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
