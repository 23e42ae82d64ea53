import { describe, expect, it } from 'vitest';
import { DeployedStacks, type StackTemplate } from './deployed-stacks.ts';

type Resources = Record<string, { Type: string; Properties?: Record<string, unknown> }>;

const stack = (Resources: Resources, Outputs: StackTemplate['Outputs'] = {}): StackTemplate => ({ Resources, Outputs });
const alarm = (properties: Record<string, unknown>) => ({ Type: 'AWS::CloudWatch::Alarm', Properties: properties });
const queue = { Type: 'AWS::SQS::Queue', Properties: { DelaySeconds: 1 } };
const exported = { Value: { Ref: 'Queue' }, Export: { Name: 'name' } };
const imported = { 'Fn::ImportValue': 'name' };
const weak = { 'Fn::GetStackOutput': { StackName: 'first', OutputName: 'Out' } };
const subnet = (zone: string, cidr: string) => ({
  Type: 'AWS::EC2::Subnet',
  Properties: { VpcId: 'vpc', CidrBlock: cidr, AvailabilityZoneId: zone },
});
const service = (properties: Record<string, unknown>) => ({ Type: 'AWS::ECS::Service', Properties: properties });
const table = (name: string) => ({ Type: 'AWS::DynamoDB::GlobalTable', Properties: { TableName: name } });
const mapping = (source: unknown) => ({
  Type: 'AWS::Lambda::EventSourceMapping',
  Properties: { EventSourceArn: source, FunctionName: 'function' },
});

/** Deploys the first stacks, then the next ones. */
function deploy(first: Record<string, StackTemplate>, next: Record<string, StackTemplate>): () => unknown {
  return () => new DeployedStacks(new Map(Object.entries(first))).deploy(new Map(Object.entries(next)));
}

describe('a deployment over another', () => {
  it.each([
    [
      'removes an export that is imported',
      deploy(
        { first: stack({ queue }, { Out: exported }), second: stack({ a: alarm({ Dimensions: imported }) }) },
        { first: stack({ queue }), second: stack({ a: alarm({}) }) },
      ),
      'Export name cannot be deleted as it is in use by second (first)',
    ],
    [
      'changes an export that is imported',
      deploy(
        { first: stack({ queue }, { Out: exported }), second: stack({ a: alarm({ Dimensions: imported }) }) },
        { first: stack({ queue }, { Out: { ...exported, Value: 'other' } }) },
      ),
      'Export name cannot be updated as it is in use by second (first)',
    ],
    [
      'imports what is not there',
      deploy({}, { first: stack({ a: alarm({ Dimensions: imported }) }) }),
      'No export named',
    ],
    ['reads what is not there', deploy({}, { second: stack({ a: alarm({ Dimensions: weak }) }) }), 'has no output Out'],
    [
      'replaces a table',
      deploy({ first: stack({ Table: table('a') }) }, { first: stack({ Table: table('b') }) }),
      'first/Table (AWS::DynamoDB::GlobalTable) holds state and is replaced',
    ],
    [
      'removes a table',
      deploy({ first: stack({ Table: table('a') }) }, { first: stack({}) }),
      'holds state and is removed',
    ],
    [
      'gives a name that another resource still has',
      deploy({ first: stack({ a: alarm({ AlarmName: 'n' }) }) }, { first: stack({ b: alarm({ AlarmName: 'n' }) }) }),
      'first/b: AWS::CloudWatch::Alarm ["n"] already exists: first/a',
    ],
    [
      'moves a name to a stack that is deployed before its own',
      deploy(
        { first: stack({}), second: stack({ a: alarm({ AlarmName: 'n' }) }) },
        { first: stack({ a: alarm({ AlarmName: 'n' }) }), second: stack({}) },
      ),
      'already exists: second/a',
    ],
    [
      'moves a subnet to another zone with its addresses',
      deploy(
        { first: stack({ s: subnet('az1', '10.0.0.0/20') }) },
        { first: stack({ s: subnet('az2', '10.0.0.0/20') }) },
      ),
      'already exists: first/s',
    ],
    [
      'replaces the mapping of a stream by one of the same stream',
      deploy(
        { first: stack({ m: mapping('stream') }) },
        {
          first: stack({
            m: { ...mapping('stream'), Properties: { ...mapping('stream').Properties, StartingPosition: 'LATEST' } },
          }),
        },
      ),
      'already exists: first/m',
    ],
    [
      'sets the number of tasks',
      deploy(
        { first: stack({ s: service({ DesiredCount: 2 }) }) },
        { first: stack({ s: service({ DesiredCount: 2, PlatformVersion: '1.4.0' }) }) },
      ),
      'first/s: a fleet of many is set to 2',
    ],
    [
      'changes a VPC origin',
      deploy(
        {
          first: stack({
            o: { Type: 'AWS::CloudFront::VpcOrigin', Properties: { VpcOriginEndpointConfig: { HTTPPort: 80 } } },
          }),
        },
        {
          first: stack({
            o: { Type: 'AWS::CloudFront::VpcOrigin', Properties: { VpcOriginEndpointConfig: { HTTPPort: 81 } } },
          }),
        },
      ),
      'a VPC origin that is in use cannot be changed',
    ],
    [
      'may replace what cannot be replaced, by a weak reference',
      deploy(
        {
          first: stack({ Queue: queue }, { Out: { Value: { Ref: 'Queue' } } }),
          second: stack({ m: mapping('stream') }),
        },
        { second: stack({ m: mapping(weak) }) },
      ),
      'second/m: EventSourceArn is a weak reference',
    ],
    [
      'replaces what another stack refers to weakly',
      deploy(
        {
          first: stack(
            { Part: { Type: 'AWS::ECS::TaskDefinition', Properties: { Cpu: '1' } } },
            { Out: { Value: { Ref: 'Part' } } },
          ),
          second: stack({ a: alarm({ Dimensions: weak }) }),
        },
        {
          first: stack(
            { Part: { Type: 'AWS::ECS::TaskDefinition', Properties: { Cpu: '2' } } },
            { Out: { Value: { Ref: 'Part' } } },
          ),
          second: stack({ a: alarm({ Dimensions: weak }) }),
        },
      ),
      'second goes on using first/Part, which was replaced',
    ],
  ])('is refused if it %s', (_, deployed, message) => {
    expect(deployed).toThrow(message);
  });

  it('says what it replaces, and which stacks it leaves', () => {
    const task = (cpu: string) => stack({ Task: { Type: 'AWS::ECS::TaskDefinition', Properties: { Cpu: cpu } } });
    expect(deploy({ first: task('1'), second: stack({}) }, { first: task('2') })()).toEqual({
      replaced: ['first/Task AWS::ECS::TaskDefinition'],
      left: ['second'],
    });
  });
});
