import { beforeAll, describe, expect, it } from 'vitest';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { backgroundFunctions } from '../../infra/constructs/background-functions.ts';
import { root } from '../../infra/bundles/operation-descriptions.ts';
import { synthesiseBackground, type BackgroundSynthesis } from './background-synthesis.ts';
import { inventory, resources, type Resource } from './synthesis.ts';

// cdk-nag and the rules of the CDK take seconds to load.
let synthesis: BackgroundSynthesis;
beforeAll(async () => {
  synthesis = await synthesiseBackground();
});

const find = (type: string, prefix: string): Resource => {
  const found = resources(synthesis.schedule, type).find(([id]) => id.startsWith(prefix));
  if (found === undefined) throw new Error(`no ${type} ${prefix}`);
  return found[1];
};

interface Statement {
  readonly Sid: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

const statementsOf = (name: string): Map<string, Statement> => {
  const { Policies, ManagedPolicyArns } = find('AWS::IAM::Role', name).Properties as {
    Policies: { PolicyDocument: { Statement: Statement[] } }[];
    ManagedPolicyArns?: unknown;
  };
  expect(ManagedPolicyArns).toBeUndefined();
  return new Map(Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement).map((one) => [one.Sid, one]));
};

describe('the schedule stack', () => {
  it('has these resources', () => {
    expect(inventory(synthesis.schedule)).toMatchSnapshot();
  });

  it('gives cdk-nag and the rules of the CDK nothing to find', async () => {
    await synthesiseBackground({ validated: true });
  });

  it('stays far below 450 resources', () => {
    expect(resources(synthesis.schedule).length).toBeLessThan(150);
  });

  it('has a function for each that is declared, with a file, a role of its own and a log that ends', () => {
    for (const { name, file } of backgroundFunctions) {
      expect(existsSync(join(root, file))).toBe(true);
      expect(find('AWS::Lambda::Function', `${name}Function`).Properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        TracingConfig: { Mode: 'Active' },
      });
      expect(find('AWS::Logs::LogGroup', `${name}Log`).Properties).toMatchObject({ RetentionInDays: 30 });
    }
    const roles = resources(synthesis.schedule, 'AWS::IAM::Role');
    expect(roles).toHaveLength(backgroundFunctions.length + 1);
    synthesis.schedule.resourceCountIs('AWS::IAM::Policy', 0);
  });
});

describe('a follower of the feed', () => {
  it.each([
    ['CountUsage', ['head/', 'upload/', 'links/'], 24],
    ['ReleaseContent', ['head/', 'old/', 'upload/'], 6],
  ])('%s gets its own kinds of items, in order, with the shard, and gives up late', (name, prefixes, hours) => {
    const { Properties } = find('AWS::Lambda::EventSourceMapping', `${name}Changes`);
    expect(Properties).toMatchObject({
      BatchSize: 500,
      ParallelizationFactor: 1,
      TumblingWindowInSeconds: 900,
      StartingPosition: 'TRIM_HORIZON',
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BisectBatchOnFunctionError: true,
      MaximumRecordAgeInSeconds: hours * 3600,
      FilterCriteria: {
        Filters: [
          { Pattern: JSON.stringify({ dynamodb: { Keys: { pk: { S: prefixes.map((prefix) => ({ prefix })) } } } }) },
        ],
      },
    });
    expect(Properties).not.toHaveProperty('MaximumRetryAttempts');
    expect(JSON.stringify(Properties['DestinationConfig'])).toContain('FeedDeadLetters');
  });

  it('may read its feed, and send dead letters', () => {
    const statements = statementsOf('CountUsage');
    expect([...statements.keys()].toSorted()).toEqual(['DeadLetters', 'Feed', 'Feeds', 'Log', 'Table', 'Trace']);
    expect([statements.get('Table')!.Action].flat().toSorted()).toEqual([
      'dynamodb:DeleteItem',
      'dynamodb:GetItem',
      'dynamodb:PutItem',
      'dynamodb:Query',
    ]);
    expect(statementsOf('ReleaseContent').has('Blobs')).toBe(false);
    expect(statementsOf('SweepReleased').get('Blobs')!.Action).toBe('s3:DeleteObject');
  });
});

