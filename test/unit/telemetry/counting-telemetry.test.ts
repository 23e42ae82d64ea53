import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CountingTelemetry } from '../../../shared/telemetry/counting-telemetry.ts';
import { chargeOf } from '../../../shared/telemetry/charged-telemetry.ts';
import type { RequestRecord, Telemetry } from '../../../shared/ports/telemetry.ts';

interface Line {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A log in memory. */
class Lines implements Telemetry {
  readonly lines: Line[] = [];
  request(record: RequestRecord): void {
    this.lines.push({ message: 'request', fields: { ...record } });
  }
  problem(message: string): void {
    this.lines.push({ message, fields: {} });
  }
  note(message: string, fields: Readonly<Record<string, string | number>> = {}): void {
    this.lines.push({ message, fields });
  }
}

const got: RequestRecord = {
  ...{ requestId: 'tx1', operation: 'GetObject', method: 'GET', status: 200, payer: 'p', bucket: 'b' },
  ...{ bytesIn: 0, bytesOut: 10, milliseconds: 3 },
};

describe('CountingTelemetry', () => {
  it('logs one line for the requests of a payer and a class, and nothing where there were none', () => {
    const log = new Lines();
    const counting = new CountingTelemetry(log);
    for (let nth = 0; nth < 250; nth += 1) counting.request(got);
    counting.request({ ...got, operation: 'PutObject', method: 'PUT', bytesIn: 7, bytesOut: 0 });
    counting.request({ ...got, payer: 'q' });
    expect(log.lines.filter(({ message }) => message === 'requests')).toEqual([]);
    log.lines.length = 0;
    counting.flush();
    expect(log.lines).toEqual([
      { message: 'requests', fields: { payer: 'p', class: 'b', requests: 250, bytesIn: 0, bytesOut: 2500 } },
      { message: 'requests', fields: { payer: 'p', class: 'a', requests: 1, bytesIn: 7, bytesOut: 0 } },
      { message: 'requests', fields: { payer: 'q', class: 'b', requests: 1, bytesIn: 0, bytesOut: 10 } },
    ]);
    counting.flush();
    expect(log.lines).toHaveLength(3);
  });

  it('logs every request that failed, and one of a hundred of the others, without a class to be charged by', () => {
    const log = new Lines();
    const counting = new CountingTelemetry(log);
    for (let nth = 0; nth < 201; nth += 1) counting.request({ ...got, requestId: `tx${nth}` });
    for (const status of [304, 400, 403, 404, 412, 500, 503]) counting.request({ ...got, status, requestId: 'failed' });
    const sampled = log.lines.filter(({ fields }) => fields['sampled'] !== undefined);
    expect(sampled.map(({ fields }) => [fields['requestId'], fields['sampled']])).toEqual([
      ['tx0', 100],
      ['tx100', 100],
      ['tx200', 100],
    ]);
    const failed = log.lines.filter(({ fields }) => fields['requestId'] === 'failed');
    expect(failed.map(({ fields }) => fields['status'])).toEqual([400, 403, 404, 412, 500, 503]);
    expect(log.lines.filter(({ fields }) => 'class' in fields)).toEqual([]);
  });

  it('loses and adds nothing, whenever counts are logged', () => {
    const request = fc.record({
      payer: fc.constantFrom('p', 'q', undefined),
      status: fc.constantFrom(200, 206, 304, 403, 404, 500, 503),
      operation: fc.constantFrom('GetObject', 'PutObject', 'DeleteObject'),
      bytesIn: fc.nat(1e12),
      bytesOut: fc.nat(1e12),
    });
    const step = fc.oneof({ weight: 5, arbitrary: request }, { weight: 1, arbitrary: fc.constant('flush' as const) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const log = new Lines();
        const counting = new CountingTelemetry(log);
        const charged = { requests: 0, bytesIn: 0, bytesOut: 0 };
        for (const one of steps) {
          if (one === 'flush') {
            counting.flush();
            continue;
          }
          const { payer, ...rest } = one;
          const { payer: _, ...without } = { ...got, ...rest };
          const record: RequestRecord = payer === undefined ? without : { ...without, payer };
          counting.request(record);
          const charge = chargeOf(record);
          if (charge === undefined) continue;
          charged.requests += 1;
          charged.bytesIn += charge.bytesIn;
          charged.bytesOut += charge.bytesOut;
        }
        counting.flush();
        const counts = log.lines.filter(({ message }) => message === 'requests');
        const sum = (field: string): number => counts.reduce((total, { fields }) => total + Number(fields[field]), 0);
        expect({ requests: sum('requests'), bytesIn: sum('bytesIn'), bytesOut: sum('bytesOut') }).toEqual(charged);
      }),
    );
  });

  it('passes on what is no request', () => {
    const log = new Lines();
    const counting = new CountingTelemetry(log);
    counting.problem('broken');
    counting.note('noted', { one: 1 });
    expect(log.lines).toEqual([
      { message: 'broken', fields: {} },
      { message: 'noted', fields: { one: 1 } },
    ]);
  });
});
