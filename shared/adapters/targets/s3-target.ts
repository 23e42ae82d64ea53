import { createHash } from 'node:crypto';
import type * as S3 from '@aws-sdk/client-s3';
import { TargetFailed, type BackupTarget, type S3Place, type TargetFile } from '../../ports/backup-target.ts';
import { failed, loadClient, persistently, statusOf, type LoadedClient } from './s3-client.ts';

/** The number of keys that one request can remove. */
const removedAtOnce = 1000;

/** Backups in a bucket of any S3, with credentials as the SDK finds them: environment, profile, or the machine's role. */
export class S3Target implements BackupTarget {
  readonly name: string;
  readonly #place: S3Place;
  #loaded: Promise<LoadedClient> | undefined;

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

  async #calling<Result>(call: (loaded: LoadedClient) => Promise<Result>, doing: string): Promise<Result> {
    const loaded = await (this.#loaded ??= loadClient(this.#place, 'backups in an S3'));
    return persistently(() => call(loaded)).catch((cause: unknown) => {
      throw failed(doing, this.name, cause);
    });
  }
}
