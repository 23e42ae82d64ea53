import type { EventLoopBudget } from '../ports/event-loop.ts';
import { parsedXml, readDocument, type ParseOptions, type XmlElement, type XmlSource } from './reader.ts';
import { document, element, type Markup } from './writer.ts';

/** An object to delete, with its conditions. */
export interface Deletion {
  readonly key: string;
  readonly versionId: string | undefined;
  /** Deletes only if the entity tag matches. As sent: possibly quoted, or `*`. */
  readonly etag: string | undefined;
  /** Deletes only if the object was last modified in that second. Milliseconds since 1970. */
  readonly lastModified: number | undefined;
  readonly size: number | undefined;
}

export interface Deletions {
  /** True to report only failures. */
  readonly quiet: boolean;
  readonly objects: readonly Deletion[];
}

/**
 * The parse options for DeleteObjects: keys may contain control characters, which clients send raw or as references.
 */
export const deleteParsing: ParseOptions = { keepsControls: true };

/** The cost of reading one object, in steps. */
const stepsPerObject = 10;

/**
 * Reads the body of DeleteObjects. Does not check the keys: an invalid key fails on its own.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html
 *
 * @param maximum the maximum number of objects and versions in one request
 * @param parseTime parses LastModifiedTime; SDKs send an HTTP date, the documentation shows ISO 8601
 * @throws S3Error MalformedXML
 */
export async function readDelete(
  body: XmlSource,
  maximum: number,
  parseTime: (text: string) => number | undefined,
  budget: EventLoopBudget,
): Promise<Deletions> {
  const document = parsedXml(body, deleteParsing);
  const root = readDocument(document, 'Delete').onlyChildren('Quiet', 'Object');
  const objects = root.many('Object');
  if (objects.length === 0 || objects.length > maximum) {
    throw root.fault(`there must be 1 to ${maximum} objects`);
  }
  return {
    quiet: root.optional('Quiet')?.boolean() ?? false,
    objects: await budget.map(objects, stepsPerObject, (object) => {
      const deletion = readDeletion(object, parseTime);
      return { ...deletion, key: document.restored(deletion.key) };
    }),
  };
}

function readDeletion(object: XmlElement, parseTime: (text: string) => number | undefined): Deletion {
  object.onlyChildren('Key', 'VersionId', 'ETag', 'LastModifiedTime', 'Size');
  const key = object.one('Key').text;
  if (key === '') throw object.fault('Key must not be empty');
  return {
    key,
    // Several clients send an empty element instead of none.
    versionId: object.optional('VersionId')?.text || undefined,
    etag: object.optional('ETag')?.text,
    lastModified: object.optional('LastModifiedTime')?.parsed(parseTime),
    size: object.optional('Size')?.integer({ minimum: 0 }),
  };
}

/** The outcome for one object: deleted, or an error. */
export type DeletionOutcome =
  | {
      readonly key: string;
      /** The requested version. */
      readonly versionId?: string | undefined;
      /** The version id of the delete marker that was inserted or deleted. */
      readonly deleteMarkerVersionId?: string | undefined;
    }
  | {
      readonly key: string;
      readonly versionId?: string | undefined;
      readonly code: string;
      readonly message: string;
    };

/** Returns the response body of DeleteObjects, in the order of the request. */
export function deleteResult(outcomes: readonly DeletionOutcome[], quiet: boolean, namespace: string): string {
  const shown = quiet ? outcomes.filter((outcome) => 'code' in outcome) : outcomes;
  return document('DeleteResult', namespace, shown.map(outcomeElement));
}

function outcomeElement(outcome: DeletionOutcome): Markup {
  const name = { Key: outcome.key, VersionId: outcome.versionId };
  if ('code' in outcome) return element('Error', { ...name, Code: outcome.code, Message: outcome.message });
  if (outcome.deleteMarkerVersionId === undefined) return element('Deleted', name);
  return element('Deleted', {
    ...name,
    DeleteMarker: true,
    DeleteMarkerVersionId: outcome.deleteMarkerVersionId,
  });
}
