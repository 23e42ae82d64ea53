import { describe, it } from 'vitest';
import type { Request } from './requests.ts';
import type { Scenario } from './scenario.ts';
import { expectToHold, isLong } from './verdict.ts';

const put: Request = { do: 'put', key: 'k' };
const remove: Request = { do: 'delete', key: 'k' };
const get: Request = { do: 'get', key: 'k' };
const tag: Request = { do: 'tag', key: 'k' };
const onlyNew: Request = { do: 'put', key: 'k', only: 'absent' };
const overNull: Request = { do: 'put', key: 'k', only: { match: 'null0' } };
const removeVersion = (version: string): Request => ({ do: 'delete version', key: 'k', version });
const getVersion = (version: string): Request => ({ do: 'get', key: 'k', version });

type Beginning = Pick<Scenario, 'versioning'> & { readonly versions: readonly string[] };

const beginnings: readonly Beginning[] = [
  { versioning: 'off', versions: [] },
  { versioning: 'off', versions: ['null0'] },
  { versioning: 'on', versions: [] },
  { versioning: 'on', versions: ['null0'] },
  { versioning: 'on', versions: ['v1', 'null0'] },
  { versioning: 'on', versions: ['v2!', 'v1'] },
  { versioning: 'suspended', versions: [] },
  { versioning: 'suspended', versions: ['null0'] },
  { versioning: 'suspended', versions: ['v1', 'null0'] },
  { versioning: 'suspended', versions: ['v2', 'v1', 'null0'] },
  { versioning: 'suspended', versions: ['null0!', 'v1'] },
];

describe.each(beginnings)('a key with $versions, versioning $versioning', ({ versioning, versions }) => {
  const keys = { k: versions };

  it('two PUTs, one of them by a clock that stands behind', async () => {
    await expectToHold({ versioning, keys, actors: { p: put, q: put }, skew: { q: -120_000 } });
  });

  it('two PUTs that want to be the first', async () => {
    await expectToHold({ versioning, keys, actors: { p: onlyNew, q: onlyNew } });
  });

  it('PUT, and a tag', async () => {
    await expectToHold({ versioning, keys, actors: { p: put, t: tag } });
  });

  it('PUT, and DELETE of the null version', async () => {
    await expectToHold({ versioning, keys, actors: { p: put, d: removeVersion('null') }, apart: true });
  });

  it('PUT with If-Match, PUT, and a crash', async () => {
    await expectToHold({ versioning, keys, actors: { p: overNull, q: put }, crashes: 1 });
  });

  it('PUT, DELETE and GET', async () => {
    const apart = versioning !== 'off' && isLong ? ({ apart: true } as const) : {};
    await expectToHold({ versioning, keys, actors: { p: put, d: remove, g: get }, ...apart });
  });

  it('PUT and DELETE where conditions are free', async () => {
    await expectToHold({ versioning, keys, actors: { p: put, d: remove }, freeChecks: true });
  });
});
