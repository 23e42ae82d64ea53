import { Client } from 'pg';
import { PostgresTable } from '../../shared/adapters/postgres/postgres-table.ts';
import type { ItemKey } from '../../shared/ports/key-value-table.ts';
import { inParallel } from '../../shared/storage/concurrency.ts';
import { RecentTable } from '../../shared/storage/table/recent-table.ts';
import { callers, openShopOver, secretAccessKey, userKey, type Caller } from '../costs/identities.ts';
import { owner, scenarios, type Scenario, type Send } from '../costs/scenarios.ts';
import type { Key, Unsigned } from '../support/clients/signer.ts';
import { SetClock } from '../support/storage/fixed-deps.ts';
import { person, PipelineInProcess, type Answered } from '../support/storage/pipeline-in-process.ts';
import { startPostgres } from '../support/storage/postgres.ts';

/** The round trips to the database of a request of somebody who is known, in a bucket that was read within a second. */
interface MeasuredTrips {
  readonly scenario: Scenario;
  readonly trips: number;
}

/** Those of GetObject for whoever asks. */
interface MeasuredTripsOfCaller {
  readonly who: string;
  /** To a server that has not looked up the key for two seconds, nor read the bucket. */
  readonly first: number;
  readonly next: number;
}

export interface MeasuredTripsOfAll {
  readonly operations: readonly MeasuredTrips[];
  readonly callers: readonly MeasuredTripsOfCaller[];
}

/** What a server asks by itself, whatever requests it gets. */
const ofItself = /pg_notify|^select max\(position\)/;

/**
 * Counts the round trips of this process to any database: statements that are sent before any of them is answered are one, on whatever
 * connections. It replaces the method of the client by which statements are sent.
 */
class RoundTrips {
  #count = 0;
  #isWaiting = false;
  readonly #query = Object.getOwnPropertyDescriptor(Client.prototype, 'query')!;

  constructor() {
    const { sent, answered } = this;
    const query = this.#query.value as (this: Client, ...given: unknown[]) => Promise<unknown>;
    const counting = function (this: Client, ...given: unknown[]): Promise<unknown> {
      const answer = query.apply(this, given);
      if (typeof given[0] === 'string' && ofItself.test(given[0])) return answer;
      sent();
      answer.then(answered, answered);
      return answer;
    };
    Client.prototype.query = counting as unknown as typeof Client.prototype.query;
  }

  /** Returns the number since the previous call. */
  take(): number {
    const count = this.#count;
    this.#count = 0;
    this.#isWaiting = false;
    return count;
  }

