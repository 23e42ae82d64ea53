import { SetClock } from '../support/storage/fixed-deps.ts';
import { operations } from '../../functions/operations.ts';
import type { Auditor } from '../../shared/audit/audit-record.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { PipelineInProcess } from '../support/storage/pipeline-in-process.ts';
import { Meter, MeteredTable, type Cost } from './metered.ts';
import { owner, scenarios, type Scenario, type Send } from './scenarios.ts';

/** The measured cost of a scenario. */
export interface Measured {
  readonly scenario: Scenario;
  readonly status: number;
  readonly cost: Cost;
}

/** Runs a scenario in a service of its own, through the whole pipeline, and counts its one request. */
async function measure(scenario: Scenario): Promise<Measured> {
  const meter = new Meter();
  const table = new MeteredTable(meter);
  // Times of as many digits each time: DynamoDB counts them.
  const clock = new SetClock(Math.floor(Date.now() / 1000) * 1000 + 9);
  const service = new PipelineInProcess([owner], { table, clock, before: (blobs) => meter.before(blobs) });
  const send: Send = async (request) => {
    const answer = await service.send(request, owner);
    clock.time += 10;
    if (answer.status >= 300) throw new Error(`${scenario.operation}: ${answer.status} ${answer.text}`);
    return answer;
  };
  await send({ method: 'PUT', path: '/bucket' });
  for (const request of scenario.before ?? []) await send(request);
  const request = typeof scenario.request === 'function' ? await scenario.request(send) : scenario.request;
  meter.take();
  const { status, text } = await service.send(request, scenario.anonymous ? undefined : owner);
  const cost = meter.take();
  if (status >= 300) throw new Error(`${scenario.operation}: ${status} ${text}`);
  return { scenario, status, cost };
}

/** A copy that is refused as soon as its source is known, whatever is asked first. */
const refusedEarly = new Map(operations).set('CopyObject', {
  ...operations.get('CopyObject')!,
  authorise: () => {
    throw new S3Error('AccessDenied');
  },
});

/**
 * Counts what a copy costs that is refused before its source is read.
 * @param audit takes acts down. Undefined: nobody does
 */
export async function measureRefusedCopy(audit: Auditor | undefined): Promise<Cost> {
  const meter = new Meter();
  const table = new MeteredTable(meter);
  const service = new PipelineInProcess([owner], { table, operations: refusedEarly, ...(audit && { audit }) });
  for (const path of ['/bucket', '/source']) await service.send({ method: 'PUT', path }, owner);
  const headers = { 'x-amz-copy-source': '/source/key' };
  meter.take();
  const { status } = await service.send({ method: 'PUT', path: '/bucket/key', headers }, owner);
  if (status !== 403) throw new Error(`the copy was not refused: ${status}`);
  // What was begun and is not waited for has asked the table by then.
  await new Promise(setImmediate);
  return meter.take();
}

/** Measures them all. */
export async function measureAll(): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  for (const scenario of scenarios) measured.push(await measure(scenario));
  return measured;
}
