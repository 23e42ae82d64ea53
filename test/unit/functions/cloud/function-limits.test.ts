import { describe, expect, it } from 'vitest';
import { maximumAnswerBytes, withinFunctionLimits } from '../../../../functions/cloud/function-limits.ts';
import { S3Error } from '../../../../shared/errors/s3-error.ts';
import type { AnyOperation, Answer } from '../../../../shared/protocol/operation.ts';

const answering = (answer: Answer): AnyOperation =>
  withinFunctionLimits({
    name: 'GetObject',
    on: 'object',
    body: 'none',
    needs: { table: 'read' },
    parse: () => ({}),
    authorise: () => [],
    act: async () => ({}),
    render: () => answer,
  });

const render = (answer: Answer): Answer => answering(answer).render({}, {}, {} as never);
const sized = (length: number, body?: Answer['body']): Answer => ({
  fields: [['content-length', String(length)]],
  ...(body && { body }),
});

describe('the limit of a function', () => {
  it('leaves room for base64 and headers in the six megabytes of Lambda', () => {
    const base64 = 4 * Math.ceil(maximumAnswerBytes / 3);
    expect(base64).toBeLessThanOrEqual(6 * 1024 * 1024 - 64 * 1024);
    expect(maximumAnswerBytes).toBeGreaterThan(4.6e6);
  });

  it('lets through what fits, and what has no body', () => {
    const fits = sized(maximumAnswerBytes, Buffer.from('x'));
    expect(render(fits)).toBe(fits);
    const head = sized(5e12);
    expect(render(head)).toBe(head);
    const listing = { xml: '<List/>' };
    expect(render(listing)).toBe(listing);
  });

  it('refuses what does not, and frees it', () => {
    let freed = false;
    const body: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new Error('read')),
        return: async () => {
          freed = true;
          return { done: true, value: undefined };
        },
      }),
    };
    const tooLong = (): Answer => render(sized(maximumAnswerBytes + 1, body));
    expect(tooLong).toThrow(S3Error);
    expect(tooLong).toThrow(
      expect.objectContaining({
        code: 'NotImplemented',
        status: 501,
        message: expect.stringContaining('ranges') as string,
      }),
    );
    expect(freed).toBe(true);
  });
});
