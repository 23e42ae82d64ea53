import { afterEach, beforeEach, expect, it } from 'vitest';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { untilFound } from '../support/runs/eventually.ts';
import { EventWorld, recordsIn } from '../support/storage/event-world.ts';

let world: EventWorld;
beforeEach(async () => {
  world = await EventWorld.start();
});
afterEach(() => world.stop());

const keys = 10;
const rounds = 4;
const perRound = 12;

it('events of a killed service arrive at least once, and those of each key in order', async () => {
  const [receiver] = world.receivers;
  const { arn } = await world.add('hook');
  const Bucket = await world.bucket('killed');
  await world.tell(Bucket, arn);
  const acknowledged = new Map<string, string[]>();
  const write = async (key: string): Promise<void> => {
    for (let at = 0; at < perRound; at += 1) {
      const Body = `${key} ${acknowledged.get(key)?.length ?? 0} ${Math.random()}`;
      const { ETag } = await world.client.send(new PutObjectCommand({ Bucket, Key: key, Body }));
      acknowledged.set(key, [...(acknowledged.get(key) ?? []), ETag!.replaceAll('"', '')]);
    }
  };
  for (let round = 0; round < rounds; round += 1) {
    // Paused at first, and then slow: it is killed with events in queues, and in the middle of deliveries.
    let answered = 0;
    receiver!.answer = (response) => {
      answered += 1;
      if (round % 2 === 0) response.writeHead(503).end();
      else setTimeout(() => response.writeHead(204).end(), 20);
    };
    await Promise.all(Array.from({ length: keys }, (_, n) => write(`key-${n}`)));
    await untilFound(() => answered > 0);
    await world.service.kill();
    await world.restart();
  }
  receiver!.answer = (response) => response.writeHead(204).end();
  const delivered = (): Map<string, string[]> => {
    const seen = new Map<string, string[]>();
    for (const { s3 } of recordsIn(receiver!.calls)) {
      const { key, eTag } = s3.object;
      const etags = seen.get(key) ?? [];
      if (!etags.includes(eTag)) seen.set(key, [...etags, eTag]);
    }
    return seen;
  };
  await untilFound(() => [...delivered().values()].flat().length >= keys * rounds * perRound);
  // A repeated one comes after its first time, and none before those before it.
  expect(delivered()).toEqual(acknowledged);
});
