import { LastUses } from '../../../shared/accounts/key-uses.ts';
import { LogInsights } from '../../../shared/adapters/cloud/log-insights.ts';
import { RequestHours } from '../../../shared/billing/request-hours.ts';
import { billRequests } from '../../../shared/billing/bill-requests.ts';
import { backgroundHandler } from './background-handler.ts';

/** Counts the requests in the log for billing, and stores which keys were last used when. */
export const handler = backgroundHandler('bill-requests', (deps) => {
  const requestLog = new LogInsights({ groups: deps.setting('STILLAGE_REQUEST_LOGS').split(',') });
  const requestHours = new RequestHours(deps);
  const lastUses = new LastUses(deps);
  return async (_event: unknown, stopping) => {
    const billed = await billRequests({ ...deps, requestLog, requestHours, lastUses }, stopping);
    // infra/constructs/background-functions.ts makes a metric of this field.
    deps.log.note('requests billed', { behindSeconds: billed.behindSeconds });
    return billed;
  };
});
