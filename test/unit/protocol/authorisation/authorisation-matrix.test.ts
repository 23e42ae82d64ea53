import { describe, expect, it } from 'vitest';
import { operations } from '../../../../functions/operations.ts';
import type { OperationName } from '../../../../shared/protocol/operation-table.ts';
import {
  everybody,
  isRefused,
  isThrough,
  people,
  rows,
  settings,
  stateOf,
  type Caller,
  type State,
} from './every-request.ts';

/* Every operation, by every kind of caller, under every kind of rule. */

describe.each(settings)('where a bucket is %s', (setting) => {
  it.each(rows.map((row) => [row.of === undefined ? row.operation : `${row.operation}: ${row.of}`, row] as const))(
    '%s',
    async (_, row) => {
      const through: Caller[] = [];
      const strange: string[] = [];
      let state: State | undefined;
      for (const caller of everybody) {
        state ??= await stateOf(setting);
        const { table, problems } = state.service;
        const written = table.feed.length;
        const request = row.request(state);
        const answer = await state.service.send(request, caller === 'anonymous' ? undefined : people[caller]);
        if (isThrough(answer, row)) {
          through.push(caller);
          state = table.feed.length === written ? state : undefined;
        } else {
          if (!isRefused(answer)) strange.push(`${caller}: ${answer.status} ${answer.text}`);
          expect(table.feed, `a refused request has written, of ${caller}`).toHaveLength(written);
        }
        if (caller === 'suspended' && request.method !== 'HEAD') expect(answer.code).toBe('UserSuspended');
        expect(problems).toEqual([]);
      }
      expect(strange).toEqual([]);
      const wanted = everybody.filter((one) => one !== 'suspended' && row.expected[setting].includes(one));
      expect(through).toEqual(wanted);
    },
  );
});

/**
 * Operations without authorisation: the health of the service; preflight requests, which the CORS rules of a bucket answer; the target of a
 * public link, for anyone who has the link. All requests to a website are anonymous; its wire tests cover them.
 */
const withoutRights: readonly OperationName[] = [
  'GetHealth',
  'GetLiveness',
  'Preflight',
  'GetPublicLink',
  'GetWebsitePage',
  // Each of its actions has rights of its own.
  'Iam',
  'Sts',
  // Policies of identities alone allow it: test/api/lookup-events.test.ts.
  'LookupEvents',
];

it('leaves out no operation', () => {
  const covered = new Set<OperationName>([...rows.map(({ operation }) => operation), ...withoutRights]);
  expect([...operations.keys()].filter((name) => !covered.has(name))).toEqual([]);
});
