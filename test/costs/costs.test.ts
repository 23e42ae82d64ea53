import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Act } from '../../shared/audit/audit-record.ts';
import { stubs } from '../../functions/bucket/stubs.ts';
import { operations } from '../../functions/operations.ts';
import { measureAuditing, type MeasuredAdministration } from './administration.ts';
import { measureAdministration, measureCallers, type MeasuredCaller } from './identities.ts';
import { measurePasses, type MeasuredPasses } from './lifecycle.ts';
import { measureAll, measureRefusedCopy, type Measured } from './measure.ts';
import type { Cost } from './metered.ts';
import { measureScrub, type MeasuredScrub } from './scrub.ts';
import { mixDollars } from './table.ts';
import { costsTable } from '../../bin/costs-table.ts';

let measured: readonly Measured[];
let scrub: MeasuredScrub;
let passes: MeasuredPasses;
let callers: readonly MeasuredCaller[];
let auditing: MeasuredAdministration;
beforeAll(async () => {
  measured = await measureAll();
  scrub = await measureScrub();
  passes = await measurePasses();
  callers = await measureCallers();
  auditing = await measureAuditing();
});

const costOf = (operation: string, variant?: string): Cost =>
  measured.find(({ scenario }) => scenario.operation === operation && scenario.variant === variant)!.cost;

describe('the table of costs', () => {
  it('is up to date: node --import tsx bin/costs-table.ts > docs/costs.md', async () => {
    const written = await readFile(join(import.meta.dirname, '../../docs/costs.md'), 'utf8');
    expect(written).toBe(costsTable(measured, { scrub, passes, callers, auditing }));
  });

  it('names every operation that is implemented', () => {
    const answeredAlike = new Set(stubs.map(({ name }) => name));
    // A cloud deployment has no webhooks: they are refused, or not found.
    const ofOneMachine = /^(?:Get|Put|Delete|Test)Webhook$|^RotateWebhookSecret$/;
    const built = [...operations.keys()].filter((name) => !answeredAlike.has(name) && !ofOneMachine.test(name));
    const named = new Set(measured.map(({ scenario }) => scenario.operation));
    expect(built.filter((name) => !named.has(name))).toEqual([]);
  });
});

describe('the presets in docs/cloud.md', () => {
  it.each(['standard', 'single', 'small'])('cost what their requests cost: %s', async (preset) => {
    const page = await readFile(join(import.meta.dirname, '../../docs/cloud.md'), 'utf8');
    const row = new RegExp(`^\\| \\\`${preset}\\\` \\| [^|]*\\| ([\\d,]+) \\| ([\\d,]+) \\| ([\\d,]*)`, 'm').exec(
      page,
    )!;
    const [idle, one, many] = row.slice(1).map((text) => Number(text.replaceAll(',', '')));
    const million = mixDollars(measured, preset === 'small' ? 'functions' : 'byte lane');
    expect(one).toBe(Math.round(idle! + million));
    // A billion is not meant for one server.
    if (preset !== 'single') expect(many).toBe(Math.round(idle! + 1000 * million));
  });
});

