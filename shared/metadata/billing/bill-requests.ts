import type { RequestHours } from './request-hours.ts';
import { day, hour as hourLength } from '../../ports/durations.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RequestLog } from '../../ports/request-log.ts';

export interface BillRequestsDeps {
  readonly requestLog: RequestLog;
  readonly requestHours: RequestHours;
  readonly clock: Clock;
}

export interface BilledRequests {
  /** How many hours were counted, the present one included. */
  readonly hours: number;
  /** Up to when all hours are settled. */
  readonly settledUntil: string;
  /** How many seconds that is ago: with nothing wrong, one hour to two and a half. */
  readonly behindSeconds: number;
}

/** So long after an hour its lines may still arrive. */
const settling = hourLength;
/** Where nothing was ever counted, it is begun so long ago. */
const firstLook = day;

/**
 * Counts the requests of the log for the bill: every hour from the first that is not settled to the present one. Each is put whole, so
 * it does no harm to count one twice; one that could not be counted is counted next time, as long as the log reaches back.
 * @param stopping whether there is no time for another hour
 */
export async function billRequests(
  { requestLog, requestHours, clock }: BillRequestsDeps,
  stopping: () => boolean,
): Promise<BilledRequests> {
  const now = clock.now();
  let settledUntil = (await requestHours.settledUntil()) ?? now - (now % hourLength) - firstLook;
  let hours = 0;
  for (let hour = settledUntil; hour < now && !stopping(); hour += hourLength) {
    const until = Math.min(hour + hourLength, now);
    await requestHours.put(hour, now, await requestLog.between(hour, until));
    hours += 1;
    if (until + settling > now) continue;
    settledUntil = until;
    await requestHours.settle(until);
  }
  const behindSeconds = Math.round((clock.now() - settledUntil) / 1000);
  return { hours, settledUntil: new Date(settledUntil).toISOString(), behindSeconds };
}
