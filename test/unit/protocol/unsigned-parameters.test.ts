import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { operations } from '../../../functions/operations.ts';
import { anonymous } from '../../../shared/access/identity.ts';
import { Fields } from '../../../shared/http/message.ts';
import type { Query } from '../../../shared/http/query.ts';
import { defaultLimits } from '../../../shared/protocol/limits.ts';
import type { AnyOperation } from '../../../shared/protocol/operation.ts';
import { routes, type Route } from '../../../shared/protocol/operation-table.ts';
import { isReadByV2, isSignedByV2, mayBeUnsignedByV2 } from '../../../shared/signing/v2/sigv2-resource.ts';
import { person, PipelineInProcess } from '../../support/storage/pipeline-in-process.ts';
import { presignedV2, signedV2 } from '../../support/clients/signer-v2.ts';

/** Checks the parameters that a signature of version 2 does not cover against the whole route table. */

const allRoutes: readonly Route[] = routes;
/** Rows at which credentials count. */
const rows = allRoutes.filter(({ on, method }) => (on !== 'internal' && on !== 'website') || method === 'OPTIONS');
const signable = rows.filter(
  ({ method, query }) => method !== 'OPTIONS' && (query === undefined || isSignedByV2(query)),
);

const owner = person('owner');
const host = 'stillage.test';
const paths = { service: '/', bucket: '/bucket', object: '/bucket/key', website: '', internal: '' } as const;

const withQuery = (target: string, more: string): string => `${target}${target.includes('?') ? '&' : '?'}${more}`;

async function pipeline(): Promise<PipelineInProcess> {
  const service = new PipelineInProcess([owner]);
  await service.send({ method: 'PUT', path: '/bucket' }, owner);
  await service.send({ method: 'PUT', path: '/bucket/key', body: 'content' }, owner);
  return service;
}

/** Every request of a row without its sub-resource, signed in both ways. */
function plain({ on, method }: Route): { method: string; target: string; headers: [string, string][] }[] {
  const unsigned = { method, path: paths[on], body: '' };
  const requests = [signedV2(host, unsigned, { key: owner.key }), presignedV2(host, unsigned, { key: owner.key })];
  return requests.map(({ target, headers }) => ({ method, target, headers: [...headers] as [string, string][] }));
}

describe('a request signed by version 2', () => {
  const selected = rows.filter(({ method, query }) => query !== undefined && method !== 'OPTIONS');

  it.each(selected)('does not become $operation ($method $on ?$query) by a parameter that is added', async (row) => {
    const service = await pipeline();
    for (const request of plain(row)) {
      const answer = await service.exchange({ ...request, target: withQuery(request.target, row.query!) });
      const refusal = isSignedByV2(row.query!) ? [403, 'SignatureDoesNotMatch'] : [400, 'InvalidRequest'];
      expect([answer.status, answer.code], request.target).toEqual(refusal);
    }
    expect((await service.send({ path: '/bucket/key' }, owner)).text).toBe('content');
  });

  it.each(rows.filter(({ parameter }) => parameter !== undefined))(
    'becomes $operation by a parameter only if that lists and is written down',
    ({ method, parameter }) => {
      expect(isReadByV2(method, parameter![0])).toBe(['GET', 'HEAD'].includes(method));
      expect(isReadByV2('PUT', parameter![0])).toBe(false);
    },
  );
});

/** A query in which everything that is asked for has the same value, if any. */
function answering(value: string | undefined, asked: (name: string) => void): Query {
  const get = (name: string): string | undefined => {
    asked(name);
    return value;
  };
  return { parameters: [], plus: ' ', get, has: (name: string) => get(name) !== undefined } as unknown as Query;
}

const someValues = [undefined, '', '0', '1', '2', 'null', 'true', 'url', 'a', '2026-01-01T00:00:00Z', 'x'.repeat(40)];

/** Returns all parameters that an operation reads, whatever their values. */
function askedBy(operation: AnyOperation, method: string): Set<string> {
  const names = new Set<string>();
  const settings = {
    ...{ region: 'r', xmlNamespace: 'n', allUsersGroupUri: 'u' },
    limits: defaultLimits,
    tokenKey: new Uint8Array(),
  };
  for (const value of someValues) {
    for (const headers of [{}, { 'content-length': '0' }, { 'x-amz-copy-source': '/b/k', 'content-length': '0' }]) {
      const query = answering(value, (name) => names.add(name));
      const place = { bucket: 'bucket', key: 'key', path: '/', host };
      const channel = { method, secure: true, remoteAddress: '', virtualHost: false, signed: true, caller: anonymous };
      try {
        const fields = new Fields(Object.entries(headers));
        operation.parse({ ...place, ...channel, query, settings, fields }, operation.conditions?.read(fields));
      } catch {
        // The parameters read before the refusal count.
      }
    }
  }
  return names;
}

describe('operations that version 2 can sign', () => {
  const built = signable.filter(({ operation }) => operations.has(operation as never));

  it.each(built)(
    '$operation ($method $on) asks for nothing that is not written down',
    ({ method, operation, query }) => {
      const asked = askedBy(operations.get(operation)!, method);
      expect(
        [...asked].filter((name) => !isReadByV2(method, name)),
        `${operation} ?${query ?? ''}`,
      ).toEqual([]);
    },
  );

  it('ask for everything that is', () => {
    const asked = new Set(built.flatMap(({ method, operation }) => [...askedBy(operations.get(operation)!, method)]));
    for (const { parameter } of rows) if (parameter) asked.add(parameter[0]);
    expect([...mayBeUnsignedByV2].sort()).toEqual([...asked].filter((name) => !isSignedByV2(name)).sort());
  });

  it('have their unsigned parameters in the decision record', () => {
    const record = readFileSync(resolve(import.meta.dirname, '../../../docs/adr/0022-signature-version-2.md'), 'utf8');
    for (const name of mayBeUnsignedByV2) expect(record).toContain(`\`${name}\``);
  });
});
