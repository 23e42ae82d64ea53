import { expect, it } from 'vitest';
import { explore } from './scheduler.ts';
import { prepare, type Scenario } from './scenario.ts';
async function go(title: string, s: Scenario) {
  const t = performance.now();
  const r = await explore(await prepare(s));
  console.log(title, r.states, 'states', r.ends, 'ends', r.plays, 'plays', Math.round(performance.now() - t), 'ms', r.complete, r.failure?.what, r.failure?.trace.join('\n   '));
}
it('x', async () => {
  await go('put/put off', { versioning: 'off', keys: { k: [] }, actors: { p: { do: 'put', key: 'k' }, q: { do: 'put', key: 'k' } } });
  await go('put/put on', { versioning: 'on', keys: { k: ['v1', 'null'] }, actors: { p: { do: 'put', key: 'k' }, q: { do: 'put', key: 'k' } } });
  await go('put/del/get on', { versioning: 'on', keys: { k: ['v1', 'null'] }, apart: true, actors: { p: { do: 'put', key: 'k' }, d: { do: 'delete', key: 'k' }, g: { do: 'get', key: 'k' } } });
  await go('deep', { versioning: 'on', keys: { k: ['v3','v2', 'v1'] }, actors: { d: { do: 'delete version', key: 'k', version: 'v1' }, p: { do: 'put', key: 'k' }, e: { do: 'delete version', key: 'k', version: 'v3' } } });
  await go('deep', { versioning: 'on', keys: { k: ['v3','v2', 'v1'] }, apart: true, actors: { d: { do: 'delete version', key: 'k', version: 'v1' }, p: { do: 'put', key: 'k' }, e: { do: 'delete version', key: 'k', version: 'v3' } } });
  expect(1).toBe(1);
});
