import { beforeAll, describe, expect, it } from 'vitest';
import type { Needs } from '../../shared/protocol/operation.ts';
import { functionForEach, resources, synthesise, type Resource, type Synthesis } from './synthesis.ts';

/** One operation for each set of needs there can be. */
const operations = [
  { name: 'HeadBucket', needs: { table: 'read' } },
  { name: 'GetObject', needs: { table: 'read', blobs: 'read' } },
  { name: 'CreateBucket', needs: { table: 'write' } },
  { name: 'CompleteMultipartUpload', needs: { table: 'write', blobs: 'read' } },
  { name: 'PutObject', needs: { table: 'write', blobs: 'write' } },
] as const satisfies readonly { name: string; needs: Needs }[];

interface Statement {
  readonly Sid: string;
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

let synthesis: Synthesis;
beforeAll(async () => {
  synthesis = await synthesise(functionForEach(operations));
});

const functionOf = (name: string): Resource =>
  resources(synthesis.api, 'AWS::Lambda::Function').find(([id]) => id.startsWith(`${name}Function`))![1];

/** Returns the grants of the role of an operation's function, by the name of the statement. */
function grants(name: (typeof operations)[number]['name']): Map<string, { actions: string[]; resource: string }> {
  const { 'Fn::GetAtt': roleId } = functionOf(name).Properties['Role'] as { 'Fn::GetAtt': [string, string] };
  const role = resources(synthesis.api, 'AWS::IAM::Role').find(([id]) => id === roleId[0])![1];
  const { Policies, ManagedPolicyArns } = role.Properties as {
    Policies: { PolicyDocument: { Statement: Statement[] } }[];
    ManagedPolicyArns?: unknown;
  };
  expect(ManagedPolicyArns).toBeUndefined();
  const statements = Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
  expect(statements.every(({ Effect }) => Effect === 'Allow')).toBe(true);
  return new Map(
    statements.map(({ Sid, Action, Resource }) => [
      Sid,
      { actions: [Action].flat().toSorted(), resource: JSON.stringify(Resource) },
    ]),
  );
}

const always = ['Log', 'Secrets', 'Trace'];
const readTable = ['dynamodb:GetItem', 'dynamodb:Query'];
const writeTable = ['dynamodb:ConditionCheckItem', 'dynamodb:DeleteItem', ...readTable, 'dynamodb:PutItem'].toSorted();
const writeBlobs = ['s3:AbortMultipartUpload', 's3:DeleteObject', 's3:GetObject', 's3:PutObject'];

describe('the grants of a function', () => {
  it.each([
    ['HeadBucket', ['Table'], readTable, undefined],
    ['GetObject', ['BlobBucket', 'Blobs', 'Table'], readTable, ['s3:GetObject']],
    ['CreateBucket', ['Table'], writeTable, undefined],
    ['CompleteMultipartUpload', ['BlobBucket', 'Blobs', 'Table'], writeTable, ['s3:GetObject']],
    ['PutObject', ['BlobBucket', 'Blobs', 'Table'], writeTable, writeBlobs],
  ] as const)('of %s are what it needs and no more', (name, statements, table, blobs) => {
    const found = grants(name);
    expect([...found.keys()].toSorted()).toEqual([...statements, ...always].toSorted());
    expect(found.get('Table')!.actions).toEqual(table);
    expect(found.get('Blobs')?.actions).toEqual(blobs);
  });

  it('name what they are of', () => {
    const found = grants('PutObject');
    const resource = (name: string): string => found.get(name)!.resource;
    expect(resource('Table')).toMatch(
      /^\{"Fn::ImportValue":"stillage-prod-data:ExportsOutputFnGetAttTable\w+Arn\w+"\}$/,
    );
    expect(resource('Blobs')).toMatch(/ExportsOutputFnGetAttBlobs\w+Arn\w+"\},"\/blobs\/\*"\]\]\}$/);
    expect(resource('BlobBucket')).toMatch(
      /^\{"Fn::ImportValue":"stillage-prod-data:ExportsOutputFnGetAttBlobs\w+"\}$/,
    );
    const secret = (name: string): string => `\\{"Fn::ImportValue":"stillage-prod-data:ExportsOutputRef${name}\\w+"\\}`;
    expect(resource('Secrets')).toMatch(new RegExp(`^\\[${secret('EdgeSecret')},${secret('Secret')}\\]$`));
    expect(resource('Log')).toMatch(/^\{"Fn::GetAtt":\["Log\w+","Arn"\]\}$/);
  });

  it('hold no wildcard but in what cannot be named', () => {
    for (const { name } of operations) {
      for (const [statement, { actions, resource }] of grants(name)) {
        expect(actions.join()).not.toContain('*');
        if (!['Blobs', 'Trace'].includes(statement)) expect(resource).not.toContain('*');
      }
    }
  });

  it('are shared by operations of the same needs, and by no others', async () => {
    const same = ['HeadBucket', 'ListBuckets', 'ListObjects'] as const;
    const { api } = await synthesise(functionForEach(same.map((name) => ({ name, needs: { table: 'read' } }))));
    const roles = resources(api, 'AWS::Lambda::Function').map(([, { Properties }]) =>
      JSON.stringify(Properties['Role']),
    );
    expect(new Set(roles).size).toBe(1);
    const different = resources(synthesis.api, 'AWS::Lambda::Function').map(([, one]) => one.Properties['Role']);
    expect(new Set(different.map((role) => JSON.stringify(role))).size).toBe(operations.length);
  });

  it('are not widened by anything else', () => {
    synthesis.api.resourceCountIs('AWS::IAM::Policy', 0);
    synthesis.api.resourceCountIs('AWS::IAM::ManagedPolicy', 0);
  });
});
