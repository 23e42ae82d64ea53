import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { takesSettings, serviceUnderTest } from '../support/programs/service-under-test.ts';

describe.runIf(takesSettings)('a service that takes its own region only', () => {
  const service = serviceUnderTest({ args: ['--region', 'eu-north-1', '--strict-region'] });

  it('names it to a client that signs for another one', async () => {
    const response = await service.send({ path: '/' }, { region: 'us-east-1' });
    expectError(response, 400, 'AuthorizationHeaderMalformed');
    expect(textOf(response.text, 'Region')).toBe('eu-north-1');
    expectError(
      await service.sendPresigned({ path: '/' }, { region: 'us-east-1' }),
      400,
      'AuthorizationQueryParametersError',
    );
  });

  it('takes no other one for a bucket that was asked for with a name of its own', async () => {
    const path = `/${bucketName()}`;
    const body =
      '<CreateBucketConfiguration><LocationConstraint>eu-central-1</LocationConstraint></CreateBucketConfiguration>';
    const region = 'eu-north-1';
    expect((await service.send({ method: 'PUT', path, body }, { region })).status).toBe(200);
    const head = await service.send({ method: 'HEAD', path }, { region });
    expect([head.status, head.header('x-amz-bucket-region')]).toEqual([200, region]);
    const response = await service.send({ path }, { region: 'eu-central-1' });
    expectError(response, 400, 'AuthorizationHeaderMalformed');
    expect(textOf(response.text, 'Region')).toBe(region);
    expect((await service.send({ method: 'DELETE', path }, { region })).status).toBe(204);
  });

  it('lets the others in', async () => {
    expect((await service.send({ path: '/' }, { region: 'eu-north-1' })).status).toBe(200);
    const client = service.sdk(service.alice, { region: 'eu-north-1' });
    expect((await client.send(new ListBucketsCommand({}))).Buckets).toEqual([]);
    client.destroy();
  });
});
