import { describe, expect, it, vi } from 'vitest';
import { Fields } from '../../../shared/http/message.ts';
import { checkPostPolicy, heldToSize, parsePostPolicy } from '../../../shared/signing/post-policy.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html */

const expiration = '2026-11-20T12:00:00.000Z';
const now = Date.parse('2026-11-20T11:00:00Z');

const encode = (text: string): string => Buffer.from(text).toString('base64');
const policyOf = (conditions: unknown, rest: object = {}): string =>
  encode(JSON.stringify({ expiration, conditions, ...rest }));

const refused = (code: string, message?: string | RegExp): unknown =>
  expect.objectContaining({
    code,
    ...(message !== undefined && { message: expect.stringMatching(message) as string }),
  });

/** Bytes as latin1 characters, as fields hold them. */
const bytes = (text: string): string => Buffer.from(text).toString('latin1');

function errorOf(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('parsePostPolicy', () => {
  it('reads the names of operators and fields in any case', () => {
    const conditions = [
      ['EQ', '$Key', 'k'],
      ['Starts-With', '$ACL', 'p'],
      ['Content-Length-Range', 1, 2],
    ];
    const policy = parsePostPolicy(policyOf(conditions));
    expect(policy.conditions.map(({ operator, field }) => [operator, field])).toEqual([
      ['eq', 'key'],
      ['starts-with', 'acl'],
    ]);
    expect(policy.size).toEqual({ minimum: 1, maximum: 2 });
  });

  it('reads the expiration and every kind of condition', () => {
    const conditions = [
      { bucket: 'b' },
      ['eq', '$Content-Type', 'text/plain'],
      ['starts-with', '$KEY', 'user/'],
      ['content-length-range', 1, 1024],
    ];
    expect(parsePostPolicy(policyOf(conditions))).toEqual({
      expiration: Date.parse(expiration),
      conditions: [
        { operator: 'eq', field: 'bucket', value: 'b' },
        { operator: 'eq', field: 'content-type', value: 'text/plain' },
        { operator: 'starts-with', field: 'key', value: 'user/' },
      ],
      size: { minimum: 1, maximum: 1024 },
    });
  });

  it('leaves the size open unless it is said, and takes the narrowest of several ranges', () => {
    expect(parsePostPolicy(policyOf([{ a: 'b' }])).size).toEqual({ minimum: 0, maximum: Infinity });
    const ranges = [
      ['content-length-range', 2, 100],
      ['content-length-range', '0', '10'],
    ];
    expect(parsePostPolicy(policyOf(ranges)).size).toEqual({ minimum: 2, maximum: 10 });
  });

  it('takes an expiration without milliseconds and one in another zone', () => {
    for (const time of ['2026-11-20T12:00:00Z', '2026-11-20T13:00:00+01:00']) {
      expect(parsePostPolicy(policyOf([{ a: 'b' }], { expiration: time })).expiration).toBe(Date.parse(expiration));
    }
  });

  it('takes an escaped dollar sign for the sign itself', () => {
    const text = `{"expiration":"${expiration}","conditions":[["eq","\\$key","a\\$b"],{"x":"\\\\$c"}]}`;
    expect(parsePostPolicy(encode(text)).conditions).toEqual([
      { operator: 'eq', field: 'key', value: 'a$b' },
      { operator: 'eq', field: 'x', value: '\\$c' },
    ]);
  });

  it('holds values as the bytes that fields have', () => {
    expect(parsePostPolicy(policyOf([{ key: 'ключ' }])).conditions[0]!.value).toBe(bytes('ключ'));
  });

  it.each([
    ['what is not base64', '{"expiration": "2026"}'],
    ['base64 with something in it', `${policyOf([{ a: 'b' }]).slice(0, 8)}\n${policyOf([{ a: 'b' }]).slice(8)}`],
    ['nothing', ''],
    [
      'what is not UTF-8',
      Buffer.from(`{"expiration":"${expiration}","conditions":[{"a":"\xff"}]}`, 'latin1').toString('base64'),
    ],
    ['what is not JSON', encode('{"expiration":')],
    ['JSON with an unknown escape', encode(`{"expiration":"${expiration}","conditions":[{"a":"\\%"}]}`)],
    ['deep nesting', encode('['.repeat(10_000))],
    ['a list', encode('[]')],
    ['null', encode('null')],
    ['a string', encode('"policy"')],
    ['an unknown member', policyOf([{ a: 'b' }], { version: 1 })],
    ['a prototype', encode(`{"expiration":"${expiration}","conditions":[{"a":"b"}],"__proto__":{}}`)],
    ['no expiration', policyOf([{ a: 'b' }], { expiration: undefined })],
    ['another case of expiration', policyOf([{ a: 'b' }], { expiration: undefined, EXPIRATION: expiration })],
    ['an empty expiration', policyOf([{ a: 'b' }], { expiration: '' })],
    ['an expiration that is a number', policyOf([{ a: 'b' }], { expiration: 1800000000 })],
    ['an expiration that is no ISO date', policyOf([{ a: 'b' }], { expiration: '2026-11-20 12:00:00+00:00' })],
    ['an expiration on no day', policyOf([{ a: 'b' }], { expiration: '2026-02-30T12:00:00Z' })],
    ['no conditions', policyOf(undefined)],
    ['another case of conditions', policyOf(undefined, { CONDITIONS: [{ a: 'b' }] })],
    ['empty conditions', policyOf([])],
    ['conditions that are no list', policyOf({ a: 'b' })],
    ['an empty condition', policyOf([{}])],
    ['two properties in a condition', policyOf([{ a: 'b', c: 'd' }])],
    ['a condition that is a string', policyOf(['key'])],
    ['a condition that is null', policyOf([null])],
    ['a value that is no string', policyOf([{ success_action_status: 201 }])],
    ['an empty list', policyOf([[]])],
    ['two items', policyOf([['eq', '$key']])],
    ['four items', policyOf([['eq', '$key', 'a', 'b']])],
    ['an unknown operator', policyOf([['ends-with', '$key', 'a']])],
    ['a field without a dollar sign', policyOf([['eq', 'key', 'a']])],
    ['a field without a name', policyOf([['eq', '$', 'a']])],
    ['a field that is no string', policyOf([['starts-with', 1, 'a']])],
    ['an expected value that is no string', policyOf([['eq', '$key', 1]])],
    ['a range without an end', policyOf([['content-length-range', 0]])],
    ['a negative range', policyOf([['content-length-range', -1, 0]])],
    ['a range that is no number', policyOf([['content-length-range', 'a', 10]])],
    ['a range of null', policyOf([['content-length-range', 0, null]])],
    ['a fractional range', policyOf([['content-length-range', 0, 1.5]])],
    ['an endless range', policyOf([['content-length-range', 0, 1e21]])],
    ['a range the wrong way round', policyOf([['content-length-range', 10, 1]])],
  ])('refuses %s', (_, policy) => {
    expect(errorOf(() => parsePostPolicy(policy))).toEqual(refused('InvalidPolicyDocument'));
  });
});

describe('checkPostPolicy', () => {
  const bucketCondition = { bucket: 'bucket' };

  function check(conditions: readonly unknown[], fields: Record<string, string>, at = now, bucket = 'bucket'): unknown {
    const policy = parsePostPolicy(policyOf([bucketCondition, ...conditions]));
    return errorOf(() => checkPostPolicy(policy, new Fields(Object.entries(fields)), bucket, at));
  }

  const denied = (message?: string | RegExp): unknown => refused('AccessDenied', message);

  it('is valid before its expiration and not from then on', () => {
    expect(check([], {}, Date.parse(expiration) - 1)).toBeUndefined();
    expect(check([], {}, Date.parse(expiration))).toEqual(denied('Policy expired'));
  });

  it.each([
    ['a simple condition', { acl: 'private' }, 'private', 'public-read'],
    ['eq', ['eq', '$acl', 'private'], 'private', 'Private'],
    ['eq nothing', ['eq', '$acl', ''], '', 'private'],
    ['starts-with', ['starts-with', '$acl', 'pri'], 'private', 'xprivate'],
    ['starts-with the whole', ['starts-with', '$acl', 'private'], 'private', 'privat'],
  ])('%s lets one value pass and not another', (_, condition, passes, fails) => {
    expect(check([condition], { acl: passes })).toBeUndefined();
    expect(check([condition], { acl: fails })).toEqual(denied('Policy Condition failed'));
    expect(check([condition], {})).toEqual(denied('Policy Condition failed'));
  });

  it('takes any value that starts with nothing', () => {
    expect(check([['starts-with', '$key', '']], { key: 'whatever' })).toBeUndefined();
    expect(check([['starts-with', '$key', '']], { key: '' })).toBeUndefined();
  });

  it('knows fields in any case', () => {
    const conditions = [{ AcL: 'private' }, ['starts-with', '$KeY', 'a']];
    expect(check(conditions, { aCl: 'private', kEy: 'ab' })).toBeUndefined();
  });

  it('names the condition that failed, and compares bytes', () => {
    const condition = ['eq', '$key', 'ключ'];
    expect(check([condition], { key: bytes('ключ') })).toBeUndefined();
    expect(check([condition], { key: 'other' })).toEqual(
      denied(/^Invalid according to Policy: Policy Condition failed: \["eq","\$key","ключ"\]$/),
    );
  });

  it('holds a field to all of its conditions', () => {
    const conditions = [
      ['starts-with', '$key', 'a'],
      ['starts-with', '$key', 'ab'],
    ];
    expect(check(conditions, { key: 'abc' })).toBeUndefined();
    expect(check(conditions, { key: 'acb' })).toEqual(denied());
  });

  it('holds every type of a list to its beginning, of Content-Type alone', () => {
    const images = [['starts-with', '$Content-Type', 'image/']];
    expect(check(images, { 'content-type': 'image/png, image/jpeg,image/gif' })).toBeUndefined();
    expect(check(images, { 'content-type': 'image/png, text/html' })).toEqual(denied());
    expect(check([['starts-with', '$key', 'a']], { key: 'a,b' })).toBeUndefined();
  });

  it('does not compare the more often the more often a condition is said, nor each with each', () => {
    const startsWith = vi.spyOn(String.prototype, 'startsWith');
    const compared = (said: number, values: readonly string[], types: number): number => {
      const conditions = values.flatMap((value) => Array<unknown>(said).fill(['starts-with', '$content-type', value]));
      startsWith.mockClear();
      expect(check(conditions, { 'content-type': Array<string>(types).fill('text/plain').join(',') })).toBeUndefined();
      return startsWith.mock.calls.filter(([text]) => values.includes(text)).length;
    };
    try {
      expect(compared(1, [''], 500)).toBe(500);
      expect(compared(400, [''], 500)).toBe(500);
      expect(compared(100, ['', 't', 'te'], 500)).toBe(1500);
    } finally {
      startsWith.mockRestore();
    }
  });

  it('takes only blanks from the types of a list', () => {
    const condition = ['starts-with', '$content-type', 'text/'];
    expect(check([condition], { 'content-type': 'text/plain \t, text/html' })).toBeUndefined();
    expect(check([condition], { 'content-type': 'text/plain,\xa0text/html' })).toEqual(
      denied('Policy Condition failed'),
    );
  });

  it.each(['x-amz-meta-more', 'acl', 'content-type', 'key', 'success_action_redirect', 'x-amz-credential', 'submit'])(
    'denies the field %s that no condition covers',
    (name) => {
      expect(check([], { [name]: 'value' })).toEqual(denied(`Extra input fields: ${name}`));
    },
  );

  it.each(['x-amz-signature', 'signature', 'policy', 'AWSAccessKeyId', 'SVCAccessKeyId', 'x-ignore-me', 'X-Ignore-Me'])(
    'needs no condition for %s',
    (name) => {
      expect(check([], { [name]: 'value' })).toBeUndefined();
    },
  );

  it('is not fooled by names that objects inherit', () => {
    expect(check([], { constructor: 'x' })).toEqual(denied('Extra input fields: constructor'));
    expect(check([{ toString: 'x' }], {})).toEqual(denied('Policy Condition failed'));
  });

  it('compares bucket with what the request was sent to, whatever the form says', () => {
    expect(check([], { bucket: 'other' })).toBeUndefined();
    expect(check([], { bucket: 'bucket' }, now, 'other')).toEqual(
      denied('Policy Condition failed: \\["eq","\\$bucket"'),
    );
    expect(check([['starts-with', '$bucket', 'buck']], {})).toBeUndefined();
  });

  it('denies a policy that does not say for which bucket it is', () => {
    const policy = parsePostPolicy(policyOf([{ key: 'k' }]));
    for (const form of [{ key: 'k' }, { key: 'k', bucket: 'bucket' }]) {
      const fields = new Fields(Object.entries(form));
      expect(errorOf(() => checkPostPolicy(policy, fields, 'bucket', now))).toEqual(
        denied('Extra input fields: bucket'),
      );
    }
  });
});

describe('heldToSize', () => {
  async function pass(sizes: readonly number[], minimum: number, maximum: number): Promise<number> {
    let total = 0;
    for await (const chunk of heldToSize(chunks(sizes), { minimum, maximum })) total += chunk.byteLength;
    return total;
  }

  async function* chunks(sizes: readonly number[]): AsyncGenerator<Uint8Array> {
    for (const size of sizes) yield new Uint8Array(size);
  }

  it('passes what is within the range, ends included', async () => {
    expect(await pass([2, 3], 5, 5)).toBe(5);
    expect(await pass([], 0, 0)).toBe(0);
    expect(await pass([1], 0, Infinity)).toBe(1);
  });

  it('ends as soon as there is too much', async () => {
    let taken = 0;
    const source = (async function* () {
      while (taken < 100) {
        taken++;
        yield new Uint8Array(10);
      }
    })();
    const read = async (): Promise<void> => {
      for await (const _ of heldToSize(source, { minimum: 0, maximum: 25 }));
    };
    await expect(read()).rejects.toEqual(
      expect.objectContaining({ code: 'EntityTooLarge', details: { ProposedSize: '30', MaxSizeAllowed: '25' } }),
    );
    expect(taken).toBe(3);
  });

  it('fails at the end if there was too little', async () => {
    await expect(pass([1, 1], 3, 10)).rejects.toEqual(
      expect.objectContaining({ code: 'EntityTooSmall', details: { ProposedSize: '2', MinSizeAllowed: '3' } }),
    );
  });
});
