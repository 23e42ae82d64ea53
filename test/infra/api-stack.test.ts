import { beforeAll, describe, expect, it } from 'vitest';
import { gradualOperations } from '../../infra/constructs/gradual-deployment.ts';
import { readCloudSettings } from '../../functions/cloud/settings.ts';
import {
  describeOperations,
  functionsOf,
  otherwise,
  type FunctionDescription,
} from '../../infra/bundles/operation-descriptions.ts';
import { routes } from '../../shared/protocol/operation-table.ts';
import {
  functionForEach,
  resources,
  synthesise,
  templates,
  withDomain,
  inventory,
  type Synthesis,
} from './synthesis.ts';

// Each synthesis puts a file for every operation into place.
interface OpenApi {
  readonly paths: Record<string, Record<string, unknown>>;
  readonly 'x-amazon-apigateway-binary-media-types': string[];
}

let built: readonly FunctionDescription[];
let synthesis: Synthesis;
beforeAll(async () => {
  built = functionsOf(await describeOperations());
  synthesis = await synthesise(built);
});

const definition = ({ api }: Synthesis): OpenApi =>
  resources(api, 'AWS::ApiGateway::RestApi')[0]![1].Properties['Body'] as OpenApi;

/** Of each path, the function behind it. */
const integrations = (): Map<string, string> =>
  new Map(
    Object.entries(definition(synthesis).paths).map(([path, { 'x-amazon-apigateway-any-method': method }]) => {
      const uri = JSON.stringify((method as Record<string, { uri: unknown }>)['x-amazon-apigateway-integration']!.uri);
      return [
        path,
        /"Fn::GetAtt":\["(\w+)","Arn"\]|"Ref":"(\w+FunctionAliaslive[0-9A-F]{8})"/.exec(uri)!.slice(1).find(Boolean)!,
      ];
    }),
  );

describe('paths and functions', () => {
  it('are the same', () => {
    const names = built.map(({ name }) => name).toSorted();
    const functions = resources(synthesis.api, 'AWS::Lambda::Function');
    expect(functions.map(([, { Properties }]) => Properties['Description']).toSorted()).toEqual(
      names.map((name) => `Stillage: ${name}`),
    );
    expect([...integrations().keys()].toSorted()).toEqual(names.map((name) => `/${name}`));
  });

  it('belong together', () => {
    for (const [path, functionId] of integrations()) {
      const name = path.slice(1);
      const alias = gradualOperations.fargate.has(name) ? 'Aliaslive' : '';
      expect(functionId).toMatch(new RegExp(`^${name}Function${alias}[0-9A-F]{8}$`));
    }
  });

  it('serve every operation once, and one of them the stubs', () => {
    const served = built.flatMap(({ serves }) => serves);
    const routed = new Set<string>(routes.map(({ operation }) => operation));
    expect(served.filter((name) => !routed.has(name))).toEqual([]);
    expect(new Set(served).size).toBe(served.length);
    const lists = built.filter(({ name, serves }) => serves.length !== 1 || serves[0] !== name);
    expect(lists.map(({ name }) => name)).toEqual([otherwise]);
    expect(lists[0]!.serves).toContain('GetBucketRequestPayment');
  });

  it('let API Gateway, and nobody else, invoke each function on its own path', () => {
    const permissions = resources(synthesis.api, 'AWS::Lambda::Permission');
    expect(permissions).toHaveLength(built.length);
    for (const { name } of built) {
      const own = permissions.find(([id]) => /^(\w+?)Function(?:Aliaslive)?Api[0-9A-F]{8}$/.exec(id)?.[1] === name)![1]
        .Properties;
      expect(own).toMatchObject({ Action: 'lambda:InvokeFunction', Principal: 'apigateway.amazonaws.com' });
      expect(JSON.stringify(own['SourceArn'])).toMatch(new RegExp(`/prod/\\*/${name}"`));
    }
  });
});

