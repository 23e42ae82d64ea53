import type { EventName } from '../documents/notification.ts';
import type { Attributes } from '../ports/key-value-table.ts';

/** A change of an object that a rule is about, as the commit of the change stores it. */
export interface RecordedEvent {
  readonly name: EventName;
  /** Of the deployment. */
  readonly region: string;
  readonly bucket: string;
  /** The project that owns the bucket. */
  readonly project: string;
  /** In bytes. */
  readonly size: number;
  /** Without quotes. */
  readonly etag: string;
  /** Undefined for a null version. */
  readonly versionId?: string | undefined;
  /** The principal id of whoever made the change. */
  readonly requester: string;
  readonly remoteAddress: string;
  readonly requestId: string;
  readonly hostId: string;
  /** The other name of a renamed object. */
  readonly renamed?: string | undefined;
  /** The rule that is about it. No two can be. */
  readonly ruleId: string;
  /** The ARN of its target. */
  readonly target: string;
}

/** Encodes an event as an item. */
export function encodeEvent(event: RecordedEvent): Attributes {
  const { versionId, renamed, ...others } = event;
  return { ...others, ...(versionId !== undefined && { versionId }), ...(renamed !== undefined && { renamed }) };
}

/** Decodes what {@link encodeEvent} encoded. */
export function decodeEvent(item: Attributes): RecordedEvent {
  return {
    name: item['name'] as EventName,
    region: item['region'] as string,
    bucket: item['bucket'] as string,
    project: item['project'] as string,
    size: item['size'] as number,
    etag: item['etag'] as string,
    versionId: item['versionId'] as string | undefined,
    requester: item['requester'] as string,
    remoteAddress: item['remoteAddress'] as string,
    requestId: item['requestId'] as string,
    hostId: item['hostId'] as string,
    renamed: item['renamed'] as string | undefined,
    ruleId: item['ruleId'] as string,
    target: item['target'] as string,
  };
}

/** Tells whether an event in a queue, or one that was given up, is about an object of a bucket. */
export function isOfBucket({ subject }: { readonly subject: string }, bucketId: string): boolean {
  return subject.startsWith(`${bucketId}/`);
}
