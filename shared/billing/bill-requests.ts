import type { RequestHours } from './request-hours.ts';
import { day, hour as hourLength } from '../ports/durations.ts';
import type { Clock } from '../ports/clock.ts';
import type { LoggedRequests, RequestLog } from '../ports/request-log.ts';

export interface BillRequestsDeps {
  readonly requestLog: RequestLog;
  readonly requestHours: RequestHours;
  /** Where the last uses of keys are stored. */
  readonly lastUses: { put(use: NonNullable<LoggedRequests['use']>): Promise<void> };
  readonly clock: Clock;
}

export interface BilledRequests {
  /** The number of hours counted, including the current one. */
  readonly hours: number;
  /** The time up to which all hours are settled. */
  readonly settledUntil: string;
  /** The age of `settledUntil` in seconds: one to two and a half hours in normal operation. */
  readonly behindSeconds: number;
}

/** The time after the end of an hour during which its log lines may still arrive. */
const settling = hourLength;
/** The time before now at which a first count begins. */
const initialPeriod = day;

/**
 * Counts the logged requests for the bill: every hour from the first unsettled one to the current one. Each hour is
 * replaced as a whole, so counting it twice does no harm. An hour that could not be counted is counted next time, if
 * the log still holds it. Stores the last uses of keys that the log tells of besides.
 * @param stopping returns whether there is no time for another hour
 */
export async function billRequests(
  { requestLog, requestHours, lastUses, clock }: BillRequestsDeps,
  stopping: () => boolean,
): Promise<BilledRequests> {
  const now = clock.now();
  let settledUntil = (await requestHours.settledUntil()) ?? now - (now % hourLength) - initialPeriod;
  let hours = 0;
  for (let hour = settledUntil; hour < now && !stopping(); hour += hourLength) {
    const until = Math.min(hour + hourLength, now);
    const logged = await requestLog.between(hour, until);
    await requestHours.put(
      hour,
      now,
      logged.filter(({ use }) => use === undefined),
    );
    for (const { use } of logged) if (use) await lastUses.put(use);
    hours += 1;
    if (until + settling > now) continue;
    settledUntil = until;
    await requestHours.settle(until);
  }
  const behindSeconds = Math.round((clock.now() - settledUntil) / 1000);
  return { hours, settledUntil: new Date(settledUntil).toISOString(), behindSeconds };
}
