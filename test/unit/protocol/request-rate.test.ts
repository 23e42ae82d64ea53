import { describe, expect, it } from 'vitest';
import { textOf } from '../../support/clients/expect-error.ts';
import { SetClock } from '../../support/storage/fixed-deps.ts';
import { formBody, formType, signedV4 } from '../../support/clients/form.ts';
import { person, PipelineInProcess, type Answered, type Person } from '../../support/storage/pipeline-in-process.ts';
import type { Unsigned } from '../../support/clients/signer.ts';

const owner = person('owner');
const colleague = person('colleague', 'owner');
const stranger = person('stranger');
const perSecond = 3;

/** A bucket that everybody may read, with an object in it; and a second has passed since. */
async function world() {
  const clock = new SetClock(Date.now());
  const service = new PipelineInProcess([owner, colleague, stranger], {
    clock,
    limits: { requestsPerSecond: perSecond },
  });
  const pause = (): void => void (clock.time += 1000);
  const ready = async (request: Unsigned): Promise<Answered> => {
    pause();
    const answer = await service.send(request, owner);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer;
  };
  await ready({ method: 'PUT', path: '/bucket', headers: { 'x-amz-acl': 'public-read' } });
  await ready({ method: 'PUT', path: '/bucket/key', headers: { 'x-amz-acl': 'public-read' }, body: 'content' });
  const cors = '<CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule>';
  const body = `<CORSConfiguration>${cors}</CORSConfiguration>`;
  await ready({ method: 'PUT', path: '/bucket', query: 'cors', body });
  const website = '<WebsiteConfiguration><IndexDocument><Suffix>key</Suffix></IndexDocument></WebsiteConfiguration>';
  await ready({ method: 'PUT', path: '/bucket', query: 'website', body: website });
  const link = textOf((await ready({ method: 'POST', path: '/bucket/key', query: 'public-link' })).text, 'Url')!;
  pause();
  const statuses = async (count: number, request: Unsigned, by?: Person): Promise<number[]> => {
    const all: number[] = [];
    for (let at = 0; at < count; at += 1) all.push((await service.send(request, by)).status);
    return all;
  };
  return { service, pause, ready, statuses, link: new URL(link).pathname };
}

const get = { path: '/bucket/key' };

describe('requests a second', () => {
  it('are answered up to the limit; one more is told to slow down, and changes nothing', async () => {
    const { service, ready, pause } = await world();
    const write = (n: number) => service.send({ method: 'PUT', path: `/bucket/${n}`, body: 'x' }, owner);
    const answers = [await write(1), await write(2), await write(3), await write(4)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 503]);
    const refused = answers[3]!;
    expect(refused.code).toBe('SlowDown');
    expect(refused.header('retry-after')).toBe('1');
    const listed = await ready({ path: '/bucket', query: 'list-type=2' });
    expect(textOf(listed.text, 'KeyCount')).toBe('4');
    pause();
    expect((await write(4)).status).toBe(200);
    // It is no problem of the operator's.
    expect(service.problems).toEqual([]);
  });

  it.each<[string, Unsigned]>([
    ['answered', get],
    ['of what is not there', { path: '/no-such-bucket/key' }],
    ['malformed', { path: '/bucket', query: 'list-type=2&max-keys=x' }],
    ['of the service', { path: '/' }],
    ['of what is not built', { method: 'PUT', path: '/bucket', query: 'replication' }],
  ])('count if they are signed: %s', async (_, request) => {
    const { service, statuses } = await world();
    await statuses(perSecond, request, owner);
    expect((await service.send(get, owner)).status).toBe(503);
  });

  it('are those of a project, whoever of its users sends them, and of no other', async () => {
    const { service, statuses } = await world();
    await statuses(perSecond, get, owner);
    expect(await statuses(1, get, colleague)).toEqual([503]);
    expect(await statuses(perSecond + 1, get, stranger)).toEqual([200, 200, 200, 503]);
    expect((await service.sendPresigned(get, colleague)).status).toBe(503);
  });

  it('are not used up by a client without the secret', async () => {
    const { statuses } = await world();
    const impostor = { ...owner, key: { ...owner.key, secretAccessKey: 'guess' } };
    expect(await statuses(5, get, impostor)).toEqual([403, 403, 403, 403, 403]);
    expect(await statuses(1, get, owner)).toEqual([200]);
  });

  it('count for a form', async () => {
    const { service, statuses } = await world();
    const fields = signedV4(owner.key, [{ bucket: 'bucket' }, { key: 'form' }]);
    const body = formBody([['key', 'form'], ...fields], { content: 'x' });
    const form = { method: 'POST', path: '/bucket', headers: { 'content-type': formType }, body };
    expect(await statuses(perSecond + 1, form)).toEqual([204, 204, 204, 503]);
    expect((await service.send(get, owner)).status).toBe(503);
  });

  it.each<[string, (link: string) => Unsigned, number]>([
    ['objects', () => get, 200],
    [
      'preflights',
      () => ({
        ...{ method: 'OPTIONS', path: '/bucket/key' },
        headers: { origin: 'https://a.test', 'access-control-request-method': 'GET' },
      }),
      200,
    ],
    ['pages of websites', () => ({ path: '/', headers: { host: 'bucket.website.stillage.test' } }), 200],
    ['public links', (link) => ({ path: link }), 200],
    ['what is refused', () => ({ method: 'DELETE', path: '/bucket/key' }), 403],
  ])('of anonymous callers count apart, for the owner of the bucket: %s', async (_, request, status) => {
    const { statuses, link, pause } = await world();
    const asked = request(link);
    expect(await statuses(perSecond + 1, asked)).toEqual([status, status, status, 503]);
    expect(await statuses(1, get)).toEqual([503]);
    expect(await statuses(1, get, owner)).toEqual([200]);
    pause();
    expect(await statuses(1, asked)).toEqual([status]);
  });

  it('are counted neither for the health of the service', async () => {
    const { statuses } = await world();
    for (const by of [undefined, owner]) {
      expect(new Set(await statuses(10, { path: '/_stillage/health' }, by))).toEqual(new Set([200]));
    }
    expect(await statuses(1, get, owner)).toEqual([200]);
  });

  it('nor where there is no limit', async () => {
    const service = new PipelineInProcess([owner], { clock: new SetClock(Date.now()) });
    for (let at = 0; at < 20; at += 1) expect((await service.send({ path: '/' }, owner)).status).toBe(200);
  });
});
