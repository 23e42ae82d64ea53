import { byteLane } from '../../shared/protocol/operation-table.ts';
import type { MeasuredAdministration } from './administration.ts';
import type { MeasuredCaller } from './identities.ts';
import type { MeasuredPasses } from './lifecycle.ts';
import type { Measured } from './measure.ts';
import type { Cost } from './metered.ts';
import type { MeasuredScrub } from './scrub.ts';

/** Prices per million in us-east-1 in November 2026, in dollars. The sources are in docs/costs.md. */
const prices = {
  readUnit: 0.125,
  writeUnit: 0.625,
  blobPut: 5,
  blobGet: 0.4,
  distribution: 1 + 0.1,
  api: 3.5,
  invocation: 0.2,
  /** Of 50 ms of a function of 1 GB on arm64. */
  functionTime: 0.05 * 13.3334,
  /** A GB of log of the class Infrequent Access: https://aws.amazon.com/cloudwatch/pricing/ */
  logGigabyte: 0.25,
} as const;

/** Bytes of a line of the request log, with the 26 that CloudWatch adds to each; the control lane also has an access log. */
const logLine = 370 + 26;
/** Bytes of a line with the counts of a project's requests in a class, likewise. */
const countLine = 220 + 26;
/** Requests that such a line counts in five seconds, with 20 a second of a project in a class to a server. */
const countedRequests = 100;
/** The byte lane logs one of so many successful requests. */
const sampling = 100;
/** Times that Logs Insights scans a line for the bill, and dollars for a GB. */
const scans = { times: 3.5, gigabyte: 0.005 };
/** An hour of half a processor and 1 GB of Fargate on arm64: https://aws.amazon.com/fargate/pricing/ */
const scrubHour = 0.5 * 0.03238 + 0.00356;
const scrubDays = 28;
/** Reads of current version, noncurrent version and references as of one instant, a write of the entry, and its deletion. */
const releaseDollars = 6 * prices.readUnit + 2 * prices.writeUnit;
/** Operations that may leave bytes to release: those that replace or remove an object. */
const releasing: readonly string[] = ['DeleteObject', 'PutObject: over an object'];
/** Dollars of a batch of the followers: counters and the day of the bill in one transaction, and the reads for it. */
const batchDollars = 4 * prices.writeUnit + 5 * prices.readUnit + 2 * prices.invocation + prices.functionTime;
/** Records of a batch, where a bucket is busy: up to 500 of a second. */
const busyBatch = 100;

/** Dollars of table and blobs for a million requests like it. */
function dataDollars({ readUnits, writeUnits, blobPuts, blobGets }: Cost): number {
  const { readUnit, writeUnit, blobPut, blobGet } = prices;
  return readUnits * readUnit + writeUnits * writeUnit + blobPuts * blobPut + blobGets * blobGet;
}

/** Returns the dollars of transporting a million requests to the operation, without the hourly price of the byte lane. */
function wayDollars(operation: string): number {
  const { distribution, api, invocation, functionTime } = prices;
  const isAlwaysOnByteLane = (byteLane as Readonly<Record<string, readonly string[]>>)[operation]?.length === 0;
  return isAlwaysOnByteLane ? distribution : distribution + api + invocation + functionTime;
}

/** Bytes that a request adds to the log of the byte lane. */
const byteLaneLog = { all: logLine, sampled: logLine / sampling + countLine / countedRequests } as const;

/** Dollars of the log for a million requests. */
function logDollars(operation: string): number {
  const isOnByteLane = wayDollars(operation) === prices.distribution;
  return ((isOnByteLane ? byteLaneLog.sampled : 2 * logLine) * prices.logGigabyte) / 1000;
}

/** Dollars for a million requests of which each is so many bytes of log: writing it, and scanning it for the bill. */
function logged(bytes: number): readonly [ingestion: number, scanning: number] {
  return [(bytes * prices.logGigabyte) / 1000, (bytes * scans.times * scans.gigabyte) / 1000];
}

