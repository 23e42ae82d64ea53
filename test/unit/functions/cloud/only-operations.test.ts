import { expect, it } from 'vitest';
import { onlyOperations } from '../../../../functions/cloud/only-operations.ts';
import type { AnyOperation } from '../../../../shared/protocol/operation.ts';
import { routes } from '../../../../shared/protocol/operation-table.ts';

const own: AnyOperation = {
  name: 'HeadBucket',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: () => ({}),
  authorise: () => [],
  act: async () => ({}),
  render: () => ({}),
};

/**
 * During an upgrade, routers and functions of two versions run side by side: a request that reaches the wrong function reaches the right
 * one when it is retried. SDKs retry after 5xx, and give up after 400.
 * https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html
 */
it('a function has its own operation, and asks for every other one of the route table to be sent again', () => {
  const operations = onlyOperations({ name: 'HeadBucket', operations: [own] });
  expect(operations.get('HeadBucket')).toBe(own);
  const others = routes.map(({ operation }) => operation).filter((name) => name !== own.name);
  for (const name of others) {
    const refused = expect.objectContaining({
      code: 'ServiceUnavailable',
      status: 503,
      message: `The request is a ${name}, but it was sent to where HeadBucket is served.`,
    }) as Error;
    expect(() => void operations.get(name)!.parse({} as never, undefined)).toThrow(refused);
  }
});

it('one that answers for what is not built has no operation there, which the pipeline says', () => {
  const operations = onlyOperations({ name: 'Stubs', operations: [own], unsupported: ['SelectObjectContent'] });
  expect(operations.has('SelectObjectContent')).toBe(false);
  expect(operations.has('GetObject')).toBe(true);
});
