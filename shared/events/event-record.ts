import type { Origin } from '../storage/buckets/origin.ts';
import type { RecordedEvent } from './recorded-event.ts';

/** What a record tells besides the event itself. */
interface Surroundings {
  readonly key: string;
  /** The time of the commit, in milliseconds since the epoch. */
  readonly at: number;
  /** The position of the commit in the change feed. */
  readonly position: string;
}

/**
 * The digits of a sequencer, as many as those of the longest position need: those of a key are compared as texts.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html
 */
const sequencerDigits = 34;

/**
 * Returns the record of an event as S3 documents it. The member `stillage` is ours.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html
 */
export function eventRecord(event: RecordedEvent, { key, at, position }: Surroundings) {
  const { name, bucket, project, requester, renamed } = event;
  return {
    eventVersion: '2.5',
    eventSource: 'stillage:s3',
    awsRegion: event.region,
    eventTime: new Date(at).toISOString(),
    eventName: name,
    userIdentity: { principalId: requester },
    requestParameters: { sourceIPAddress: event.remoteAddress },
    responseElements: { 'x-amz-request-id': event.requestId, 'x-amz-id-2': event.hostId },
    s3: {
      s3SchemaVersion: '1.0',
      configurationId: event.ruleId,
      bucket: { name: bucket, ownerIdentity: { principalId: project }, arn: `arn:aws:s3:::${bucket}` },
      object: {
        key: formEncoded(key),
        size: event.size,
        eTag: event.etag,
        ...(event.versionId !== undefined && { versionId: event.versionId }),
        sequencer: BigInt(position).toString(16).toUpperCase().padStart(sequencerDigits, '0'),
      },
    },
    ...(renamed !== undefined && {
      stillage: { [name.startsWith('ObjectCreated') ? 'renamedFrom' : 'renamedTo']: formEncoded(renamed) },
    }),
  };
}

export type EventRecord = ReturnType<typeof eventRecord>;

/** Encodes a key as a form does, but for slashes: a space is a plus. */
function formEncoded(key: string): string {
  return new URLSearchParams([['', key]]).toString().slice(1).replaceAll('%2F', '/');
}

/** Returns the message by which S3 tests a target when it is configured. */
export function testEvent(bucket: string, origin: Origin, now: number): { readonly id: string; readonly body: string } {
  const { requestId, hostId } = namesOf(origin);
  const body = JSON.stringify({
    Service: 'Amazon S3',
    Event: 's3:TestEvent',
    Time: new Date(now).toISOString(),
    Bucket: bucket,
    RequestId: requestId,
    HostId: hostId,
  });
  return { id: `test.${requestId}`, body };
}

/** Returns the message by which the owner of a webhook tests it: as that of S3, about no bucket. */
export function webhookTestEvent(requestId: string, now: number): { readonly id: string; readonly body: string } {
  const [Service, Event, Time] = ['Amazon S3', 's3:TestEvent', new Date(now).toISOString()];
  return { id: `test.${requestId}`, body: JSON.stringify({ Service, Event, Time, RequestId: requestId }) };
}

/** The name by which AWS calls what its service does by itself. */
const service = 's3.amazonaws.com';

/** Returns what records tell of who has made a change. */
export function namesOf(origin: Origin): Pick<RecordedEvent, 'requester' | 'remoteAddress' | 'requestId' | 'hostId'> {
  if (origin.by !== 'request') return { requester: service, remoteAddress: service, requestId: '', hostId: '' };
  const { requester = 'Anonymous', remoteAddress, requestId, hostId } = origin;
  return { requester, remoteAddress, requestId, hostId };
}
