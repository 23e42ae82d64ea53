import { explore } from '/work/main/test/model/scheduler.ts';
import { prepare, type Scenario } from '/work/main/test/model/scenario.ts';
const s: Scenario = { versioning: 'on', keys: { k: ['v3','v2', 'v1'] }, actors: { d: { do: 'delete version', key: 'k', version: 'v1' }, p: { do: 'put', key: 'k' }, e: { do: 'delete version', key: 'k', version: 'v3' } } };
const t = performance.now();
const r = await explore(await prepare(s));
console.log(r, performance.now() - t);