function logRows(): string {
  return Object.entries({ 'each request': byteLaneLog.all, 'counts and a sample': byteLaneLog.sampled })
    .map(([name, bytes]) => {
      const [ingestion, scanning] = logged(bytes);
      // 10,000 requests a second, for 30 days.
      const month = (ingestion + scanning) * 10_000 * 2.592;
      return `| ${name} | ${bytes.toFixed(1)} | ${ingestion.toFixed(4)} | ${scanning.toFixed(4)} | ${month.toFixed(0)} |`;
    })
    .join('\n');
}

/** Dollars of the nightly scrub for a million objects, in as many nights as it has slices. */
function scrubDollars({ passes, unitsOfPass, blobGets, unitsBesides }: MeasuredScrub): {
  readonly table: number;
  readonly points: number;
  readonly blobs: number;
} {
  return {
    table: (passes.first + (scrubDays - 1) * passes.others) * unitsOfPass * prices.readUnit,
    points: unitsBesides * prices.readUnit,
    blobs: blobGets * prices.blobGet,
  };
}

function scrubRows(measured: MeasuredScrub): string {
  const { passes, unitsOfPass, blobGets, unitsBesides } = measured;
  const { table, points, blobs } = scrubDollars(measured);
  const rows = [
    ['scans of the table', `${passes.first} by the first slice, ${passes.others} by each other`, unitsOfPass, table],
    ['single reads', 'in all slices together', unitsBesides, points],
    ['HEAD of a blob', 'in all slices together', blobGets, blobs],
  ] as const;
  const lines = rows.map(
    ([what, when, number, dollars]) => `| ${what} | ${when} | ${number.toFixed(2)} | ${dollars.toFixed(2)} |`,
  );
  return [...lines, `| **total** | | | **${(table + points + blobs).toFixed(2)}** |`].join('\n');
}

/** Dollars for a million requests as in the example of docs/cloud-operations.md: half of the PUTs replace an object. */
export function mixDollars(measured: readonly Measured[], path: 'byte lane' | 'functions'): number {
  const shares = [
    ['GetObject', undefined, 0.7],
    ['PutObject', undefined, 0.125],
    ['PutObject', 'over an object', 0.125],
    ['ListObjectsV2', '1,000 keys', 0.05],
  ] as const;
  const { api, invocation, functionTime } = prices;
  const more =
    path === 'byte lane' ? 0 : api + invocation + functionTime + logged(2 * logLine - byteLaneLog.sampled)[0];
  return shares.reduce((sum, [operation, variant, share]) => {
    const { cost } = measured.find(({ scenario }) => scenario.operation === operation && scenario.variant === variant)!;
    const name = variant === undefined ? operation : `${operation}: ${variant}`;
    const one = dataDollars(cost) + wayDollars(operation) + logDollars(operation) + followDollars(name, cost);
    return sum + share * (one + more);
  }, 0);
}

/** Returns the dollars of the work of followers and sweeps for a million such requests. */
function followDollars(name: string, { writes }: Cost): number {
  const counted = writes > 0 && /^(?:Put|Post|Delete|Copy|Rename)Object/.test(name) ? batchDollars / busyBatch : 0;
  return counted + (releasing.includes(name) ? releaseDollars : 0);
}

/** docs/costs.md */
export function costsDocument(
  measured: readonly Measured[],
  { scrub, passes, callers, auditing }: MeasuredBesides,
): string {
  const rows = measured.map(({ scenario: { operation, variant }, cost }) => {
    const { reads, readUnits, writes, writeUnits, transactionItems, blobPuts, blobGets, blobDeletes } = cost;
    const data = dataDollars(cost);
    const transaction = transactionItems > 0 ? ` (${transactionItems} items)` : '';
    const counts = [reads, readUnits, `${writes}${transaction}`, writeUnits, blobPuts, blobGets, blobDeletes];
    const name = variant === undefined ? operation : `${operation}: ${variant}`;
    const all = data + wayDollars(operation) + logDollars(operation) + followDollars(name, cost);
    const dollars = [data, all].map((value) => value.toFixed(2));
    return `| ${name} | ${counts.join(' | ')} | ${dollars.join(' | ')} |`;
  });
  const filled = head
    .replace('GOALS', goalRows(measured))
    .replace('SMALL', smallRows())
    .replace('CALLERS', callerRows(callers))
    .replace('AUDITING', auditingRows(auditing))
    .replace('ACT_BYTES', String(auditing.act.bytes))
    .replace('LOG', logRows())
    .replace('SCRUB', scrubRows(scrub))
    .replace('PASSES', passRows(passes))
    .replace('LEFT_OUT', dataDollars(passes.leftOut).toFixed(1));
  return `${filled}\n${rows.join('\n')}\n`;
}

