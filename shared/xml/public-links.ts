import { document, timestamp } from './writer.ts';

/** A public link as shown in documents. Times are milliseconds since the epoch. */
export interface ShownLink {
  readonly id: string;
  readonly versionId: string;
  readonly created: number;
  readonly expires: number;
}

/** Returns the response body of CreatePublicLink, the only one that shows the URL. */
export function publicLinkDocument({ id, created, expires }: ShownLink, url: string, namespace: string): string {
  return document('PublicLink', namespace, {
    Id: id,
    Url: url,
    Created: timestamp(created),
    Expires: timestamp(expires),
  });
}

/** Returns the response body of ListPublicLinks. */
export function listPublicLinksResult(
  listing: {
    readonly marker: string;
    readonly nextMarker: string | undefined;
    readonly maxLinks: number;
    readonly links: readonly ShownLink[];
  },
  namespace: string,
): string {
  return document('ListPublicLinksResult', namespace, {
    Marker: listing.marker,
    NextMarker: listing.nextMarker,
    MaxLinks: listing.maxLinks,
    IsTruncated: listing.nextMarker !== undefined,
    PublicLink: listing.links.map(({ id, versionId, created, expires }) => ({
      Id: id,
      VersionId: versionId,
      Created: timestamp(created),
      Expires: timestamp(expires),
    })),
  });
}
