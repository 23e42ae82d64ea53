import { startService, alice, bob } from './support/server.ts';
import { signed, presigned, anonymous, type Unsigned, type Signing, queryOf } from './support/signer.ts';
import { signedV2, presignedV2 } from './support/signer-v2.ts';
import { exchange, RawConnection, requestBytes } from './support/raw-client.ts';
import { routes } from '../shared/protocol/routes.ts';
const s = await startService({});
const host = new URL(s.url).host;
const seen = new Map<string, number>();
const show = (label: string, r: any) => { const line = `${r.status} ${/<Code>(\w+)/.exec(r.text)?.[1] ?? ''}`; console.log(label.slice(0, 110).padEnd(112), line, /<Message>([^<]*)/.exec(r.text)?.[1]?.slice(0, 90) ?? r.text.slice(0, 40).replaceAll('\n', ' ')); };
const tryit = async (label: string, f: () => Promise<any>, only5xx = false) => { try { const r = await f(); if (!only5xx || (r.status >= 500 && r.status !== 501)) show(label, r); } catch (e) { console.log(label.slice(0, 100), 'EXC', String(e).slice(0, 200)); } };
const send = (u: Unsigned, g: Partial<Signing> = {}) => exchange(s.url, signed(host, u, { key: alice, ...g }));
const anon = (u: Unsigned) => exchange(s.url, anonymous(host, u));
const long = 'z'.repeat(3000);
try {
  const b = 'probe-bucket';
  await send({ method: 'PUT', path: `/${b}` });
  await send({ method: 'PUT', path: `/${b}/key`, body: 'content' });
  console.log('--- route fuzz 5xx');
  const values = ['', long, '%00', '%FF', '%C3', '-1', '99999999999999999999', 'NaN', 'null', '%F0%9F%98%80', '..', '%0D%0Aa', 'a%2Fb', '%ED%A0%80', '%EF%BF%BF'];
  const params = ['versionId', 'partNumber', 'uploadId', 'prefix', 'delimiter', 'marker', 'key-marker', 'version-id-marker', 'upload-id-marker', 'continuation-token', 'start-after', 'max-keys', 'max-parts', 'max-uploads', 'part-number-marker', 'encoding-type', 'name', 'metric', 'statistic', 'period', 'start', 'end', 'id', 'max-buckets', 'bucket-region', 'fetch-owner', 'next', 'token', 'list-type'];
  let n = 0;
  const done = new Set<string>();
  for (const route of routes as readonly any[]) {
    if (!['service', 'bucket', 'object', 'own'].includes(route.on)) continue;
    const path = route.on === 'service' ? '/' : route.on === 'bucket' ? `/${b}` : route.on === 'own' ? (route.path ?? '/').replace('*', 'abc') : `/${b}/key`;
    const id = route.on + route.method + (route.query ?? '') + (route.header ?? '') + (route.parameter ?? '');
    if (done.has(id)) continue; done.add(id);
    if (route.method === 'DELETE' && route.on === 'bucket' && !route.query) continue;
    const jobs: (() => Promise<void>)[] = [];
    for (const p of params) for (const v of values) {
      const q = [route.query, route.parameter?.join('='), `${p}=${v}`].filter(Boolean).join('&');
      jobs.push(() => tryit(`${route.method} ${path}?${q}`, () => send({ method: route.method, path, query: q, ...(route.header && { headers: { [route.header]: `${b}/key` } }), ...(['PUT', 'POST'].includes(route.method) && { body: 'x' }) }), true));
    }
    n += jobs.length;
    for (let at = 0; at < jobs.length; at += 60) await Promise.all(jobs.slice(at, at + 60).map((j) => j()));
    if (route.on === 'object') await send({ method: 'PUT', path: `/${b}/key`, body: 'content' });
  }
  console.log('requests', n);
  console.log('--- header fuzz 5xx');
  const hs = ['x-amz-acl', 'x-amz-grant-read', 'x-amz-tagging', 'x-amz-copy-source', 'x-amz-rename-source', 'x-amz-client-token', 'x-amz-expected-bucket-owner', 'x-amz-source-expected-bucket-owner', 'x-amz-copy-source-range', 'x-amz-copy-source-if-match', 'x-amz-copy-source-if-modified-since', 'if-match', 'if-none-match', 'if-modified-since', 'range', 'if-range', 'x-amz-storage-class', 'x-amz-metadata-directive', 'x-amz-tagging-directive', 'x-amz-checksum-algorithm', 'x-amz-checksum-type', 'x-amz-object-attributes', 'x-amz-max-parts', 'x-amz-part-number-marker', 'x-amz-mp-object-size', 'x-amz-website-redirect-location', 'x-amz-object-size', 'x-amz-mfa', 'expires', 'content-type', 'cache-control', 'content-md5', 'x-amz-if-match-size', 'x-amz-if-match-last-modified-time', 'etag', 'content-encoding', 'x-amz-trailer', 'x-amz-decoded-content-length', 'origin', 'access-control-request-method', 'access-control-request-headers', 'x-amz-bypass-governance-retention', 'x-amz-confirm-remove-self-bucket-access', 'x-amz-server-side-encryption-customer-algorithm', 'x-amz-server-side-encryption-customer-key', 'x-amz-copy-source-server-side-encryption-customer-key'];
  const hv = ['', long, '\xff\xfe', '-1', '99999999999999999999', 'NaN', `${b}/key?versionId=${long}`, `${long}/key`, '/%00', '/%FF/%FF', `${b}/%00`, `${b}/%zz`, `${b}/../x`, 'id=' + long, `id="${long}"`, `emailAddress="${long}"`, 'uri=', 'a=b&a=c', '%zz=%zz', '=;=,', '\t', '"', 'bytes=0-0,1-1', ','.repeat(2000)];
  const reqs = [['PUT', `/${b}/k`, ''], ['GET', `/${b}/key`, ''], ['DELETE', `/${b}/none`, ''], ['PUT', `/${b}/k`, 'renameObject'], ['POST', `/${b}/k`, 'uploads'], ['GET', `/${b}/key`, 'attributes'], ['PUT', `/${b}/key`, 'acl'], ['PUT', `/${b}`, 'acl'], ['PUT', '/another-bucket-q', ''], ['POST', `/${b}/k`, 'uploadId=abc'], ['PUT', `/${b}/k`, 'uploadId=abc&partNumber=1'], ['OPTIONS', `/${b}/k`, ''], ['POST', `/${b}/key`, 'public-link'], ['POST', `/${b}`, '']] as const;
  n = 0;
  for (const [method, path, query] of reqs) {
    const jobs = hs.flatMap((h) => hv.map((v) => () => tryit(`${method} ${path}?${query} ${h}: ${v}`, () => send({ method, path, query, headers: { [h]: v }, ...(['PUT', 'POST'].includes(method) && { body: 'x' }) }), true)));
    n += jobs.length;
    for (let at = 0; at < jobs.length; at += 60) await Promise.all(jobs.slice(at, at + 60).map((j) => j()));
  }
  console.log('requests', n);
  console.log('--- ids');
  const k = (accessKeyId: string) => ({ accessKeyId, secretAccessKey: 'x' });
  for (const id of [long, 'a\xff', 'ü', '', ' ', '__proto__', 'constructor', '../x', 'a'.repeat(1500)]) {
    await tryit('v4 id ' + id, () => send({ path: '/' }, { key: k(id) }));
    await tryit('v4 presigned id ' + id, () => exchange(s.url, presigned(host, { path: '/' }, { key: k(id) })));
    await tryit('v2 id ' + id, () => exchange(s.url, signedV2(host, { path: '/' }, { key: k(id) })));
    await tryit('v2 presigned id ' + id, () => exchange(s.url, presignedV2(host, { path: '/' }, { key: k(id) })));
  }
  await tryit('/_public/long', () => anon({ path: `/_public/${long}` }));
  for (const h of [`${long}.localhost`, `${'a'.repeat(63)}.website.localhost`, '.localhost', '..localhost', '\xff.localhost', 'a b.localhost', 'localhost.', 'LOCALHOST', '[::1]', 'a@b.localhost', '', 'b.localhost:99999999', 'xn--a.localhost', '.website.localhost'])
    await tryit('host ' + h, async () => { const c = await RawConnection.open(s.url); try { c.write(Buffer.from(`GET /x HTTP/1.1\r\nhost: ${h}\r\n\r\n`, 'latin1')); return await c.response(); } finally { c.close(); } });
  for (const t of ['/?', '/??', '/?&&&', '/?=', '/?%', '/?a=%zz', `/${b}?prefix=%FF`, `/${b}?prefix=%zz`, `/${b}?list-type=2&prefix=%00`, `/${b}/key?versionId=`, `/${b}/key?partNumber=`, `/${b}/key#frag`, `/${b}/key?a#frag`, '/..', '/../x', '/.', '/%2e%2e/x', '/%2F', '//', '/%', `/${b}%2Fkey`, `/${b}/;x`, `/\xff`, `/${b}/\xc3\xa4`, `/${b}/ä?x=\xff`])
    await tryit('target ' + t, async () => { const c = await RawConnection.open(s.url); try { c.write(Buffer.from(`GET ${t} HTTP/1.1\r\nhost: ${host}\r\n\r\n`, 'latin1')); return await c.response(); } finally { c.close(); } });
  console.log(s.output.stderr.slice(0, 3000));
  const bad = s.requests().filter((r: any) => r.level !== 'info'); console.log(JSON.stringify(bad).slice(0, 2000));
} finally { await s.stop(); }
