import { S3Error } from '../../errors/s3-error.ts';
import type { Attributes, Stored } from '../../ports/key-value-table.ts';
import type { AlarmDefinition, AlarmState } from './alarm-definition.ts';

/** An alarm as it is now. Times in milliseconds since the epoch. */
export interface Alarm {
  readonly name: string;
  /** Fresh per creation: what happened to another alarm of this name before is none of its history. */
  readonly id: string;
  readonly created: number;
  readonly definition: AlarmDefinition;
  readonly state: AlarmState;
  readonly reason: string;
  /** When it came into its state. */
  readonly since: number;
  /** What its webhooks are signed with, sealed. */
  readonly secret: Uint8Array | undefined;
  readonly token: string;
}

/** The context that the secret of an alarm is sealed under. */
export function secretContext(bucketId: string, alarmId: string): string {
  return `alarm/${bucketId}/${alarmId}`;
}

/** 404 that names the alarm. */
export function noSuchAlarm(name: string): S3Error {
  return new S3Error('NoSuchAlarm', { details: { AlarmName: name } });
}

/** A definition in its item. */
type StoredDefinition = Omit<AlarmDefinition, 'description'> & { readonly description?: string };

/** The item of an alarm; its key is bucket and name. */
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
