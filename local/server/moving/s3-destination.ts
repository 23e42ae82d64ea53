import { createHash } from 'node:crypto';
import { TargetFailed } from '../../../shared/ports/backup-target.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import { second } from '../../../shared/ports/durations.ts';
import { RequestRefused, type S3Endpoint, type S3Request } from '../../../shared/ports/s3-endpoint.ts';
import { tag } from '../../../shared/documents/text.ts';
import { parsedXml } from '../../../shared/xml/reader.ts';
import type { ByteRate } from './byte-rate.ts';
import { NotCopied, type Copy, type Destination, type HeldKey } from './destination.ts';
import { grantFields, groupsOf } from './grants.ts';
import { parsedEtag } from './key-plan.ts';
import { PartSizes } from './part-sizes.ts';
import type { BucketAt } from './settings.ts';
import { sourceKeys, wholeOf, type SourceVersion } from './source-listing.ts';
import { Untrue } from './copied-content.ts';
import { describing, documentOf, isOfCredentials, refusalOf, requestOf } from './source-version.ts';

/** The pauses, in seconds, after which a copy is tried again: refusals get the first of them, as others may be answered meanwhile. */
const pauses = [1, 2, 4, 8, 15, 30, 60];
const pausesOfRefusals = 2;
const maxAnswer = 64 * 1024;

/** Headers without which an object is copied to an S3 that refuses them, by what they are. */
const dispensable = [
  ['InvalidStorageClass', /^x-amz-storage-class$/, 'its storage class'],
  ['AccessControlListNotSupported', /^x-amz-grant-/, 'its grants'],
  [
    'NotImplemented',
    /^x-amz-(?:grant-.+|tagging|storage-class|website-redirect-location)$/,
    'its grants, tags, storage class and redirect',
  ],
] as const;

interface S3DestinationDeps {
  readonly source: BucketAt;
  readonly target: BucketAt;
  readonly clock: Clock;
  readonly rate: ByteRate;
  /** The target keeps versions. */
  readonly isVersioned: boolean;
  /** The target has object lock. */
  readonly isLocked: boolean;
  /** Whether grants of objects are read. */
  readonly acls: boolean;
  /** The owner's id at the target, for grants of objects. Undefined: it takes none. */
  readonly owner: string | undefined;
}

/** A bucket of any S3. It gives versions ids and times of its own, so they are compared by what is in them, in their order. */
export class S3Destination implements Destination<SourceVersion> {
  readonly where = 'there';
  readonly covers = true;
  /** Null versions that were copied. They have version ids there. */
  nulls = 0;
  /** Objects whose checksums the target does not keep. */
  withoutChecksum = 0;
  readonly #deps: S3DestinationDeps;

  constructor(deps: S3DestinationDeps) {
    this.#deps = deps;
  }

  get bucket(): string {
    return this.#deps.target.bucket;
  }

  async *keys(prefix: string): AsyncGenerator<HeldKey<SourceVersion>> {
    const { target, isVersioned } = this.#deps;
    for await (const { key, versions } of sourceKeys({ ...target, prefix, isVersioned })) {
      yield { key, versions: async () => versions };
    }
  }

  isSame(source: SourceVersion, held: SourceVersion): boolean {
    return source.marker === held.marker && source.size === held.size && source.etag === held.etag;
  }

  isReplaced(_: SourceVersion, missing: readonly SourceVersion[]): boolean {
    return !this.#deps.isVersioned && missing.length > 0;
  }

  idOf({ id }: SourceVersion): string | undefined {
    return id;
  }

  /** Tries again after what may pass. An answer that was lost is looked for, so that nothing is there twice. */
  async copy(copy: Copy<SourceVersion>): Promise<SourceVersion> {
    const copied = await this.#copy(copy);
    if (copy.version.id === 'null') this.nulls += 1;
    return copied;
  }