/** What is measured besides the operations. */
export interface MeasuredBesides {
  readonly scrub: MeasuredScrub;
  readonly passes: MeasuredPasses;
  readonly callers: readonly MeasuredCaller[];
  readonly auditing: MeasuredAdministration;
}

function auditingRows({ act, command, lookup, api }: MeasuredAdministration): string {
  // The function of the API has half the memory and twice the time of one of 50 ms.
  const way = prices.api + prices.invocation + prices.functionTime;
  const rows: readonly (readonly [string, Cost, number])[] = [
    ['an act that changes something of a project, besides its request', act, 0],
    ['an act of an operator', command, 0],
    ['LookupEvents: 50 records, besides its request', lookup.plain, 0],
    ['LookupEvents with an attribute, likewise', lookup.byAttribute, 0],
    ['the API of operators: `customer show`', api.show, way],
    ['the API of operators: `customer create` with an `Idempotency-Key`, and its record', api.create, way],
  ];
  return rows
    .map(([what, cost, besides]) => {
      const counts = [cost.reads, cost.readUnits, cost.writes, cost.writeUnits];
      return `| ${[what, ...counts, (dataDollars(cost) + besides).toFixed(2)].join(' | ')} |`;
    })
    .join('\n');
}

function callerRows(callers: readonly MeasuredCaller[]): string {
  return callers
    .map(({ who, lookup, get, put }) => {
      const requests = [get, put].flatMap(({ first, next }) => [first.reads, next.reads]);
      const dollars = dataDollars(lookup).toFixed(2);
      return `| ${[who, lookup.reads, lookup.readUnits, dollars, ...requests].join(' | ')} |`;
    })
    .join('\n');
}

function goalRows(measured: readonly Measured[]): string {
  const goals = [
    ['PutObject', undefined, 6.5],
    ['GetObject', undefined, 1.5],
    ['ListObjectsV2', '1,000 keys', 9],
    ['DeleteObject', undefined, 6],
  ] as const;
  return goals
    .map(([operation, variant, goal]) => {
      const found = measured.find(({ scenario }) => scenario.operation === operation && scenario.variant === variant)!;
      const name = variant === undefined ? operation : `${operation}: ${variant}`;
      const extras = logDollars(operation) + followDollars(name, found.cost);
      const all = dataDollars(found.cost) + wayDollars(operation) + extras;
      return `| ${name} | ${all.toFixed(2)} | ${goal.toFixed(2)} | ${all <= goal ? 'met' : 'missed: see below'} |`;
    })
    .join('\n');
}

/** Of 50 ms: a page takes 60 ms, and a function processes four slices at a time. */
const pageTime = 60 / 50 / 4;

/** Dollars a month for passes over a billion objects, a million pages of a thousand keys. */
function passRows({ thousand, thousandLarge, dated }: MeasuredPasses): string {
  // Of a page, the bucket is read strongly consistently in any case.
  const strongly = (page: Cost): Cost => ({ ...page, readUnits: 2 * (page.readUnits - 1) + 1 });
  const month = (page: Cost, passes: number): string =>
    (passes * (dataDollars(page) + pageTime * prices.functionTime)).toFixed(0);
  const rows = [
    ['every key every day, by strongly consistent reads', strongly, 30],
    ['every key every day: something is due in every range', undefined, 30],
    [
      `${(100 * dated).toFixed(1)}% of the keys every day: they begin with their date, and a hundredth expires`,
      undefined,
      30 * dated,
    ],
    ['every key once a month: nothing is due', undefined, 1],
  ] as const;
  return rows
    .map(([name, read, passes]) => {
      const pages = [thousand, thousandLarge].map((page) => month(read ? read(page) : page, passes));
      return `| ${name} | ${pages.join(' | ')} |`;
    })
    .join('\n');
}

