import { SqsQueue } from '../../../shared/adapters/cloud/sqs-queue.ts';
import { realDays } from '../../../shared/lifecycle/lifecycle.ts';
import { applyLifecycle } from '../../../shared/lifecycle/apply-lifecycle.ts';
import { isPassDue } from '../../../shared/lifecycle/plan-lifecycle.ts';
import { lifecycleDeps } from '../../compose/lifecycle.ts';
import { backgroundHandler } from './background-handler.ts';

/**
 * A worker of a lifecycle pass. Processes slices until none is left or its time is up; then it calls another worker if some are
 * left. A message only says that there is work; the slices are in the table, so messages may arrive twice or late.
 */
export const handler = backgroundHandler('apply-lifecycle', (deps) => {
  const lifecycle = lifecycleDeps(deps);
  const queue = new SqsQueue(deps.setting('STILLAGE_LIFECYCLE_QUEUE'));
  return async (_messages: unknown, stopping) => {
    // A late message must not start another pass on the same day.
    if (!isPassDue(await lifecycle.passes.latest(), deps.clock.now())) return { over: true };
    const { pass, done } = await applyLifecycle(lifecycle, { calendar: realDays, stopping });
    const over = pass.finishedAt !== undefined;
    if (!over && stopping()) await queue.send([{ pass: pass.id }]);
    return { over, pass: pass.id, ...done };
  };
});
