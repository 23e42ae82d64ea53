import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ResponseBatch } from '../../../shared/node-http/response-batch.ts';

/** A response that records the calls to it. */
class NotedResponse {
  done: string[] = [];
  destroyed = false;
  /** Its connection, with the number of bytes that the system has not taken. */
  socket: { writableLength: number } | null = { writableLength: 0 };
  readonly #fails: boolean;

  constructor({ fails = false } = {}) {
    this.#fails = fails;
  }

  end(body: Uint8Array | undefined): void {
    if (this.#fails) throw new Error('the connection is closed');
    this.done.push(`ended with ${body === undefined ? 'nothing' : Buffer.from(body).toString()}`);
  }

  destroy(): void {
    this.destroyed = true;
    this.done.push('destroyed');
  }

  get response(): ServerResponse {
    return this as unknown as ServerResponse;
  }
}

describe('responses of one turn of the event loop', () => {
  it('are ended together, in order, at its end', async () => {
    const batch = new ResponseBatch(() => undefined);
    const [first, second] = [new NotedResponse(), new NotedResponse()];
    batch.end(first.response, Buffer.from('one'));
    await Promise.resolve();
    batch.end(second.response, undefined);
    expect([first.done, second.done]).toEqual([[], []]);
    await turn();
    expect([first.done, second.done]).toEqual([['ended with one'], ['ended with nothing']]);
  });

  it('wait for sixteen at most', async () => {
    const batch = new ResponseBatch(() => undefined);
    const all = Array.from({ length: 20 }, () => new NotedResponse());
    for (const { response } of all) batch.end(response, undefined);
    expect(all.map(({ done }) => done.length)).toEqual([...Array<number>(16).fill(1), ...Array<number>(4).fill(0)]);
    await turn();
    expect(all.map(({ done }) => done.length)).toEqual(Array<number>(20).fill(1));
  });

  it('do not prevent each other: one that cannot be ended loses its connection', async () => {
    const batch = new ResponseBatch(() => undefined);
    const [broken, whole] = [new NotedResponse({ fails: true }), new NotedResponse()];
    batch.end(broken.response, undefined);
    batch.end(whole.response, undefined);
    await turn();
    expect([broken.done, whole.done]).toEqual([['destroyed'], ['ended with nothing']]);
  });

  it('are reported if the system did not take all of them', async () => {
    const reported: ServerResponse[] = [];
    const batch = new ResponseBatch((response) => reported.push(response));
    const [taken, left, waiting, broken] = [0, 1, 2, 3].map((at) => new NotedResponse({ fails: at === 3 }));
    left!.socket!.writableLength = 1;
    // Another response of the same connection comes first.
    waiting!.socket = null;
    for (const one of [taken, left, waiting, broken]) batch.end(one!.response, undefined);
    await turn();
    expect(reported).toEqual([left, waiting]);
  });
});
