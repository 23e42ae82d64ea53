import { SqsQueue } from '../../../shared/adapters/cloud/sqs-queue.ts';
import { maxLifecycleWorkers, planLifecycle } from '../../../shared/lifecycle/plan-lifecycle.ts';
import { lifecycleDeps } from '../../compose/lifecycle.ts';
import { backgroundHandler } from './background-handler.ts';

/** Plans a lifecycle pass if one is due, and calls each worker with a message. */
export const handler = backgroundHandler('plan-lifecycle', (deps) => {
  const lifecycle = lifecycleDeps(deps);
  const queue = new SqsQueue(deps.setting('STILLAGE_LIFECYCLE_QUEUE'));
  return async (_event: unknown, stopping) => {
    const plan = await planLifecycle(lifecycle, stopping);
    const { pass, slices } = plan;
    // At least one, as the last worker records the end of the pass.
    const workers = pass === undefined ? 0 : Math.max(1, Math.min(slices, maxLifecycleWorkers));
    await queue.send(Array.from({ length: workers }, () => ({ pass })));
    return { ...plan, workers };
  };
});
