import { expect, it } from 'vitest';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { takesSettings, serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest({
  args: ['--region', 'eu-north-1', '--allow-region', 'eu,moon-1', '--allow-region', 'EU'],
});

const create = (region: string) =>
  service.send({
    method: 'PUT',
    path: `/${service.freeName()}`,
    body: `<CreateBucketConfiguration><LocationConstraint>${region}</LocationConstraint></CreateBucketConfiguration>`,
  });

it.runIf(takesSettings)('buckets are created in regions that are listed, and no others', async () => {
  for (const region of ['eu-north-1', 'eu', 'moon-1', 'EU', ''])
    expect((await create(region)).status, region).toBe(200);
  expect((await service.send({ method: 'PUT', path: `/${service.freeName()}` })).status).toBe(200);
  for (const region of ['us-east-1', 'eu-central-1', 'Eu']) {
    const refused = await create(region);
    expectError(refused, 400, 'InvalidLocationConstraint');
    expect(textOf(refused.text, 'LocationConstraint')).toBe(region);
  }
});
