import type { Question } from '../../shared/access/authorise.ts';
import { publicLink, publicLinks as linkListing } from '../../shared/documents/public-links.ts';
import { invalidArgument, S3Error } from '../../shared/errors/s3-error.ts';
import type { Query } from '../../shared/http/query.ts';
import { parsePageSize } from '../../shared/http/listing-parameters.ts';
import { presentVersion } from '../../shared/storage/versions/versions.ts';
import type { PublicLink } from '../../shared/storage/objects/public-links.ts';
import { ownerIn } from '../../shared/protocol/authorisation/ownership.ts';
import { defineOperation, type RequestHead } from '../../shared/protocol/operation.ts';
import { baseUrl, publicLinkUrl } from '../../shared/protocol/public-link.ts';
import { readQuestion } from '../../shared/protocol/objects/questions.ts';
import { roomIn } from '../../shared/protocol/objects/room.ts';
import { parseVersionId } from '../../shared/protocol/objects/version-id.ts';

const idForm = /^[-0-9A-Z_a-z]{28}$/;

interface Named {
  readonly bucket: string;
  readonly key: string;
  readonly versionId: string | undefined;
}

function named({ bucket, key, query }: RequestHead<'object'>): Named {
  return { bucket, key, versionId: parseVersionId(query) };
}

/** Actions without a counterpart in policies: only the owners of the version and of the bucket may use them. */
function ask(action: Question['action'], { bucket, key, versionId }: Named): readonly Question[] {
  return [{ action, bucket, key, ...(versionId !== undefined && { versionId }) }];
}

/** Reads the lifetime of a link, in milliseconds. Default: the longest. @throws S3Error InvalidArgument */
function parseLifetime(query: Query, longest: number): number {
  const value = query.get('expires');
  if (value === undefined) return longest;
  const lifetime = Number(value) * 1000;
  if (/^\d{1,10}$/.test(value) && lifetime > 0 && lifetime <= longest) return lifetime;
  throw invalidArgument('expires', value, `A link may be valid for 1 to ${Math.floor(longest / 1000)} seconds.`);
}

/** Creates a link by which anybody can read a version of an object until it expires. docs/public-links.md */
export const createPublicLink = defineOperation({
  name: 'CreatePublicLink',
  on: 'object',
  body: 'none',
  needs: { table: 'write' },
  parse: (request) => ({
    ...named(request),
    lifetime: parseLifetime(request.query, request.settings.limits.publicLinkLifetime),
    base: baseUrl(request),
  }),
  // The link lets everybody read what its creator may read.
  authorise: (input) => [...ask('CreatePublicLink', input), readQuestion(input)],
  act: async ({ key, versionId, lifetime }, { authorisation, bucket, objects, publicLinks, quotas, settings }) => {
    // The current state, as the version may have been replaced while the body was received.
    const version = presentVersion(await objects.find(bucket, key, versionId), key, versionId);
    return publicLinks.create(authorisation, version, lifetime, roomIn(bucket, quotas, settings.limits.linksPerKey));
  },
  render: ({ link, token }, { base }, { settings }) => ({
    status: 201,
    xml: publicLink.write({ ...link, url: publicLinkUrl(base, token) }, settings.xmlNamespace),
  }),
});

/** Returns the valid links of a key, oldest first, without their tokens. docs/public-links.md */
export const listPublicLinks = defineOperation({
  name: 'ListPublicLinks',
  on: 'object',
  body: 'none',
  needs: { table: 'read' },
  parse: (request) => {
    const marker = request.query.get('marker') ?? '';
    if (marker !== '' && !idForm.test(marker)) throw invalidArgument('marker', marker);
    return {
      ...named(request),
      marker,
      maxLinks: parsePageSize(request.query, 'max-links', request.settings.limits.keysPerPage),
    };
  },
  authorise: (input) => ask('ListPublicLinks', input),
  act: async ({ key, versionId, marker, maxLinks }, { bucket, caller, view, publicLinks }) => {
    const { links, more } = await publicLinks.list(bucket.id, key, { after: marker, limit: maxLinks });
    const project = caller.kind === 'user' ? caller.project.id : undefined;
    const shown: PublicLink[] = [];
    for (const link of links) {
      if (versionId !== undefined && link.versionId !== versionId) continue;
      const version = await view.find(bucket, key, link.versionId);
      if (version?.instance !== link.instance) continue;
      if (project === bucket.project || project === ownerIn(bucket, version.owner)) shown.push(link);
    }
    return { links: shown, nextMarker: more ? links.at(-1)?.id : undefined };
  },
  render: (page, input, { settings }) => ({
    xml: linkListing.write({ ...input, ...page, isTruncated: page.nextMarker !== undefined }, settings.xmlNamespace),
  }),
});

/** Revokes a link. docs/public-links.md */
export const deletePublicLink = defineOperation({
  name: 'DeletePublicLink',
  on: 'object',
  body: 'none',
  needs: { table: 'write' },
  parse: (request) => {
    const id = request.query.get('id');
    if (id === undefined || id === '') throw invalidArgument('id', '', 'The id of the link is missing.');
    return { ...named(request), id };
  },
  authorise: (input) => ask('DeletePublicLink', input),
  act: async ({ bucket: name, key, id }, { bucket, authorise, objects, publicLinks }) => {
    const link = idForm.test(id) ? await publicLinks.find(bucket.id, key, id) : undefined;
    if (link === undefined) throw new S3Error('NoSuchPublicLink');
    // It may lead to another version than that of the request, with another owner.
    const { versionId } = link;
    const authorisation = await authorise({ action: 'DeletePublicLink', bucket: name, key, versionId });
    await publicLinks.revoke(authorisation, link, await objects.find(bucket, key, versionId));
  },
  render: () => ({ status: 204 }),
});
