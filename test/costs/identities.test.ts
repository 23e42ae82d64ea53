import { beforeEach, describe, expect, it } from 'vitest';
import { fullRights, parseIdentityPolicy } from '../../shared/access/identity-rights.ts';
import type { IdentityRights } from '../../shared/access/identity.ts';
import { allowing } from '../support/clients/iam.ts';
import type { Unsigned } from '../support/clients/signer.ts';
import { SetClock } from '../support/storage/fixed-deps.ts';
import { person, PipelineInProcess } from '../support/storage/pipeline-in-process.ts';
import { openShop, roleSession, userKey, users, type Shop } from './identities.ts';
import { Meter, MeteredTable } from './metered.ts';

/* What policies, groups and temporary keys cost more than a key with full access, where nothing is free to look at. */

describe('finding out who asks', () => {
  let shop: Shop;

  beforeEach(async () => {
    shop = await openShop();
  });

  /** Returns the calls of a lookup, after which there are none for as long as it is remembered. */
  const callsOf = async (accessKeyId: string, token?: string): Promise<number> => {
    const { meter, accounts, clock } = shop;
    meter.take();
    expect(await accounts.find(accessKeyId, 'cached', token)).toBeDefined();
    const { reads } = meter.take();
    clock.time += 1999;
    expect(await accounts.find(accessKeyId, 'cached', token)).toBeDefined();
    expect(meter.take()).toMatchObject({ reads: 0, writes: 0 });
    clock.time += 1;
    expect(await accounts.find(accessKeyId, 'cached', token)).toBeDefined();
    again = meter.take().reads;
    return reads;
  };
  /** The calls of another lookup after that time. */
  let again: number;

  it.each([
    ['whom nothing limits', users.unlimited, 0],
    ['with inline policies', users.inline, 0],
    ["with AWS's policies, one of them the boundary", users.ofAws, 0],
    ["with the project's policies, one of them the boundary", users.managed, 1],
    ['with groups, and what these have', users.groups, 2],
  ])('of a user %s takes key, user, project and customer, and so many calls more', async (_, attributes, more) => {
    await shop.userIs(attributes);
    expect(await callsOf(userKey)).toBe(4 + more);
    // Groups and policies are remembered until one of the project changes.
    expect(again).toBe(4);
  });

  it('of a temporary key takes those of its parent, which may be remembered', async () => {
    const { accessKeyId, sessionToken } = await shop.temporary({ kind: 'session' });
    expect(await callsOf(accessKeyId, sessionToken)).toBe(4);
    const policies = [allowing('s3:GetObject')];
    const guest = await shop.temporary({ kind: 'federated', name: 'guest', policies });
    expect(await shop.accounts.find(guest.accessKeyId, 'cached', guest.sessionToken)).toBeDefined();
    expect(shop.meter.take()).toMatchObject({ reads: 0 });
  });

  it('of a key of a role takes role, project and customer', async () => {
    const { accessKeyId, sessionToken } = await shop.temporary(roleSession);
    expect(await callsOf(accessKeyId, sessionToken)).toBe(3);
  });
});

describe('a request of somebody limited', () => {
  const own: Partial<IdentityRights> = { policies: [parseIdentityPolicy(allowing('s3:*'))] };
  const limits = {
    'a policy': own,
    'a boundary': { boundary: parseIdentityPolicy(allowing('s3:*')) },
    'policies of a session': { session: [parseIdentityPolicy(allowing('s3:*'))] },
  } as const satisfies Record<string, Partial<IdentityRights>>;
  const requests = {
    'GET of an object': { path: '/bucket/key' },
    'PUT of a new object': { method: 'PUT', path: '/bucket/new', body: 'x' },
    'PUT over an object': { method: 'PUT', path: '/bucket/key', body: 'y' },
    'a list': { path: '/bucket', query: 'list-type=2' },
    'DELETE of an object': { method: 'DELETE', path: '/bucket/key' },
  } as const satisfies Record<string, Unsigned>;

  it.each(Object.entries(requests))('costs at most one read more: %s', async (_, request) => {
    const costOf = async (rights: Partial<IdentityRights>) => {
      const meter = new Meter();
      const caller = { ...person('owner'), rights: { ...fullRights, ...rights } };
      const [table, clock] = [new MeteredTable(meter), new SetClock(Date.now())];
      const service = new PipelineInProcess([caller], { table, clock, before: (blobs) => meter.before(blobs) });
      await service.send({ method: 'PUT', path: '/bucket' }, caller);
      await service.send({ method: 'PUT', path: '/bucket/key', body: 'x' }, caller);
      clock.time += 10;
      meter.take();
      expect((await service.send(request, caller)).status).toBeLessThan(300);
      const { readUnits, ...cost } = meter.take();
      expect(readUnits).toBe(cost.reads);
      return cost;
    };
    const { reads, ...full } = await costOf({});
    for (const [name, rights] of Object.entries(limits)) {
      const { reads: more, ...limited } = await costOf(rights);
      expect(more - reads, name).toBeLessThanOrEqual(1);
      expect(limited, name).toEqual(full);
    }
  });
});
