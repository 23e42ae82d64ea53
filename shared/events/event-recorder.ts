import { appliesTo, type EventName } from '../documents/notification.ts';
import type { Change } from '../ports/key-value-table.ts';
import type { Bucket } from '../storage/buckets/bucket.ts';
import type { Buckets } from '../storage/buckets/buckets.ts';
import { eventKey } from '../storage/table/keys/event-keys.ts';
import type { Origin } from '../storage/buckets/origin.ts';
import type { ChangeRecorder, KeyChange } from '../storage/version-changes/recorded-changes.ts';
import { etagOf } from '../storage/versions/versions.ts';
import { namesOf } from './event-record.ts';
import { decodeNotification } from './notification-document.ts';
import { encodeEvent } from './recorded-event.ts';

/** The events of what operations put or revise. Others, such as those on locks, have none. */
const names: Readonly<Record<string, EventName>> = {
  PutObject: 'ObjectCreated:Put',
  PostObject: 'ObjectCreated:Post',
  CopyObject: 'ObjectCreated:Copy',
  RenameObject: 'ObjectCreated:Copy',
  CompleteMultipartUpload: 'ObjectCreated:CompleteMultipartUpload',
  PutObjectTagging: 'ObjectTagging:Put',
  DeleteObjectTagging: 'ObjectTagging:Delete',
  PutObjectAcl: 'ObjectAcl:Put',
};

/** Returns the event of a change; undefined if it has none. */
function eventNameOf(origin: Origin, { change, version }: KeyChange): EventName | undefined {
  const kind = origin.by === 'lifecycle' ? 'LifecycleExpiration' : 'ObjectRemoved';
  if (change === 'removed') return `${kind}:Delete`;
  if (change === 'put' && version.marker) return `${kind}:DeleteMarkerCreated`;
  if (origin.by === 'log delivery') return 'ObjectCreated:Put';
  return origin.by === 'request' ? names[origin.operation] : undefined;
}

/**
 * Records what the rules of a bucket are about, together with the target: what a rule said at the commit counts. The item is in the change
 * feed, from which `EventFollower` passes it on, and is of no use itself.
 */
export class EventRecorder implements ChangeRecorder {
  readonly #buckets: Buckets;

  constructor(deps: { readonly buckets: Buckets }) {
    this.#buckets = deps.buckets;
  }

  async record(bucket: Bucket, origin: Origin, change: KeyChange): Promise<readonly Change[]> {
    const name = eventNameOf(origin, change);
    if (name === undefined) return [];
    const { key, version, renamed } = change;
    const { rules, region } = decodeNotification(await this.#buckets.documents.of(bucket, 'notification'));
    const rule = rules.find((each) => appliesTo(each, name, key));
    if (rule === undefined) return [];
    const event = {
      name,
      region,
      bucket: bucket.name,
      project: bucket.project,
      size: version.size,
      etag: etagOf(version),
      versionId: version.named ? version.instance : undefined,
      ...namesOf(origin),
      renamed,
      ruleId: rule.id,
      target: rule.target,
    };
    return [{ key: eventKey.event(bucket.id, key), put: encodeEvent(event) }];
  }
}
