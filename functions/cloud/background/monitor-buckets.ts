import { SnsTopics } from '../../../shared/adapters/cloud/sns-topics.ts';
import { Webhooks } from '../../../shared/adapters/system/webhooks.ts';
import { collectMetrics } from '../../../shared/monitoring/collect-metrics.ts';
import { evaluateAlarms } from '../../../shared/monitoring/alarms/evaluate-alarms.ts';
import { LogNotifier, NotifierByScheme } from '../../../shared/telemetry/notifiers.ts';
import { backgroundHandler } from './background-handler.ts';
import { monitoringDeps } from './monitoring-deps.ts';

/** Samples every monitored bucket and then evaluates the alarms on the samples. */
export const handler = backgroundHandler('monitor-buckets', async (cloud) => {
  const deps = await monitoringDeps(cloud);
  const notifier = new NotifierByScheme({
    log: new LogNotifier(cloud.log),
    https: new Webhooks({ allowed: new Set() }),
    arn: new SnsTopics(),
  });
  const region = cloud.setting('STILLAGE_REGION');
  return async () => ({
    collected: await collectMetrics(deps),
    evaluated: await evaluateAlarms({ ...deps, notifier, region }),
  });
});
