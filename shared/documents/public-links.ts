import { boolean, documentType, elements, ifAny, many, number, one, text, time } from './schema.ts';

const id = one('Id', text);
/** Milliseconds since the epoch. */
const times = { created: one('Created', time), expires: one('Expires', time) };

/** The response of CreatePublicLink, the only one that shows the URL. */
export const publicLink = documentType('PublicLink', elements({ id, url: one('Url', text), ...times }));

/** The response of ListPublicLinks. */
export const publicLinks = documentType(
  'ListPublicLinksResult',
  elements({
    marker: one('Marker', text),
    nextMarker: ifAny('NextMarker', text),
    maxLinks: one('MaxLinks', number),
    isTruncated: one('IsTruncated', boolean),
    links: many('PublicLink', elements({ id, versionId: one('VersionId', text), ...times })),
  }),
);
