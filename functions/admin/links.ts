import { asService } from '../../shared/metadata/objects/service-authorisation.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import type { Bucket } from '../../shared/metadata/buckets/bucket.ts';
import { checkVersionId } from '../../shared/metadata/objects/version-id.ts';
import type { PublicLink } from '../../shared/metadata/objects/public-links.ts';
import { publicLinkUrl } from '../../shared/protocol/public-link.ts';
import { argument, command, optional, Refusal, type AdministrationDeps } from './command.ts';

const object = { bucket: argument.text, key: argument.word } as const;
const page = 1000;

export const linkCommands = {
  'link create': command(
    { ...object, versionId: optional(argument.text), expiresSeconds: optional(argument.number) },
    async ({ buckets, objects, publicLinks, settings }, { key, versionId, expiresSeconds, ...given }) => {
      if (versionId !== undefined) checkVersionId(versionId);
      const lifetime = lifetimeOf(expiresSeconds, settings.limits.publicLinkLifetime);
      const bucket = await buckets.load(given.bucket);
      const version = await objects.find(bucket, key, versionId);
      if (version === undefined || version.marker) throw new S3Error('NoSuchKey');
      const { link, token } = await publicLinks.create(asService(bucket, key, versionId), version, lifetime);
      return { ...shown(link), url: publicLinkUrl(settings.publicUrl, token) };
    },
  ),
  'link list': command(object, async (deps, { bucket, key }) => {
    const links = await liveLinks(deps, await deps.buckets.load(bucket), key);
    return links.map(shown);
  }),
  'link revoke': command({ ...object, id: argument.word }, async ({ buckets, publicLinks }, { key, id, ...given }) => {
    const bucket = await buckets.load(given.bucket);
    const link = await publicLinks.find(bucket.id, key, id);
    if (link === undefined) throw new S3Error('NoSuchPublicLink');
    await publicLinks.revoke(asService(bucket, key), link, undefined);
  }),
};

/** Returns the lifetime of a link in milliseconds. @throws Refusal */
function lifetimeOf(seconds: number | undefined, longest: number): number {
  if (seconds === undefined) return longest;
  if (seconds >= 1 && seconds * 1000 <= longest) return seconds * 1000;
  throw new Refusal(`a link may be valid for 1 to ${Math.floor(longest / 1000)} seconds`);
}

/** Returns a link without its location in the table. */
function shown({
  id,
  versionId,
  created,
  expires,
}: PublicLink): Pick<PublicLink, 'id' | 'versionId' | 'created' | 'expires'> {
  return { id, versionId, created, expires };
}

async function liveLinks(
  { objects, publicLinks }: AdministrationDeps,
  bucket: Bucket,
  key: string,
): Promise<readonly PublicLink[]> {
  const live: PublicLink[] = [];
  for (let after = '', more = true; more;) {
    const found = await publicLinks.list(bucket.id, key, { after, limit: page });
    for (const link of found.links) {
      const version = await objects.find(bucket, key, link.versionId);
      if (version?.instance === link.instance) live.push(link);
    }
    after = found.links.at(-1)?.id ?? after;
    ({ more } = found);
  }
  return live;
}