describe('schedules', () => {
  it('are those that are declared, and tell when they could not start', () => {
    const declared = backgroundFunctions.flatMap(({ name, trigger }) =>
      trigger.by === 'schedule' ? [[name, trigger.expression] as const] : [],
    );
    const schedules = resources(synthesis.schedule, 'AWS::Scheduler::Schedule');
    expect(schedules).toHaveLength(declared.length);
    for (const [name, expression] of declared) {
      const { Properties } = find('AWS::Scheduler::Schedule', `${name}Schedule`);
      expect(Properties['ScheduleExpression']).toBe(expression);
      const target = JSON.stringify(Properties['Target']);
      expect(target).toContain(`${name}Function`);
      expect(target).toContain('ScheduleDeadLetters');
    }
    const config = resources(synthesis.schedule, 'AWS::Lambda::EventInvokeConfig');
    expect(config).toHaveLength(declared.length);
    for (const [, { Properties }] of config) expect(Properties).toMatchObject({ MaximumRetryAttempts: 1 });
  });

  it('may start nothing else', () => {
    const statements = statementsOf('Scheduler');
    expect([...statements.keys()]).toEqual(['Start', 'DeadLetters']);
    expect(JSON.stringify(statements.get('Start')!.Resource)).not.toMatch(/Administer|ReplayChanges|\*/);
  });
});

describe('lifecycle workers', () => {
  it('take one message at a time, eight of them at once, and leave what fails three times', () => {
    const mapping = resources(synthesis.schedule, 'AWS::Lambda::EventSourceMapping').find(([id]) => id.includes('Sqs'));
    expect(mapping![1].Properties).toMatchObject({ BatchSize: 1, ScalingConfig: { MaximumConcurrency: 8 } });
    const queue = resources(synthesis.schedule, 'AWS::SQS::Queue').find(
      ([, { Properties }]) => Properties['RedrivePolicy'],
    );
    expect(queue![1].Properties).toMatchObject({ VisibilityTimeout: 5400, RedrivePolicy: { maxReceiveCount: 3 } });
    expect(JSON.stringify(queue![1].Properties['RedrivePolicy'])).toContain('LifecycleDeadLetters');
  });
});

describe('the queues', () => {
  it('are encrypted, take nothing without TLS, and keep dead letters for 14 days', () => {
    const queues = resources(synthesis.schedule, 'AWS::SQS::Queue');
    expect(queues).toHaveLength(4);
    for (const [id, { Properties }] of queues) {
      expect(Properties['SqsManagedSseEnabled']).toBe(true);
      if (id.includes('DeadLetters')) expect(Properties['MessageRetentionPeriod']).toBe(14 * 86_400);
    }
    synthesis.schedule.resourceCountIs('AWS::SQS::QueuePolicy', 4);
  });
});

describe('what is done by hand', () => {
  it('has names that can be typed, and nothing that starts it', () => {
    const named = resources(synthesis.schedule, 'AWS::Lambda::Function').map(
      ([, one]) => one.Properties['FunctionName'],
    );
    expect(named.filter((name) => name !== undefined).toSorted()).toEqual([
      'stillage-prod-administer',
      'stillage-prod-replay-changes',
    ]);
    synthesis.schedule.resourceCountIs('AWS::Lambda::Permission', 0);
    synthesis.schedule.resourceCountIs('AWS::Lambda::Url', 0);
  });
});

it('alarms of users cannot speak in topics of this account', () => {
  expect(statementsOf('MonitorBuckets').get('TopicsOfUsers')).toMatchObject({
    Action: 'sns:Publish',
    Condition: { StringNotEquals: { 'aws:ResourceAccount': '000000000000' } },
  });
});
