import { explore } from './scheduler.ts';
import { prepare, type Scenario } from './scenario.ts';
import type { Request } from './requests.ts';
const put: Request = { do: 'put', key: 'k' }, remove: Request = { do: 'delete', key: 'k' }, get: Request = { do: 'get', key: 'k' };
const dv = (version: string): Request => ({ do: 'delete version', key: 'k', version });
const gv = (version: string): Request => ({ do: 'get', key: 'k', version });
const lv: Request = { do: 'list versions' };
const list: [string, Scenario][] = [];
const S = (title: string, s: Scenario) => list.push([title, s]);
const cp = (from: string, to: string): Request => ({ do: 'copy', from, to });
const rn = (from: string, to: string): Request => ({ do: 'rename', from, to });
const R = { do: 'release' } as const;
const C: Request = { do: 'complete' }, part: Request = { do: 'upload part' }, X: Request = { do: 'abort' };
const up = { versioning: 'on', keys: { k: [] }, upload: true } as const;
S('LISTV/PUT/DELETE oldest of 3', { versioning: 'on', keys: { k: ['v3', 'v2','v1'] }, actors: { d: dv('v1'), p: put, l: lv } });
S(`off->on RENAME/flip/PUT j/GET`, { versioning: 'off', keys: { k: ['null0'], j: [] }, actors: { c: rn('k', 'j'), p: { do: 'put', key: 'j' }, f: { do: 'set versioning', to: 'on' }, g: get }, latency: 1000 });
S('part/complete/abort/release', { ...up, actors: { C, X, R } });
S('complete/complete/release', { ...up, actors: { C, D: C, R } });
S('complete/delete bucket', { ...up, actors: { C, x: { do: 'delete bucket' } } });
for (const f of [{ lost: 1 }, { busy: 1 }]) for (const versioning of ['off', 'on', 'suspended'] as const) {
  const k = versioning === 'off' ? ['null0'] : versioning === 'on' ? ['v1'] : ['v1', 'null0'];
  const t = versioning + JSON.stringify(f);
  S(t + ' PUT', { versioning, keys: { k }, ...f, actors: { p: put } });
  S(t + ' PUT if none', { versioning, keys: { k: [] }, ...f, actors: { p: { ...put, only: 'absent' } } });
  S(t + ' PUT PUT', { versioning, keys: { k }, ...f, actors: { p: put, q: put } });
  S(t + ' PUT DELETE', { versioning, keys: { k }, ...f, actors: { p: put, d: remove } });
  S(t + ' PUT DELETE GET', { versioning, keys: { k }, ...f, actors: { p: put, d: remove, g: get } });
  S(t + ' PUT TAG', { versioning, keys: { k }, ...f, actors: { p: put, t: { do: 'tag', key: 'k' } } });
  S(t + ' DELETE v GET', { versioning, keys: { k }, ...f, actors: { d: dv(k[0]!.replace('0', '')), g: get } });
  S(t + ' COPY', { versioning, keys: { k, j: [] }, ...f, actors: { c: cp('k', 'j'), p: put } });
  S(t + ' COPY self', { versioning, keys: { k }, ...f, actors: { c: cp('k', 'k'), p: put } });
  S(t + ' RENAME', { versioning, keys: { k, j: [] }, ...f, actors: { c: rn('k', 'j') } });
  S(t + ' COMPLETE/COMPLETE', { ...up, versioning, ...f, actors: { C, D: C } });
  S(t + ' COMPLETE/PUT', { ...up, versioning, ...f, actors: { C, p: put } });
  S(t + ' COMPLETE/ABORT', { ...up, versioning, ...f, actors: { C, X } });
  S(t + ' PUT/DELETEBUCKET', { versioning, keys: { k: [] }, ...f, actors: { p: put, x: { do: 'delete bucket' } } });
  S(t + ' CREATEBUCKET/DELETEBUCKET', { versioning, keys: { k: [] }, ...f, actors: { c: { do: 'create bucket' }, x: { do: 'delete bucket' } } });
  if (versioning !== 'on') S(t + ' FLIP/PUT', { versioning, keys: { k: ['null0'] }, ...f, actors: { f: { do: 'set versioning', to: 'on' }, p: put }, latency: 1000 });
}
for (const [title, s] of list) {
  const t = process.cpuUsage().user;
  const r = await explore(await prepare(s), 20000);
  console.log(title, r.states, 'states', r.ends, 'ends', r.plays, 'plays', Math.round((process.cpuUsage().user - t) / 1000), 'ms', r.complete, r.failure?.what ?? '', r.failure?.trace.join('\n   ') ?? '');
}
