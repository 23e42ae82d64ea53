import type { Alarm } from '../metadata/monitoring/alarm.ts';
import type { ShownAlarm } from '../xml/monitoring.ts';

/** Returns an alarm as shown in responses, without its secret. */
export function shownAlarm({ name, definition, state, reason, since, created }: Alarm): ShownAlarm {
  return { name, ...definition, state, reason, since, created };
}
