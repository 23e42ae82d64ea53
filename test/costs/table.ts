import { byteLane } from '../../shared/protocol/lanes.ts';
import type { Measured } from './measure.ts';
import type { Cost } from './metered.ts';

/** Dollars of us-east-1 for a million of each, as of November 2026. docs/costs.md says where from. */
export const prices = {
  readUnit: 0.125,
  writeUnit: 0.625,
  blobPut: 5,
  blobGet: 0.4,
  distribution: 1 + 0.1,
  api: 3.5,
  invocation: 0.2,
  /** Of 50 ms of a function of 1 GB on arm64. */
  functionTime: 0.05 * 13.3334,
} as const;

/** Dollars of table and blobs for a million requests like it. */
export function dataDollars({ readUnits, writeUnits, blobPuts, blobGets }: Cost): number {
  const { readUnit, writeUnit, blobPut, blobGet } = prices;
  return readUnits * readUnit + writeUnits * writeUnit + blobPuts * blobPut + blobGets * blobGet;
}

/** Dollars of the way to the operation for a million requests. What the byte lane costs by the hour is left out. */
export function wayDollars(operation: string): number {
  const { distribution, api, invocation, functionTime } = prices;
  const isAlwaysOnByteLane = (byteLane as Readonly<Record<string, readonly string[]>>)[operation]?.length === 0;
  return isAlwaysOnByteLane ? distribution : distribution + api + invocation + functionTime;
}

/** docs/costs.md */
export function costsDocument(measured: readonly Measured[]): string {
  const rows = measured.map(({ scenario: { operation, variant }, cost }) => {
    const { reads, readUnits, writes, writeUnits, transactionItems, blobPuts, blobGets, blobDeletes } = cost;
    const data = dataDollars(cost);
    const transaction = transactionItems > 0 ? ` (${transactionItems} items)` : '';
    const counts = [reads, readUnits, `${writes}${transaction}`, writeUnits, blobPuts, blobGets, blobDeletes];
    const dollars = [data, data + wayDollars(operation)].map((value) => value.toFixed(2));
    return `| ${operation}${variant === undefined ? '' : `: ${variant}`} | ${counts.join(' | ')} | ${dollars.join(' | ')} |`;
  });
  return `${head}\n${rows.join('\n')}\n`;
}

const head = `<!-- Written by bin/costs-table.ts. Do not edit. -->

# What each operation costs in the cloud

Counted in a service whose table and blobs are in memory, through the whole pipeline: the calls that the adapters of the cloud
would make, and the units that DynamoDB takes by its published rules, from the bytes of the items (strongly consistent reads of
4 KB, writes of 1 KB, transactions twice). Nothing was measured in an account.

A key has 60 bytes and an object 1,000, unless the row says otherwise; the access key is warm; nobody else is at work. The bucket is
read with each request, and once more after a write that could create a key. A copy of an object within one bucket.

Prices are those of us-east-1 in November 2026, in dollars a million: read unit ${prices.readUnit}, write unit ${prices.writeUnit}, S3 PUT ${prices.blobPut}, GET ${prices.blobGet},
DELETE nothing; CloudFront and its function ${prices.distribution.toFixed(2)}, REST API ${prices.api.toFixed(2)}, invocation ${prices.invocation.toFixed(2)}, 50 ms of a function of 1 GB ${prices.functionTime.toFixed(2)}.
What the byte lane costs by the hour, bytes sent, storage, logs, and what follows a write in the background
([cloud-operations.md](cloud-operations.md)) come on top.

"data" is table and blobs for a million requests, "all" is that with the way there.

| operation | table reads | read units | table writes | write units | blob PUT | blob GET | blob DELETE | data $ | all $ |
|---|---|---|---|---|---|---|---|---|---|`;
