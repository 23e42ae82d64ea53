import { describe, expect, it } from 'vitest';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { serviceUnderTest, takesSettings } from '../support/programs/service-under-test.ts';
import { sha256 } from '../support/clients/signer.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */

const service = serviceUnderTest();

/** A part of a name that no other test has, short enough to try lengths. */
const unique = sha256(`${process.pid} ${Date.now()}`).slice(0, 20);

describe('a bucket name', () => {
  it.each([
    ['a3 characters', unique.slice(0, 3)],
    ['63 characters', unique.padEnd(63, 'x')],
    ['digits only', Date.now().toString()],
    ['dots and hyphens', `a.b-c--d.${unique}`],
    ['almost an address', `1.2.3.${unique}`],
    ['five numbers', `1.2.3.4.${Date.now()}`],
    ['no reserved word', `ping-${unique}`],
  ])('may have %s', async (_, name) => {
    if (!takesSettings && name.length === 3) return;
    const created = await service.send({ method: 'PUT', path: `/${name}` });
    expect(created.status, created.text).toBe(200);
    expect((await service.send({ method: 'HEAD', path: `/${name}` })).status).toBe(200);
    expect((await service.send({ method: 'DELETE', path: `/${name}` })).status).toBe(204);
  });

  it.each([
    'ab',
    'x'.repeat(64),
    'Upper',
    'under_score',
    '_leading',
    '-leading',
    '.leading',
    'trailing-',
    'trailing.',
    'two..dots',
    'dot.-hyphen',
    'hyphen-.dot',
    '192.168.5.4',
    '1.2.3.4',
    '999.999.999.999',
    'with%20blank',
    'with%2Fslash',
    'with%0Anewline',
    'umlaut-%C3%A4',
    'plus+plus',
    'percent%25',
    'ping',
    'sping',
  ])('must not be %s', async (name) => {
    const created = await service.send({ method: 'PUT', path: `/${name}` });
    expectError(created, 400, 'InvalidBucketName');
    expect(textOf(created.text, 'BucketName')).toBe(decodeURIComponent(name));
    expect((await service.send({ method: 'HEAD', path: `/${name}` })).status).toBe(400);
  });

  it.each(['_stillage', '_public', '_console'])('must not be one of the own paths of the service: %s', async (name) => {
    for (const path of [`/${name}`, `/${name}/key`]) {
      const response = await service.send({ method: 'PUT', path, body: '' });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
    }
  });

  it('that cannot be one is no bucket for any other operation', async () => {
    for (const path of ['/Upper', '/Upper/key', '/..', '/%2e%2e/key']) {
      const response = await service.send({ path });
      expect(response.status, response.text).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
      expect(['NoSuchBucket', 'InvalidBucketName']).toContain(textOf(response.text, 'Code'));
    }
  });

  it('with a broken escape is no URI', async () => {
    expectError(await service.send({ method: 'PUT', path: '/broken%zz' }), 400, 'InvalidURI');
    expectError(await service.send({ method: 'PUT', path: '/latin%E4' }), 400, 'InvalidURI');
  });

  it('may end with a slash in the path', async () => {
    const name = service.freeName();
    expect((await service.send({ method: 'PUT', path: `/${name}/` })).status).toBe(200);
    expect((await service.send({ method: 'HEAD', path: `/${name}` })).status).toBe(200);
    const { text } = await service.send({ path: `/${name}/`, query: 'location' });
    expect(text).toContain('<LocationConstraint');
  });
});
