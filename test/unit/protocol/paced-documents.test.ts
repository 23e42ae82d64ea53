import { describe, expect, it } from 'vitest';
import { person, PipelineInProcess } from '../../support/storage/pipeline-in-process.ts';
import type { Unsigned } from '../../support/clients/signer.ts';
import { countTurns } from '../../support/runs/turns.ts';

const alice = person('alice');

/** How often others had their turn while a request was answered: the time of a turn is that of so many steps, on any machine. */
async function turnsOf(service: PipelineInProcess, request: Unsigned): Promise<number> {
  const { result, turns } = await countTurns(() => service.send(request, alice));
  const { status, text } = result;
  expect(status, text).toBeLessThan(300);
  return turns;
}

describe('others have their turns while the largest documents are', () => {
  it('written: lifecycle rules', async () => {
    const service = new PipelineInProcess([alice]);
    await service.send({ method: 'PUT', path: '/bucket' }, alice);
    const tags = Array.from({ length: 10 }, (_, at) => `<Tag><Key>k${at}</Key><Value>v</Value></Tag>`);
    const rule = (at: number, some: readonly string[]): string =>
      `<Rule><ID>${at}</ID><Filter><And><Prefix>${at}</Prefix>${some.join('')}</And></Filter><Status>Enabled</Status>` +
      '<Expiration><Days>1</Days></Expiration></Rule>';
    const put = async (count: number): Promise<void> => {
      const rules = Array.from({ length: count }, (_, at) => rule(at, tags));
      const body = `<LifecycleConfiguration>${rules.join('')}</LifecycleConfiguration>`;
      const { status, text } = await service.send({ method: 'PUT', path: '/bucket', query: 'lifecycle', body }, alice);
      expect(status, text).toBe(200);
    };
    const get = { path: '/bucket', query: 'lifecycle' };
    await put(1);
    const few = await turnsOf(service, get);
    await put(1000);
    expect(await turnsOf(service, get)).toBeGreaterThanOrEqual(few + 5);
  });

  it('written: grants', async () => {
    const people = Array.from({ length: 1200 }, (_, at) => person(`p${at}`));
    const limits = { grantsPerAcl: 6000, documentBytes: 4 * 1024 * 1024 };
    const service = new PipelineInProcess([alice, ...people], { limits });
    await service.send({ method: 'PUT', path: '/bucket' }, alice);
    const permissions = ['READ', 'WRITE', 'READ_ACP', 'WRITE_ACP', 'FULL_CONTROL'];
    const grants = people.flatMap(({ project }) =>
      permissions.map(
        (permission) =>
          '<Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser">' +
          `<ID>${project.id}</ID></Grantee><Permission>${permission}</Permission></Grant>`,
      ),
    );
    const put = async (count: number): Promise<void> => {
      const body =
        '<AccessControlPolicy><Owner><ID>alice-id</ID></Owner>' +
        `<AccessControlList>${grants.slice(0, count).join('')}</AccessControlList></AccessControlPolicy>`;
      const { status, text } = await service.send({ method: 'PUT', path: '/bucket', query: 'acl', body }, alice);
      expect(status, text).toBe(200);
    };
    const get = { path: '/bucket', query: 'acl' };
    await put(1);
    const few = await turnsOf(service, get);
    await put(6000);
    expect(await turnsOf(service, get)).toBeGreaterThanOrEqual(few + 5);
  });

  it('parsed: a policy, when it is put, and when it is first read', async () => {
    const policy = (count: number): string =>
      JSON.stringify({
        Statement: {
          ...{ Effect: 'Allow', Principal: { AWS: 'alice-id' }, Resource: 'arn:aws:s3:::bucket/*' },
          Action: Array.from({ length: count }, (_, at) => `s3:*G*${'?'.repeat(at % 7)}*t*`),
        },
      });
    const world = async (count: number): Promise<readonly number[]> => {
      const service = new PipelineInProcess([alice]);
      await service.send({ method: 'PUT', path: '/bucket' }, alice);
      const body = policy(count);
      const put = await turnsOf(service, { method: 'PUT', path: '/bucket', query: 'policy', body });
      return [put, await turnsOf(service, { path: '/bucket', query: 'location' })];
    };
    const few = await world(1);
    const many = await world(900);
    expect(many[0]).toBeGreaterThanOrEqual(few[0]! + 5);
    expect(many[1]).toBeGreaterThanOrEqual(few[1]! + 5);
  });
});
