import { describe, expect, it } from 'vitest';
import { ProcessCapacity } from '../../../../../local/server/capacity/capacity.ts';
import { Admission } from '../../../../../shared/protocol/bodies/capacity/admission.ts';
import { defaultLimits } from '../../../../../shared/protocol/limits.ts';

const problem = (): void => undefined;
const concurrency = { connections: 1, uploads: 1, documents: 1, downloads: 1, listings: 16 };

describe('listings under way and waiting', () => {
  it('have a bound, of which a party gets three quarters, and a stranger three quarters of those', () => {
    const capacity = new ProcessCapacity(concurrency, defaultLimits, { problem });
    /** Begins as many listings as it may. */
    const begin = (party: string, caller: string): Admission[] => {
      const begun: Admission[] = [];
      for (;;) {
        const one = new Admission(capacity, {
          ...{ isRead: true, party: () => party, caller: () => caller, hasDocument: () => false },
        });
        try {
          one.listing();
        } catch {
          one.received();
          return begun;
        }
        begun.push(one);
      }
    };
    const first = begin('anonymous', '192.0.2.1');
    expect(first).toHaveLength(9);
    expect(begin('anonymous', '192.0.2.2')).toHaveLength(3);
    expect(begin('anonymous', '192.0.2.3')).toEqual([]);
    const project = begin('project', 'project');
    expect(project).toHaveLength(4);
    expect(capacity.refusals.totals.listings).toBe(4);

    // Their places are free once they have ended, and those that were refused have taken none.
    [...first, ...project].forEach((one) => one.received());
    expect(begin('project', 'project')).toHaveLength(12);
    expect(begin('anonymous', '192.0.2.1')).toHaveLength(1);
  });
});
