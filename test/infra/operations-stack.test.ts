import type { Template } from 'aws-cdk-lib/assertions';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../infra/bundles/operation-descriptions.ts';
import { synthesiseBackground, type BackgroundSynthesis } from './background-synthesis.ts';
import { inventory, resources, synthesise, type Synthesis } from './synthesis.ts';
import { mayPublish } from './topic-policies.ts';

let synthesis: BackgroundSynthesis;
let whole: Synthesis;
beforeAll(async () => {
  synthesis = await synthesiseBackground();
  whole = await synthesise([]);
});

const alarms = (): ReturnType<typeof alarmsOf> => alarmsOf(synthesis.operations);

const alarmsOf = (operations: Template): Map<string, Readonly<Record<string, unknown>>> =>
  new Map(
    resources(operations, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => [
      (Properties['AlarmName'] as string).replace('stillage-prod-', ''),
      Properties,
    ]),
  );

describe('the operations stack', () => {
  it('has these resources', () => {
    expect(inventory(synthesis.operations)).toMatchSnapshot();
  });

  it('watches errors, throttles, dead letters and the lag of the feed', () => {
    expect([...alarms().keys()]).toEqual(
      expect.arrayContaining([
        'ApiErrors',
        'FunctionThrottles',
        'TableReadThrottles',
        'TableWriteThrottles',
        'CountUsageLag',
        'ReleaseContentLag',
        'FeedDeadLetters',
        'ScheduleDeadLetters',
        'LifecycleDeadLetters',
        'LifecycleBacklog',
        'SweepReleasedErrors',
        'BillRequestsLag',
      ]),
    );
    expect(alarms().get('CountUsageLag')).toMatchObject({ MetricName: 'IteratorAge', Threshold: 600_000 });
    expect(alarms().get('FeedDeadLetters')).toMatchObject({ Threshold: 0, EvaluationPeriods: 1 });
  });

  it('watches the API under the name that its metrics have', async () => {
    const { api } = await synthesise([]);
    const [, { Properties }] = resources(api, 'AWS::ApiGateway::RestApi')[0]!;
    const dimensions = [
      { Name: 'ApiName', Value: Properties['Name'] },
      { Name: 'Stage', Value: 'prod' },
    ];
    expect(alarms().get('ApiErrors')).toMatchObject({ Dimensions: dimensions });
  });

  it('tells its topic when an alarm rings, and when it is over', () => {
    synthesis.operations.resourceCountIs('AWS::SNS::Topic', 1);
    for (const alarm of alarms().values()) {
      expect(alarm['AlarmActions']).toEqual(alarm['OKActions']);
      expect(alarm['AlarmActions']).toHaveLength(1);
    }
  });

  it('lets alarms of its own account, and nobody else, publish to its topic', () => {
    const { operations } = synthesis;
    const alarm = { service: 'cloudwatch.amazonaws.com', sourceAccount: '000000000000', secure: true };
    expect(mayPublish(operations, alarm)).toBe(true);
    expect(mayPublish(operations, { ...alarm, secure: false })).toBe(false);
    expect(mayPublish(operations, { ...alarm, sourceAccount: '111111111111' })).toBe(false);
    expect(mayPublish(operations, { ...alarm, service: 's3.amazonaws.com' })).toBe(false);
  });

  it('takes silence for a good sign, but where somebody has to report', () => {
    const silent = [...alarms(), ...alarmsOf(whole.operations)].filter(
      ([, alarm]) => alarm['TreatMissingData'] !== 'notBreaching',
    );
    expect(new Set(silent.map(([name, { TreatMissingData }]) => `${name} ${String(TreatMissingData)}`))).toEqual(
      new Set(
        ['BillRequestsLag', 'ByteLaneServers', 'EndpointProbes', 'ScrubUnfinished'].map((name) => `${name} breaching`),
      ),
    );
  });

  it('rings when a byte lane has no server, sick ones, or as many as it may have', () => {
    const watched = alarmsOf(whole.operations);
    expect(watched.get('ByteLaneServers')).toMatchObject({
      ...{ MetricName: 'HealthyHostCount', Statistic: 'Minimum' },
      ...{ ComparisonOperator: 'LessThanThreshold', Threshold: 1 },
    });
    expect(watched.get('ByteLaneUnhealthyServers')).toMatchObject({ MetricName: 'UnHealthyHostCount', Threshold: 0 });
    expect(watched.get('ByteLaneAtMaximum')).toMatchObject({ MetricName: 'HealthyHostCount', Threshold: 19 });
  });

  it('rings when clients get errors, or nothing, at the endpoint, in whatever region the deployment is', () => {
    const [probes, errors] = ['EndpointProbes', 'EdgeErrors'].map((name) => alarms().get(name));
    expect(probes).toMatchObject({
      Namespace: 'Stillage/prod/ProbeEndpoint',
      MetricName: 'failedProbes',
      Threshold: 0,
    });
    expect(errors).toMatchObject({ Namespace: 'Stillage/prod/ProbeEndpoint', MetricName: 'edgeErrorPercent' });
  });

  it('watches how far the bill is behind by the metric that is made of what its function logs', () => {
    const filters = resources(synthesis.schedule, 'AWS::Logs::MetricFilter')
      .filter(([id]) => id.startsWith('BillRequests'))
      .map(([, { Properties }]) => Properties);
    expect(filters).toMatchObject([
      {
        FilterPattern: '{ $.behindSeconds = * }',
        LogGroupName: { Ref: expect.stringMatching(/^BillRequestsLog/) as string },
        MetricTransformations: [{ MetricValue: '$.behindSeconds' }],
      },
    ]);
    const [{ MetricNamespace, MetricName }] = filters[0]!['MetricTransformations'] as [
      { MetricNamespace: string; MetricName: string },
    ];
    const watched = { Namespace: MetricNamespace, MetricName, Threshold: 4 * 60 * 60, EvaluationPeriods: 3 };
    expect(alarms().get('BillRequestsLag')).toMatchObject({ ...watched, Statistic: 'Maximum', Period: 3600 });
  });

  it('has a dashboard', () => {
    synthesis.operations.hasResourceProperties('AWS::CloudWatch::Dashboard', { DashboardName: 'stillage-prod' });
  });

  it('has no alarm that the guide does not explain', async () => {
    const guide = await readFile(join(root, 'docs/cloud-operations.md'), 'utf8');
    const unexplained = [...alarms().keys(), ...alarmsOf(whole.operations).keys()].filter(
      (name) =>
        !guide.includes(
          `\`${name.replace(/^(?!Api).*Errors$/, (all) => (all.startsWith('ByteLane') ? all : '<Function>Errors'))}\``,
        ),
    );
    expect(unexplained).toEqual([]);
  });
});