  async #copy(copy: Copy<SourceVersion>): Promise<SourceVersion> {
    const { key, version, above, onLoss } = copy;
    const without: RegExp[] = [];
    for (let attempt = 0; ;) {
      try {
        return await this.#copyOnce(copy, without, attempt > 0);
      } catch (error) {
        const lacking = dispensable.find(([code]) => error instanceof RequestRefused && error.code === code);
        if (lacking !== undefined && !without.includes(lacking[1])) {
          without.push(lacking[1]);
          onLoss(`copied without ${lacking[2]}, which the target refuses`);
          continue;
        }
        const tries = mayPass(error) ? (error instanceof TargetFailed ? pauses.length : pausesOfRefusals) : 0;
        if (attempt >= tries) throw refusalOfTarget(error);
        await this.#deps.clock.sleep(pauses[attempt]! * second);
        attempt += 1;
        const top = await this.#top(key);
        const isThere =
          top !== undefined && this.isSame(version, top) && (top.id !== above?.id || top.id === undefined);
        if (isThere) return top;
      }
    }
  }

  async remove(key: string, { id }: SourceVersion): Promise<'removed' | 'locked'> {
    try {
      await this.#send({
        method: 'DELETE',
        key,
        query: this.#deps.isVersioned && id !== undefined ? { versionId: id } : {},
      });
      return 'removed';
    } catch (error) {
      if (error instanceof RequestRefused && error.status === 403) return 'locked';
      throw error;
    }
  }

  /** @param isDoubted the ETag may not be that of the bytes, which are read for it */
  async #copyOnce(copy: Copy<SourceVersion>, without: readonly RegExp[], isDoubted: boolean): Promise<SourceVersion> {
    const { key, version } = copy;
    if (version.marker) {
      const { fields } = await this.#send({ method: 'DELETE', key });
      return { ...version, id: fields['x-amz-version-id'] };
    }
    const { source } = this.#deps;
    const { fields: told } = await source.endpoint
      .send({
        ...requestOf(source.bucket, key, version),
        method: 'HEAD',
        fields: { 'x-amz-checksum-mode': 'ENABLED' },
      })
      .catch((error: unknown) => {
        throw refusalOf(error);
      });
    const described = await this.#described(copy, told);
    const kept = Object.fromEntries(
      Object.entries(described).filter(([name]) => !without.some((pattern) => pattern.test(name))),
    );
    const etag = parsedEtag(version.etag);
    const put =
      etag?.partCount === undefined
        ? await this.#putWhole(copy, kept, told, isDoubted ? undefined : etag?.md5)
        : await this.#putParts(copy, kept, etag.partCount);
    if (put.isTrue) {
      if (put.lacksChecksum === true) this.withoutChecksum += 1;
      if (put.wanted !== version.etag) copy.onLoss('its ETag is another there, so that each run copies it again');
      return { ...version, id: put.id, etag: put.wanted };
    }
    await this.remove(key, { ...version, id: put.id }).catch(() => undefined);
    throw new Untrue('the target answers with an ETag that is not that of its bytes');
  }

  /** Puts an object by one request. @param md5 of its bytes, if it is known */
  async #putWhole(
    { key, version }: Copy<SourceVersion>,
    described: Readonly<Record<string, string>>,
    told: Readonly<Record<string, string>>,
    md5: Buffer | undefined,
  ): Promise<Put> {
    const digest = md5 ?? (await this.#digest(key, version, undefined));
    const checksums = Object.entries(told).filter(([name]) => /^x-amz-checksum-(?!type)/.test(name));
    const { fields } = await this.#send({
      method: 'PUT',
      key,
      fields: { ...described, ...Object.fromEntries(checksums), 'content-md5': digest.toString('base64') },
      body: this.#body(key, version, undefined, version.size),
    });
    const lacksChecksum = checksums.some(([name]) => fields[name] === undefined);
    return { ...putOf(fields, digest.toString('hex')), lacksChecksum };
  }

  /** Puts an object in the parts that it has at the source, as its ETag is made of them. */
  async #putParts(
    { key, version }: Copy<SourceVersion>,
    described: Readonly<Record<string, string>>,
    count: number,
  ): Promise<Put> {
    const { source } = this.#deps;
    const sizes = await new PartSizes(
      source.endpoint,
      requestOf(source.bucket, key, version),
      version.size,
      count,
    ).told();
    if (sizes === undefined) throw new NotCopied('the sizes of its parts are not known');
    const begun = await this.#send({ method: 'POST', key, query: { uploads: '' }, fields: described });
    const uploadId = (await answer(begun.bytes)).one('UploadId').text;
    try {
      const [combined, parts] = [createHash('md5'), [] as string[]];
      let from = 0;
      for (const [at, size] of sizes.sizes.entries()) {
        const range = `bytes=${from}-${from + size - 1}`;
        const md5 = await this.#digest(key, version, range);
        combined.update(md5);
        const part = String(at + 1);
        const { fields } = await this.#send({
          method: 'PUT',
          key,
          query: { partNumber: part, uploadId },
          fields: { 'content-md5': md5.toString('base64') },
          body: this.#body(key, version, range, size),
        });
        if (!putOf(fields, md5.toString('hex')).isTrue) {
          throw new Untrue(`the target answers with an ETag that is not that of part ${part}`);
        }
        parts.push(tag('Part', tag('PartNumber', part) + tag('ETag', `&quot;${md5.toString('hex')}&quot;`)));
        from += size;
      }
      const body = Buffer.from(tag('CompleteMultipartUpload', parts.join('')));
      const ended = await this.#send({ method: 'POST', key, query: { uploadId }, body });
      const etag = (await answer(ended.bytes)).optional('ETag')?.text ?? '';
      return putOf({ ...ended.fields, etag }, `${combined.digest('hex')}-${count}`);
    } catch (error) {
      await this.#send({ method: 'DELETE', key, query: { uploadId } }).catch(() => undefined);
      throw error;
    }
  }

  /** Returns the headers of the object at the target. */
  async #described(
    { key, version, onLoss }: Copy<SourceVersion>,
    told: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, string>>> {
    const { source, clock, isLocked, owner } = this.#deps;
    const of = requestOf(source.bucket, key, version);
    const fields = describing(told);
    const until = Date.parse(fields['x-amz-object-lock-retain-until-date'] ?? '');
    const isOver = until <= clock.now();
    if (isOver || !isLocked) {
      const lock = Object.keys(fields).filter((name) => name.startsWith('x-amz-object-lock-'));
      const lost = isLocked ? lock.filter((name) => !name.endsWith('legal-hold')) : lock;
      for (const name of lost) delete fields[name];
      const isHeld = told['x-amz-object-lock-legal-hold'] === 'ON';
      if (!isLocked && (isHeld || until > clock.now())) onLoss('copied without its lock, as the bucket has none');
    }
    if (told['x-amz-missing-meta'] !== undefined)
      onLoss(`copied without ${told['x-amz-missing-meta']} of its metadata, which no header can hold`);
    if (Number(told['x-amz-tagging-count'] ?? 0) > 0) {
      const tags = await documentOf(source.endpoint, of, 'tagging', 'its tags', onLoss);
      const pairs = tags === undefined ? [] : parsedXml(tags).root.one('TagSet').many('Tag');
      const text = pairs.map((one) => [one.one('Key').text, one.one('Value').text].map(encodeURIComponent).join('='));
      if (text.length > 0) fields['x-amz-tagging'] = text.join('&');
    }
    const acl = this.#deps.acls ? await documentOf(source.endpoint, of, 'acl', 'its ACL', onLoss) : undefined;
    if (acl !== undefined) {
      const { root } = parsedXml(acl);
      const { fields: grants, others } = grantFields(root, owner ?? '');
      if (others > 0) onLoss(`copied without ${others} of its grants, which are to accounts of the source`);
      const toGroups = groupsOf(root).length;
      if (toGroups > 0 && owner === undefined) onLoss('copied without its grants, as the target has no ACLs');
      else if (toGroups > 0) Object.assign(fields, grants);
    }
    return fields;
  }

  /** Returns the MD5 of bytes of the source. */
  async #digest(key: string, version: SourceVersion, range: string | undefined): Promise<Buffer> {
    const md5 = createHash('md5');
    for await (const chunk of this.#read(key, version, range)) md5.update(chunk);
    return md5.digest();
  }

  #body(
    key: string,
    version: SourceVersion,
    range: string | undefined,
    length: number,
  ): NonNullable<S3Request['body']> {
    if (length === 0) return new Uint8Array();
    return { bytes: this.#deps.rate.limited(this.#read(key, version, range)), length };
  }

  async *#read(key: string, version: SourceVersion, range: string | undefined): AsyncGenerator<Uint8Array> {
    const { source } = this.#deps;
    if (version.size === 0) return;
    try {
      const { bytes } = await source.endpoint.send({
        ...requestOf(source.bucket, key, version),
        method: 'GET',
        ...(range !== undefined && { fields: { range } }),
      });
      yield* bytes;
    } catch (error) {
      throw error instanceof RequestRefused ? refusalOf(error) : new NotCopied(`cannot be read: ${String(error)}`);
    }
  }

  async #top(key: string): Promise<SourceVersion | undefined> {
    const { target, isVersioned } = this.#deps;
    for await (const one of sourceKeys({ ...target, prefix: key, isVersioned })) {
      return one.key === key ? one.versions.at(-1) : undefined;
    }
    return undefined;
  }

  #send(request: Omit<S3Request, 'bucket'>): ReturnType<S3Endpoint['send']> {
    const { endpoint, bucket } = this.#deps.target;
    return endpoint.send({ ...request, bucket, once: true });
  }
}

