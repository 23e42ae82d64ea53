import { S3Error } from '../../errors/s3-error.ts';
import type { Attributes, Stored } from '../../ports/key-value-table.ts';
import type { AlarmDefinition, AlarmState } from './alarm-definition.ts';

/** The current state of an alarm. Times are milliseconds since the epoch. */
export interface Alarm {
  readonly name: string;
  /** Unique per creation, so that an alarm does not inherit the history of an earlier one of the same name. */
  readonly id: string;
  readonly created: number;
  readonly definition: AlarmDefinition;
  readonly state: AlarmState;
  readonly reason: string;
  /** The time it entered its state. */
  readonly since: number;
  /** The sealed secret that signs its webhooks. */
  readonly secret: Uint8Array | undefined;
  readonly token: string;
}

/** Returns the context that the secret of an alarm is sealed under. */
export function secretContext(bucketId: string, alarmId: string): string {
  return `alarm/${bucketId}/${alarmId}`;
}

/** Returns a 404 error that names the alarm. */
export function noSuchAlarm(name: string): S3Error {
  return new S3Error('NoSuchAlarm', { details: { AlarmName: name } });
}

/** A definition as stored. */
type StoredDefinition = Omit<AlarmDefinition, 'description'> & { readonly description?: string };

/** Returns the item of an alarm; its key is the bucket and the name. */
export function encodeAlarm(alarm: Alarm): Attributes {
  const { description, ...definition } = alarm.definition;
  return {
    id: alarm.id,
    created: alarm.created,
    definition: { ...definition, ...(description !== undefined && { description }) },
    state: alarm.state,
    reason: alarm.reason,
    since: alarm.since,
    ...(alarm.secret && { secret: alarm.secret }),
    r: alarm.token,
  };
}

export function decodeAlarm(name: string, item: Attributes): Alarm {
  const definition = item['definition'] as Stored<StoredDefinition>;
  return {
    name,
    id: item['id'] as string,
    created: item['created'] as number,
    definition: { ...definition, description: definition.description },
    state: item['state'] as AlarmState,
    reason: item['reason'] as string,
    since: item['since'] as number,
    secret: item['secret'] as Uint8Array | undefined,
    token: item['r'] as string,
  };
}
