import { realDays } from './lifecycle.ts';
import type { LifecyclePass } from './lifecycle-passes.ts';
import { day, hour } from '../ports/durations.ts';
import { applyLifecycle, type LifecycleDeps } from './apply-lifecycle.ts';

/**
 * The number of cloud functions working on a pass at the same time, also the `maxConcurrency` of ApplyLifecycle's event
 * source.
 */
export const maxLifecycleWorkers = 8;

/**
 * Returns whether there is work: an unfinished pass, the first pass of a day, or the first since the clock was set back.
 * Nothing becomes due within a day.
 */
export function isPassDue(latest: LifecyclePass | undefined, now: number): boolean {
  if (latest?.finishedAt === undefined || latest.startedAt > now + hour) return true;
  return Math.floor(now / day) > Math.floor(latest.startedAt / day);
}

/** The outcome of planning. */
export interface LifecyclePlan {
  /** Undefined: no pass is due. */
  readonly pass: string | undefined;
  /** Slices waiting for a worker, up to a hundred. */
  readonly slices: number;
}

/**
 * Splits every bucket that has lifecycle rules into slices, for any number of workers. Runs a few times a day: it
 * resumes an unfinished pass, so workers are started again if all of them have died.
 * @param stopping returns whether time is up; the next run resumes the planning
 */
export async function planLifecycle(deps: LifecycleDeps, stopping: () => boolean): Promise<LifecyclePlan> {
  if (!isPassDue(await deps.passes.latest(), deps.clock.now())) return { pass: undefined, slices: 0 };
  const { pass } = await applyLifecycle(deps, { calendar: realDays, workers: 0, stopping });
  return { pass: pass.id, slices: await deps.passes.left() };
}
