import { explore } from './scheduler.ts';
import { prepare, type Scenario } from './scenario.ts';
import type { Request } from './requests.ts';
const put: Request = { do: 'put', key: 'k' }, remove: Request = { do: 'delete', key: 'k' }, get: Request = { do: 'get', key: 'k' };
const dv = (version: string): Request => ({ do: 'delete version', key: 'k', version });
const gv = (version: string): Request => ({ do: 'get', key: 'k', version });
const lv: Request = { do: 'list versions' };
const list: [string, Scenario][] = [];
list.push(['delnull', { versioning: 'suspended', keys: { k: ['v1', 'null0'] }, apart: true, actors: { p: put, d: dv('null') } }]);
for (const apart of [{}, { apart: true } as const]) {
  const deep = (title: string, versioning: 'on'|'suspended', versions: string[], actors: Record<string, Request>) => list.push([title + ' ' + JSON.stringify(apart), { versioning, keys: { k: versions }, actors, ...apart }]);
  deep('on DELETE newest/PUT/GET old', 'on', ['v2','v1'], { d: dv('v2'), p: put, g: gv('v1') });
  deep('DELETE newest/DELETE older/GET', 'on', ['v3','v2','v1'], { d: dv('v3'), e: dv('v2'), g: gv('v1') });
  deep('PUT/DELETE that PUT/GET', 'on', ['v2','v1'], { p: put, d: dv('p'), g: gv('v2') });
  deep('DELETE deep/PUT/DELETE newest', 'on', ['v3', 'v2','v1'], { d: dv('v1'), p: put, e: dv('v3') });
  deep('sus PUT over null deep/DELETE newest/GET null', 'suspended', ['v3', 'v2','null0'], { p: put, d: dv('v3'), g: gv('null') });
  deep('sus DELETE/DELETE null/PUT', 'suspended', ['v3', 'null0'], { x: remove, d: dv('null'), p: put });
  deep('undelete/PUT/LISTV', 'on', ['v2!', 'v1'], { d: dv('v2'), p: put, l: lv });
  deep('LISTV/PUT/DELETE newest', 'on', ['v2', 'v1'], { d: dv('v2'), p: put, l: lv });
  deep('LISTV/PUT/DELETE oldest', 'on', ['v2', 'v1'], { d: dv('v1'), p: put, l: lv });
  deep('LISTV/PUT/DELETE middle', 'on', ['v3', 'v2', 'v1'], { d: dv('v2'), p: put, l: lv });
}
for (const [title, s] of list) {
  const t = process.cpuUsage().user;
  const r = await explore(await prepare(s), 20000);
  console.log(title, r.states, 'states', r.ends, 'ends', r.plays, 'plays', Math.round((process.cpuUsage().user - t) / 1000), 'ms', r.complete, r.failure?.what ?? '', r.failure?.trace.join('\n   ') ?? '');
}
