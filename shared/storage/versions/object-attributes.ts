import type { Attributes } from '../../ports/key-value-table.ts';

/** The response headers that clients set on upload. */
export interface ContentHeaders {
  readonly contentType?: string;
  readonly cacheControl?: string;
  readonly contentDisposition?: string;
  readonly contentEncoding?: string;
  readonly contentLanguage?: string;
  readonly expires?: string;
  readonly websiteRedirectLocation?: string;
}

/** The variable-length attributes of a version. They are in the version's item while that stays small, otherwise in a details item. */
export interface ObjectAttributes {
  readonly headers: Omit<ContentHeaders, 'contentType'>;
  /** User metadata, names in lower case without `x-amz-meta-`; values are bytes as latin1 characters. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: readonly (readonly [key: string, value: string])[];
  /** The grants of the ACL, encoded by `shared/access/acl.ts`. Absent: the canned ACL `private`. */
  readonly grants?: readonly string[];
}

export const noObjectAttributes: ObjectAttributes = { headers: {}, metadata: {}, tags: [] };

const headerCodes = {
  cacheControl: 'cc',
  contentDisposition: 'cd',
  contentEncoding: 'ce',
  contentLanguage: 'cl',
  expires: 'ex',
  websiteRedirectLocation: 'wr',
} as const satisfies Record<keyof ObjectAttributes['headers'], string>;

/** The names of the attributes that {@link encodeObjectAttributes} may return. */
export const objectAttributeNames = ['h', 'um', 'tg', 'a'] as const;

/** Encodes object attributes as `h` (headers), `um` (user metadata), `tg` (tags) and `a` (grants). Omits empty ones. */
export function encodeObjectAttributes({ headers, metadata, tags, grants }: ObjectAttributes): Attributes {
  const h: Record<string, string> = {};
  for (const [name, code] of Object.entries(headerCodes)) {
    const value = headers[name as keyof typeof headerCodes];
    if (value !== undefined) h[code] = value;
  }
  return {
    ...(Object.keys(h).length > 0 && { h }),
    ...(Object.keys(metadata).length > 0 && { um: metadata }),
    ...(tags.length > 0 && { tg: tags.map(([key, value]) => [key, value]) }),
    ...(grants && { a: grants }),
  };
}

/** Decodes what {@link encodeObjectAttributes} encoded. */
export function decodeObjectAttributes(item: Attributes): ObjectAttributes {
  const grants = item['a'] as ObjectAttributes['grants'];
  if (item['h'] === undefined && item['um'] === undefined && item['tg'] === undefined) {
    return grants === undefined ? noObjectAttributes : { ...noObjectAttributes, grants };
  }
  const stored = (item['h'] ?? {}) as Record<string, string>;
  const headers: Record<string, string> = {};
  for (const [name, code] of Object.entries(headerCodes)) {
    const value = stored[code];
    if (value !== undefined) headers[name] = value;
  }
  return {
    headers,
    metadata: (item['um'] ?? {}) as Record<string, string>,
    tags: (item['tg'] ?? []) as ObjectAttributes['tags'],
    ...(grants && { grants }),
  };
}
