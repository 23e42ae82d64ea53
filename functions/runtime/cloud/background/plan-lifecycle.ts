import { SqsQueue } from '../../../../shared/adapters/cloud/sqs-queue.ts';
import { planLifecycle } from '../../../scheduled/plan-lifecycle.ts';
import { lifecycleDeps } from '../../compose/lifecycle.ts';
import { backgroundHandler } from './background-handler.ts';

/** As many functions work on a pass at the same time. */
const maxWorkers = 8;

/** Plans a lifecycle pass when one is due, and calls workers: a message each. */
export const handler = backgroundHandler('plan-lifecycle', (deps) => {
  const lifecycle = lifecycleDeps(deps);
  const queue = new SqsQueue(deps.setting('STILLAGE_LIFECYCLE_QUEUE'));
  return async (_event: unknown, stopping) => {
    const plan = await planLifecycle(lifecycle, stopping);
    const { pass, slices } = plan;
    // One at least, for whoever works last also notes that the pass is over.
    const workers = pass === undefined ? 0 : Math.max(1, Math.min(slices, maxWorkers));
    await queue.send(Array.from({ length: workers }, () => ({ pass })));
    return { ...plan, workers };
  };
});
