import type { NotificationConfiguration, NotificationRule } from '../documents/notification.ts';
import type { Attributes, Stored } from '../ports/key-value-table.ts';

/** The rules of a bucket as the table stores them. */
interface StoredConfiguration extends NotificationConfiguration<NotificationRule> {
  /** The region of the deployment, for records: those of commands are written by processes that do not know it. */
  readonly region: string;
}

/** Encodes a configuration as a document of its bucket. Undefined: an empty one, which is none. */
export function encodeNotification({ rules, eventBridge, region }: StoredConfiguration): Attributes | undefined {
  if (rules.length === 0 && !eventBridge) return undefined;
  return { rules: rules.map((rule) => ({ ...rule })), region, ...(eventBridge && { eventBridge }) };
}

/** Decodes what {@link encodeNotification} encoded. */
export function decodeNotification(document: Attributes | undefined): StoredConfiguration {
  return {
    rules: (document?.['rules'] ?? []) as readonly Stored<NotificationRule>[],
    eventBridge: document?.['eventBridge'] === true,
    region: (document?.['region'] ?? '') as string,
  };
}
