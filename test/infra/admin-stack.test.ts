import { beforeAll, describe, expect, it } from 'vitest';
import { describeOperations, functionsOf } from '../../infra/bundles/operation-descriptions.ts';
import { inventory, resources, synthesise, type Synthesis } from './synthesis.ts';

describe('the stack of the API of operators', () => {
  let [without, synthesis]: Synthesis[] = [];
  beforeAll(async () => {
    const functions = functionsOf(await describeOperations()).slice(0, 2);
    [without, synthesis] = [
      await synthesise(functions),
      await synthesise(functions, { context: { adminApi: 'true' } }),
    ];
  });
  const only = (type: string) => {
    const found = resources(synthesis!.admin!, type);
    expect(found).toHaveLength(1);
    return found[0]![1].Properties;
  };

  it('is there if it is asked for', () => {
    expect(without!.admin).toBeUndefined();
    expect(inventory(synthesis!.admin!)).toMatchSnapshot();
  });

  it('has one method, below the path of commands, and a limit for all', () => {
    expect(
      resources(synthesis!.admin!, 'AWS::ApiGateway::Resource').map(([, one]) => one.Properties['PathPart']),
    ).toEqual([...['_stillage', 'admin', 'v1', '{proxy+}']]);
    expect(only('AWS::ApiGateway::Method')).toMatchObject({ HttpMethod: 'ANY', AuthorizationType: 'NONE' });
    expect(only('AWS::ApiGateway::Stage')['MethodSettings']).toMatchObject([
      { DataTraceEnabled: false, ThrottlingRateLimit: 20, ThrottlingBurstLimit: 40 },
    ]);
    expect(JSON.stringify(only('AWS::ApiGateway::Stage')['AccessLogSetting'])).not.toMatch(
      /authorization|\$context\.authorizer/i,
    );
  });

  it('has a function that only this API invokes, with a role for the table and the secret alone', () => {
    expect(only('AWS::Lambda::Permission')).toMatchObject({ Principal: 'apigateway.amazonaws.com' });
    const { Policies } = only('AWS::IAM::Role') as {
      Policies: { PolicyDocument: { Statement: { Sid: string; Action: string | string[] }[] } }[];
    };
    const statements = Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
    expect(statements.map(({ Sid }) => Sid).toSorted()).toEqual(['Log', 'Secret', 'Table', 'Trace']);
    expect(statements.find(({ Sid }) => Sid === 'Table')!.Action).toEqual([
      'dynamodb:ConditionCheckItem',
      'dynamodb:DeleteItem',
      'dynamodb:GetItem',
      'dynamodb:PutItem',
      'dynamodb:Query',
    ]);
  });
});
