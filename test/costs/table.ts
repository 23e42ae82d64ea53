import { byteLane } from '../../shared/protocol/lanes.ts';
import type { MeasuredPasses } from './lifecycle.ts';
import type { Measured } from './measure.ts';
import type { Cost } from './metered.ts';

/** Dollars of us-east-1 for a million of each, as of November 2026. docs/costs.md says where from. */
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
/** Reads of current version, noncurrent version and references as of one instant, a write of the entry, and its deletion. */
const releaseDollars = 6 * prices.readUnit + 2 * prices.writeUnit;
/** Operations that may leave bytes to release, by what they replace or remove. */
const releasing: readonly string[] = ['DeleteObject', 'PutObject: over an object'];
/** Of a batch of the followers: counters and the day of the bill in one transaction, and what is read for it. */
const batchDollars = 4 * prices.writeUnit + 5 * prices.readUnit + 2 * prices.invocation + prices.functionTime;
/** Records of a batch, where a bucket is busy: up to 500 of a second. */
const busyBatch = 100;

/** Dollars of table and blobs for a million requests like it. */
function dataDollars({ readUnits, writeUnits, blobPuts, blobGets }: Cost): number {
  const { readUnit, writeUnit, blobPut, blobGet } = prices;
  return readUnits * readUnit + writeUnits * writeUnit + blobPuts * blobPut + blobGets * blobGet;
}

/** Dollars of the way to the operation for a million requests. What the byte lane costs by the hour is left out. */
function wayDollars(operation: string): number {
  const { distribution, api, invocation, functionTime } = prices;
  const isAlwaysOnByteLane = (byteLane as Readonly<Record<string, readonly string[]>>)[operation]?.length === 0;
  return isAlwaysOnByteLane ? distribution : distribution + api + invocation + functionTime;
}

/** Dollars of the log for a million requests. */
function logDollars(operation: string): number {
  const lines = wayDollars(operation) > prices.distribution ? 2 : 1;
  return (lines * logLine * prices.logGigabyte) / 1000;
}

/** Dollars of what a million such requests have followers and sweeps do. */
function followDollars(name: string, { writes }: Cost): number {
  const counted = writes > 0 && /^(?:Put|Post|Delete|Copy|Rename)Object/.test(name) ? batchDollars / busyBatch : 0;
  return counted + (releasing.includes(name) ? releaseDollars : 0);
}

/** docs/costs.md */
export function costsDocument(measured: readonly Measured[], passes: MeasuredPasses): string {
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
    .replace('PASSES', passRows(passes))
    .replace('LEFT_OUT', dataDollars(passes.leftOut).toFixed(1));
  return `${filled}\n${rows.join('\n')}\n`;
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

"data" is table and blobs for a million requests. "all" adds the path to the operation, the line in the log (${logLine} bytes, of the class
Infrequent Access at ${prices.logGigabyte} a GB; the control lane has two), the counters of a busy bucket (a million batches cost $${batchDollars.toFixed(2)},
and a batch has ${busyBatch} changes; in a bucket with few changes each is a batch) and, for requests that replace or remove an object, the
release of its bytes (${releaseDollars.toFixed(2)}: two writes, and a read of three items as of one instant; S3 deletes for free).

Not included: the hourly price of the byte lane, bytes sent to the internet, storage, an access key that a function meets for the first time
(one read unit), capacity units of the load balancer (about 0.03 a million requests of 4 KB), public IPv4 addresses of servers,
CloudWatch alarms, dashboard and traces, Logs Insights for the bill (about 0.01), [lifecycle passes](#lifecycle-passes), and stream reads
by Lambda, which are free.

## Goals

| a million | all | goal | result |
|---|---|---|---|
GOALS

A PUT cannot cost less than $6.73 as long as its bytes become an object of S3: CloudFront 1.10, PUT 5.00, one write unit 0.63. A GET
cannot cost less than $1.50: CloudFront 1.10, GET 0.40. Permissions and versions depend on the reads of bucket and current version,
0.25, which must not be stale.

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

## Lifecycle passes

Dollars a month for a billion objects under a lifecycle rule, with a pass every day: what the passes read, their progress, and 15 ms of
a function for a thousand keys. A pass leaves out [ranges in which nothing is due](lifecycle.md#ranges-in-which-nothing-is-due).

| checked | 240 bytes an item | 590 bytes an item |
|---|---|---|
PASSES

The part of keys that begin with their date is that of a simulation with a thousand keys; a billion are divided into finer ranges. Leaving out ranges costs LEFT_OUT for a million
buckets with one each, and 0.01 a month for a billion objects, with at most 50,000 ranges. What a pass changes costs as much as
the same request of a client.

## Every operation

| operation | table reads | read units | table writes | write units | blob PUT | blob GET | blob DELETE | data $ | all $ |
|---|---|---|---|---|---|---|---|---|---|`;
