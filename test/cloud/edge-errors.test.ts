import { CloudWatchClient, PutMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import { expect, it } from 'vitest';
import { EdgeErrors } from '../../shared/adapters/cloud/edge-errors.ts';
import { noEngine, startMoto } from '../support/cloud/moto.ts';

it('reads the share of errors of the worst distribution, as it was last counted', async (context) => {
  const moto = await startMoto();
  if (moto === undefined) return context.skip(noEngine);
  const client = { endpoint: moto.endpoint, credentials: { accessKeyId: 'x', secretAccessKey: '-' } };
  const cloudWatch = new CloudWatchClient({ region: 'us-east-1', ...client });
  const now = Date.now();
  const put = async (id: string, Value: number, secondsAgo: number): Promise<void> => {
    const Dimensions = [
      { Name: 'DistributionId', Value: id },
      { Name: 'Region', Value: 'Global' },
    ];
    const Timestamp = new Date(now - secondsAgo * 1000);
    const MetricData = [{ MetricName: '5xxErrorRate', Dimensions, Value, Timestamp }];
    await cloudWatch.send(new PutMetricDataCommand({ Namespace: 'AWS/CloudFront', MetricData }));
  };
  try {
    const errors = new EdgeErrors(['E1', 'E2'], client);
    expect(await errors.percent(now)).toBe(0);
    await put('E1', 40, 800);
    await put('E1', 2, 100);
    await put('E2', 7, 100);
    await put('E3', 99, 100);
    expect(await errors.percent(now)).toBe(7);
  } finally {
    cloudWatch.destroy();
    await moto.stop();
  }
});
