import type { ShownAlarm } from '../documents/monitoring.ts';
import type { Alarm } from '../monitoring/alarms/alarm.ts';

/** Returns an alarm as shown in responses, without its secret. */
export function shownAlarm({ name, definition, state, reason, since, created }: Alarm): ShownAlarm {
  const { actions, ...others } = definition;
  return {
    ...{ name, ...others, state, reason, since, created },
    ...{ OKAction: actions.OK, AlarmAction: actions.ALARM, InsufficientDataAction: actions.INSUFFICIENT_DATA },
  };
}
