import { beforeAll, describe, expect, it } from 'vitest';
import { gradualOperations } from '../../infra/constructs/gradual-deployment.ts';
import { describeOperations, functionsOf } from '../../infra/bundles/operation-descriptions.ts';
import { byteLaneOperations, type OperationName } from '../../shared/protocol/operation-table.ts';
import { resources, synthesise, type Synthesis } from './synthesis.ts';

let synthesis: Synthesis;
beforeAll(async () => {
  synthesis = await synthesise(functionsOf(await describeOperations()));
});

const named = (type: string): Map<string, { readonly id: string; readonly all: Readonly<Record<string, unknown>> }> =>
  new Map(
    resources(synthesis.api, type).map(([id, resource]) => [
      id.slice(0, id.indexOf('Function')),
      { id, all: resource as unknown as Readonly<Record<string, unknown>> },
    ]),
  );

describe('the functions that nearly all requests ask for', () => {
  it('are deployed as versions behind an alias, which API Gateway invokes and may invoke', () => {
    const aliases = named('AWS::Lambda::Alias');
    expect([...aliases.keys()].toSorted()).toEqual([...gradualOperations.fargate].toSorted());
    const versions = resources(synthesis.api, 'AWS::Lambda::Version').map(([id]) => id);
    const api = JSON.stringify(resources(synthesis.api, 'AWS::ApiGateway::RestApi'));
    const permissions = resources(synthesis.api, 'AWS::Lambda::Permission');
    for (const [name, { id, all }] of aliases) {
      const { FunctionVersion } = all['Properties'] as { FunctionVersion: { 'Fn::GetAtt': [string, string] } };
      expect(versions).toContain(FunctionVersion['Fn::GetAtt'][0]);
      expect(api).toContain(`{"Ref":"${id}"}`);
      // A permission for the function does not cover its aliases:
      // https://docs.aws.amazon.com/lambda/latest/dg/access-control-resource-based.html
      const own = permissions.filter(([one]) => one.startsWith(`${name}Function`));
      expect(own.map(([, { Properties }]) => Properties['FunctionName'])).toEqual([{ Ref: id }]);
    }
  });

  it('get a tenth of the requests for five minutes, and none if they fail', () => {
    const alarms = new Map(resources(synthesis.api, 'AWS::CloudWatch::Alarm'));
    const groups = new Map(resources(synthesis.api, 'AWS::CodeDeploy::DeploymentGroup'));
    for (const [name, { all }] of named('AWS::Lambda::Alias')) {
      const { CodeDeployLambdaAliasUpdate: update } = all['UpdatePolicy'] as {
        CodeDeployLambdaAliasUpdate: { DeploymentGroupName: { Ref: string } };
      };
      const group = groups.get(update.DeploymentGroupName.Ref)!.Properties;
      expect(group).toMatchObject({
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
        DeploymentStyle: { DeploymentType: 'BLUE_GREEN', DeploymentOption: 'WITH_TRAFFIC_CONTROL' },
        AutoRollbackConfiguration: {
          Enabled: true,
        },
      });
      const { Events } = (group as { AutoRollbackConfiguration: { Events: string[] } }).AutoRollbackConfiguration;
      expect(Events.toSorted()).toEqual(['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM']);
      const { Alarms } = (group as { AlarmConfiguration: { Alarms: { Name: { Ref: string } }[] } }).AlarmConfiguration;
      const watched = Alarms.map(({ Name }) => alarms.get(Name.Ref)!.Properties);
      expect(watched.map(({ AlarmName }) => AlarmName)).toEqual([
        `stillage-prod-${name}-deployment`,
        'stillage-prod-functions-deployment',
      ]);
      // The alias alone: a function has errors of its own under each version.
      expect(JSON.stringify(watched[0]!['Dimensions'])).toContain(':live');
    }
  });

  it('are none that a byte lane serves', () => {
    expect([...gradualOperations.fargate].filter((name) => byteLaneOperations.has(name as OperationName))).toEqual([]);
  });

  it('get all requests at once if the settings say so, through the same aliases', async () => {
    const { api, streaming } = await synthesise(functionsOf(await describeOperations()), {
      context: { gradual: 'false' },
    });
    expect(resources(api, 'AWS::Lambda::Alias')).toHaveLength(gradualOperations.fargate.size);
    expect(resources(api, 'AWS::CodeDeploy::DeploymentGroup')).toEqual([]);
    expect(resources(streaming!, 'AWS::ECS::Service')[0]![1].Properties['DeploymentConfiguration']).not.toHaveProperty(
      'Alarms',
    );
  });

  it('leave room in the stack', () => {
    expect(resources(synthesis.api).length).toBeLessThan(450);
    console.info(`${resources(synthesis.api).length} resources`);
  });
});
