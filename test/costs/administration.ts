import { AdminApi } from '../../functions/admin/admin-api.ts';
import { administrationDeps } from '../../functions/admin/deps.ts';
import { administrationCommands } from '../../local/cli/commands/administration-commands.ts';
import { AuditLog } from '../../shared/audit/audit-log.ts';
import { ProjectRecords } from '../../shared/audit/project-records.ts';
import type { Act } from '../../shared/audit/audit-record.ts';
import { Fields } from '../../shared/http/message.ts';
import { defaultLimits } from '../../shared/protocol/limits.ts';
import { EphemeralBlobStore } from '../../shared/adapters/ephemeral/ephemeral-blob-store.ts';
import { CountedBytes, openSecrets, SetClock } from '../support/storage/fixed-deps.ts';
import { Meter, MeteredTable, type Cost } from './metered.ts';

/** What the audit log and the API of operators take. */
export interface MeasuredAdministration {
  /** Of an act of a project, and its bytes in the table. */
  readonly act: Cost & { readonly bytes: number };
  /** Of a command of an operator, which concerns no project. */
  readonly command: Cost;
  /** Of LookupEvents: fifty records, and as many as it looks at for an attribute. */
  readonly lookup: { readonly plain: Cost; readonly byAttribute: Cost };
  /** Of requests to the API with their tokens. */
  readonly api: { readonly show: Cost; readonly create: Cost };
}

const project = '9204e1c0-5c6b-4a0e-9d5f-3b6f4a8f0b11';
const agent = 'aws-sdk-js/3.1080.0 ua/2.1 os/linux#6.1.0 lang/js md/nodejs#24.11.0 api/s3#3.1080.0 m/E,N,e';
const act: Act = {
  by: { kind: 'user', project, user: 'ci', key: 'STILYOUS4EQOCTROTQOJ' },
  ...{ source: 's3', event: 'PutBucketPolicy', bucket: 'reports-of-acme', project, agent },
  ...{ requestId: 'tx0123456789abcdef01234-0123456789', address: '203.0.113.7' },
};
const commandOf = (operator: string): Act => ({
  by: { kind: 'operator', operator },
  ...{ source: 'administration', event: 'customer create', given: { customer: 'acme' }, agent, address: '203.0.113.7' },
});
/** Those of an attribute: functions/cloudtrail/lookup-events.ts. */
const lookedAt = 250;

/** Counts them, in a cloud deployment. */
export async function measureAuditing(): Promise<MeasuredAdministration> {
  const meter = new Meter();
  const table = new MeteredTable(meter);
  const [clock, randomness] = [new SetClock(), new CountedBytes()];
  const log = new AuditLog({ table, clock, randomness }, { expiringAfter: 90 }, () => undefined);
  const taken = async (one: Act): Promise<Cost> => {
    log.record(one);
    meter.take();
    await log.flush();
    return meter.take();
  };
  const acts = { act: await taken(act), command: await taken(commandOf('platform')) };
  const bytes = 2 * JSON.stringify(act).length + 2 * 160;
  for (let at = 0; at < 2 * lookedAt; at += 1) log.record(act);
  await log.flush();
  const records = new ProjectRecords({ table });
  const look = async (limit: number): Promise<Cost> => {
    meter.take();
    await records.of(project, { from: 0, to: clock.now(), limit });
    return meter.take();
  };
  const lookup = { plain: await look(50), byAttribute: await look(lookedAt) };
  return { ...acts, act: { ...acts.act, bytes }, lookup, api: await measureApi() };
}

async function measureApi(): Promise<MeasuredAdministration['api']> {
  const meter = new Meter();
  const table = new MeteredTable(meter);
  const [clock, randomness] = [new SetClock(), new CountedBytes()];
  const administration = administrationDeps({
    ...{ table, clock, randomness, secrets: openSecrets, blobs: new EphemeralBlobStore(), actionKinds: new Set() },
    settings: {
      ...{ limits: defaultLimits, region: 'us-east-1', auditsData: false },
      ...{ endpoint: 'https://s3.example.com', publicUrl: 'https://s3.example.com' },
    },
  });
  const audit = new AuditLog({ table, clock, randomness }, { expiringAfter: 90 }, () => undefined);
  const quiet = { request: () => undefined, note: () => undefined, problem: () => undefined };
  const api = new AdminApi({
    ...{ administration, audit, commands: administrationCommands, operators: administration.operators },
    ...{ secrets: openSecrets, telemetry: quiet, requestId: () => 'tx' },
  });
  const { token } = await administration.operators.create('platform', ['manage']);
  const ask = async (command: string, given: object): Promise<Cost> => {
    meter.take();
    const { status } = await api.handle({
      ...{ method: 'POST', target: `/_stillage/admin/v1/${command}`, secure: true, remoteAddress: '203.0.113.7' },
      fields: new Fields([
        ['authorization', `Bearer ${token}`],
        ['content-type', 'application/json'],
        ['idempotency-key', command],
      ]),
      body: once(JSON.stringify(given)),
    });
    if (status !== 200) throw new Error(`${command}: ${status}`);
    await audit.flush();
    return meter.take();
  };
  // The first use is written down.
  await ask('customer/list', {});
  const create = await ask('customer/create', { customer: 'acme' });
  return { create, show: await ask('customer/show', { customer: 'acme' }) };
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
