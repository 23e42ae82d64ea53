import { describe, expect, it } from 'vitest';
import { toProxyResult, toRequestMessage, type ProxyEvent } from '../../../../functions/cloud/api-gateway.ts';
import { Fields, type RequestMessage } from '../../../../shared/http/message.ts';
import { edgeWith } from './edge-with.ts';

const edgeSecret = 's3cret';

/** The headers that the router preserves and the distribution adds. */
const kept = {
  'x-stillage-edge': [edgeSecret],
  'x-stillage-target': ['/bucket/a+b?prefix=a+b|c&acl'],
  'x-stillage-host': ['bucket.s3.example.com'],
  'x-stillage-address': ['198.51.100.9'],
};

/** An event as a REST API of a region sends it, with `*` + `/*` for binary types. */
function recorded(event: Partial<ProxyEvent> = {}): ProxyEvent {
  const { multiValueHeaders, ...rest } = event;
  const whole = {
    resource: '/GetObject',
    path: '/GetObject',
    pathParameters: null,
    httpMethod: 'GET',
    headers: { Host: 'abc123.execute-api.us-east-1.amazonaws.com' },
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    body: null,
    isBase64Encoded: false,
    stageVariables: null,
    ...rest,
    multiValueHeaders: {
      Accept: ['*/*'],
      Host: ['abc123.execute-api.us-east-1.amazonaws.com'],
      'User-Agent': ['aws-sdk-js/3.1162.0'],
      'X-Amzn-Trace-Id': ['Root=1-67891233-abcdef012345678912345678'],
      'X-Forwarded-For': ['203.0.113.7, 130.176.0.1'],
      'X-Forwarded-Port': ['443'],
      'X-Forwarded-Proto': ['https'],
      ...kept,
      ...multiValueHeaders,
    },
    requestContext: { path: '/prod/GetObject', stage: 'prod', identity: { sourceIp: '130.176.0.1' } },
  };
  return whole;
}

const requestOf = async (event: Partial<ProxyEvent> = {}): Promise<RequestMessage> =>
  (await toRequestMessage(recorded(event), edgeWith(edgeSecret)))!;

async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('a request', () => {
  it('is what the client sent to the distribution', async () => {
    const { method, target, fields, secure, remoteAddress } = await requestOf({ httpMethod: 'PUT' });
    expect({ method, target, secure, remoteAddress }).toEqual({
      method: 'PUT',
      target: '/bucket/a+b?prefix=a+b|c&acl',
      secure: true,
      remoteAddress: '198.51.100.9',
    });
    expect(fields.all('host')).toEqual(['bucket.s3.example.com']);
  });

  it('is none if it did not come through the distribution', async () => {
    const past = recorded({ multiValueHeaders: { 'x-stillage-edge': ['guess'] } });
    expect(await toRequestMessage(past, edgeWith(edgeSecret))).toBeUndefined();
    expect(await toRequestMessage({ ...past, multiValueHeaders: null }, edgeWith(edgeSecret))).toBeUndefined();
  });

  it('has every header field, by its lower-case name', async () => {
    const { fields } = await requestOf({ multiValueHeaders: { 'X-Amz-Meta-A': ['1', '2'] } });
    expect(fields.all('x-amz-meta-a')).toEqual(['1', '2']);
  });

  it('has header values as bytes', async () => {
    const field = async (value: string): Promise<string | undefined> =>
      (await requestOf({ multiValueHeaders: { 'x-amz-meta-a': [value] } })).fields.get('x-amz-meta-a');
    expect(await field('caf\u00c3\u00a9')).toBe('caf\u00c3\u00a9');
    expect(await field('100 €')).toBe(Buffer.from('100 €').toString('latin1'));
  });

  it('has a binary body, and the length that the client gave', async () => {
    const bytes = Buffer.from([0, 255, 128, 10, 13]);
    const multiValueHeaders = { 'x-stillage-content-length': ['5'] };
    const event = { httpMethod: 'PUT', multiValueHeaders, body: bytes.toString('base64'), isBase64Encoded: true };
    const request = await requestOf(event);
    expect(request.fields.all('content-length')).toEqual(['5']);
    expect(request.fields.has('transfer-encoding')).toBe(false);
    expect(request.received!()).toBe(5);
    expect(await bytesOf(request.body!)).toEqual(bytes);
  });

  it('has a body that came as text', async () => {
    expect((await bytesOf((await requestOf({ body: '<Täg/>' })).body!)).toString()).toBe('<Täg/>');
  });

  it('has a body in chunks if the client gave no length', async () => {
    const { fields } = await requestOf({ body: 'abc' });
    expect(fields.has('content-length')).toBe(false);
    expect(fields.get('transfer-encoding')).toBe('chunked');
  });

  it('has neither length nor chunks where the client sent nothing', async () => {
    const { fields, body } = await requestOf();
    expect([fields.has('content-length'), fields.has('transfer-encoding')]).toEqual([false, false]);
    expect(await bytesOf(body!)).toHaveLength(0);
  });
});

describe('an answer', () => {
  const limit = 100;

  it('is base64 whatever it is', async () => {
    const fields = new Fields([
      ['content-type', 'application/xml'],
      ['x-amz-request-id', 'tx1'],
    ]);
    const result = await toProxyResult({ status: 200, fields, body: '<Ö/>', chunked: true }, 'GET', limit);
    expect(result).toEqual({
      statusCode: 200,
      multiValueHeaders: { 'content-type': ['application/xml'], 'x-amz-request-id': ['tx1'] },
      body: Buffer.from('<Ö/>').toString('base64'),
      isBase64Encoded: true,
    });
  });

  it('collects what streams', async () => {
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from([0, 255]);
      yield Buffer.from('rest');
    }
    const result = await toProxyResult({ status: 206, fields: new Fields(), body: body() }, 'GET', limit);
    expect(Buffer.from(result.body, 'base64')).toEqual(Buffer.from([0, 255, 114, 101, 115, 116]));
  });

  it('leaves to API Gateway what API Gateway says, and keeps fields that are repeated', async () => {
    const fields = new Fields([
      ['content-length', '3'],
      ['date', 'now'],
      ['server', 'Stillage'],
      ['connection', 'close'],
      ['vary', 'Origin'],
      ['vary', 'Accept'],
    ]);
    const { multiValueHeaders } = await toProxyResult({ status: 200, fields, body: Buffer.from('abc') }, 'GET', limit);
    expect(multiValueHeaders).toEqual({ vary: ['Origin', 'Accept'], 'content-type': ['application/xml'] });
  });

  it.each([204, 304])('%i has no body', async (status) => {
    expect((await toProxyResult({ status, fields: new Fields() }, 'GET', limit)).body).toBe('');
  });

  it.each([
    ['fewer', 'ab'],
    ['more', 'abcd'],
    ['none', undefined],
  ])('is none where there are %s bytes than announced', async (_, text) => {
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(text!);
    }
    const fields = new Fields([['content-length', '3']]);
    const answer = { status: 200, fields, ...(text !== undefined && { body: body() }) };
    await expect(toProxyResult(answer, 'GET', limit)).rejects.toThrow('announced 3');
    expect((await toProxyResult({ status: 200, fields }, 'HEAD', limit)).body).toBe('');
  });

  it('ends the body it reads when that is too long', async () => {
    let ended = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.alloc(64);
      } finally {
        ended = true;
      }
    }
    const answer = toProxyResult({ status: 200, fields: new Fields(), body: endless() }, 'GET', limit);
    await expect(answer).rejects.toThrow('longer than 100 bytes');
    expect(ended).toBe(true);
  });
});
