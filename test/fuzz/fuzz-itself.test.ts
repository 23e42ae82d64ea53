import { describe, expect, it } from 'vitest';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { fuzz } from './fuzz.ts';
import type { Parser } from './parsers/parser.ts';

/** Tests the fuzzer: it finds planted faults, and reports no expected refusal. */

const parser = (read: (text: string) => unknown): Parser => ({ pieces: ['a', 'b', '%', 'C3', '='], read });

describe('fuzzing', () => {
  it.each<[string, (text: string) => unknown]>([
    ['an error that is no S3 error', (text) => decodeURIComponent(text)],
    ['an S3 error of the service', (text) => (text.includes('ab') ? raise(new S3Error('InternalError')) : text)],
    ['an error of a promise', async (text) => Promise.resolve(decodeURIComponent(text))],
    ['an error after several steps', (text) => (/^a%+b=.*C3/s.test(text) ? raise(new TypeError('deep')) : text.length)],
  ])('finds %s', async (_, read) => {
    const { failure } = await fuzz(parser(read), [], 1, 50_000);
    expect(failure).toBeDefined();
    // The same seed, the same input.
    expect((await fuzz(parser(read), [], 1, 50_000)).failure?.input).toBe(failure!.input);
  });

  it('accepts values and refusals, and keeps an input for each', async () => {
    const read = (text: string): unknown => (text.includes('=') ? raise(new S3Error('InvalidArgument')) : [text]);
    const { failure, corpus, inputs } = await fuzz(parser(read), ['kept'], 1, 1000);
    expect([failure, inputs, corpus.length]).toEqual([undefined, 1001, 2]);
    expect(corpus[0]).toBe('kept');
  });
});

function raise(error: Error): never {
  throw error;
}
