import { expect, it } from 'vitest';
import { probeEndpoint, type ProbeAnswer } from '../../../../functions/cloud/endpoint-probe.ts';

const own = (status: number): ProbeAnswer => ({ status, isOwn: true });
const healthy: Record<string, ProbeAnswer> = { '/_stillage/health': own(200), '/_public/probe': own(403) };

const probe = (answers: Record<string, ProbeAnswer | Error>, hasByteLane = true) =>
  probeEndpoint({
    hasByteLane,
    edgeErrorPercent: async () => 0.5,
    ask: async (path) => {
      const answer = answers[path] ?? new Error(`nobody should ask for ${path}`);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });

it('finds nothing wrong with lanes that answer', async () => {
  expect(await probe(healthy)).toEqual({ failedProbes: 0, failures: [], edgeErrorPercent: 0.5 });
});

it('asks for no byte lane where there is none', async () => {
  expect(await probe({ '/_stillage/health': own(200) }, false)).toMatchObject({ failedProbes: 0 });
});

it.each<[string, Record<string, ProbeAnswer | Error>, string]>([
  [
    'the answer of CloudFront for a lane that it cannot reach',
    { '/_public/probe': { status: 504, isOwn: false } },
    '504',
  ],
  ['an error page that is not the service’s', { '/_public/probe': { status: 403, isOwn: false } }, '403'],
  ['a table or blobs that do not answer', { '/_stillage/health': own(500) }, '500'],
  ['no answer', { '/_stillage/health': new Error('timeout') }, 'timeout'],
])('tells of %s', async (_, answers, told) => {
  const { failedProbes, failures } = await probe({ ...healthy, ...answers });
  expect(failedProbes).toBe(1);
  expect(failures[0]).toContain(told);
});
