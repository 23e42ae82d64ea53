import type { Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, it } from 'vitest';
import { backgroundFunctions } from '../../infra/constructs/background-functions.ts';
import { describeOperations, functionsOf } from '../../infra/bundles/operation-descriptions.ts';
import { resources, synthesise, templates, type Synthesis } from './synthesis.ts';

const tableArn = 'arn:aws:dynamodb:us-east-1:000000000000:table/stillage-restored';
const streamArn = `${tableArn}/stream/2026-11-21T03:00:00.000`;

let usual: Synthesis;
let restored: Synthesis;
beforeAll(async () => {
  const functions = functionsOf(await describeOperations());
  usual = await synthesise(functions);
  restored = await synthesise(functions, { context: { restoredTable: streamArn } });
});

const others = (synthesis: Synthesis): [string, Template][] => templates(synthesis).filter(([name]) => name !== 'data');

const exportsOf = (template: Template): string[] => {
  const { Outputs = {} } = template.toJSON() as { Outputs?: Record<string, { Export?: { Name: string } }> };
  return Object.values(Outputs).flatMap(({ Export }) => (Export ? [Export.Name] : []));
};

const importsOf = (template: Template): string[] =>
  [...JSON.stringify(template.toJSON()).matchAll(/"Fn::ImportValue":"([^"]+)"/g)].map(([, name]) => name!);

describe('with a restored table', () => {
  it('the data stack is what it was, so that nothing in it has to change before the others', () => {
    expect(restored.data.toJSON()).toEqual(usual.data.toJSON());
    const wanted = others(usual).flatMap(([, template]) => importsOf(template));
    const ofTheTable = wanted.filter((name) => name.includes(':ExportsOutput') && /(Ref|FnGetAtt)Table/.test(name));
    expect(new Set(ofTheTable).size).toBe(3);
    expect(exportsOf(restored.data)).toEqual(expect.arrayContaining(ofTheTable));
  });

  it('no other stack speaks of the former table', () => {
    for (const [name, template] of others(restored)) {
      const ofTheData = importsOf(template).filter((one) => one.startsWith('stillage-prod-data:'));
      expect(ofTheData.join(), name).not.toContain('Table');
    }
  });

  it('every function, server and scrub is told its name', () => {
    const told = others(restored).flatMap(([, template]) => [
      ...resources(template, 'AWS::Lambda::Function').flatMap(([, { Properties }]) => {
        const { Variables } = (Properties['Environment'] ?? {}) as { Variables?: Record<string, unknown> };
        return Variables === undefined ? [] : [Variables['STILLAGE_TABLE']];
      }),
      ...resources(template, 'AWS::ECS::TaskDefinition').map(([, { Properties }]) => {
        const [container] = Properties['ContainerDefinitions'] as {
          Environment: { Name: string; Value: unknown }[];
        }[];
        return container!.Environment.find(({ Name }) => Name === 'STILLAGE_TABLE')!.Value;
      }),
    ]);
    expect(told.length).toBeGreaterThan(50);
    expect(new Set(told)).toEqual(new Set(['stillage-restored']));
  });

  it('every grant is of it, and every follower follows its stream', () => {
    for (const [name, template] of others(restored)) {
      const statements = JSON.stringify(resources(template).map(([, { Properties }]) => Properties));
      const granted = [...statements.matchAll(/"Resource":("arn:aws:dynamodb[^"]*")/g)].map(([, arn]) => arn);
      if (['api', 'streaming', 'schedule'].includes(name)) expect(granted, name).toContain(JSON.stringify(tableArn));
      for (const arn of granted) expect([tableArn, streamArn]).toContain(JSON.parse(arn!));
    }
    const sources = resources(restored.schedule, 'AWS::Lambda::EventSourceMapping').map(
      ([, { Properties }]) => Properties['EventSourceArn'],
    );
    const followers = backgroundFunctions.filter(({ trigger }) => trigger.by === 'changes');
    expect(sources.filter((source) => source === streamArn)).toHaveLength(followers.length);
  });

  it('alarms and dashboard watch it', () => {
    const alarms = resources(restored.operations, 'AWS::CloudWatch::Alarm').filter(
      ([, { Properties }]) => Properties['Namespace'] === 'AWS/DynamoDB',
    );
    expect(alarms).toHaveLength(2);
    for (const [, { Properties }] of alarms) {
      expect(Properties['Dimensions']).toEqual([{ Name: 'TableName', Value: 'stillage-restored' }]);
    }
    const [[, dashboard]] = resources(restored.operations, 'AWS::CloudWatch::Dashboard') as [[string, object]];
    expect(JSON.stringify(dashboard)).toContain('stillage-restored');
  });
});
