import { expect, it } from 'vitest';
import { administer, runAt } from '../support/storage/administration.ts';
import { accounts } from '../support/programs/server.ts';
import type { AddedWebhook } from '../support/storage/event-world.ts';
import { atEachPlace } from './places.ts';

const project = accounts[0].project;

atEachPlace({ isRunning: true }, (at) => {
  it('webhooks are added, listed, given new secrets and removed', async () => {
    const { place } = at();
    const url = 'https://hooks.example.com/new?a=b';
    const { arn, secret } = await administer<AddedWebhook>(place, 'webhook', 'add', project, 'new', url);
    expect(arn).toMatch(/^arn:stillage:webhook::\d{12}:new$/);
    expect(secret).toMatch(/^[\w-]{43}$/);
    const text = await runAt(place, ['webhook', 'add', project, 'other', url, '--batch', '10']);
    expect(text.stdout).toMatch(/shown only now:\n[\w-]{43}\n$/);

    const listed = await administer<AddedWebhook[]>(place, 'webhook', 'list', project);
    expect(listed).toEqual([
      { name: 'new', url, batch: 1, format: 's3', arn, created: expect.stringMatching(/^\d{4}-.*Z$/) as string },
      expect.objectContaining({ name: 'other', batch: 10 }),
    ]);
    expect((await runAt(place, ['webhook', 'list', project])).stdout).toMatch(/^NAME +CREATED +URL +ARN\nnew /);
    const rotated = await administer<{ secret: string }>(place, 'webhook', 'rotate', project, 'new');
    expect(rotated.secret).toMatch(/^[\w-]{43}$/);
    expect(rotated.secret).not.toBe(secret);

    const { code, stdout } = await runAt(place, ['webhook', 'remove', project, 'new']);
    expect([code, stdout]).toEqual([0, 'removed new\n']);
    await administer(place, 'webhook', 'remove', project, 'other');
    expect((await runAt(place, ['webhook', 'list', project])).stdout).toBe('no webhooks\n');
  });

  it.each([
    [['add', project, 'a b', 'https://a.example'], 'The name of a webhook has 1 to 64 letters'],
    [['add', project, 'a', 'ftp://a.example'], 'must begin with https://'],
    [['add', project, 'a', 'https://user:password@a.example'], 'must begin with https://'],
    [['add', project, 'a', 'https://a.example', '--format', 'cloudevents', '--batch', '2'], 'batch must be 1'],
    [['add', 'none@acme', 'a', 'https://a.example'], 'none@acme'],
    [['remove', project, 'none'], 'NoSuchWebhook'],
    [['rotate', project, 'none'], 'NoSuchWebhook'],
  ])('webhook %j is refused in one line', async (args, words) => {
    const { code, stderr } = await runAt(at().place, ['webhook', ...args]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(words);
    expect(stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(2);
  });

  it('events that were given up are none at first', async () => {
    const { place } = at();
    expect((await runAt(place, ['events', 'list', project])).stdout).toBe('no events were given up\n');
    expect(await administer(place, 'events', 'list', project)).toEqual({ dropped: 0, events: [] });
    expect(await administer(place, 'events', 'replay', project)).toEqual({ replayed: 0, left: 0 });
    const none = await runAt(place, ['events', 'replay', project, 'none']);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('there is no event "none"')]);
  });
});
