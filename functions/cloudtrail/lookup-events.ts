import { S3Error } from '../../shared/errors/s3-error.ts';
import { second } from '../../shared/ports/durations.ts';
import { jsonAnswer } from '../../shared/protocol/json-api/json-refusal.ts';
import { defineOperation, type DocumentBody } from '../../shared/protocol/operation.ts';
import { readListingToken, writeListingToken } from '../../shared/storage/listings/listing-token.ts';
import { lookedUpEvent, type LookedUpEvent } from './looked-up-event.ts';

/** As clients name it: https://docs.aws.amazon.com/awscloudtrail/latest/APIReference/API_LookupEvents.html */
const target = 'CloudTrail_20131101.LookupEvents';
const maxResults = 50;
const maxValue = 2000;
/** Records that a request with an attribute looks at: some 100 KB of the table. */
const maxLookedAt = 250;

/** What an event has of each attribute. */
const attributes = {
  EventId: (event) => [event.EventId],
  EventName: (event) => [event.EventName],
  ReadOnly: (event) => [event.ReadOnly],
  Username: (event) => [event.Username],
  ResourceType: (event) => event.Resources.map(({ ResourceType }) => ResourceType),
  ResourceName: (event) => event.Resources.map(({ ResourceName }) => ResourceName),
  EventSource: (event) => [event.EventSource],
  AccessKeyId: (event) => [event.AccessKeyId],
} as const satisfies Readonly<Record<string, (event: LookedUpEvent) => readonly (string | undefined)[]>>;

interface Lookup {
  readonly attribute: { readonly key: keyof typeof attributes; readonly value: string } | undefined;
  /** Seconds since the epoch. */
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly most: number;
  readonly token: string | undefined;
  /** True: other events are asked for than there are. */
  readonly isOfInsights: boolean;
}

const request: DocumentBody<Lookup> = { maximum: 'documentBytes', chunked: true, read: readLookup };

/**
 * Shows a project its own records of the audit log, newest first, in the form of AWS's CloudTrail: those of an act that changes something, not
 * those of requests for data. A call reads some records of the project, and no others; with an attribute, a page may have fewer events than
 * were asked for, or none, and a token.
 */
export const lookupEvents = defineOperation({
  name: 'LookupEvents',
  on: 'service',
  body: request,
  needs: { table: 'read' },

  parse: ({ fields }) => {
    if (fields.get('x-amz-target')?.split('.').slice(-2).join('.') !== target)
      throw new S3Error('UnknownOperationException');
  },

  authorise: () => [{ action: 'cloudtrail:LookupEvents', resource: '*' }],

  act: async (_, { document, caller, settings, projectRecords, clock }) => {
    if (caller.kind !== 'user') throw new S3Error('AccessDenied');
    const { attribute, start, end, most, token, isOfInsights } = document;
    const { project } = caller;
    const scope = ['LookupEvents', project.id, JSON.stringify([attribute, start, end])];
    const after = token === undefined ? undefined : placeIn(token, settings.tokenKey, scope);
    if (isOfInsights) return { Events: [] };
    const now = clock.now();
    const from = Math.max((start ?? 0) * second, 0);
    const to = Math.min(end === undefined ? now : (end + 1) * second - 1, now);
    if (from > to) return { Events: [] };
    const Events: LookedUpEvent[] = [];
    const limit = attribute ? maxLookedAt : most;
    const { records, next } = await projectRecords.of(project.id, { from, to, limit, after });
    let place = next;
    for (const [at, record] of records.entries()) {
      const event = lookedUpEvent(record, settings.region, project);
      const values: readonly (string | undefined)[] = attribute ? attributes[attribute.key](event) : [];
      if (attribute && !values.includes(attribute.value)) continue;
      Events.push(event);
      if (Events.length < most || at === records.length - 1) continue;
      place = projectRecords.placeOf(record);
      break;
    }
    return {
      Events,
      ...(place !== undefined && { NextToken: writeListingToken(settings.tokenKey, scope, { after: place }) }),
    };
  },

  render: (found) => jsonAnswer(found),
});

/** @throws S3Error InvalidNextTokenException for a token of another project or request, and what is none */
function placeIn(token: string, key: Uint8Array, scope: readonly string[]): string {
  try {
    return readListingToken(key, scope, token).after;
  } catch (cause) {
    throw new S3Error('InvalidNextTokenException', { cause });
  }
}

/** @throws S3Error SerializationException, and those of the members */
function readLookup(bytes: Uint8Array): Lookup {
  const { LookupAttributes, StartTime, EndTime, MaxResults, NextToken, EventCategory } = membersOf(bytes);
  const [start, end] = [StartTime, EndTime].map(secondsOf);
  if (start !== undefined && end !== undefined && start > end) throw new S3Error('InvalidTimeRangeException');
  if (EventCategory !== undefined && EventCategory !== 'insight') throw new S3Error('InvalidEventCategoryException');
  if (NextToken !== undefined && typeof NextToken !== 'string') throw new S3Error('InvalidNextTokenException');
  return {
    ...{ attribute: attributeOf(LookupAttributes), start, end, most: mostOf(MaxResults), token: NextToken },
    isOfInsights: EventCategory === 'insight',
  };
}

function membersOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new S3Error('SerializationException', { cause });
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new S3Error('SerializationException');
  // What is null was not given.
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null));
}

/** Returns the second of a time. */
function secondsOf(time: unknown): number | undefined {
  if (time === undefined) return undefined;
  if (typeof time !== 'number' || Math.abs(time) > maxSeconds) throw new S3Error('InvalidTimeRangeException');
  return Math.floor(time);
}

/** The year 9999. */
const maxSeconds = 253_402_300_799;

function mostOf(value: unknown): number {
  if (value === undefined) return maxResults;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > maxResults)
    throw new S3Error('InvalidMaxResultsException');
  return value;
}

function attributeOf(value: unknown): Lookup['attribute'] {
  if (value === undefined) return undefined;
  const refuse = (message: string): never => {
    throw new S3Error('InvalidLookupAttributesException', { message });
  };
  if (!Array.isArray(value)) return refuse('LookupAttributes must be a list');
  const [first, ...others] = value as readonly unknown[];
  if (first === undefined) return undefined;
  if (others.length > 0) return refuse('There can be only one lookup attribute');
  const { AttributeKey: key, AttributeValue: given } = (first ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof key !== 'string' || !Object.hasOwn(attributes, key))
    return refuse('The key of the attribute is not known');
  if (typeof given !== 'string' || given === '' || given.length > maxValue)
    return refuse(`The value of the attribute must have 1 to ${maxValue} characters`);
  return { key: key as keyof typeof attributes, value: given };
}
