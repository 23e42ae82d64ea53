import { parseTimestamp } from '../http/fields/dates.ts';
import {
  boolean,
  checked,
  documentType,
  elements,
  ifAny,
  integer,
  many,
  mapped,
  one,
  optional,
  parsed,
  text,
  unread,
  type Content,
  type ValueOf,
} from './schema.ts';
import { tag, timestamp } from './text.ts';

/** An object to delete, with its conditions: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ObjectIdentifier.html */
export const deletion = elements({
  key: one(
    'Key',
    checked(text, (key, element) => {
      if (key === '') throw element.fault('Key must not be empty');
    }),
  ),
  // Several clients send an empty element instead of none.
  versionId: ifAny(
    'VersionId',
    mapped<string, string | undefined>(
      text,
      (id) => id || undefined,
      (id) => id ?? '',
    ),
  ),
  /** Deletes only if the entity tag matches. As sent: possibly quoted, or `*`. */
  etag: optional('ETag', text),
  /**
   * Deletes only if the object was last modified in that second. Milliseconds since 1970; SDKs send an HTTP date, the
   * documentation shows ISO 8601.
   */
  lastModified: optional('LastModifiedTime', parsed(parseTimestamp, timestamp)),
  size: optional('Size', integer({ minimum: 0 })),
});
export type Deletion = ValueOf<typeof deletion>;

const deletionsOf = <Object>(object: Content<Object>) =>
  documentType('Delete', elements({ quiet: optional('Quiet', boolean), objects: many('Object', object) }));

/** The body of DeleteObjects: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html */
export const deletions = deletionsOf(deletion);

/** The same, of which {@link deletion} reads one object after the other. */
export const unreadDeletions = deletionsOf(unread);

const name = { key: one('Key', text), versionId: ifAny('VersionId', text) };
const failed = elements({ ...name, code: one('Code', text), message: one('Message', text) });
const deleted = elements({
  ...name,
  isDeleteMarker: ifAny('DeleteMarker', boolean),
  /** The version id of the delete marker that was inserted or deleted. */
  deleteMarkerVersionId: ifAny('DeleteMarkerVersionId', text),
});

/** The outcome for one object: deleted, or an error. */
export type DeletionOutcome = ValueOf<typeof deleted> | ValueOf<typeof failed>;

const outcomes: Content<readonly DeletionOutcome[]> = {
  read: ({ children }) => children.map((each) => (each.name === 'Error' ? failed : deleted).read(each)),
  write: (all) =>
    all
      .map((each) => ('code' in each ? tag('Error', failed.write(each)) : tag('Deleted', deleted.write(each))))
      .join(''),
};

/** The response of DeleteObjects, in the order of the request. */
export const deleteResult = documentType('DeleteResult', outcomes);