describe('the API', () => {
  it('has these resources, with one operation for each set of needs', async () => {
    const some = await synthesise(
      functionForEach([
        { name: 'ListBuckets', needs: { table: 'read' } },
        { name: 'CreateBucket', needs: { table: 'write' } },
        { name: 'GetObject', needs: { table: 'read', blobs: 'read' } },
        { name: 'PutObject', needs: { table: 'write', blobs: 'write' } },
      ]),
    );
    expect(inventory(some.api)).toMatchSnapshot();
  });

  it('is regional, takes any bytes, and keeps to its limits', () => {
    synthesis.api.hasResourceProperties('AWS::ApiGateway::RestApi', { EndpointConfiguration: { Types: ['REGIONAL'] } });
    expect(definition(synthesis)['x-amazon-apigateway-binary-media-types']).toEqual(['*/*']);
    synthesis.api.hasResourceProperties('AWS::ApiGateway::Stage', {
      StageName: 'prod',
      MethodSettings: [
        {
          HttpMethod: '*',
          ResourcePath: '/*',
          ThrottlingRateLimit: 2000,
          ThrottlingBurstLimit: 1000,
          DataTraceEnabled: false,
        },
      ],
    });
  });

  it('logs each request, and nothing that could hold a credential', () => {
    const [, stage] = resources(synthesis.api, 'AWS::ApiGateway::Stage')[0]!;
    const { Format } = stage.Properties['AccessLogSetting'] as { Format: string };
    expect(
      Object.values(JSON.parse(Format) as Record<string, string>).every((value) => value.startsWith('$context.')),
    ).toBe(true);
    expect(Format).not.toMatch(/header|querystring|authorizer/i);
  });

  it('has no end of logs: each group has a retention', () => {
    const groups = resources(synthesis.api, 'AWS::Logs::LogGroup');
    expect(groups).toHaveLength(2);
    for (const [, { Properties }] of groups) expect(Properties['RetentionInDays']).toBe(30);
  });

  it('has the requests of all functions in one log, which the bill is made of', () => {
    const [[id]] = resources(synthesis.api, 'AWS::Logs::LogGroup').filter(
      ([, { Properties }]) => Properties['LogGroupName'] === '/stillage/prod/api',
    ) as [[string, unknown]];
    synthesis.api.allResourcesProperties('AWS::Lambda::Function', { LoggingConfig: { LogGroup: { Ref: id } } });
    for (const [name, template] of templates(synthesis)) {
      const own = resources(template, 'AWS::Logs::LogGroup').map(([, { Properties }]) => Properties['LogGroupName']);
      expect(own.includes('/stillage/prod/byte-lane')).toBe(name === 'streaming');
    }
    const [, { Properties }] = resources(synthesis.schedule, 'AWS::Lambda::Function').find(([one]) =>
      one.startsWith('BillRequests'),
    )!;
    expect(JSON.stringify(Properties['Environment'])).toContain('"/stillage/prod/api,/stillage/prod/byte-lane"');
  });
});

describe('each function', () => {
  it('runs on arm64 with Node.js 24, is traced, and ends with API Gateway', () => {
    synthesis.api.allResourcesProperties('AWS::Lambda::Function', {
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      MemorySize: 1024,
      Timeout: 29,
      TracingConfig: { Mode: 'Active' },
      // docs/costs.md counts two lines of log for a request, and none of Lambda itself.
      LoggingConfig: { LogFormat: 'JSON', SystemLogLevel: 'WARN' },
    });
  });

  it('is told all that the composition root asks for', () => {
    for (const [, { Properties }] of resources(synthesis.api, 'AWS::Lambda::Function')) {
      const { Variables } = Properties['Environment'] as { Variables: Record<string, unknown> };
      const environment = Object.entries(Variables).map(
        ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
      );
      const settings = readCloudSettings(Object.fromEntries(environment));
      expect(settings.edgeSecret).toContain('EdgeSecret');
      expect(settings.domain).toBe('invalid');
    }
  });
});

describe('with every operation of the route table', () => {
  it('every stack stays below 450 of 500 resources, a megabyte of template and 300 paths', async () => {
    const names = [...new Set(routes.map(({ operation }) => operation))];
    const needs = [
      { table: 'read' },
      { table: 'write' },
      { table: 'read', blobs: 'read' },
      { table: 'write', blobs: 'write' },
    ] as const;
    const described = names.map((name, index) => ({ name, needs: needs[index % needs.length]! }));
    const all = await synthesise(functionForEach(described), { context: withDomain });
    for (const [name, template] of templates(all)) {
      const count = resources(template).length;
      const size = Buffer.byteLength(JSON.stringify(template.toJSON()));
      console.info(`${name}: ${count} resources, ${size} bytes of template`);
      expect(count).toBeLessThan(450);
      expect(size).toBeLessThan(1_000_000);
    }
    expect(Object.keys(definition(all).paths).length).toBeLessThan(300);
  });
});
