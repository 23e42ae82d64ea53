import { LogInsights } from '../../../../shared/adapters/cloud/log-insights.ts';
import { RequestHours } from '../../../../shared/metadata/billing/request-hours.ts';
import { billRequests } from '../../../scheduled/bill-requests.ts';
import { backgroundHandler } from './background-handler.ts';

/** Counts the requests of the log for the bill. */
export const handler = backgroundHandler('bill-requests', (rooms) => {
  const requestLog = new LogInsights({ groups: rooms.setting('STILLAGE_REQUEST_LOGS').split(',') });
  const requestHours = new RequestHours(rooms);
  return async (_event: unknown, stopping) => {
    const billed = await billRequests({ ...rooms, requestLog, requestHours }, stopping);
    // A metric is made of it: infra/background-functions.ts.
    rooms.log.note('so far behind is the bill', { behindSeconds: billed.behindSeconds });
    return billed;
  };
});