/** Bytes of an item beside those of the object. */
const itemOverhead = 150;

function smallRows(): string {
  return [512, 1024, 1800, 2800, 4096, 8192]
    .map((size) => {
      const write = Math.ceil((size + itemOverhead) / 1024) * prices.writeUnit;
      // A million of them, in dollars a month.
      const month = ((size + itemOverhead) / 1000) * 0.25 - (size / 1000) * 0.023;
      const rest = prices.blobPut - 2 * write;
      const until = rest <= 0 ? 'never' : `${(rest / month).toFixed(1)} months`;
      const numbers = [write, write, month, prices.blobPut, 2 * write + month].map((value) => value.toFixed(2));
      return `| ${size} bytes | ${numbers.join(' | ')} | ${until} |`;
    })
    .join('\n');
}

const head = `<!-- Written by bin/costs-table.ts. Do not edit. -->

# What each operation costs in the cloud

Counted in a service whose table and blobs are in memory, through the whole pipeline: the calls that the cloud adapters would make,
and the units that DynamoDB charges for the bytes of the items by its published rules (strongly consistent reads by 4 KB, writes by
1 KB, transactions twice). Nothing was measured in an account.

A key has 60 bytes and an object 1,000, unless the row says otherwise; the access key is cached, and there are no concurrent requests.
The bucket is read with each request, and once more after a write that could create a key. Copies are within one bucket.

Prices are those of us-east-1 in November 2026, in dollars per million: read unit ${prices.readUnit}, write unit ${prices.writeUnit}, S3 PUT ${prices.blobPut}, GET ${prices.blobGet},
DELETE free; CloudFront and its function ${prices.distribution.toFixed(2)}, REST API ${prices.api.toFixed(2)}, invocation ${prices.invocation.toFixed(2)}, 50 ms of a function of 1 GB ${prices.functionTime.toFixed(2)}.

"data" is table and blobs for a million requests. "all" adds the path to the operation, the log (of the class Infrequent Access at ${prices.logGigabyte} a
GB: two lines of ${logLine} bytes in the control lane, ${byteLaneLog.sampled.toFixed(1)} bytes [in the byte lane](#the-request-log); Lambda's own lines are off), the counters of a busy bucket (a million batches cost $${batchDollars.toFixed(2)},
and a batch has ${busyBatch} changes; in a bucket with few changes each is a batch) and, for requests that replace or remove an object, the
release of its bytes (${releaseDollars.toFixed(2)}: two writes, and a read of three items as of one instant; S3 deletes for free).

Not included: the hourly price of the byte lane, bytes sent to the internet, storage, [looking up who asks](#who-asks) where a process does not
know it, the last use of a key (a line of the log, and two reads and writes at most, in a process and 15 minutes), capacity units of the load balancer (about 0.03 a million requests of 4 KB), public IPv4 addresses of servers,
CloudWatch alarms, dashboard and traces, the [nightly scrub](#the-nightly-scrub), [lifecycle passes](#lifecycle-passes), and stream
reads by Lambda, which are free.

## Goals

| a million | all | goal | result |
|---|---|---|---|
GOALS

A PUT cannot cost less than $6.73 as long as its bytes become an object of S3: CloudFront 1.10, PUT 5.00, one write unit 0.63. A GET
cannot cost less than $1.50: CloudFront 1.10, GET 0.40. Permissions and versions depend on the reads of bucket and current version,
0.25, which must not be stale. Only a way without CloudFront would reach both goals: a load balancer on the internet costs 1.10 less for each
million requests. It would need TLS, a defence against floods and all operations of the control lane on the servers, and is not built.

## Who asks

A function or server looks up who asks, and remembers it for two seconds: a key that is used less often than that is looked up by each request.
The permanent key, its user, project and customer are a read each, of a role the role instead of key and user. What a user carries is with the
user; the groups are read together, and then the managed policies of the project. Reading together takes two units for each item. A temporary key
is known where its permanent key is, or its role. Dollars are those of a million look-ups; the other columns are table reads.

| who asks | look-up: reads | units | $ | GetObject: first | within two seconds | PutObject: first | within two seconds |
|---|---|---|---|---|---|---|---|
CALLERS

Somebody limited costs as much as somebody with full access while remembered. Up to ten groups are one read, and so are up to ten managed
policies. A change whose body takes longer than that looks up again before it commits, and IAM looks up who asks at each request.

## Small objects in the table?

As items of the table, small objects would save the S3 PUT, and cost write units by the KB, twice: DynamoDB charges the size of an item
for its deletion as well. An item has about 150 bytes besides the object. A GB costs 0.25 a month in the table, and 0.023 in S3.

| object | write | deletion | a month | S3, total | items, total after 1 month | cheaper until |
|---|---|---|---|---|---|---|
SMALL

So items are cheaper up to about 2.5 KB, unless they stay for long, and save 0.28 on a million GETs. At 4 KB they are dearer as soon as
they are deleted, and otherwise after two months. This is not built. An earlier version could not read such items after a rollback, so
it takes a new [layout](data-layout.md#versions), and pays only with many objects below 2 KB. Packing many objects into one object of
S3 would divide the 5.00 by their number, but each would wait for others, and half-empty packs would have to be rewritten.

## The request log

What the byte lane logs of a million requests, with the setting [\`requestLog\`](cloud.md#deploying): a line of ${logLine} bytes for each
(\`all\`), or counts for the bill, failed requests and one of ${sampling} others (\`sampled\`). A line of counts, ${countLine} bytes, has what a server
answered for a project in a class in five seconds: here ${countedRequests} requests. Failed requests are left out. Logs Insights scans each line about
${scans.times} times for the bill, at ${scans.gigabyte} a GB.

| | bytes a request | ingestion $ | bill $ | a month at 10,000/s $ |
|---|---|---|---|---|
LOG

Counts are the default. The bill stays exact, except that a server that is killed loses the counts of its last five seconds
([ADR 59](adr/0059-counts-of-the-byte-lane.md)). With few requests a line of counts replaces one line, which costs the same. Functions
cannot count, as they may be frozen after each response.

## Audit and the API of operators

For a million each. Without acts and requests, neither costs anything: [records](audit.md#in-the-cloud) are items of the table, which removes them for
nothing, and the [API of operators](admin-api.md#in-the-cloud) is a REST API and a function. An act has about ACT_BYTES bytes in the table for as long as
records are kept, at 0.25 a GB and month. A function of 512 MB is taken to need 100 ms for a command.

| | table reads | read units | table writes | write units | $ |
|---|---|---|---|---|---|
AUDITING

## The nightly scrub

For a million objects, in the ${scrubDays} nights in which it checks everything. Counted with objects of one part without versioning, in a
[slice](scrub.md#every-night-in-the-cloud) of ten; units are those of one scan, for each object.

| | | for each object | $ |
|---|---|---|---|
SCRUB

A version with noncurrent ones takes five read units more, in the first slice and in its own (1.25). The task has half a processor and
1 GB, $${scrubHour.toFixed(3)} an hour: some minutes a night, and 40 more for the first slice, which waits for the followers.

## Lifecycle passes

Dollars a month for a billion objects under a lifecycle rule, with a pass every day: what the passes read, their progress, and 15 ms of
a function for a thousand keys. A pass leaves out [ranges in which nothing is due](lifecycle.md#ranges-in-which-nothing-is-due).

| checked | 240 bytes an item | 590 bytes an item |
|---|---|---|
PASSES

The part of keys that begin with their date is that of a simulation with a thousand keys; a billion are divided into finer ranges.
Leaving out ranges costs LEFT_OUT for a million buckets with one each, and 0.01 a month for a billion objects, with at most 50,000 ranges.
What a pass changes costs as much as the same request of a client.

## Every operation

| operation | table reads | read units | table writes | write units | blob PUT | blob GET | blob DELETE | data $ | all $ |
|---|---|---|---|---|---|---|---|---|---|`;