/** What a target has made of a put. */
interface Put {
  readonly id: string | undefined;
  /** The ETag of the bytes that were sent. */
  readonly wanted: string;
  /** It is that which the target answers. */
  readonly isTrue: boolean;
  /** A checksum was sent, of which the target does not tell. */
  readonly lacksChecksum?: boolean;
}

function putOf(fields: Readonly<Record<string, string>>, wanted: string): Put {
  const etag = fields['etag']?.replaceAll('"', '');
  return { id: fields['x-amz-version-id'], wanted, isTrue: etag === wanted };
}

/** Reads an answer, which may be an error although its status is not. @throws RequestRefused */
async function answer(bytes: AsyncIterable<Uint8Array>) {
  const { root } = parsedXml(await wholeOf(bytes, maxAnswer));
  if (root.name !== 'Error') return root;
  throw new RequestRefused(500, root.optional('Code')?.text ?? 'Error', root.optional('Message')?.text ?? '');
}

/** Tells whether a failure may not come again. */
function mayPass(error: unknown): boolean {
  if (error instanceof RequestRefused) {
    return error.status >= 500 || error.status === 429 || ['BadDigest', 'RequestTimeout'].includes(error.code);
  }
  return error instanceof TargetFailed || error instanceof Untrue;
}

function refusalOfTarget(error: unknown): unknown {
  if (error instanceof Untrue) return new NotCopied(error.message);
  if (error instanceof RequestRefused && isOfCredentials(error)) return refusalOf(error);
  return error instanceof RequestRefused ? new NotCopied(`${error.code}: ${error.message}`) : error;
}
