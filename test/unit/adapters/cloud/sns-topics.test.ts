import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SnsTopics } from '../../../../shared/adapters/cloud/sns-topics.ts';
import type { Delivery } from '../../../../shared/ports/notifier.ts';

let server: Server;
let requests: { readonly fields: URLSearchParams; readonly authorization: string }[];
let status: number;

beforeEach(async () => {
  requests = [];
  status = 200;
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      requests.push({ fields: new URLSearchParams(body), authorization: request.headers.authorization ?? '' });
      response.writeHead(status, { 'content-type': 'text/xml' });
      response.end(
        status === 200
          ? '<PublishResponse><PublishResult><MessageId>id</MessageId></PublishResult></PublishResponse>'
          : '<ErrorResponse><Error><Code>AuthorizationError</Code><Message>no</Message></Error></ErrorResponse>',
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const alarm = { name: 'größer\nals', state: 'ALARM', before: 'OK', reason: 'too much' };
const body = JSON.stringify({ AlarmName: alarm.name, NewStateValue: alarm.state });

function send(target: string): Promise<Delivery> {
  const topics = new SnsTopics({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
  return topics.send({ target, body, alarm, id: 'time.alarm', secret: undefined });
}

describe('a topic of SNS', () => {
  it('is published to, in its region', async () => {
    const arn = 'arn:aws:sns:eu-central-1:123456789012:topic';
    expect(await send(arn)).toEqual({ outcome: 'delivered' });
    const { fields, authorization } = requests[0]!;
    expect(Object.fromEntries(fields)).toEqual({
      Action: 'Publish',
      Version: '2010-03-31',
      TopicArn: arn,
      Message: body,
      Subject: 'ALARM: "gr??er?als"',
    });
    expect(authorization).toContain('/eu-central-1/sns/');
  });

  it('that keeps an order is told what to drop if it comes twice', async () => {
    await send('arn:aws:sns:eu-central-1:123456789012:topic.fifo');
    const { MessageGroupId, MessageDeduplicationId } = Object.fromEntries(requests[0]!.fields);
    expect([MessageGroupId, MessageDeduplicationId]).toEqual(['alarm', 'time.alarm']);
  });

  it('may refuse', async () => {
    status = 403;
    const { outcome } = await send('arn:aws:sns:eu-central-1:123456789012:topic');
    expect(outcome).toBe('failed');
    expect(await send('topic')).toEqual({ outcome: 'refused', reason: 'this is not an SNS topic' });
  });
});
