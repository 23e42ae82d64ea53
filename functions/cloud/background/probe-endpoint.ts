import { EdgeErrors } from '../../../shared/adapters/cloud/edge-errors.ts';
import { probeEndpoint, type ProbeAnswer } from '../endpoint-probe.ts';
import { backgroundHandler } from './background-handler.ts';

/** Milliseconds to wait for a response. */
const patience = 20_000;

/** Probes the endpoint as clients use it. */
export const handler = backgroundHandler('probe-endpoint', ({ setting, clock, log }) => {
  const endpoint = setting('STILLAGE_ENDPOINT');
  const hasByteLane = setting('STILLAGE_BYTE_LANE') === 'true';
  const errors = new EdgeErrors(setting('STILLAGE_DISTRIBUTIONS').split(','));
  const ask = async (path: string): Promise<ProbeAnswer> => {
    const answer = await fetch(endpoint + path, { redirect: 'manual', signal: AbortSignal.timeout(patience) });
    await answer.arrayBuffer();
    return { status: answer.status, isOwn: answer.headers.get('x-amz-request-id')?.startsWith('tx') === true };
  };
  return async () => {
    const probed = await probeEndpoint({ hasByteLane, ask, edgeErrorPercent: () => errors.percent(clock.now()) });
    // infra/constructs/background-functions.ts makes metrics of these fields.
    log.note('endpoint probed', {
      failedProbes: probed.failedProbes,
      edgeErrorPercent: probed.edgeErrorPercent,
    });
    return probed;
  };
});