describe('the budget', () => {
  it('of the nightly scrub is one HEAD for each blob, and one scan for each slice but the first', () => {
    expect(scrub.blobGets).toBe(1);
    expect(scrub.passes.others).toBe(1);
    expect(scrub.passes.first).toBeLessThanOrEqual(9);
  });

  it('of an act in the audit log is two single writes of one unit, and of a page of LookupEvents one read that may be stale', () => {
    expect(auditing.act).toMatchObject({ reads: 0, writes: 2, writeUnits: 2, transactionItems: 0 });
    expect(auditing.command).toMatchObject({ reads: 0, writes: 1, writeUnits: 1 });
    // Fifty records of half a KB are 8 units of 4 KB, and half of that if they may be stale.
    expect(auditing.lookup.plain.readUnits).toBeLessThanOrEqual(5);
    expect(auditing.lookup.byAttribute).toMatchObject({ reads: 1, writes: 0 });
    expect(auditing.lookup.byAttribute.readUnits).toBeLessThanOrEqual(25);
  });

  it('of GetObject is two reads of the table and one blob', () => {
    expect(costOf('GetObject')).toMatchObject({ reads: 2, readUnits: 2, writes: 0, blobGets: 1, blobPuts: 0 });
  });

  it('of whoever is remembered is the same for somebody limited as for somebody with full access', () => {
    const [full, ...others] = callers;
    expect(full).toMatchObject({
      get: { next: { reads: 2, readUnits: 2 } },
      put: { next: { reads: 2, readUnits: 2 } },
    });
    for (const { who, get, put } of others) {
      expect(get.next, who).toEqual(full!.get.next);
      expect(put.next, who).toEqual(full!.put.next);
    }
  });

  it('of whoever is not known is the look-up besides: four reads with full access, at most two more of somebody limited', () => {
    expect(callers[0]!.lookup).toMatchObject({ reads: 4, readUnits: 4, writes: 0 });
    for (const { who, lookup, get, put } of callers) {
      expect(lookup.reads, who).toBeLessThanOrEqual(6);
      for (const { first, next } of [get, put]) expect(first.reads, who).toBe(next.reads + lookup.reads);
    }
  });

  it('of IAM is the look-up at each request', async () => {
    const listUsers = costOf('Iam', 'ListUsers');
    expect(await measureAdministration()).toMatchObject({ reads: listUsers.reads + 4 });
  });

  it('of HeadObject has no blob in it', () => {
    expect(costOf('HeadObject')).toMatchObject({ reads: 2, readUnits: 2, writes: 0, blobGets: 0 });
  });

  it.each([undefined, 'over an object'])('of PutObject (%s) without versioning is one write of one unit', (variant) => {
    const { reads, ...cost } = costOf('PutObject', variant);
    expect(reads).toBeLessThanOrEqual(2);
    expect(cost).toMatchObject({ writes: 1, writeUnits: 1, transactionItems: 0, blobPuts: 1, blobGets: 0 });
  });

  it('of PutObject over a version is one transaction of two items', () => {
    expect(costOf('PutObject', 'over a version')).toMatchObject({ writes: 1, writeUnits: 4, transactionItems: 2 });
  });

  it('of ListObjectsV2 is the bucket, and the pages that the bytes of a thousand keys need', () => {
    const { reads, readUnits } = costOf('ListObjectsV2', '1,000 keys');
    expect(reads).toBeLessThanOrEqual(3);
    // 1,000 current versions of at most 256 bytes are 63 units of 4 KB.
    expect(readUnits).toBeLessThanOrEqual(64);
  });

  it('of CopyObject has no blob in it', () => {
    expect(costOf('CopyObject')).toMatchObject({ writes: 1, blobPuts: 0, blobGets: 0 });
  });

  it('of CompleteMultipartUpload has no blob in it, however many parts there are', () => {
    expect(costOf('CompleteMultipartUpload', '1,000 parts')).toMatchObject({ blobPuts: 0, blobGets: 0 });
  });

  it('of a lifecycle pass is half a unit for 4 KB of current versions, and for each page the bucket and the cursor', () => {
    expect(passes.thousand).toMatchObject({ reads: 2, writes: 1, writeUnits: 1 });
    // 1,000 current versions of at most 256 bytes are 63 units of 4 KB.
    expect(passes.thousand.readUnits).toBeLessThanOrEqual(63 / 2 + 1);
  });

  it('of lifecycle passes over keys that begin with their date is a tenth of all keys', () => {
    expect(passes.dated).toBeLessThan(0.1);
  });

  it('of RenameObject has another item in the transaction only where there are lifecycle rules', () => {
    expect(costOf('RenameObject')).toMatchObject({ writes: 1, transactionItems: 3 });
    expect(costOf('RenameObject', 'with lifecycle rules')).toMatchObject({ writes: 1, transactionItems: 4 });
  });

  it('of a copy that is refused early is the same with an audit log', async () => {
    const acts: Act[] = [];
    const cost = await measureRefusedCopy({ record: (act) => acts.push(act) > 0 });
    expect(cost.reads).toBeGreaterThan(0);
    expect(cost).toEqual(await measureRefusedCopy(undefined));
    // Of the buckets that were made alone: none asks for records.
    expect(acts.map(({ event }) => event)).toEqual(['CreateBucket', 'CreateBucket']);
  });
});
