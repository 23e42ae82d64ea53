import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError, textsOf } from '../support/clients/expect-error.ts';
import { exchange, type RawResponse } from '../support/clients/raw-client.ts';
import { alice, bob, startService, type Service } from '../support/programs/server.ts';
import { isExternal } from '../support/programs/service-under-test.ts';
import { anonymous, signed, type Unsigned } from '../support/clients/signer.ts';

/** The exact behaviour is tested in test/unit/protocol/request-rate.test.ts, with a clock that stands still. */
describe.runIf(!isExternal)('more requests a second than requestsPerSecond=2', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ args: ['--limit', 'requestsPerSecond=2'] });
  });
  afterAll(() => service.kill());

  const send = (request: Unsigned, key = alice as typeof alice | typeof bob): Promise<RawResponse> =>
    exchange(service.url, signed(new URL(service.url).host, request, { key }));

  /** Sends until it is answered, as SDKs do. */
  async function patiently(request: Unsigned): Promise<RawResponse> {
    for (;;) {
      const answer = await send(request);
      if (answer.status !== 503) return answer;
      expectError(answer, 503, 'SlowDown');
      await new Promise((resolve) => setTimeout(resolve, Number(answer.header('retry-after')) * 1000));
    }
  }

  it('are refused before anything is done, for a second', async () => {
    expect((await patiently({ method: 'PUT', path: '/bucket' })).status).toBe(200);
    const stored: string[] = [];
    let refused = 0;
    for (let round = 0; refused === 0; round += 1) {
      const keys = Array.from({ length: 10 }, (_, at) => `${round}-${at}`);
      const uploads = keys.map((key) => send({ method: 'PUT', path: `/bucket/${key}`, body: 'content' }));
      for (const [at, answer] of (await Promise.all(uploads)).entries()) {
        if (answer.status === 200) stored.push(keys[at]!);
        else {
          expectError(answer, 503, 'SlowDown');
          expect(answer.header('retry-after')).toBe('1');
          refused += 1;
        }
      }
    }
    const { text } = await patiently({ path: '/bucket', query: 'list-type=2' });
    expect(textsOf(text, 'Key').toSorted()).toEqual(stored.toSorted());
    expect(service.output.stdout).not.toContain('"level":"error"');
  });

  it('are refused to the project that sends them, and to no other; health is always told', async () => {
    const flood = Array.from({ length: 20 }, () => send({ path: '/' }));
    expect((await send({ path: '/' }, bob)).status).toBe(200);
    await Promise.all(flood);
    const health = anonymous(new URL(service.url).host, { path: '/_stillage/health' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(service.url, health)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });
});
