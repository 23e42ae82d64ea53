import { describe, expect, it } from 'vitest';
import { toProxyResult, toRequestMessage, type ProxyEvent } from '../../../functions/runtime/api-gateway.ts';
import { Fields, type RequestMessage } from '../../../shared/http/message.ts';

/** An event as a REST API of a region sends it, with `*` + `/*` for binary types. */
function recorded(event: Partial<ProxyEvent> & { readonly path?: string } = {}): ProxyEvent {
  const { path = '/prod/GetObject/bucket/key', ...rest } = event;
  const event_ = {
    resource: '/GetObject/{proxy+}',
    // As API Gateway gives them, which is why nobody looks at them.
    path: path.replace(/^\/prod/, '').replace(/^\/+/, '/'),
    pathParameters: { proxy: path.split('/').slice(3).join('/').replace(/\/$/, '') },
    httpMethod: 'GET',
    headers: { Host: 'abc123.execute-api.us-east-1.amazonaws.com' },
    multiValueHeaders: {
      Accept: ['*/*'],
      Host: ['abc123.execute-api.us-east-1.amazonaws.com'],
      'User-Agent': ['aws-sdk-js/3.1162.0'],
      'X-Amzn-Trace-Id': ['Root=1-67891233-abcdef012345678912345678'],
      'X-Forwarded-For': ['203.0.113.7'],
      'X-Forwarded-Port': ['443'],
      'X-Forwarded-Proto': ['https'],
    },
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    body: null,
    isBase64Encoded: false,
    stageVariables: null,
    ...rest,
    requestContext: {
      path,
      stage: 'prod',
      identity: { sourceIp: '203.0.113.7', userAgent: 'aws-sdk-js/3.1162.0' },
      ...rest.requestContext,
    },
  };
  return event_;
}

const addressee = { operation: 'GetObject' };

async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('the target of a request without a router', () => {
  const target = (path: string, operation = 'GetObject'): string =>
    toRequestMessage(recorded({ path }), { operation }).target;

  it.each([
    ['/prod/GetObject/bucket/key', '/bucket/key'],
    ['/prod/GetObject/bucket/a%2Bb+c%20d', '/bucket/a%2Bb+c%20d'],
    ['/prod/GetObject/bucket//a//b', '/bucket//a//b'],
    ['/prod/GetObject//bucket/key', '//bucket/key'],
    ['/prod/GetObject/bucket/folder/', '/bucket/folder/'],
    ['/prod/GetObject/bucket/../x/./y', '/bucket/../x/./y'],
    ['/prod/GetObject/bucket/%E2%82%AC%2f', '/bucket/%E2%82%AC%2f'],
    ['/prod/GetObject/bucket/GetObject/GetObject', '/bucket/GetObject/GetObject'],
    // A custom domain: a base path, or nothing, stands where the stage stood.
    ['/GetObject/bucket/key', '/bucket/key'],
    ['/base/path/GetObject/bucket/key', '/bucket/key'],
  ])('%s is %s', (path, expected) => {
    expect(target(path)).toBe(expected);
  });

  it.each([
    ['/prod/ListBuckets', '/'],
    ['/prod/ListBuckets/', '/'],
  ])('%s is the service', (path, expected) => {
    expect(target(path, 'ListBuckets')).toBe(expected);
  });

  it('is not mistaken where one operation is named like the beginning of another', () => {
    expect(target('/prod/ListObjects/bucket', 'ListObjects')).toBe('/bucket');
    expect(() => target('/prod/ListObjectsV2/bucket', 'ListObjects')).toThrow('does not name ListObjects');
  });

  it('has the query encoded as SDKs do', () => {
    const multiValueQueryStringParameters = {
      prefix: ['a+b/ü &='],
      'list-type': ['2'],
      acl: [''],
      repeated: ['1', '2'],
    };
    expect(toRequestMessage(recorded({ multiValueQueryStringParameters }), addressee).target).toBe(
      '/bucket/key?prefix=a%2Bb%2F%C3%BC%20%26%3D&list-type=2&acl=&repeated=1&repeated=2',
    );
  });
});

