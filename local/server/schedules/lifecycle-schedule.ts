import { realDays, shortDays, type Calendar } from '../../../shared/lifecycle/lifecycle.ts';
import type { LifecyclePass } from '../../../shared/lifecycle/lifecycle-passes.ts';
import { minute } from '../../../shared/ports/durations.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { applyLifecycle, type LifecycleDeps } from '../../../shared/lifecycle/apply-lifecycle.ts';
import { isPassDue } from '../../../shared/lifecycle/plan-lifecycle.ts';
import { repeat, type Schedule } from './schedule.ts';
import type { StartOptions } from '../../../shared/command-line/start-options.ts';

/** Few, as each worker scans without pauses and requests need capacity. */
const workers = 2;

/** Returns the calendar for days of the given length in seconds; undefined: real days. */
export function calendarOf(seconds: number | undefined): Calendar {
  return seconds === undefined ? realDays : shortDays(seconds);
}

/**
 * Returns whether a pass is due: an unfinished one, or the first of a day. On real days, nothing becomes due in between; on short
 * ones anything may, so there are four passes a day.
 */
function passIsDue(latest: LifecyclePass | undefined, now: number, seconds: number | undefined): boolean {
  if (seconds === undefined || latest?.finishedAt === undefined) return isPassDue(latest, now);
  return Math.abs(now - latest.startedAt) >= (seconds * 1000) / 4;
}

/**
 * Starts applying lifecycle rules within the service whenever a pass is due. An ephemeral service checks every range: its
 * clock may be set forward and back again, and what earlier passes found holds only while time goes on.
 */
export function scheduleLifecycle(
  deps: LifecycleDeps,
  { lifecycleDaySeconds: seconds, ephemeral }: Pick<StartOptions, 'lifecycleDaySeconds' | 'ephemeral'>,
  telemetry: Telemetry,
): Schedule {
  let stopping = false;
  const run = async (): Promise<void> => {
    if (!passIsDue(await deps.passes.latest(), deps.clock.now(), seconds)) return;
    const options = { calendar: calendarOf(seconds), everyRange: ephemeral, workers, stopping: () => stopping };
    const { pass, done } = await applyLifecycle(deps, options);
    const { keys, ...changes } = done;
    const hasChanged = Object.values(changes).some((count) => count > 0);
    if (hasChanged) telemetry.note('lifecycle rules were applied', { pass: pass.id, keys, ...changes });
  };
  const every = seconds === undefined ? minute : Math.min(minute, (seconds * 1000) / 8);
  const schedule = repeat(every, deps.clock, run, telemetry, 'applying lifecycle rules failed');
  return {
    stop: () => {
      stopping = true;
      return schedule.stop();
    },
  };
}
