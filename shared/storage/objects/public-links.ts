import { createHash } from 'node:crypto';
import { S3Error } from '../../errors/s3-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Attributes, Change, Item, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { Buckets } from '../buckets/buckets.ts';
import { unlimited, type Room } from '../quotas/quotas.ts';
import { expiry } from '../table/attribute-values.ts';
import { timedId } from '../table/keys/ids.ts';
import { itemBytes } from '../table/item-size.ts';
import { linkKey, linkKeyParts, linkPartition } from '../table/keys/link-keys.ts';
import { conflict, optimistically, slowDown } from '../table/optimistic-write.ts';
import type { ObjectAuthorisation } from '../version-changes/object-authorisation.ts';
import { versionIdOf, type Version } from '../versions/versions.ts';

/** The part of the repository of buckets that commits need. */
type CommittedBuckets = Pick<Buckets, 'readyFor' | 'exactConditions' | 'stale'>;

/** A link by which anybody may read one version of an object for a limited time. Its token is not stored. */
export interface PublicLink {
  /** Identifies the link but does not open it. Ids sort by age. */
  readonly id: string;
  readonly bucket: string;
  readonly bucketId: string;
  readonly key: string;
  /** The version id as clients see it. */
  readonly versionId: string;
  /** Identifies the version exactly: a null version that was overwritten is a different one. */
  readonly instance: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly expires: number;
  /** The SHA-256 of the token, in base64url. */
  readonly hash: string;
}

const tokenBytes = 32;
const tokenForm = /^[-0-9A-Z_a-z]{43}$/;
/** The number of links that a sweep removes at a time: each takes three of the hundred items of a commit. */
const sweepPage = 33;
/** The maximum number of links that a rename moves: each takes four of the hundred items of a commit, and the versions take the others. */
const maxMovedLinks = 20;

/**
 * Public links. Each has three items, written and deleted together: one found by its token, one in the list of its key, and one in
 * the order of expiry. A link does not keep its version from being removed, so readers check that it still exists.
 */
export class PublicLinks {
  readonly #table: KeyValueTable;
  readonly #buckets: CommittedBuckets;
  readonly #clock: Clock;
  readonly #randomness: Randomness;

  constructor(deps: { table: KeyValueTable; buckets: CommittedBuckets; clock: Clock; randomness: Randomness }) {
    this.#table = deps.table;
    this.#buckets = deps.buckets;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
  }

