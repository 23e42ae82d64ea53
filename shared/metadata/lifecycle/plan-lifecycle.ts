import { realDays } from './lifecycle.ts';
import type { LifecyclePass } from './lifecycle-passes.ts';
import { day } from '../../ports/durations.ts';
import { applyLifecycle, type LifecycleDeps } from './apply-lifecycle.ts';

/** As many functions in the cloud work on a pass at the same time: `maxConcurrency` of what starts ApplyLifecycle, too. */
export const maxLifecycleWorkers = 8;

/** Whether there is something to do: a pass that is not over, or the first pass of a day. Nothing becomes due within a day. */
export function isPassDue(latest: LifecyclePass | undefined, now: number): boolean {
  if (latest?.finishedAt === undefined) return true;
  return Math.floor(now / day) > Math.floor(latest.startedAt / day);
}

/** What planning left to be done. */
export interface LifecyclePlan {
  /** Undefined: no pass is due. */
  readonly pass: string | undefined;
  /** Slices that wait to be worked on, up to a hundred. */
  readonly slices: number;
}

/**
 * Cuts every bucket that has lifecycle rules into slices, for as many workers as come. To be run a few times a day: it goes on
 * with a pass that is not over, so that workers are called again if all of them have died.
 * @param stopping whether time is up; the next run goes on from there
 */
export async function planLifecycle(deps: LifecycleDeps, stopping: () => boolean): Promise<LifecyclePlan> {
  if (!isPassDue(await deps.passes.latest(), deps.clock.now())) return { pass: undefined, slices: 0 };
  const { pass } = await applyLifecycle(deps, { calendar: realDays, workers: 0, stopping });
  return { pass: pass.id, slices: await deps.passes.left() };
}
