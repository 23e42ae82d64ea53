import {
  deleteResult,
  deletion,
  unreadDeletions,
  type Deletion,
  type DeletionOutcome,
} from '../../shared/documents/delete-objects.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { checkKey } from '../../shared/http/address.ts';
import { parseEntityTags, type DeleteConditions } from '../../shared/http/fields/preconditions.ts';
import { versionIdOf } from '../../shared/storage/versions/versions.ts';
import type { Slots } from '../../shared/storage/concurrency.ts';
import { EventLoopBudget } from '../../shared/ports/event-loop.ts';
import { defineOperation, type DocumentBody } from '../../shared/protocol/operation.ts';
import { ownerOfNew, sparing } from '../../shared/protocol/authorisation/ownership.ts';
import { overrideQuestions, readOverride } from '../../shared/protocol/objects/object-lock.ts';
import { withMarkerRoom } from '../../shared/protocol/objects/room.ts';
import { deleteComparison, deleteGuard } from '../../shared/protocol/objects/write-guard.ts';
import { parseXml, type ParseOptions, type XmlDocument } from '../../shared/xml/reader.ts';

/** Keys may contain control characters, which clients send raw or as references. */
export const deleteParsing: ParseOptions = { keepsControls: true };

/** The cost of reading one object, in steps. */
const stepsPerObject = 10;

/**
 * Reads the body of DeleteObjects. Does not check the keys: an invalid key fails on its own.
 * @param most the maximum number of objects and versions in one request
 * @throws S3Error MalformedXML
 */
export async function readDelete(document: XmlDocument, most: number, budget: EventLoopBudget): Promise<Deletions> {
  const root = document.rootOf(unreadDeletions);
  const { quiet = false, objects } = unreadDeletions.content.read(root);
  if (objects.length === 0 || objects.length > most) throw root.fault(`there must be 1 to ${most} objects`);
  return {
    quiet,
    objects: await budget.map(objects, stepsPerObject, (object) => {
      const read = deletion.read(object);
      return { ...read, key: document.restored(read.key) };
    }),
  };
}

interface Deletions {
  /** True to report only failures. */
  readonly quiet: boolean;
  readonly objects: readonly Deletion[];
}

const deletions: DocumentBody<Deletions> = {
  maximum: 'deleteDocumentBytes',
  chunked: true,
  read: async (bytes, { limits }, budget) =>
    readDelete(await parseXml(bytes, budget, deleteParsing), limits.keysPerDelete, budget),
};

/** The cost of authorising and refusing a deletion, in steps of the event-loop budget. */
const stepsPerKey = 50;

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html */
export const deleteObjects = defineOperation({
  name: 'DeleteObjects',
  on: 'bucket',
  body: deletions,
  needs: { table: 'write' },
  parse: ({ bucket, fields }) => ({ bucket, override: readOverride(fields) }),
  // Authorised for each key in act, as a caller who may delete none of the keys still gets a result per key. This one keeps callers without
  // any access to the bucket from having their document read.
  authorise: ({ bucket }) => [{ action: 'DeleteObject', bucket, anyKey: true }],

  act: async ({ override }, context) => {
    const { document, bucket, caller, objects, quotas, authorise } = context;

    const one = async (deletion: Deletion): Promise<DeletionOutcome> => {
      const { key, versionId } = deletion;
      const identity = { key, ...(versionId !== undefined && { versionId }) };
      try {
        checkKey(key);
        const action = versionId === undefined ? 'DeleteObject' : 'DeleteObjectVersion';
        const place = { bucket: bucket.name, ...identity };
        const conditions = conditionsOf(deletion);
        const authorisation = await authorise(
          { action, ...place, facts: { 's3:if-match': deletion.etag } },
          ...deleteComparison(place, conditions),
          ...(versionId === undefined ? [] : overrideQuestions(override, place)),
        );
        const { version, currentVersion: marker } = await withMarkerRoom({ bucket, objects, quotas }, identity, () =>
          objects.remove({
            by: 'request',
            authorisation,
            owner: ownerOfNew(caller, bucket),
            guard: deleteGuard(conditions),
            override,
            sparing: sparing(caller, bucket),
          }),
        );
        const ofMarker = versionId === undefined ? marker && versionIdOf(marker) : version?.marker && versionId;
        return { ...identity, ...(ofMarker && { isDeleteMarker: true, deleteMarkerVersionId: ofMarker }) };
      } catch (error) {
        if (!(error instanceof S3Error)) throw error;
        return { ...identity, code: error.code, message: error.message };
      }
    };

    const outcomes = await inTurn(document.objects, objects.slotsForMany(), one);
    // Anonymous callers get one error instead of a denial per key.
    const allDenied = outcomes.every((outcome) => 'code' in outcome && outcome.code === 'AccessDenied');
    if (caller.kind === 'anonymous' && allDenied) throw new S3Error('AccessDenied');
    return { outcomes, quiet: document.quiet };
  },

  deletionsOf: ({ outcomes }) => outcomes,

  render: ({ outcomes, quiet }, _, { settings }) => {
    const shown = quiet ? outcomes.filter((outcome) => 'code' in outcome) : outcomes;
    return { xml: deleteResult.write(shown, settings.xmlNamespace) };
  },
});

function conditionsOf({ etag, lastModified, size }: Deletion): DeleteConditions {
  return { prefix: '', ifMatch: etag === undefined ? undefined : parseEntityTags(etag), lastModified, size };
}

/** Processes keys concurrently, but entries with the same key one after another. Results keep the order of the entries. */
async function inTurn<Entry extends { readonly key: string }, Result>(
  entries: readonly Entry[],
  slots: Slots,
  one: (entry: Entry) => Promise<Result>,
): Promise<readonly Result[]> {
  const results = new Array<Result>(entries.length);
  const queues = new Map<string, number[]>();
  for (const [at, { key }] of entries.entries()) {
    const others = queues.get(key);
    if (others) others.push(at);
    else queues.set(key, [at]);
  }
  // Refused keys wait for no write, and would block the event loop without a budget.
  const budget = new EventLoopBudget();
  const waiting = [...queues.values()].values();
  const worker = async (): Promise<void> => {
    for (const queue of waiting) {
      for (const at of queue) {
        await budget.spend(stepsPerKey);
        results[at] = await slots.run(() => one(entries[at]!));
      }
    }
  };
  await Promise.all(Array.from({ length: slots.count }, worker));
  return results;
}