describe('a request', () => {
  it('has every header field, by its lower-case name', () => {
    const event = recorded({
      httpMethod: 'PUT',
      multiValueHeaders: { Host: ['h'], Authorization: ['AWS4-HMAC-SHA256 …'], 'x-amz-meta-a': ['1', '2'] },
    });
    const { method, fields, secure, remoteAddress } = toRequestMessage(event, addressee);
    expect({ method, secure, remoteAddress }).toEqual({ method: 'PUT', secure: true, remoteAddress: '203.0.113.7' });
    expect(fields.get('host')).toBe('h');
    expect(fields.all('x-amz-meta-a')).toEqual(['1', '2']);
  });

  it('has header values as bytes', () => {
    const field = (value: string): string | undefined =>
      toRequestMessage(recorded({ multiValueHeaders: { 'x-amz-meta-a': [value] } }), addressee).fields.get(
        'x-amz-meta-a',
      );
    expect(field('caf\u00c3\u00a9')).toBe('caf\u00c3\u00a9');
    expect(field('100 €')).toBe(Buffer.from('100 €').toString('latin1'));
  });

  it('has a binary body and its length', async () => {
    const bytes = Buffer.from([0, 255, 128, 10, 13]);
    const event = recorded({ httpMethod: 'PUT', body: bytes.toString('base64'), isBase64Encoded: true });
    const request = toRequestMessage(event, addressee);
    expect(request.fields.get('content-length')).toBe('5');
    expect(request.received!()).toBe(5);
    expect(await bytesOf(request.body)).toEqual(bytes);
  });

  it('has a body that came as text', async () => {
    const request = toRequestMessage(recorded({ body: '<Täg/>' }), addressee);
    expect((await bytesOf(request.body)).toString()).toBe('<Täg/>');
    expect(request.fields.get('content-length')).toBe('7');
  });

  it('has length 0 without a body, and the length that was sent where API Gateway lets it through', async () => {
    const request = toRequestMessage(recorded(), addressee);
    expect(request.fields.get('content-length')).toBe('0');
    expect(await bytesOf(request.body)).toHaveLength(0);
    const told = recorded({ body: 'abc', multiValueHeaders: { 'Content-Length': ['4'] } });
    expect(toRequestMessage(told, addressee).fields.all('content-length')).toEqual(['4']);
  });
});

describe('the originals that a router keeps', () => {
  const kept = {
    'x-stillage-target': ['/bucket/a+b?prefix=a+b|c&acl'],
    'x-stillage-host': ['bucket.s3.example.com'],
    'x-stillage-authorization': ['AWS4-HMAC-SHA256 original'],
    'x-stillage-address': ['198.51.100.9'],
  };
  const through = (headers: Record<string, string[]>, edgeSecret?: string): RequestMessage => {
    const multiValueHeaders = { Host: ['origin.example.com'], Authorization: ['stale'], ...headers };
    return toRequestMessage(recorded({ multiValueHeaders }), { ...addressee, edgeSecret });
  };

  it('are taken where the proof holds', () => {
    const { target, fields, remoteAddress } = through({ ...kept, 'X-Stillage-Edge': ['s3cret'] }, 's3cret');
    expect({ target, remoteAddress }).toEqual({
      target: '/bucket/a+b?prefix=a+b|c&acl',
      remoteAddress: '198.51.100.9',
    });
    expect(fields.all('host')).toEqual(['bucket.s3.example.com']);
    expect(fields.all('authorization')).toEqual(['AWS4-HMAC-SHA256 original']);
    expect([...fields.names()].filter((name) => name.startsWith('x-stillage-'))).toEqual([]);
  });

  it('say that there was no signature, too', () => {
    const { 'x-stillage-authorization': _, ...others } = kept;
    expect(through({ ...others, 'x-stillage-edge': ['s3cret'] }, 's3cret').fields.has('authorization')).toBe(false);
  });

  it.each([
    ['without a proof', {}, 's3cret'],
    ['with a wrong one', { 'x-stillage-edge': ['guess'] }, 's3cret'],
    ['with two', { 'x-stillage-edge': ['s3cret', 'guess'] }, 's3cret'],
    ['with any where there is no router', { 'x-stillage-edge': ['undefined'] }, undefined],
    ['with an empty one where there is no router', { 'x-stillage-edge': [''] }, undefined],
  ])('are dropped %s', (_, proof, edgeSecret) => {
    const { target, fields, remoteAddress } = through({ ...kept, ...proof }, edgeSecret);
    expect({ target, remoteAddress }).toEqual({ target: '/bucket/key', remoteAddress: '203.0.113.7' });
    expect(fields.get('host')).toBe('origin.example.com');
    expect(fields.get('authorization')).toBe('stale');
    expect([...fields.names()].filter((name) => name.startsWith('x-stillage-'))).toEqual([]);
  });

  it('must be whole', () => {
    const { 'x-stillage-host': _, ...others } = kept;
    expect(() => through({ ...others, 'x-stillage-edge': ['s3cret'] }, 's3cret')).toThrow('x-stillage-host');
  });
});

describe('an answer', () => {
  const limit = 100;

  it('is base64 whatever it is', async () => {
    const fields = new Fields([
      ['content-type', 'application/xml'],
      ['x-amz-request-id', 'tx1'],
    ]);
    const result = await toProxyResult({ status: 200, fields, body: '<Ö/>', chunked: true }, limit);
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
    const result = await toProxyResult({ status: 206, fields: new Fields(), body: body() }, limit);
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
    const { multiValueHeaders } = await toProxyResult({ status: 200, fields, body: Buffer.from('abc') }, limit);
    expect(multiValueHeaders).toEqual({ vary: ['Origin', 'Accept'], 'content-type': ['application/xml'] });
  });

  it.each([204, 304])('%i has no body', async (status) => {
    expect((await toProxyResult({ status, fields: new Fields() }, limit)).body).toBe('');
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
    const answer = toProxyResult({ status: 200, fields: new Fields(), body: endless() }, limit);
    await expect(answer).rejects.toThrow('longer than the 100 bytes');
    expect(ended).toBe(true);
  });
});
