import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeHttpListener } from '../../../shared/node-http/node-http.ts';
import { TrustedProxies } from '../../../shared/node-http/connections/trusted-proxies.ts';
import { Fields, type ResponseMessage } from '../../../shared/http/message.ts';
import { defaultLimits } from '../../../shared/protocol/limits.ts';
import { allBytes } from '../../support/bytes/all-bytes.ts';

let server: Server;
let problems: string[];
/** The responses by target; all other targets get the right one. */
let answers: Map<string, ResponseMessage>;

beforeEach(async () => {
  problems = [];
  answers = new Map();
  const right = { status: 200, fields: new Fields(), body: 'right' };
  server = createServer(
    nodeHttpListener(
      { handle: async ({ target }) => answers.get(target) ?? right },
      {
        proxies: new TrustedProxies([]),
        limits: defaultLimits,
        keepAlive: () => true,
        telemetry: {
          problem: (message, error, fields) => {
            problems.push(`${message} ${fields?.['requestId']}: ${(error as Error).message}`);
          },
        },
      },
    ),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

/** All that comes back on a connection on which two requests are sent at once. */
function pipelined(method: string, headers = ''): Promise<string> {
  const { port } = server.address() as AddressInfo;
  const request = `${method} /wrong HTTP/1.1\r\nhost: h\r\n${headers}\r\nGET /next HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n`;
  return allBytes(`http://127.0.0.1:${port}`, [Buffer.from(request)]);
}

/** A response that announces this length. */
function announcing(length: number | string, body?: ResponseMessage['body'], status = 200): ResponseMessage {
  const fields = new Fields([
    ['content-length', String(length)],
    ['x-amz-request-id', 'tx1'],
  ]);
  return { status, fields, ...(body !== undefined && { body }) };
}

describe('an answer that is not as long as it announced', () => {
  it.each<[string, () => ResponseMessage, sent: string | undefined]>([
    ['is short by a byte', () => announcing(6, chunks('abc', 'de')), 'abcde'],
    ['has nothing', () => announcing(6, chunks()), ''],
    ['has no body at all', () => announcing(6), undefined],
    ['has a whole body that is too short', () => announcing(6, 'abcde'), undefined],
    ['has a whole body that is too long', () => announcing(6, Buffer.from('abcdefg')), undefined],
    ['is too long in a chunk of its own', () => announcing(6, chunks('abc', 'def', 'g')), 'abcdef'],
    ['is too long within a chunk', () => announcing(6, chunks('abc', 'defg')), 'abc'],
    ['has a body and announced none', () => announcing(0, chunks('a')), ''],
    ['announced no number', () => announcing('six', chunks('abcdef')), ''],
  ])('ends the connection, and the log says so, if it %s', async (_, answer, sent) => {
    answers.set('/wrong', answer());
    const received = await pipelined('GET');
    expect(received).not.toContain('right');
    // The head is sent with the first byte; the last bytes may be lost with the connection.
    const [head, body = ''] = received.split('\r\n\r\n');
    if (sent === undefined) expect(received).toBe('');
    else expect(sent).toContain(body);
    expect(head === '' || head!.startsWith('HTTP/1.1 200 OK')).toBe(true);
    expect(problems).toEqual([expect.stringMatching(/^a connection was cut off tx1: a response has .* announced /)]);
  });

  it('ends it as well where the body of the request was left unread', async () => {
    answers.set('/wrong', announcing(6, chunks('abc')));
    expect(await pipelined('PUT', 'content-length: 100\r\n')).not.toContain('right');
    expect(problems).toHaveLength(1);
  });
});

describe('an answer that is as long as it announced', () => {
  it.each<[string, string, () => ResponseMessage, body: string]>([
    ['streamed', 'GET', () => announcing(6, chunks('abc', 'def')), 'abcdef'],
    ['whole', 'GET', () => announcing(6, 'abcdef'), 'abcdef'],
    ['to a HEAD, which has the length of a GET', 'HEAD', () => announcing(6), ''],
    ['to a HEAD, with a body that nobody gets', 'HEAD', () => announcing(6, 'abc'), ''],
    ['empty', 'GET', () => announcing(0), ''],
    ['not modified', 'GET', () => announcing(6, undefined, 304), ''],
  ])('leaves the connection to the next one: %s', async (_, method, answer, body) => {
    answers.set('/wrong', answer());
    const received = await pipelined(method);
    const next = received.lastIndexOf('HTTP/1.1 200 OK');
    expect(received.slice(received.indexOf('\r\n\r\n') + 4, next)).toBe(body);
    expect(received.slice(next)).toMatch(/\r\n\r\nright$/);
    expect(problems).toEqual([]);
  });
});