  /**
   * Creates a link to a version.
   * @param lifetime in milliseconds
   * @param room for links of the key
   * @returns the link and its token, which cannot be retrieved later
   * @throws S3Error InvalidRequest (encrypted with a customer key), QuotaExceeded, ServiceUnavailable
   */
  async create(
    authorisation: ObjectAuthorisation,
    version: Version,
    lifetime: number,
    room: Room = unlimited,
  ): Promise<{ readonly link: PublicLink; readonly token: string }> {
    const { bucket, key } = authorisation;
    if (version.encryption?.kind === 'customer') {
      throw new S3Error('InvalidRequest', {
        message: 'An object that is encrypted with a key of its owner cannot be read through a link.',
      });
    }
    if ((await this.#count(bucket.id, key, room.most)) >= room.most) {
      throw new S3Error('QuotaExceeded', { message: `An object may have ${room.most} public links: revoke some.` });
    }
    const token = Buffer.from(this.#randomness.bytes(tokenBytes)).toString('base64url');
    const created = this.#clock.now();
    const link: PublicLink = {
      id: timedId(created, this.#randomness),
      bucket: bucket.name,
      bucketId: bucket.id,
      key,
      versionId: versionIdOf(version),
      instance: version.instance,
      created,
      expires: created + lifetime,
      hash: hashOf(token),
    };
    const items = itemsOf(link);
    const reservation = await room.reserve(items.held);
    try {
      await this.#writeAuthorised(authorisation, version, [items.lookup, items.listed, items.due]);
    } finally {
      reservation.release();
    }
    return { link, token };
  }

  /** Counts the links of a key, up to `most`, those that have expired and are not swept yet included. */
  async #count(bucketId: string, key: string, most: number): Promise<number> {
    if (most === Infinity) return 0;
    return (await this.#table.query(linkPartition.ofKey(bucketId, key), { limit: most })).items.length;
  }

  /** Returns the link that a token opens; undefined if there is none, or it has expired. */
  async open(token: string): Promise<PublicLink | undefined> {
    if (!tokenForm.test(token)) return undefined;
    const attributes = await this.#table.get(linkKey.lookup(hashOf(token)));
    return attributes && this.#live(decode(attributes));
  }

  /** Returns a page of a key's links that have not expired, oldest first, after the id `after`. */
  async list(
    bucketId: string,
    key: string,
    { after, limit }: { readonly after: string; readonly limit: number },
  ): Promise<{ readonly links: readonly PublicLink[]; readonly more: boolean }> {
    const links: PublicLink[] = [];
    const isLive = ({ attributes }: Item): boolean => this.#live(decode(attributes)) !== undefined;
    for (let from = after, more = limit > 0; more;) {
      const page = await this.#table.query(linkPartition.ofKey(bucketId, key), {
        limit: limit + 1,
        ...(from !== '' && { after: from }),
      });
      links.push(...page.items.filter(isLive).map(({ attributes }) => decode(attributes)));
      if (links.length > limit) return { links: links.slice(0, limit), more: true };
      from = page.items.at(-1)?.key.sk ?? from;
      ({ more } = page);
    }
    return { links, more: false };
  }

  /** Returns a link of a key by its id; undefined if there is none, or it has expired. */
  async find(bucketId: string, key: string, id: string): Promise<PublicLink | undefined> {
    const attributes = await this.#table.get({ pk: linkPartition.ofKey(bucketId, key), sk: id });
    return attributes && this.#live(decode(attributes));
  }

  /**
   * Revokes a link to a version.
   * @param authorisation names the version of the link
   * @param version that version, if it still exists
   * @throws S3Error NoSuchPublicLink (the link is for another key), AccessDenied, SlowDown, ServiceUnavailable (the link may still be
   *   valid)
   */
  async revoke(authorisation: ObjectAuthorisation, link: PublicLink, version: Version | undefined): Promise<void> {
    const { bucket, key } = authorisation;
    if (link.bucketId !== bucket.id || link.key !== key) throw new S3Error('NoSuchPublicLink');
    await this.#writeAuthorised(authorisation, version, removal(link));
  }

  /**
   * Returns the changes that move the links of a renamed version, for the commit that renames it. That commit fails if a link is
   * revoked meanwhile. Links to other versions stay.
   * @param target the new key and version, as about to be committed
   * @throws S3Error InvalidRequest if there are too many for a commit
   */
  async moved(
    source: { readonly bucketId: string; readonly key: string; readonly version: Version },
    target: { readonly key: string; readonly version: Version },
  ): Promise<readonly Change[]> {
    const links: PublicLink[] = [];
    for (let after = '', more = true; more;) {
      const page = await this.list(source.bucketId, source.key, { after, limit: maxMovedLinks + 1 });
      links.push(...page.links.filter(({ instance }) => instance === source.version.instance));
      if (links.length > maxMovedLinks) {
        throw new S3Error('InvalidRequest', {
          message: `An object with more than ${maxMovedLinks} public links cannot be renamed: revoke some, or wait until they end.`,
        });
      }
      after = page.links.at(-1)?.id ?? '';
      ({ more } = page);
    }
    const { key, version } = target;
    return links.flatMap((link) => {
      const moved = { ...link, key, versionId: versionIdOf(version), instance: version.instance };
      const { lookup, listed, due } = itemsOf(moved);
      const expect = { is: 'equal', attribute: 'instance', value: link.instance } as const;
      return [{ ...lookup, expect }, due, { key: linkKey.listed(link), delete: true }, listed];
    });
  }

  /** Removes the links that have expired. */
  async sweep(): Promise<void> {
    for (;;) {
      const { items, more } = await this.#table.query(linkPartition.due, { limit: sweepPage });
      const due = items.filter(({ key }) => linkKeyParts.due(key) <= this.#clock.now());
      if (due.length > 0) await this.#write(due.flatMap(({ attributes }) => removal(decode(attributes))));
      if (!more || due.length < items.length) return;
    }
  }

  #live(link: PublicLink): PublicLink | undefined {
    return this.#clock.now() < link.expires ? link : undefined;
  }

  async #writeAuthorised(
    authorisation: ObjectAuthorisation,
    version: Version | undefined,
    changes: readonly Change[],
  ): Promise<void> {
    let { bucket } = authorisation;
    return optimistically(async () => {
      bucket = await this.#buckets.readyFor(bucket);
      const caller = await authorisation.confirmVersion(bucket, version);
      const { outcome } = await this.#table.write(changes, this.#buckets.exactConditions(bucket, caller));
      if (outcome === 'written') return;
      if (outcome === 'unknown') throw new S3Error('ServiceUnavailable');
      bucket = this.#buckets.stale(bucket);
      return conflict;
    }, slowDown);
  }

  /** Writes without conditions, so each write may be repeated. @throws S3Error ServiceUnavailable */
  async #write(changes: readonly Change[]): Promise<void> {
    const { outcome } = await this.#table.write(changes);
    if (outcome !== 'written') throw new S3Error('ServiceUnavailable');
  }
}

/** Returns the changes that write the items of a link, and their bytes, which the listed one has as `held`. */
function itemsOf(link: PublicLink): Readonly<Record<'lookup' | 'listed' | 'due', Change>> & { readonly held: number } {
  const attributes = encode(link);
  const held = 3 * itemBytes(attributes);
  return {
    lookup: { key: linkKey.lookup(link.hash), put: attributes },
    listed: { key: linkKey.listed(link), put: { ...attributes, held } },
    due: { key: linkKey.due(link), put: attributes },
    held,
  };
}

function removal(link: PublicLink): readonly Change[] {
  return [
    { key: linkKey.lookup(link.hash), delete: true },
    { key: linkKey.listed(link), delete: true },
    { key: linkKey.due(link), delete: true },
  ];
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

function encode({ id, bucket, bucketId, key, versionId, instance, created, expires, hash }: PublicLink): Attributes {
  return { id, bucket, bucketId, key, versionId, instance, created, until: expires, hash, ...expiry(expires) };
}

function decode(attributes: Attributes): PublicLink {
  const { id, bucket, bucketId, key, versionId, instance, hash } = attributes as Readonly<Record<string, string>>;
  return {
    ...{ id: id!, bucket: bucket!, bucketId: bucketId!, key: key!, versionId: versionId!, instance: instance! },
    ...{ hash: hash!, created: attributes['created'] as number, expires: attributes['until'] as number },
  };
}