  stop(): void {
    Object.defineProperty(Client.prototype, 'query', this.#query);
  }

  readonly sent = (): void => {
    if (!this.#isWaiting) this.#count += 1;
    this.#isWaiting = true;
  };

  readonly answered = (): void => {
    this.#isWaiting = false;
  };
}

/** So many requests before a scenario are independent of each other. */
const few = 100;

/** Measures everybody who may ask, and every operation: some minutes. @param isWanted takes only some of them */
export async function measureTrips(
  isWanted: (scenario: Scenario) => boolean = () => true,
): Promise<MeasuredTripsOfAll> {
  // Nothing here outlasts a power failure.
  const postgres = await startPostgres('-c', 'fsync=off');
  const trips = new RoundTrips();
  const url = postgres.url;
  const operations: MeasuredTrips[] = [];
  const ofCallers: MeasuredTripsOfCaller[] = [];
  try {
    for (const [at, scenario] of scenarios.filter(isWanted).entries()) {
      operations.push(await withTable(url, `scenario_${at}`, (table) => tripsOf(scenario, table, trips)));
    }
    for (const [at, caller] of callers.entries()) {
      ofCallers.push(await withTable(url, `caller_${at}`, (table) => tripsOfCaller(caller, table, trips)));
    }
  } finally {
    trips.stop();
    await postgres.stop();
  }
  return { operations, callers: ofCallers };
}

/** Opens a table whose connections are there, as those of a server that has been running for a while. */
async function withTable<Result>(
  url: string,
  schema: string,
  measure: (table: PostgresTable) => Promise<Result>,
): Promise<Result> {
  const table = await PostgresTable.open({ url, schema });
  const key: ItemKey = { pk: 'warm', sk: 'up' };
  try {
    await Promise.all(Array.from({ length: 8 }, () => table.get(key)));
    return await measure(table);
  } finally {
    await table.close();
  }
}

async function tripsOf(scenario: Scenario, inner: PostgresTable, trips: RoundTrips): Promise<MeasuredTrips> {
  const clock = new SetClock(Math.floor(Date.now() / 1000) * 1000 + 9);
  const service = new PipelineInProcess([owner], { table: new RecentTable(inner, clock), clock });
  const answerTo = async (request: Unsigned, isAnonymous = false): Promise<Answered> => {
    const answer = await service.send(request, isAnonymous ? undefined : owner);
    clock.time += 10;
    if (answer.status >= 300) throw new Error(`${scenario.operation}: ${answer.status} ${answer.text}`);
    return answer;
  };
  const send: Send = (request) => answerTo(request);
  await send({ method: 'PUT', path: '/bucket' });
  const { before = [] } = scenario;
  if (before.length < few) for (const request of before) await send(request);
  else await inParallel(before, 16, async (request) => void (await send(request)));
  const request = typeof scenario.request === 'function' ? await scenario.request(send) : scenario.request;
  await send({ path: '/bucket', query: 'location' });
  trips.take();
  await answerTo(request, scenario.anonymous);
  return { scenario, trips: trips.take() };
}

async function tripsOfCaller(
  { who, user, session }: Caller,
  inner: PostgresTable,
  trips: RoundTrips,
): Promise<MeasuredTripsOfCaller> {
  const clock = new SetClock();
  const table = new RecentTable(inner, clock);
  const { accounts, userIs, temporary } = await openShopOver(table, clock);
  const service = new PipelineInProcess([], { table, clock, projects: accounts, accessKeys: accounts });
  const permanent = { accessKeyId: userKey, secretAccessKey };
  const send = async (request: Unsigned, key: Key): Promise<number> => {
    trips.take();
    const { status, text } = await service.send(request, { ...person('ci'), key });
    if (status >= 300) throw new Error(`${who}: ${status} ${text}`);
    return trips.take();
  };
  await send({ method: 'PUT', path: '/bucket' }, permanent);
  await send({ method: 'PUT', path: '/bucket/key', body: 'x' }, permanent);
  await userIs(user);
  const key = session && (await temporary(session));
  const headers: Unsigned['headers'] = key && { 'x-amz-security-token': key.sessionToken };
  const get: Unsigned = { path: '/bucket/key', ...(headers && { headers }) };
  // By then, nothing of the requests before is remembered.
  clock.time += 10_000;
  return { who, first: await send(get, key ?? permanent), next: await send(get, key ?? permanent) };
}

/** docs/round-trips.md */
export function roundTripsDocument({ operations, callers: ofCallers }: MeasuredTripsOfAll): string {
  // Its transactions run beside each other, in no certain order.
  const shown = ({ operation }: Scenario, trips: number): string =>
    operation === 'DeleteObjects' ? '2 for each key, several keys at a time' : String(trips);
  const name = ({ operation, variant }: Scenario): string => (variant ? `${operation}: ${variant}` : operation);
  return `<!-- Written by bin/round-trips-table.ts. Do not edit. -->

# Round trips to the database

How often a request waits for PostgreSQL where the [table is in one](many-machines.md): what takes its time besides the bytes. Counted over
PostgreSQL, through the whole pipeline; statements that are sent without waiting for each other's answers are one round trip.

## Budget

| | at most |
|---|---|
| GET, HEAD | ${budget.get} |
| PUT | ${budget.put} |
| PUT with versioning | ${budget.versionedPut} |
| DELETE | ${budget.delete} |
| a listing of 1,000 keys | ${budget.list} |

This holds where the server has looked up the key of who asks within two seconds, and the bucket within one. What changes something takes two:
one that locks and reads the items, and one that changes them and commits. Between them, the server knows the number of its transaction,
by which it learns the outcome if the connection is lost: [ADR 92](adr/0092-what-a-server-remembers.md).

## Who asks

Of GetObject: by somebody whom the server does not know, in a bucket that it has not read, and again within a second.

| who asks | first | next |
|---|---|---|
${ofCallers.map(({ who, first, next }) => `| ${who} | ${first} | ${next} |`).join('\n')}

## Every operation

| operation | round trips |
|---|---|
${operations.map(({ scenario, trips }) => `| ${name(scenario)} | ${shown(scenario, trips)} |`).join('\n')}
`;
}

/** The most round trips of the operations that clients use most. */
export const budget = { get: 1, put: 2, versionedPut: 3, delete: 2, list: 2 } as const;
